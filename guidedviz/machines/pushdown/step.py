"""One byte: for each configuration read, call, return. The set of what is reached is the next state.

    root ::= "(" root ")" | "x"         after "(x" node 2 has ended root: the text returns to node 3, where ")" leads
                                        to node 2 of the outer root. So the stacks (3, 2) become (2,).

`step_plainly` does this on stacks that are written as tuples. `StackSteps` does it on shared cells, keeps each step,
and limits the work. A test holds the two equal (`tests/machines/pushdown/test_step.py`).

Next: `tokens/split.py`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from operator import attrgetter
from sys import maxsize

from guidedviz.errors import PatternError
from guidedviz.machines.machine import LazySteps
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counted_stacks import Counting
from guidedviz.machines.pushdown.counting import ANY_COUNT
from guidedviz.machines.pushdown.stack import Cell, Cells, Configuration, Positions, Stacks, State

MOST_STACKS = 500  # on one node of a state; two seconds if each byte adds one
MOST_MOVES = 300_000  # from stack to stack for one byte; two seconds
MOST_KEPT = 500_000  # moves, states and cells; about 150 MB
MOVES_OF_CONFIGURATION = 20  # a new configuration costs more than a move
NUMBER = attrgetter("number")

Tops = dict[int, dict[Cell, None]]  # of each node: the tops of its stacks, in the order in which they were found


def settle_plainly(nodes: RuleNodes, stacks: Iterable[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """These stacks and all that they become without a byte; each lists where the callers go on, then the node.

    It does not end on a rule that calls itself first, and does not count repeats.

    >>> nodes = gv.grammar('root ::= "(" root ")" | "x"').nodes
    >>> sorted(settle_plainly(nodes, [(1,)])), sorted(settle_plainly(nodes, [(3, 2)]))
    ([(1,), (3, 0)], [(3,), (3, 2)])
    """
    settled = set()
    waiting = list(stacks)
    while waiting:
        stack = waiting.pop()
        if stack in settled:
            continue
        settled.add(stack)
        *callers, node = stack
        for rule, after in nodes.calls[node]:
            waiting.append((*callers, after, nodes.starts[rule]))
        if node in nodes.accepting and callers:
            waiting.append(tuple(callers))
    return settled


def step_plainly(nodes: RuleNodes, stacks: Iterable[tuple[int, ...]], byte: int) -> set[tuple[int, ...]]:
    """The stacks after one more byte.

    >>> nodes = gv.grammar('root ::= "(" root ")" | "x"').nodes
    >>> step_plainly(nodes, [(0,)], ord("(")), step_plainly(nodes, [(1,)], ord("x"))
    ({(1,)}, {(3, 2)})
    >>> step_plainly(nodes, [(3, 2)], ord(")"))
    {(2,)}
    """
    reached = set()
    for *callers, node in settle_plainly(nodes, stacks):
        for low, high, target in nodes.edges[node]:
            if low <= byte <= high:
                reached.add((*callers, target))
    return reached


class StackSteps:
    """The steps and states met so far. When there are too many they are forgotten; states that are held stay valid.

    `known.step` takes a step; a new one is computed by `read_byte`.
    """

    def __init__(self, machine: object, nodes: RuleNodes, kinds: bytes, longest: int | None = None) -> None:
        self._walked: list[State] = []  # the states that hold known steps
        self.nodes = nodes
        self.counting = Counting(nodes, longest) if any(nodes.counts) else None
        first_counts = self.counting.first_counts() if self.counting else tuple(ANY_COUNT for _ in nodes.names)
        self.stacks = Stacks(nodes, kinds, first_counts)
        self.bottom = self.stacks.add_bottom()
        self.known: LazySteps[State] = LazySteps(machine, kinds, self)
        self._numbers = count()
        self._states: dict[object, State] = {}
        self._most_work = maxsize
        self._limit = maxsize  # for the text of the error

    def __del__(self) -> None:
        self._unlink()

    def owns(self, state: object) -> bool:
        """Whether this is a state of this machine."""
        return isinstance(state, State) and state.bottom is self.bottom

    @contextmanager
    def limited(self, moves: int) -> Iterator[None]:
        """Limit the work of the steps inside, those of one mask or of a few; such limits do not nest."""
        self._limit = moves
        self._most_work = self.stacks.work + moves
        try:
            yield
        finally:
            self._most_work = maxsize

    def read_byte(self, state: State, byte: int) -> State | None:
        """The next state, computed for the first time."""
        if self.stacks.work > self._most_work:
            raise self._too_many(dict(state.tops), f"{self._limit:,} moves for one mask in")
        if self.stacks.kept > MOST_KEPT:
            self._forget()
        if not state.moves:  # `LazySteps` keeps the step there
            self._walked.append(state)
        self.stacks.kept += 1
        positions = self._positions(state, byte)
        if positions not in state.reached:
            arrived = self._arrivals(state, positions)
            if self.counting and self.nodes.ticks:
                arrived = self.counting.pass_ticks(self.stacks, arrived)
            state.reached[positions] = self.settle(arrived)
        return state.reached[positions]

    def _positions(self, state: State, byte: int) -> tuple[Positions, ...]:
        """The positions that a byte leads to, for each node of a state."""
        most = self.stacks.work + MOST_MOVES
        kind = self.known.kinds[byte]
        found = []
        for node, _ in state.tops:
            found.append(self.stacks.closure(node).of_kind.get(kind, ()))
            if self.stacks.work > most:
                raise self._too_many(dict(state.tops), f"{MOST_MOVES:,} moves for one byte in")
        return tuple(found)

    def _arrivals(self, state: State, positions: tuple[Positions, ...]) -> Iterator[Configuration]:
        """The configurations at these positions: in the rule that was open, or in one that is opened on top of it."""
        for (node, tops), of_node in zip(state.tops, positions, strict=True):
            for target, opened in of_node:
                if opened is None:
                    for cell in tops:
                        yield target, cell
                else:
                    yield target, self.stacks.cell(node, opened, tops)

    def settle(self, arrived: Iterable[Configuration]) -> State | None:
        """The state of these configurations and of those that follow when rules end; None if there is none."""
        with self.stacks.lock:
            first = list(arrived)
            if len(first) == 1 and first[0][0] not in self.nodes.ends:  # most are so
                ((node, cell),) = first
                self.stacks.work += MOVES_OF_CONFIGURATION
                self.stacks.kept += 1
                return self._known_state(((node, (cell,)),), False, cell.sure, cell.guessed)
            tops_of: Tops = defaultdict(dict)
            waiting: list[Configuration] = []
            self._add(first, tops_of, waiting)
            guessed = any(cell.guessed for _, cell in waiting)  # only of the stacks that read the byte
            accepting = False
            most = self.stacks.work + MOST_MOVES
            for node, cell in waiting:  # it grows
                if node in self.nodes.ends:
                    if cell is self.bottom:
                        accepting = True
                    following = self.counting.after_end(self.stacks, cell) if self.counting else self.stacks.below(cell)
                    self._add(following, tops_of, waiting)
                    if self.stacks.work > most:
                        raise self._too_many(tops_of, f"{MOST_MOVES:,} moves for one byte in")
            self.stacks.work += MOVES_OF_CONFIGURATION * len(waiting)
            self.stacks.kept += len(waiting)
            if not tops_of:
                return None
            return self.intern(tops_of, accepting, guessed)

    def _add(self, configurations: Iterable[Configuration], tops_of: Tops, waiting: list[Configuration]) -> None:
        """Add the configurations that are new."""
        for node, cell in configurations:
            tops = tops_of[node]
            if cell not in tops:
                tops[cell] = None
                waiting.append((node, cell))
                if len(tops) > MOST_STACKS:
                    raise self._too_many(tops_of, f"{MOST_STACKS:,} stacks at one place of")

    def intern(self, tops_of: Mapping[int, Iterable[Cell]], accepting: bool = False, guessed: bool = False) -> State:
        """The one state of these nodes and tops of stacks."""
        found = []
        sure = False
        for node, cells in tops_of.items():
            tops = list(cells)
            sure = sure or any([cell.sure for cell in tops])
            if node not in self.nodes.byteless:  # there no byte is read, so the next step does not need it
                if len(tops) > 1:
                    tops = self._in_order(tops)
                found.append((node, tuple(tops)))
        with self.stacks.lock:
            return self._known_state(tuple(found), accepting, sure, guessed)

    def _known_state(self, tops: tuple[tuple[int, Cells], ...], accepting: bool, sure: bool, guessed: bool) -> State:
        """The state with these tops in any order."""
        same = tops if len(tops) == 1 else frozenset(tops)  # a tuple is faster
        key = accepting, sure, guessed, same
        state = self._states.get(key)
        if state is None:
            state = State(next(self._numbers), tops, accepting, sure, guessed, self.bottom)
            self._states[key] = state
        return state

    def _in_order(self, tops: list[Cell]) -> list[Cell]:
        """The tops of one node by their numbers; equal calls with different counts are one."""
        if self.counting:
            tops = self.counting.join(self.stacks, tops)
        return sorted(tops, key=NUMBER)

    def _forget(self) -> None:
        """Start with empty tables; a state that is still held steps into new ones."""
        self._unlink()
        self._states.clear()
        self.stacks.forget()

    def _unlink(self) -> None:
        """Drop the known steps, or one state would keep all that was reached from it."""
        for state in self._walked:
            state.moves.clear()
            state.reached.clear()
        self._walked.clear()

    def _too_many(self, tops_of: Mapping[int, Collection[Cell]], what: str) -> PatternError:
        most = max(map(len, tops_of.values()))
        crowded = [node for node, cells in tops_of.items() if len(cells) > most // 2]
        names = list(dict.fromkeys(map(self.nodes.name_of, crowded)))
        seen = f"more than {what} {' and '.join(names[:3])}"
        hint = "rules that are not ambiguous"
        return PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)
