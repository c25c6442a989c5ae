"""Do several trees share a text? Each text gets the number of its tree behind it, in two bytes that JSON never has.

One machine for all of them then tells: a state from which two numbers can be read stands behind a shared text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from guidedviz.machines.dfa import DFA, build_dfa
from guidedviz.machines.minimal import minimise
from guidedviz.machines.nfa import build_nfa
from guidedviz.machines.tree import Tree, concat, either, literal

MARKS = "\x00\x01"  # as binary digits


def shared_text(trees: Sequence[Tree]) -> tuple[bytes, int, int] | None:
    """The shortest text that two of the trees have, and which two; None if they share nothing.

    >>> shared_text([literal("a"), either(literal("b"), literal("cd")), literal("cd")])
    (b'cd', 1, 2)
    """
    width = len(trees).bit_length()
    numbered = [concat(tree, literal(_number(place, width))) for place, tree in enumerate(trees)]
    machine = minimise(build_dfa(build_nfa(either(*numbered))))
    texts, queue = {0: b""}, deque([0])
    while queue:
        state = queue.popleft()
        found = list(_numbers(machine, state))
        if len(found) > 1:
            return texts[state], found[0], found[1]
        for low, high, target in machine.edges[state]:
            if high > 1 and target not in texts:
                texts[target] = texts[state] + bytes([max(low, 2)])
                queue.append(target)
    return None


def _number(place: int, width: int) -> str:
    return "".join(MARKS[int(digit)] for digit in f"{place:0{width}b}")


def _numbers(machine: DFA, state: int, number: int = 0) -> Iterator[int]:
    """The numbers that can be read from a state on."""
    if machine.is_accepting(state):
        yield number
    for low, high, target in machine.edges[state]:
        for digit in range(low, min(high, 1) + 1):
            yield from _numbers(machine, target, 2 * number + digit)
