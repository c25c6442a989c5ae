"""Build an NFA over bytes from a syntax tree (Ken Thompson's construction, CACM 1968).

An NFA can be in several states at the same time. An epsilon edge (ε) reads no byte.

Next: `machines/regular/dfa.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines import limits
from guidedviz.machines.ranges import Ranges, Shape, shape_chars
from guidedviz.machines.syntax import Call, Chars, Concat, Either, Net, Repeat, Tick, Tree, no_rules
from guidedviz.machines.visible import counted
from guidedviz.machines.work import blame_work, spend

Edge = tuple[int, int, int]  # lowest byte, highest byte, target state
EdgeRow = tuple[Edge, ...]  # the edges of one state
ShapeOf = Callable[[Ranges], Shape]  # the edges of a class of characters
Letter = Callable[[Any], int]  # of a call or a tick: a number above all bytes


@dataclass(frozen=True)
class NFA:
    """State 0 is initial and, unless it was numbered anew, state 1 is accepting.

    >>> nfa = build_nfa(Chars(((97, 98),)))
    >>> nfa.edges, nfa.epsilon
    ((((97, 98, 1),), ()), ((), ()))
    """

    edges: tuple[EdgeRow, ...]
    epsilon: tuple[tuple[int, ...], ...]
    blame: str = field(default="", compare=False)  # the repeat that costs most, for errors
    accepting: int = 1

    initial = 0

    def __len__(self) -> int:
        return len(self.edges)

    def __repr__(self) -> str:
        free = sum(map(len, self.epsilon))
        return f"NFA({counted(len(self), 'state')}, {counted(free, 'epsilon edge')})"


def build_nfa(tree: Tree, letter: Letter = no_rules, shape: ShapeOf = shape_chars, share: bool = False) -> NFA:
    """Wire the tree between state 0 and state 1; a call is an edge with its own letter above 255.

    `shape` gives the edges of a class, by default over bytes. `share`: equal ends of texts have the same states.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> build_nfa(parse_regex("[a-z]{3}x?"))
    NFA(5 states, 1 epsilon edge)
    """
    states = tree.weight.states
    if states > limits.NFA_STATES:
        raise machine_too_large(f"more than {limits.NFA_STATES:,} NFA states", tree.weight.blame)
    spend(20 + 7 * states)
    wiring = _Wiring(letter, shape, share)
    waiting = [(tree, 0, 1)]
    while waiting:
        inside = wiring.wire(*waiting.pop())
        if inside:
            spend(2 * len(inside))
            waiting.extend(reversed(inside))
    return NFA(tuple(map(tuple, wiring.edges)), tuple(map(tuple, wiring.epsilon)), tree.weight.blame)


def number_in_order(nfa: NFA) -> NFA:
    """The same NFA with its states numbered branch by branch, and the accepting state last.

    >>> number_in_order(NFA((((97, 97, 2),), (), ((98, 98, 1),)), ((), (), ()))).edges
    (((97, 97, 1),), ((98, 98, 2),), ())
    """
    met = {nfa.accepting}
    order = []
    waiting = [*range(len(nfa))][::-1]  # the initial state first; the others for what it does not reach
    while waiting:
        state = waiting.pop()
        if state not in met:
            met.add(state)
            order.append(state)
            read = [target for _, _, target in nfa.edges[state]]
            waiting += reversed([*read, *nfa.epsilon[state]])
    order.append(nfa.accepting)
    number = {state: place for place, state in enumerate(order)}
    edges = []
    epsilon = []
    for state in order:
        edges.append(tuple((low, high, number[target]) for low, high, target in nfa.edges[state]))
        epsilon.append(tuple(number[target] for target in nfa.epsilon[state]))
    return NFA(tuple(edges), tuple(epsilon), nfa.blame, number[nfa.accepting])


Inside = Sequence[tuple[Tree, int, int]]  # parts, each with the states that it leads from and to


class _Wiring:
    """The states so far."""

    def __init__(self, letter: Letter, shape: ShapeOf, share: bool) -> None:
        self.letter = letter
        self.shape = shape
        self.share = share
        self.rests: dict[Any, int] = {}  # what leads to a state, and that state -> where it begins
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
                self.chars(part, start, end)
            case Concat(()) | Repeat(_, _, 0):
                self.epsilon[start].append(end)
            case Concat(parts):
                if self.share:
                    return self.row(parts, start, end)
                joints = (start, *self.new(len(parts) - 1), end)
                return list(zip(parts, joints, joints[1:], strict=False))
            case Either(options):
                return [(option, start, end) for option in options]
            case Repeat(inner, low, None):
                return self.endless(inner, low, start, end)
            case Repeat(inner, low, int(high)):
                return self.copies(inner, low, high, start, end)
            case Net():
                return self.net(part, start, end)
            case Call() | Tick():
                letter = self.letter(part)
                self.edges[start].append((letter, letter, end))
        return ()

    def row(self, parts: Sequence[Tree], start: int, end: int) -> Inside:
        """Parts one behind the other; what follows the first one is wired once for all rows that end so."""
        inside = []
        for part in reversed(parts[1:]):
            joint = self.rests.get((id(part), end))
            if joint is None:
                (joint,) = self.new(1)
                self.rests[id(part), end] = joint
                if isinstance(part, Repeat) and (part.low, part.high) == (0, None):  # a loop at the joint itself
                    self.epsilon[joint].append(end)
                    inside.append((part.part, joint, joint))
                else:
                    inside.append((part, joint, end))
            end = joint
        inside.append((parts[0], start, end))
        return inside

    def chars(self, part: Chars, start: int, end: int) -> None:
        fresh, edges = self.shape(part.ranges)
        inside = tuple([edge for edge in edges if edge[0]])  # the bytes after the first one of a character
        first = self.rests.get((inside, end))
        if first is None:
            first = self.new(fresh).start
            if self.share:
                self.rests[inside, end] = first
        else:
            edges = tuple([edge for edge in edges if not edge[0]])
        places = (start, end, *range(first, first + fresh))
        for source, low, high, target in edges:
            self.edges[places[source]].append((low, high, places[target]))

    def copies(self, part: Tree, low: int, high: int, start: int, end: int) -> Inside:
        """`high` copies one behind the other; after `low` of them the rest may be skipped."""
        joints = (start, *self.new(high - 1), end)
        for joint in joints[low:-1]:
            self.epsilon[joint].append(end)
        return [(part, joint, after) for joint, after in pairwise(joints)]

    def endless(self, part: Tree, low: int, start: int, end: int) -> Inside:
        """`low` copies, of which the last one is a loop; without any, a loop that may be skipped."""
        joints = (start, *self.new(max(0, low - 1)))
        copies = [(part, joint, after) for joint, after in pairwise(joints)]
        (first,) = self.new(1)
        last = first
        self.epsilon[joints[-1]].append(first)
        if low > 0:
            (last,) = self.new(1)
            self.epsilon[last].append(first)
        self.epsilon[last].append(end)
        return [*copies, (part, first, last)]

    def net(self, net: Net, start: int, end: int) -> Inside:
        """A state per place."""
        new = self.new(net.places)
        self.epsilon[start].append(new[0])
        self.epsilon[new[-1]].append(end)
        return [(part, new[source], new[target]) for source, part, target in net.edges]


def machine_too_large(seen: str, blame: str = "") -> PatternError:
    """The error for a machine that is too large."""
    hint = f"a smaller repeat: {blame} costs most" if blame else f"a smaller pattern{blame_work()}"
    return PatternError("machine", seen=seen, expected="a machine that fits", hint=hint)
