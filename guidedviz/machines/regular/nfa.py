"""Build an NFA over bytes from a syntax tree (Ken Thompson's construction, CACM 1968).

An NFA can be in several states at the same time. An epsilon edge (ε) reads no byte.

Next: `machines/regular/dfa.py`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.syntax import Call, Chars, Concat, Either, Net, Repeat, Tick, Tree, no_rules
from guidedviz.machines.visible import counted
from guidedviz.machines.work import blame_work, spend

# A range of code points as sequences of byte ranges in UTF-8; surrogates have no bytes.
#
# `é` to `ÿ` is C3 and then A9-BF. The method is Ken Thompson's (Russ Cox, "Regular Expression Matching in the Wild",
# 2010).


ByteRanges = tuple[tuple[int, int], ...]  # one range per byte of a character

# In each of these all characters have the same number of bytes, and none is a surrogate.
LENGTHS = ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))


def utf8_rows(low: int, high: int) -> Iterator[ByteRanges]:
    """Sequences of byte ranges that together are exactly the characters from `low` to `high`.

    >>> for row in utf8_rows(0x7F, 0xFFF):
    ...     print(*(f"{a:02X}-{b:02X}" for a, b in row))
    7F-7F
    C2-DF 80-BF
    E0-E0 A0-BF 80-BF
    """
    for first, last in LENGTHS:
        if max(low, first) <= min(high, last):
            yield from _rows(max(low, first), min(high, last))


def _rows(low: int, high: int) -> Iterator[ByteRanges]:
    """Split the range until each byte varies on its own: where lead bytes differ, the rest must be 80 to BF."""
    for tail in (0x3F, 0xFFF, 0x3FFFF):
        if low & ~tail != high & ~tail:
            if low & tail:
                yield from _rows(low, low | tail)
                yield from _rows((low | tail) + 1, high)
                return
            if high & tail != tail:
                yield from _rows(low, (high & ~tail) - 1)
                yield from _rows(high & ~tail, high)
                return
    yield tuple(zip(chr(low).encode(), chr(high).encode(), strict=True))


Edge = tuple[int, int, int]  # lowest byte, highest byte, target state
Shape = tuple[int, tuple[tuple[int, int, int, int], ...]]  # the number of new states, and the edges between them
Letter = Callable[[Any], int]  # of a call or a tick: a number above all bytes
MOST_NFA_STATES = 40_000


@dataclass(frozen=True)
class NFA:
    """State 0 is initial and state 1 is accepting.

    >>> nfa = build_nfa(Chars(((97, 98),)))
    >>> nfa.edges, nfa.epsilon
    ((((97, 98, 1),), ()), ((), ()))
    """

    edges: tuple[tuple[Edge, ...], ...]
    epsilon: tuple[tuple[int, ...], ...]
    tree: Tree | None = field(default=None, compare=False)  # the source; errors name its repeats

    initial = 0
    accepting = 1

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        return f"NFA({counted(len(self), 'state')}, {counted(sum(map(len, self.epsilon)), 'epsilon edge')})"


def build_nfa(tree: Tree, letter: Letter = no_rules, shape: Callable[[Chars], Shape] | None = None) -> NFA:
    """Wire the tree between state 0 and state 1; a call is an edge with its own letter above 255.

    `shape` gives the edges of a class, by default over bytes.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> build_nfa(parse_regex("[a-z]{3}x?"))
    NFA(5 states, 1 epsilon edge)
    """
    states = count_states(tree)
    if states > MOST_NFA_STATES:
        raise too_large(f"more than {MOST_NFA_STATES:,} NFA states", tree)
    spend(20 + 7 * states)
    wiring = _Wiring(letter, shape or shape_chars)
    waiting = [(tree, 0, 1)]
    while waiting:
        if inside := wiring.wire(*waiting.pop()):
            spend(2 * len(inside))
            waiting.extend(reversed(inside))
    return NFA(tuple(map(tuple, wiring.edges)), tuple(map(tuple, wiring.epsilon)), tree)


def too_large(seen: str, tree: Tree | None = None) -> PatternError:
    """The error for a machine that is too large."""
    blame = find_blame(tree) if tree else ""
    hint = f"a smaller repeat: {blame} costs most" if blame else f"a smaller pattern{blame_work()}"
    return PatternError("machine", seen=seen, expected="a machine that fits", hint=hint)


Inside = Sequence[tuple[Tree, int, int]]  # parts, each with the states that it leads from and to


class _Wiring:
    """The states so far."""

    def __init__(self, letter: Letter, shape: Callable[[Chars], Shape]) -> None:
        self.letter, self.shape = letter, shape
        self.edges: list[list[Edge]] = [[], []]
        self.epsilon: list[list[int]] = [[], []]

    def new(self, count: int) -> range:
        """So many new states."""
        first = len(self.edges)
        for _ in range(count):
            self.edges.append([])
            self.epsilon.append([])
        return range(first, first + count)

    def wire(self, part: Tree, start: int, end: int) -> Inside:
        """Wire a part so that exactly its texts lead from start to end; its inner parts are wired later."""
        match part:
            case Chars():
                fresh, joined = self.shape(part)
                places = (start, end, *self.new(fresh))
                for source, low, high, target in joined:
                    self.edges[places[source]].append((low, high, places[target]))
            case Concat(()) | Repeat(_, _, 0):
                self.epsilon[start].append(end)
            case Concat(parts):
                joints = (start, *self.new(len(parts) - 1), end)
                return tuple(zip(parts, joints, joints[1:], strict=False))
            case Either(options):
                return tuple((option, start, end) for option in options)
            case Repeat():
                return self.repeat(part, start, end)
            case Net(count, joined_parts):
                new = self.new(count)
                self.epsilon[start].append(new[0])
                self.epsilon[new[-1]].append(end)
                return tuple((inner, new[source], new[target]) for source, inner, target in joined_parts)
            case Call() | Tick():
                self.edges[start].append((self.letter(part), self.letter(part), end))
        return ()

    def repeat(self, repeat: Repeat, start: int, end: int) -> Inside:
        """`low` copies, the others optional; without an upper bound the last one is a loop."""
        part, low, high = repeat.part, repeat.low, repeat.high
        if high is not None:
            joints = (start, *self.new(high - 1), end)
            for joint in joints[low:-1]:
                self.epsilon[joint].append(end)
            return tuple((part, joint, after) for joint, after in pairwise(joints))
        joints = (start, *self.new(max(0, low - 1)))
        loop = self.new(1 + (low > 0))
        first, last = loop[0], loop[-1]
        self.epsilon[joints[-1]].append(first)
        self.epsilon[last] += [first, end] if low else [end]
        return (*((part, joint, after) for joint, after in pairwise(joints)), (part, first, last))


@lru_cache(maxsize=256)
def shape_chars(chars: Chars) -> Shape:
    """One chain per sequence of byte ranges, with shared suffixes: the number of new states, and the edges.

    An edge is (source, low, high, target). The start is 0, the end is 1, and new states follow.

    >>> shape_chars(Chars(((0x41, 0x41), (0xE9, 0xEB))))
    (1, ((0, 65, 65, 1), (2, 169, 171, 1), (0, 195, 195, 2)))
    """
    tails: dict[ByteRanges, int] = {(): 1}
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


def count_states(tree: Tree, calls: Mapping[str, int] | None = None, copies: int | None = None) -> int:
    """The number of states that `build_nfa` adds for a tree; `calls` gives the states of each call.

    A repeat of more than `copies` states is counted later and adds one copy.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> count_states(parse_regex("a{1000000}")), len(build_nfa(parse_regex("(ab|é){2,3}")))
    (999999, 10)
    """
    weights = _Weights(calls or {}, copies)
    states = weights.of(tree)
    spend(2 * len(weights.known))
    return states


def find_blame(tree: Tree) -> str:
    """The counted repeat with the most states, as text; "" if there is none.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> find_blame(parse_regex("a{3}b{1,200}"))
    '{1,200}'
    """
    weights = _Weights({}, None)
    weights.of(tree)
    if not weights.counted:
        return ""
    worst = max(weights.counted, key=lambda found: found[0])[1]
    return str(worst) if worst.position is None else f"{worst} at position {worst.position}"


class _Weights:
    """The states that trees add, and the counted repeats with their states.

    The weight of a shared part is kept, so 2**60 copies take the same time as one.
    """

    def __init__(self, calls: Mapping[str, int], copies: int | None) -> None:
        self.calls, self.copies = calls, copies
        self.known: dict[int, int] = {}
        self.counted: list[tuple[int, Repeat]] = []

    def of(self, tree: Tree) -> int:
        if id(tree) not in self.known:
            match tree:
                case Chars():
                    states = shape_chars(tree)[0]
                case Concat(parts):
                    states = sum(map(self.of, parts)) + max(0, len(parts) - 1)
                case Either(options):
                    states = sum(map(self.of, options))
                case Net(places, edges):
                    spend(len(edges))
                    states = sum(self.of(part) for _, part, _ in edges) + places
                case Repeat():
                    states = self.of_repeat(tree)
                case Call() | Tick():
                    states = self.calls.get(tree.name, 0) if isinstance(tree, Call) else 0
            self.known[id(tree)] = states
        return self.known[id(tree)]

    def of_repeat(self, repeat: Repeat) -> int:
        each, low, high = self.of(repeat.part), repeat.low, repeat.high
        states = max(low, 1) * each + low + 1 if high is None else high * each + max(0, high - 1)
        if (high or low) > 1:
            self.counted.append((states, repeat))
            return each + 1 if self.copies is not None and states > self.copies else states
        return states
