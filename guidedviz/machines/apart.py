"""Do several trees share a text? Each text gets the number of its tree behind it, in two bytes that JSON never has.

One machine for all of them then tells: a state from which two numbers can be read stands behind a shared text. A call
that is left in a tree is a third such byte: what it stands for is not known, so no other tree may come as far as it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guidedviz.machines.dfa import DFA, build_dfa
from guidedviz.machines.grammar import Grammar
from guidedviz.machines.inline import inline_all, map_calls
from guidedviz.machines.minimal import minimise
from guidedviz.machines.nfa import MOST_NFA_STATES, build_nfa, count_states
from guidedviz.machines.schema_source import refusal
from guidedviz.machines.tree import Tree, concat, either, literal
from guidedviz.machines.visible import visible

MARKS = "\x00\x01"  # as binary digits
CALL = 2


class Shared(NamedTuple):
    """A text, the two trees that have it, and whether they do for sure: they may only begin with it, and then nest."""

    text: bytes
    one: int
    other: int
    sure: bool = True


def check_apart(trees: Sequence[Tree], grammar: Grammar, path: str) -> None:
    """Do the branches of a oneOf share no text? Rules are followed two calls deep."""
    bodies = inline_all(grammar)
    sizes = {name: count_states(tree) for name, tree in bodies.items()}
    for _ in range(2):
        if sum(count_states(tree, sizes) for tree in trees) < MOST_NFA_STATES:
            trees = [map_calls(tree, lambda call: bodies[call.name]) for tree in trees]
    shared = shared_text(trees)
    if shared and shared.sure:
        seen = f"branches {shared.one} and {shared.other} that both match {visible(shared.text)}"
        raise refusal(path, seen, "branches that share no text", "anyOf, or branches that differ in a const")
    if shared:
        seen = f"branches {shared.one} and {shared.other} that both may begin {visible(shared.text)} and then nest"
        raise refusal(path, seen, "branches told apart before one nests", "anyOf, or a const as their first property")


def shared_text(trees: Sequence[Tree]) -> Shared | None:
    """The shortest text that two of the trees have, and which two; None if they share nothing.

    >>> shared_text([literal("a"), either(literal("b"), literal("cd")), literal("cd")])
    Shared(text=b'cd', one=1, other=2, sure=True)
    >>> from guidedviz.machines.tree import Call
    >>> shared_text([concat(literal("a"), Call("x")), literal("b"), literal("ac")])
    Shared(text=b'a', one=0, other=2, sure=False)
    """
    width = len(trees).bit_length()
    plain = [map_calls(tree, lambda call: literal(chr(CALL))) for tree in trees]
    numbered = [concat(tree, literal(_number(place, width))) for place, tree in enumerate(plain)]
    machine = minimise(build_dfa(build_nfa(either(*numbered))))
    alive = None if plain == list(trees) else find_alive(machine)
    texts, queue = {0: b""}, deque([0])
    while queue:
        state = queue.popleft()
        found = list(_numbers(machine, state))
        if len(found) > 1:
            return Shared(texts[state], found[0], found[1])
        for low, high, target in machine.edges[state]:
            if alive and low <= CALL <= high and len(alive[state]) > 1:
                one = min(alive[target])
                other = min(alive[state] - {one})
                return Shared(texts[state], min(one, other), max(one, other), sure=False)
            if high > CALL and target not in texts:
                texts[target] = texts[state] + bytes([max(low, CALL + 1)])
                queue.append(target)
    return None


def find_alive(machine: DFA) -> list[frozenset[int]]:
    """For every state the numbers of the trees that may still have the text."""
    alive = [frozenset(_numbers(machine, state)) for state in range(len(machine))]
    sources: list[list[int]] = [[] for _ in alive]
    for state, row in enumerate(machine.edges):
        for _, high, target in row:
            if high >= CALL:
                sources[target].append(state)
    waiting = deque(range(len(alive)))
    while waiting:
        state = waiting.popleft()
        for source in sources[state]:
            if not alive[state] <= alive[source]:
                alive[source] |= alive[state]
                waiting.append(source)
    return alive


def _number(place: int, width: int) -> str:
    return "".join(MARKS[int(digit)] for digit in f"{place:0{width}b}")


def _numbers(machine: DFA, state: int, number: int = 0) -> Iterator[int]:
    """The numbers that can be read from a state on."""
    if machine.is_accepting(state):
        yield number
    for low, high, target in machine.edges[state]:
        for digit in range(low, min(high, 1) + 1):
            yield from _numbers(machine, target, 2 * number + digit)
