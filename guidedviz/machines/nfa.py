"""From a tree to an NFA: a few states wired for every node (Ken Thompson, CACM 1968), over bytes.

An NFA may be in several states at once, and moves along a free edge without reading.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines.steps import drain
from guidedviz.machines.tree import Call, Chars, Concat, Either, Net, Repeat, Tree, no_rules
from guidedviz.machines.utf8 import Row, utf8_rows
from guidedviz.machines.visible import counted

Edge = tuple[int, int, int]  # lowest byte, highest byte, target state
MOST_NFA_STATES = 40_000


@dataclass(frozen=True)
class NFA:
    """States are numbered from 0, where it starts; it accepts in state 1.

    >>> nfa = build_nfa(Chars(((97, 98),)))
    >>> nfa.edges, nfa.free
    ((((97, 98, 1),), ()), ((), ()))
    """

    edges: tuple[tuple[Edge, ...], ...]
    free: tuple[tuple[int, ...], ...]
    tree: Tree | None = field(default=None, compare=False)  # what it was built from, to name a repeat in an error

    initial = 0
    accepting = 1

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        return f"NFA({counted(len(self), 'state')}, {counted(sum(map(len, self.free)), 'free edge')})"


class NFAStep(NamedTuple):
    """One part of the tree is wired between two states; the parts inside of it are still to be wired."""

    part: Tree
    start: int
    end: int
    states: int  # how many there are now
    edges: tuple[tuple[int, Edge], ...] = ()  # source, edge
    free: tuple[tuple[int, int], ...] = ()  # source, target
    inside: tuple[tuple[Tree, int, int], ...] = ()  # part, start, end


def no_letter(call: Call) -> int:
    """In a flat pattern no letter stands for a call."""
    raise no_rules(call)


def build_nfa(tree: Tree, letter: Callable[[Call], int] = no_letter) -> NFA:
    """Wire the tree between state 0 and state 1; a call is an edge with a letter of its own, beyond the bytes.

    >>> from guidedviz.machines.regex import parse_regex
    >>> build_nfa(parse_regex("[a-z]{3}x?"))
    NFA(5 states, 1 free edge)
    """
    return drain(build_nfa_steps(tree, letter))


def build_nfa_steps(tree: Tree, letter: Callable[[Call], int] = no_letter) -> Generator[NFAStep, None, NFA]:
    """The same part by part: a whole before its parts, the first part first."""
    if count_states(tree) > MOST_NFA_STATES:
        raise too_large(f"more than {MOST_NFA_STATES:,} NFA states", tree)
    edges: list[list[Edge]] = [[], []]
    free: list[list[int]] = [[], []]
    waiting = [(tree, 0, 1)]
    while waiting:
        step = wire(*waiting.pop(), len(edges))
        for _ in range(step.states - len(edges)):
            edges.append([])
            free.append([])
        for source, edge in step.edges:
            edges[source].append(edge)
        if isinstance(step.part, Call):
            edges[step.start].append((letter(step.part), letter(step.part), step.end))
        for source, target in step.free:
            free[source].append(target)
        waiting.extend(reversed(step.inside))
        yield step
    return NFA(tuple(map(tuple, edges)), tuple(map(tuple, free)), tree)


def too_large(seen: str, tree: Tree | None = None) -> PatternError:
    """The error of a machine that would not fit."""
    blame = find_blame(tree) if tree else ""
    hint = f"a smaller repeat: {blame} costs most" if blame else "a smaller pattern"
    return PatternError("machine", seen=seen, expected="a machine that fits", hint=hint)


def wire(part: Tree, start: int, end: int, new: int) -> NFAStep:
    """Wire a part so that exactly its texts lead from start to end; fresh states are numbered from `new` on."""
    match part:
        case Chars():
            fresh, shape = shape_chars(part)
            places = (start, end, *range(new, new + fresh))
            edges = tuple([(places[source], (low, high, places[target])) for source, low, high, target in shape])
            return NFAStep(part, start, end, new + fresh, edges)
        case Concat(()):
            return NFAStep(part, start, end, new, free=((start, end),))
        case Concat(parts):
            joints = (start, *range(new, new + len(parts) - 1), end)
            inside = tuple(zip(parts, joints, joints[1:], strict=False))
            return NFAStep(part, start, end, new + len(parts) - 1, inside=inside)
        case Either(options):
            return NFAStep(part, start, end, new, inside=tuple((option, start, end) for option in options))
        case Repeat():
            return wire_repeat(part, start, end, new)
        case Net(places, joined):
            inside = tuple((inner, new + source, new + target) for source, inner, target in joined)
            free = ((start, new), (new + places - 1, end))
            return NFAStep(part, start, end, new + places, free=free, inside=inside)
        case Call():
            return NFAStep(part, start, end, new)  # its edge is drawn by who knows the rules


def wire_repeat(repeat: Repeat, start: int, end: int, new: int) -> NFAStep:
    """`low` copies that must be, then copies that may be left at any time; or a loop, if there is no highest count."""
    inner, low, high = repeat.part, repeat.low, repeat.high
    if high is None:
        return wire_loop(repeat, start, end, new)
    if high == 0:
        return NFAStep(repeat, start, end, new, free=((start, end),))
    joints = (start, *range(new, new + high - 1), end)
    free = tuple((joint, end) for joint in joints[low:-1])
    inside = tuple((inner, joint, after) for joint, after in pairwise(joints))
    return NFAStep(repeat, start, end, new + high - 1, free=free, inside=inside)


def wire_loop(repeat: Repeat, start: int, end: int, new: int) -> NFAStep:
    """All copies that must be, the last of them with a way back; or a loop that may be skipped."""
    joints = (start, *range(new, new + max(0, repeat.low - 1)))
    first = new + len(joints) - 1  # the loop's states
    last = first + 1 if repeat.low else first
    back = ((last, first),) if repeat.low else ()
    inside = tuple((repeat.part, joint, after) for joint, after in pairwise(joints))
    free = ((joints[-1], first), *back, (last, end))
    return NFAStep(repeat, start, end, last + 1, free=free, inside=(*inside, (repeat.part, first, last)))


@lru_cache(maxsize=256)
def shape_chars(chars: Chars) -> tuple[int, tuple[tuple[int, int, int, int], ...]]:
    """A chain of byte ranges a row, rows that end alike sharing their ends: fresh states; source, low, high, target.

    The start is 0 here, the end 1, and fresh states come after them.

    >>> shape_chars(Chars(((0x41, 0x41), (0xE9, 0xEB))))
    (1, ((0, 65, 65, 1), (2, 169, 171, 1), (0, 195, 195, 2)))
    """
    tails: dict[Row, int] = {(): 1}
    shape = []
    for row in (row for low, high in chars.ranges for row in utf8_rows(low, high)):
        target = 1
        for place in range(len(row) - 1, 0, -1):
            tail = row[place:]
            if tail not in tails:
                tails[tail] = len(tails) + 1
                shape.append((tails[tail], *row[place], target))
            target = tails[tail]
        shape.append((0, *row[0], target))
    return len(tails) - 1, tuple(shape)


def count_states(tree: Tree, calls: Mapping[str, int] | None = None) -> int:
    """How many states the wiring of a tree adds, without wiring it; `calls`: how many each call would bring.

    >>> from guidedviz.machines.regex import parse_regex
    >>> count_states(parse_regex("a{1000000}")), len(build_nfa(parse_regex("(ab|é){2,3}")))
    (999999, 10)
    """
    return _weigh(tree, [], calls or {})


def find_blame(tree: Tree) -> str:
    """The counted repeat that costs most states, in words; "" if there is none.

    >>> from guidedviz.machines.regex import parse_regex
    >>> find_blame(parse_regex("a{3}b{1,200}"))
    '{1,200} at position 5'
    """
    counted: list[tuple[int, Repeat]] = []
    _weigh(tree, counted, {})
    return str(max(counted, key=lambda found: found[0])[1]) if counted else ""


def _weigh(
    tree: Tree, counted: list[tuple[int, Repeat]], calls: Mapping[str, int], known: dict[int, int] | None = None
) -> int:
    """The states that a tree adds; every counted repeat in it is put on the list with its own.

    A part that stands in several places is looked at once: 2 to the 60 copies are counted as quickly as one.
    """
    known = {} if known is None else known
    if id(tree) not in known:
        match tree:
            case Chars():
                states = shape_chars(tree)[0]
            case Concat(parts):
                states = sum(_weigh(part, counted, calls, known) for part in parts) + max(0, len(parts) - 1)
            case Either(options):
                states = sum(_weigh(option, counted, calls, known) for option in options)
            case Net(places, edges):
                states = sum(_weigh(part, counted, calls, known) for _, part, _ in edges) + places
            case Repeat(part, low, high):
                each = _weigh(part, counted, calls, known)
                states = max(low, 1) * each + low + 1 if high is None else high * each + max(0, high - 1)
                if (high or low) > 1:
                    counted.append((states, tree))
            case Call(name):
                states = calls.get(name, 0)
        known[id(tree)] = states
    return known[id(tree)]
