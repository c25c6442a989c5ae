"""From a tree to an NFA: a few states wired for every node (Ken Thompson, CACM 1968), over bytes.

An NFA may be in several states at once, and moves along a free edge without reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from guidedviz.errors import PatternError
from guidedviz.machines.tree import Chars, Concat, Either, Repeat, Tree
from guidedviz.machines.utf8 import Row, utf8_rows

Edge = tuple[int, int, int]  # lowest byte, highest byte, target state
MOST_NFA_STATES = 20_000


@dataclass(frozen=True)
class NFA:
    """States are numbered from 0, where it starts; it accepts in state 1.

    >>> nfa = build_nfa(Chars(((97, 98),)))
    >>> nfa.edges, nfa.free
    ((((97, 98, 1),), ()), ((), ()))
    """

    edges: tuple[tuple[Edge, ...], ...]
    free: tuple[tuple[int, ...], ...]
    blame: str = ""  # the repeat that costs most states, to name it in an error

    initial = 0
    accepting = 1

    def __len__(self) -> int:
        return len(self.edges)


def build_nfa(tree: Tree) -> NFA:
    """Wire the tree between state 0 and state 1.

    >>> from guidedviz.machines.regex import parse_regex
    >>> len(build_nfa(parse_regex("[a-z]{3}")))
    5
    """
    blame = find_blame(tree)
    if count_states(tree) > MOST_NFA_STATES:
        raise too_large(f"more than {MOST_NFA_STATES:,} NFA states", blame)
    wiring = _Wiring()
    wiring.connect(tree, wiring.add_state(), wiring.add_state())
    return NFA(tuple(map(tuple, wiring.edges)), tuple(map(tuple, wiring.free)), blame)


def too_large(seen: str, blame: str) -> PatternError:
    """The error of a machine that would not fit."""
    hint = f"a smaller repeat: {blame} costs most" if blame else "a smaller pattern"
    return PatternError("regex", seen=seen, expected="a machine that fits", hint=hint)


@dataclass
class _Wiring:
    edges: list[list[Edge]] = field(default_factory=list)
    free: list[list[int]] = field(default_factory=list)

    def add_state(self) -> int:
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def connect(self, tree: Tree, start: int, end: int) -> None:
        """Wire the tree so that exactly its texts lead from start to end; nothing is wired back into start."""
        match tree:
            case Chars():
                self.connect_chars(tree, start, end)
            case Concat(parts):
                self.connect_row(parts, start, end)
            case Either(options):
                for option in options:
                    self.connect(option, start, end)
            case Repeat():
                self.connect_repeat(tree, start, end)

    def connect_chars(self, chars: Chars, start: int, end: int) -> None:
        """A chain of byte ranges a row; rows that end alike share their ends."""
        tails: dict[Row, int] = {(): end}
        for row in _rows_of(chars):
            target = end
            for place in range(len(row) - 1, 0, -1):
                tail = row[place:]
                if tail not in tails:
                    tails[tail] = self.add_state()
                    self.edges[tails[tail]].append((*row[place], target))
                target = tails[tail]
            self.edges[start].append((*row[0], target))

    def connect_row(self, parts: tuple[Tree, ...], start: int, end: int) -> None:
        if not parts:
            self.free[start].append(end)
        for place, part in enumerate(parts):
            target = end if place == len(parts) - 1 else self.add_state()
            self.connect(part, start, target)
            start = target

    def connect_repeat(self, repeat: Repeat, start: int, end: int) -> None:
        """`low` copies that must be, then a loop or copies that may be left at any time."""
        for _ in range(repeat.low):
            start = self.connect_copy(repeat.part, start)
        if repeat.high is None:
            self.connect_loop(repeat.part, start, end)
            return
        for _ in range(repeat.high - repeat.low):
            self.free[start].append(end)
            start = self.connect_copy(repeat.part, start)
        self.free[start].append(end)

    def connect_copy(self, part: Tree, start: int) -> int:
        target = self.add_state()
        self.connect(part, start, target)
        return target

    def connect_loop(self, part: Tree, start: int, end: int) -> None:
        loop = self.add_state()
        self.free[start].append(loop)
        self.connect(part, loop, loop)
        self.free[loop].append(end)


def _rows_of(chars: Chars) -> Iterator[Row]:
    for low, high in chars.ranges:
        yield from utf8_rows(low, high)


def count_states(tree: Tree) -> int:
    """How many states the wiring of a tree adds, without wiring it.

    >>> from guidedviz.machines.regex import parse_regex
    >>> count_states(parse_regex("a{1000000}")), len(build_nfa(parse_regex("(ab|é){2,3}")))
    (1000000, 11)
    """
    match tree:
        case Chars():
            return len({row[place:] for row in _rows_of(tree) for place in range(1, len(row))})
        case Concat(parts):
            return sum(map(count_states, parts)) + max(0, len(parts) - 1)
        case Either(options):
            return sum(map(count_states, options))
        case Repeat(part, low, high):
            copies = low + 1 if high is None else high
            return copies * (count_states(part) + 1)


def find_blame(tree: Tree) -> str:
    """The counted repeat that costs most states, in words; "" if there is none.

    >>> from guidedviz.machines.regex import parse_regex
    >>> find_blame(parse_regex("a{3}b{1,200}"))
    '{1,200} at position 5'
    """
    found = [repeat for repeat in _repeats(tree) if (repeat.high or repeat.low) > 1]
    return str(max(found, key=count_states)) if found else ""


def _repeats(tree: Tree) -> Iterator[Repeat]:
    match tree:
        case Concat(parts) | Either(parts):
            for part in parts:
                yield from _repeats(part)
        case Repeat():
            yield tree
            yield from _repeats(tree.part)
