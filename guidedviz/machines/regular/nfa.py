"""Build an NFA over bytes from a syntax tree (Ken Thompson's construction, CACM 1968).

An NFA can be in several states at the same time. An epsilon edge (ε) reads no byte.

Next: `machines/regular/dfa.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from guidedviz.machines.regular.size import count_states, too_large
from guidedviz.machines.regular.utf8 import Shape, shape_chars
from guidedviz.machines.syntax import Call, Chars, Concat, Either, Net, Repeat, Tick, Tree, no_rules
from guidedviz.machines.visible import counted
from guidedviz.machines.work import spend

Edge = tuple[int, int, int]  # lowest byte, highest byte, target state
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
