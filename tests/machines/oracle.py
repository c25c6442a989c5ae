"""Slow and plain answers that share no code with the machines."""

from __future__ import annotations

import re
from collections import deque

from guidedviz.machines.dfa import DFA
from guidedviz.machines.nfa import NFA


def nfa_accepts(nfa: NFA, data: bytes) -> bool:
    """Run an NFA the naive way: all states it can be in, byte by byte."""
    states = spread(nfa, {nfa.initial})
    for byte in data:
        edges = (edge for state in states for edge in nfa.edges[state])
        states = spread(nfa, {target for low, high, target in edges if low <= byte <= high})
    return nfa.accepting in states


def spread(nfa: NFA, states: set[int]) -> set[int]:
    while (wider := states | {target for state in states for target in nfa.free[state]}) != states:
        states = wider
    return states


def shortest_completion(dfa: DFA, state: int) -> bytes | None:
    """The shortest bytes from a state to the end of a text; None if there are none."""
    found, queue = {state: b""}, deque([state])
    while queue:
        state = queue.popleft()
        if dfa.is_accepting(state):
            return found[state]
        for low, _, target in dfa.edges[state]:
            if target not in found:
                found[target] = found[state] + bytes([low])
                queue.append(target)
    return None


def count_classes(dfa: DFA) -> int:
    """How many states are really different: Moore's rounds over all 256 bytes, the dead state among them."""
    dead = len(dfa)
    rows = [[dfa.step(state, byte) for byte in range(256)] for state in range(dead)] + [[None] * 256]
    kind = [dfa.is_accepting(state) for state in range(dead)] + [False]
    while True:
        seen: dict[tuple[object, ...], int] = {}
        new = []
        for state in range(dead + 1):
            key = (kind[state], *(kind[dead if target is None else target] for target in rows[state]))
            new.append(seen.setdefault(key, len(seen)))
        if len(seen) == len(set(kind)):
            return len(seen) - 1
        kind = new


def matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.ASCII) is not None


def shortest_disagreement(one: DFA, other: DFA) -> int | None:
    """How long the shortest bytes are that one accepts and the other does not; None if there are none."""
    pairs, seen, length = {(one.initial, other.initial)}, set(), 0
    while pairs:
        if any((a is not None and one.is_accepting(a)) != (b is not None and other.is_accepting(b)) for a, b in pairs):
            return length
        seen |= pairs
        pairs = {
            (None if a is None else one.step(a, byte), None if b is None else other.step(b, byte))
            for a, b in pairs
            for byte in range(256)
        } - seen
        length += 1
    return None
