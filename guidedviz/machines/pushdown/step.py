"""One byte on all stacks of a state: what is read, what follows when rules end, and what is remembered of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count
from operator import attrgetter
from sys import maxsize

from guidedviz.errors import PatternError
from guidedviz.machines.machine import LazySteps
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.closure import Closure, Position, close_node
from guidedviz.machines.pushdown.counting import FIRST, Counts, count_tick, join_counts
from guidedviz.machines.pushdown.stack import Cell, Configuration, State
from guidedviz.machines.work import grouped

MOST_STACKS = 500  # on one node of a state; two seconds if each byte adds one
MOST_MOVES = 300_000  # from stack to stack for one byte; two seconds
MOST_KEPT = 500_000  # moves, states and cells; about 150 MB
NUMBER = attrgetter("number")


class StackGraph:
    """The cells and states met so far. When there are too many they are forgotten; states that are held stay valid."""

    def __init__(self, machine: object, nodes: RuleNodes, kinds: bytes, most: Sequence[float] = ()) -> None:
        self.nodes = nodes
        self.most = most  # per rule: how many parts one token may read; counts that behave alike till then are one
        self.counts = any(nodes.counts)  # whether a rule is counted
        self.ticks = any(nodes.ticks)  # whether a rule counts its characters
        self.work = 0  # done so far, in moves from stack to stack
        self._most_work = self._limit = maxsize
        self.steps: LazySteps[State] = LazySteps(machine, kinds, self._read, self.owns)
        self._cell_numbers, self._state_numbers = count(), count()
        self.grounds: dict[Cell, tuple[Configuration, ...]] = {}  # where a text goes on when the rules above have ended
        self._walked: list[State] = []
        self._forget()
        self.bottom = self.add_ground()

    def owns(self, state: object) -> bool:
        """Whether this is a state of this graph."""
        return isinstance(state, State) and state.bottom is self.bottom

    def add_ground(self, rule: int = 0, sure: bool = False, guessed: bool = False) -> Cell:
        """A new cell of a rule with nothing below it; a counted rule may go on and may end."""
        number = next(self._cell_numbers)
        ground = Cell(number, -1 - number, rule, (), 1, sure, guessed)
        self.grounds[ground] = ()
        return ground

    def closure(self, node: int) -> Closure:
        """The closure of a node, computed once."""
        if (found := self._closures.get(node)) is None:
            with self.steps.lock:
                found = self._closures[node] = close_node(self.nodes, node)
                size = len(found.reads) + sum(map(len, found.returns.values()))
                self._kept += size
                self.work += 5 * size
        return found

    def below(self, cell: Cell) -> tuple[Configuration, ...]:
        """The configurations in which a text may go on when this call has ended; none at the bottom."""
        with self.steps.lock:
            return tuple(self._below(cell))

    def cell(self, node: int, rule: int, below: tuple[Cell, ...]) -> Cell:
        """The one cell of a call."""
        counts = self.alike(FIRST, rule)
        key = node, rule, below, counts
        with self.steps.lock:
            if (found := self._cells.get(key)) is None:
                depth = below[0].depth + self.closure(node).depth[rule]
                sure, guessed = any(cell.sure for cell in below), any(cell.guessed for cell in below)
                number = next(self._cell_numbers)
                found = self._cells[key] = Cell(number, node, rule, below, depth, sure, guessed, counts)
                self._kept += 1
            return found

    def alike(self, counts: Counts, rule: int) -> Counts:
        """The counts of a rule as far as they matter."""
        bounds = self.nodes.counts[rule]
        if bounds is None:
            return None
        return bounds.alike(counts, self.most[rule]) if self.most else counts

    def recount(self, cell: Cell, counts: Counts) -> Cell:
        """The same call with other counts."""
        if counts == cell.counts:
            return cell
        key = cell.node, cell.rule, cell.below, counts
        with self.steps.lock:
            if (found := self._cells.get(key)) is None:
                found = self._cells[key] = replace(cell, counts=counts)
                if cell in self.grounds:
                    self.grounds[found] = self.grounds[cell]
                self._kept += 1
            return found

    def state(self, places: Mapping[int, Iterable[Cell]], accepting: bool = False, clean: bool = True) -> State:
        """The one state of these nodes and tops of stacks."""
        found: list[tuple[int, tuple[Cell, ...]]] = []
        sure = False
        for node, cells in places.items():
            tops = list(cells)
            sure = sure or any([cell.sure for cell in tops])
            if node not in self.nodes.last:
                if len(tops) > 1:
                    tops = sorted(self.join(tops) if self.counts else tops, key=NUMBER)
                found.append((node, tuple(tops)))
        key = accepting, sure, clean, found[0] if len(found) == 1 else frozenset(found)
        with self.steps.lock:
            if (state := self._states.get(key)) is None:
                number = next(self._state_numbers)
                state = self._states[key] = State(number, tuple(found), accepting, sure, clean, self.bottom)
            return state

    def join(self, cells: list[Cell]) -> list[Cell]:
        """The same stacks with one cell for all counts of a call."""
        calls = grouped(((cell.node, cell.rule, cell.below), cell) for cell in cells)
        return [self.recount(same[0], join_counts(cell.counts for cell in same)) for same in calls.values()]

    def settle(self, arrived: Iterable[Configuration]) -> State | None:
        """The state of these configurations and of those that follow when rules end; None if there is none."""
        places: dict[int, dict[Cell, None]] = defaultdict(dict)
        waiting: list[Configuration] = []

        def arrive(configurations: Iterable[Configuration]) -> None:
            for node, cell in configurations:
                if cell not in (tops := places[node]):
                    tops[cell] = None
                    waiting.append((node, cell))
                    if len(tops) > MOST_STACKS:
                        raise self._too_many(places, f"{MOST_STACKS:,} stacks at one place of")

        with self.steps.lock:
            arrive(arrived)
            clean = not any(cell.guessed for _, cell in waiting)
            accepting, most = False, self.work + MOST_MOVES
            for node, cell in waiting:
                if node in self.nodes.ends:
                    accepting |= cell is self.bottom
                    arrive(self._after(cell))
                    if self.work > most:
                        raise self._too_many(places, f"{MOST_MOVES:,} moves for one byte in")
            self.work += 20 * len(waiting)  # a new configuration costs more than a move
            self._kept += len(waiting)
            return self.state(places, accepting, clean) if places else None

    @contextmanager
    def limited(self, moves: int) -> Iterator[None]:
        """Limit the work of the steps of one mask."""
        self._most_work, self._limit = self.work + moves, moves
        try:
            yield
        finally:
            self._most_work = maxsize

    def _read(self, state: State, byte: int) -> State | None:
        """The next state, computed for the first time."""
        if self.work > self._most_work:
            raise self._too_many(dict(state.tops), f"{self._limit:,} moves for one mask in")
        if self._kept > MOST_KEPT:
            self._forget()
        if not state.moves:
            self._walked.append(state)
        self._kept += 1
        most, positions_of = self.work + MOST_MOVES, list[tuple[Position, ...]]()
        for node, _ in state.tops:
            positions_of.append(self.closure(node).reads.get(byte, ()))
            if self.work > most:
                raise self._too_many(dict(state.tops), f"{MOST_MOVES:,} moves for one byte in")
        read = tuple(positions_of)
        if read not in state.reached:
            arrived = (
                (target, cell)
                for (node, tops), positions in zip(state.tops, read, strict=True)
                for target, rule in positions
                for cell in (tops if rule is None else (self.cell(node, rule, tops),))
            )
            state.reached[read] = self.settle(self._tick(arrived) if self.ticks else arrived)
        return state.reached[read]

    def _tick(self, arrived: Iterable[Configuration]) -> Iterator[Configuration]:
        """The configurations that a counted length allows, each with its count."""
        for node, cell in arrived:
            most, target = self.nodes.ticks[node] or (0, node)
            counts = count_tick(cell.counts, most) if self.nodes.ticks[node] else cell.counts
            if counts != ():
                yield target, cell if target == node else self.recount(cell, counts)

    def _after(self, cell: Cell) -> Iterator[Configuration]:
        """Where a text may go on at the end of the rule of a cell: in the next repeat, or below."""
        bounds = self.nodes.counts[cell.rule]
        if bounds is None or bounds.spare is not None:
            return self._below(cell)
        again, may_end = bounds.once_more(cell.counts)
        below = self._below(cell) if may_end else iter(())
        if again == ():
            return below
        return chain([(self.nodes.starts[cell.rule], self.recount(cell, self.alike(again, cell.rule)))], below)

    def _below(self, cell: Cell) -> Iterator[Configuration]:
        if (known := self.grounds.get(cell)) is not None:
            yield from known
            return
        for after, rule in self.closure(cell.node).returns[cell.rule]:
            self.work += len(cell.below)
            for under in cell.below if rule is None else (self.cell(cell.node, rule, cell.below),):
                yield after, under

    def _forget(self) -> None:
        """Start with empty tables; a state that is still held steps into new ones."""
        for state in self._walked:
            state.moves.clear()  # or one state would keep all that was reached from it
            state.reached.clear()
        self._walked.clear()
        self._closures: dict[int, Closure] = {}
        self._cells: dict[tuple[int, int, tuple[Cell, ...], Counts], Cell] = {}
        self._states: dict[object, State] = {}
        self._kept = 0

    def _too_many(self, places: Mapping[int, Collection[Cell]], what: str) -> PatternError:
        most = max(map(len, places.values()))
        crowded = [node for node, cells in places.items() if len(cells) > most // 2]
        names = " and ".join(list(dict.fromkeys(map(self.nodes.name_of, crowded)))[:3])
        seen, hint = f"more than {what} {names}", "rules that are not ambiguous"
        return PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)
