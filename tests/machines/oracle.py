"""Slow and plain answers that share no code with the machines."""

from __future__ import annotations

import re
from collections import deque
from functools import reduce
from itertools import accumulate
from typing import ClassVar

from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.tree import LAST, Call, Chars, Concat, Either, Repeat


def nfa_accepts(nfa: NFA, data: bytes) -> bool:
    """Run an NFA the naive way: all states it can be in, byte by byte."""
    states = spread(nfa, {nfa.initial})
    for byte in data:
        edges = (edge for state in states for edge in nfa.edges[state])
        states = spread(nfa, {target for low, high, target in edges if low <= byte <= high})
    return nfa.accepting in states


def spread(nfa: NFA, states: set[int]) -> set[int]:
    while (wider := states | {target for state in states for target in nfa.epsilon[state]}) != states:
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


class Listing:
    """All texts of a grammar over a few letters, and all that they begin with, up to so many bytes: found by listing.

    Rules are asked again and again until nothing is new; a text may go on with letters that are not listed.
    """

    LETTERS = "abé🙂"
    HALVES: ClassVar = {  # the beginning of a letter, and the characters that begin so
        b"": (0, LAST), b"\xc3": (0xC0, 0xFF), b"\xf0": (0x10000, 0x3FFFF), b"\xf0\x9f": (0x1F000, 0x1FFFF),
        b"\xf0\x9f\x99": (0x1F640, 0x1F67F),
    }  # fmt: skip

    def __init__(self, grammar: Grammar, longest: int) -> None:
        self.longest = longest
        self.named = {rule.name: rule.tree for rule in grammar.rules}
        self.finishing = self.settle(dict.fromkeys(self.named, False), self.can_finish)
        self.texts = self.settle(dict.fromkeys(self.named, frozenset()), self.list_texts)
        self.begun = self.settle(dict.fromkeys(self.named, frozenset()), self.list_begun)

    def settle(self, table, answer):
        while (after := {name: answer(tree, table) for name, tree in self.named.items()}) != table:
            table = after
        return table

    def can_finish(self, tree, known):
        match tree:
            case Chars(ranges):
                return any(low < 0xD800 or high > 0xDFFF for low, high in ranges)
            case Call(name):
                return known[name]
            case Concat(parts):
                return all(self.can_finish(part, known) for part in parts)
            case Either(options):
                return any(self.can_finish(option, known) for option in options)
            case Repeat(part, low, _):
                return low == 0 or self.can_finish(part, known)

    def join(self, some, others):
        return frozenset(one + other for one in some for other in others if len(one + other) <= self.longest)

    def list_texts(self, tree, known):
        match tree:
            case Chars(ranges):
                return frozenset(x.encode() for x in self.LETTERS if any(low <= ord(x) <= high for low, high in ranges))
            case Call(name):
                return known[name]
            case Concat(parts):
                return reduce(self.join, (self.list_texts(part, known) for part in parts), frozenset({b""}))
            case Either(options):
                return frozenset().union(*(self.list_texts(option, known) for option in options))
            case Repeat(part, low, high):
                return self.repeat(self.list_texts(part, known), low, high)

    def repeat(self, once, low, high):
        layer = reduce(self.join, [once] * low, frozenset({b""}))
        found = set(layer)
        for _ in range(self.longest + 1 if high is None else high - low):
            layer = self.join(layer, once)
            found |= layer
        return frozenset(found)

    def list_begun(self, tree, known):
        if not self.can_finish(tree, self.finishing):
            return frozenset()
        match tree:
            case Chars(ranges):
                halves = {half for half, (a, b) in self.HALVES.items() if any(x <= b and a <= y for x, y in ranges)}
                return self.list_texts(tree, {}) | halves
            case Call(name):
                return known[name]
            case Concat(parts):
                before, begun = frozenset({b""}), []
                for part in parts:
                    begun.append(self.join(before, self.list_begun(part, known)))
                    before = self.join(before, self.final(part))
                return frozenset({b""}).union(*begun)
            case Either(options):
                return frozenset().union(*(self.list_begun(option, known) for option in options))
            case Repeat(part, _, high):
                before = self.repeat(self.final(part), 0, high if high is None else max(high - 1, 0))
                return frozenset({b""}) | self.join(before, self.list_begun(part, known) if high != 0 else ())

    def final(self, tree):
        return self.list_texts(tree, self.texts)


class Fitting:
    """Do the parts of a branch stand in a rule as it is written? A part is a byte, a rule's name, or ("open", name).

    What is empty may be left out.
    """

    def __init__(self, parts, empty):
        self.parts, self.empty = parts, empty

    def ends(self, tree, start):
        """Where the tree can end in the parts when it begins at `start`."""
        match tree:
            case Chars(ranges):
                return {end for end in range(start + 1, start + 5) if in_ranges(self.parts[start:end], ranges)}
            case Call(name):
                here = {start + 1} if self.parts[start : start + 1] == [name] else set()
                return here | ({start} if name in self.empty else set())
            case Concat(parts):
                return reduce(lambda ends, part: self.all_ends(part, ends), parts, {start})
            case Either(options):
                return set().union(*(self.ends(option, start) for option in options))
            case Repeat(part, low, high):
                return set().union(*self.rounds(part, start, low, high))

    def all_ends(self, tree, starts):
        return set().union(*(self.ends(tree, start) for start in starts))

    def rounds(self, part, start, low, high):
        """Where each round ends from the lowest one on; more rounds than parts bring nothing new."""
        ends = reduce(lambda ends, _: self.all_ends(part, ends), range(low), {start})
        for _ in range(min(len(self.parts) + 1 if high is None else high - low, len(self.parts) + 1)):
            yield ends
            ends = self.all_ends(part, ends)
        yield ends

    def is_begun(self, tree, start):
        """Are all parts from `start` a beginning of the tree?"""
        left = self.parts[start:]
        match tree:
            case _ if not left:
                return True
            case Chars(ranges):
                half = bytes(left) if all(isinstance(part, int) for part in left) else None
                low, high = Listing.HALVES.get(half, (1, 0))
                return any(a <= high and low <= b for a, b in ranges)
            case Call(name):
                return left == [("open", name)]
            case Concat(parts):
                starts = accumulate(parts, lambda ends, part: self.all_ends(part, ends), initial={start})
                return any(self.is_begun(part, at) for part, ends in zip(parts, starts, strict=False) for at in ends)
            case Either(options):
                return any(self.is_begun(option, start) for option in options)
            case Repeat(part, _, high):
                starts = self.rounds(part, start, 0, high if high is None else high - 1) if high != 0 else ()
                return any(self.is_begun(part, at) for ends in starts for at in ends)


def in_ranges(parts, ranges):
    try:
        return any(low <= ord(bytes(parts).decode()) <= high for low, high in ranges)
    except (TypeError, ValueError):
        return False
