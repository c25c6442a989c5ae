"""The pushdown machine on stacks of which only the upper cells are known: what can be said wherever a node is met.

Under the cells that are known lies a floor. A state is *sure* while one of its stacks stands on a floor: whatever lies
below, its bytes may be read. When the last rule above a floor ends, the text goes on as after some call of that rule:
what follows is a guess, and bytes that no guess takes are legal nowhere (context expansion, arXiv 2411.15100).
Without expansion anything may follow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from guidedviz.errors import PatternError
from guidedviz.machines.pda import PDA, Cell, State
from guidedviz.machines.rule_nodes import RuleNodes

MOST_WORK = 1_000_000  # moves; half a second
Places = tuple[tuple[int, Cell], ...]


class Unknown(PDA):
    """The same rules, begun anywhere; `is_accepting` says that a state is sure.

    More stacks are possible than on the real machine: whoever begins anew allows it so much `work`.
    """

    most = MOST_WORK

    def __init__(self, pda: PDA, expand: bool = True) -> None:
        self._open(pda.grammar, add_anything(pda.nodes))
        self._end, self._pda_bottom = self._ground(), pda.bottom
        rules = range(len(pda.nodes.names))
        self._floors, guesses = [self._ground() for _ in rules], [self._ground() for _ in rules]
        self._surely, self._guesses = {self._end, *self._floors}, set(guesses)
        self._follow: dict[Cell, Places] = {self._end: ()}
        anything = ((len(pda.nodes), guesses[0]),)
        after = follow_calls(pda.nodes)
        for rule in rules:
            guessed = tuple((node, guesses[pda.nodes.rule_of[node]]) for node in after[rule])
            self._follow[self._floors[rule]] = self._follow[guesses[rule]] = guessed if expand else anything
        self._sure: dict[Cell, bool] = {}
        self._guessed: dict[Cell, bool] = {}
        self.initial = self.known(pda.initial, 0)

    def _ground(self) -> Cell:
        return Cell(next(self._cell_numbers), -1, 0, (), 1)

    def known(self, state: State, depth: int) -> State:
        """A state of the real machine with so many cells of its stacks, and a floor under them.

        >>> from guidedviz.machines.machine import read
        >>> from guidedviz.machines.pda import grammar
        >>> lists = grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= [a-z]+')
        >>> unknown, state = Unknown(lists), read(lists, b"<a")
        >>> [read(unknown, text, unknown.known(state, 0)).accepting for text in (b"bc", b"b>", b"b]")]
        [True, False, False]
        >>> [read(unknown, b"b]", unknown.known(state, depth)) is None for depth in (0, 1)]
        [False, True]
        """
        seen: dict[tuple[Cell, int], Cell] = {}
        rule_of = self.nodes.rule_of
        tops = {node: {self._upper(cell, rule_of[node], depth, seen) for cell in cells} for node, cells in state.tops}
        return self._state(tops, False)

    def at(self, node: int) -> State:
        """One node, and nothing known below it."""
        return self._state({node: (self._floors[self.nodes.rule_of[node]],)}, False)

    def allow_work(self, walks: int = 1) -> None:
        """Begin to count the moves anew."""
        self.most = self.work + walks * MOST_WORK

    def _read(self, state: State, byte: int) -> State | None:
        if self.work > self.most:
            seen, hint = f"more than {MOST_WORK:,} moves", "rules that are not ambiguous"
            raise PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)
        return super()._read(state, byte)

    def _upper(self, cell: Cell, rule: int, depth: int, seen: dict[tuple[Cell, int], Cell]) -> Cell:
        if depth == 0:
            return self._floors[rule]
        if cell is self._pda_bottom:
            return self._end
        if (cell, depth) not in seen:
            caller = self.nodes.rule_of[cell.node]
            below = {self._upper(under, caller, depth - 1, seen) for under in cell.below}
            seen[cell, depth] = self._cell(cell.node, cell.rule, tuple(sorted(below, key=lambda under: under.number)))
        return seen[cell, depth]

    def below(self, cell: Cell) -> Iterator[tuple[int, Cell]]:
        """Where a finished call may go on; below a floor wherever a call of its rule is followed by more."""
        return iter(self._follow[cell]) if cell in self._follow else super().below(cell)

    def is_known(self, state: State) -> bool:
        """Has no rule above a floor ended so far? Then nothing was guessed."""
        return not any(_stands(cell, self._guesses, self._guessed) for _, cells in state.tops for cell in cells)

    def _state(self, places: Mapping[int, Iterable[Cell]], accepting: bool) -> State:
        tops = (cell for cells in places.values() for cell in cells)
        return super()._state(places, any(_stands(cell, self._surely, self._sure) for cell in tops))

    def _forget(self) -> None:
        super()._forget()
        self._sure, self._guessed = {}, {}


def _stands(cell: Cell, grounds: set[Cell], found: dict[Cell, bool]) -> bool:
    """Does one of the stacks under a cell stand on one of these grounds?"""
    if cell not in found:
        found[cell] = cell in grounds or any(_stands(under, grounds, found) for under in cell.below)
    return found[cell]


Column = tuple[tuple[int, State], ...]


class Together:
    """Several starts read the same bytes at once: a state is a column of those that live, each with where it is.

    >>> from guidedviz.machines.pda import grammar
    >>> unknown = Unknown(grammar('root ::= "a" "b"+ | "c"'))
    >>> together = Together(unknown)
    >>> column = together.begin(range(3))
    >>> [[start for start, _ in together.step(column, byte) or ()] for byte in b"abx"]
    [[0], [1], []]
    """

    def __init__(self, machine: Unknown) -> None:
        self.machine, self.kinds = machine, machine.kinds
        self._reads = _Reads(machine)

    def begin(self, nodes: Iterable[int]) -> Column:
        """Each of these nodes, and nothing known below it."""
        return tuple((start, self.machine.at(node)) for start, node in enumerate(nodes))

    def step(self, column: Column, byte: int) -> Column | None:
        """The column after one more byte; None if no start lives. Most read only a few bytes: others are not asked."""
        moved = [(start, self.machine.step(state, byte)) for start, state in column if byte in self._reads[state]]
        return tuple([(start, after) for start, after in moved if after is not None]) or None


class _Reads(dict[State, frozenset[int]]):
    """The bytes that each state can read, found when they are first asked for."""

    def __init__(self, machine: Unknown) -> None:
        super().__init__()
        self.machine = machine

    def __missing__(self, state: State) -> frozenset[int]:
        found = self[state] = frozenset[int]().union(*(self.machine.ways(node).reads for node, _ in state.tops))
        return found


def add_anything(nodes: RuleNodes) -> RuleNodes:
    """One more node, which reads all bytes and never ends."""
    edges = (*nodes.edges, ((0, 255, len(nodes)),))
    return replace(nodes, edges=edges, calls=(*nodes.calls, ()), rule_of=(*nodes.rule_of, 0))


def follow_calls(nodes: RuleNodes) -> Mapping[int, list[int]]:
    """For every rule the nodes where a text goes on when a call of it has ended.

    >>> from guidedviz.machines.pda import grammar
    >>> lists = grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= [a-z]+')
    >>> dict(follow_calls(lists.nodes))
    {1: [3, 4]}
    """
    after: dict[int, list[int]] = defaultdict(list)
    for node in range(len(nodes)):
        for rule, following in nodes.calls[node]:
            if following not in after[rule]:
                after[rule].append(following)
    return after
