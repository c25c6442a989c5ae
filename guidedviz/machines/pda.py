"""The pushdown machine: the automata of a grammar's rules, and a stack of the calls that are open.

A configuration is a node and a stack. Several may be possible at once, so a state is a set of them; their stacks are
never changed and share their tails, and whatever was met once is kept: a step back is an old state, a step taken
before is a look-up. Where many stacks stand on one node they share its place (the graph-structured stack of Tomita,
1985); all calls of a rule from one place are one cell, which is how a rule may call itself first (GLL, Scott and
Johnstone, 2010). A call with nothing after it is not put on the stack, so a list that ends in itself stays flat.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines.grammar import Grammar
from guidedviz.machines.machine import read
from guidedviz.machines.rule_nodes import RuleNodes, build_rule_nodes
from guidedviz.machines.visible import counted

MOST_STACKS = 500  # on one node of a state; two seconds, where each byte adds one

Place = tuple[int, int | None]  # a node, and the rule of the call that it stands in; None: no call opened here


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Cell:
    """An open call of a rule, made at a node, and the cells that may lie below; compared by identity, as all are kept.

    Where it goes on is not in the cell: that is known of the node and the rule.
    """

    number: int
    node: int
    rule: int
    below: tuple[Cell, ...]

    def __repr__(self) -> str:
        return f"Cell({self.number}: rule {self.rule} called at node {self.node})"


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class State:
    """The nodes one can be at, each with the tops of the stacks that stand there; compared by identity."""

    number: int
    tops: tuple[tuple[int, tuple[Cell, ...]], ...]
    accepting: bool
    moves: dict[int, State | None] = field(default_factory=dict)  # what was asked so far

    def __repr__(self) -> str:
        return f"q{self.number}"


class Ways(NamedTuple):
    """What is possible at a node, whatever lies below: the places a byte leads to, where an opened call goes on."""

    reads: dict[int, tuple[Place, ...]]
    returns: dict[int, tuple[Place, ...]]


class PDA:
    """Reads bytes by the rules of a grammar; left-recursive, empty and ambiguous rules are taken as well.

    A text that can be read in so many ways that over 500 stacks meet on one node ends in an error.
    """

    def __init__(self, nodes: RuleNodes) -> None:
        self.nodes = nodes
        self._ways: dict[int, Ways] = {}
        self._cells: dict[tuple[int, int, tuple[Cell, ...]], Cell] = {}
        self._states: dict[object, State] = {}
        self.bottom = Cell(0, -1, 0, ())
        start = self._rest([(nodes.starts[0], self.bottom)])
        assert start is not None  # the root can be finished, or its nodes would not have been built
        self.initial: State = start

    def __repr__(self) -> str:
        return f"PDA({counted(len(self.nodes.names), 'rule')}, {counted(len(self.nodes), 'node')})"

    def step(self, state: State, byte: int) -> State | None:
        """The next state, or None."""
        if byte not in state.moves:
            state.moves[byte] = self._read(state, byte)
        return state.moves[byte]

    def is_accepting(self, state: State) -> bool:
        """May the text end here? One configuration has finished, its stack empty."""
        return state.accepting

    def accepts(self, data: bytes) -> bool:
        """Is this a complete text?"""
        state = read(self, data)
        return isinstance(state, State) and state.accepting

    def accepts_prefix(self, data: bytes) -> bool:
        """Can this become a complete text?"""
        return read(self, data) is not None

    def stack(self, state: State) -> tuple[str, ...]:
        """The names of the open rules of the first configuration, innermost first."""
        if not state.tops:
            return ()
        node, cells = state.tops[0]
        names, cell = [self.nodes.names[self.nodes.rule_of[node]]], cells[0]
        while cell is not self.bottom:
            after, rule = self.ways(cell.node).returns[cell.rule][0]
            names.append(self.nodes.names[self.nodes.rule_of[after]])
            cell = self._under(cell, rule)[0]
        return tuple(names)

    def ways(self, node: int) -> Ways:
        """All calls followed from a node until a byte is read or the rule ends; found once."""
        if node not in self._ways:
            self._ways[node] = find_ways(self.nodes, node)
        return self._ways[node]

    def _read(self, state: State, byte: int) -> State | None:
        return self._rest(
            (target, cell)
            for node, tops in state.tops
            for target, rule in self.ways(node).reads.get(byte, ())
            for cell in (tops if rule is None else (self._cell(node, rule, tops),))
        )

    def _rest(self, arrived: Iterable[tuple[int, Cell]]) -> State | None:
        """The state of these configurations and of all that are left when rules that may end do so."""
        places: dict[int, dict[Cell, None]] = defaultdict(dict)
        waiting: list[tuple[int, Cell]] = []

        def arrive(tops: Iterable[tuple[int, Cell]]) -> None:
            for node, cell in tops:
                if cell not in places[node]:
                    places[node][cell] = None
                    waiting.append((node, cell))
                    if len(places[node]) > MOST_STACKS:
                        raise self._too_many(places)

        arrive(arrived)
        accepting = False
        for node, cell in waiting:
            if node in self.nodes.ends:
                accepting |= cell is self.bottom
                arrive(self._pop(cell))
        return self._state(places, accepting) if places else None

    def _pop(self, cell: Cell) -> Iterable[tuple[int, Cell]]:
        if cell is not self.bottom:
            for after, rule in self.ways(cell.node).returns[cell.rule]:
                for under in self._under(cell, rule):
                    yield after, under

    def _under(self, cell: Cell, rule: int | None) -> tuple[Cell, ...]:
        """What lies below a call: the stacks it was made on, or another call that was opened at the same node."""
        return cell.below if rule is None else (self._cell(cell.node, rule, cell.below),)

    def _cell(self, node: int, rule: int, below: tuple[Cell, ...]) -> Cell:
        key = node, rule, below
        found = self._cells.get(key)
        return found or self._cells.setdefault(key, Cell(len(self._cells) + 1, *key))

    def _state(self, places: Mapping[int, Iterable[Cell]], accepting: bool) -> State:
        resting = ((node, cells) for node, cells in places.items() if node not in self.nodes.last)
        tops = tuple((node, tuple(sorted(cells, key=lambda cell: cell.number))) for node, cells in resting)
        key = accepting, tops if len(tops) == 1 else frozenset(tops)
        return self._states.get(key) or self._states.setdefault(key, State(len(self._states), tops, accepting))

    def _too_many(self, places: Mapping[int, Collection[Cell]]) -> PatternError:
        crowded = [node for node, cells in places.items() if len(cells) > MOST_STACKS // 10]
        names = " and ".join(dict.fromkeys(self.nodes.names[self.nodes.rule_of[node]] for node in crowded))
        seen = f"more than {MOST_STACKS:,} stacks at one place of {names}"
        hint = "rules that are not ambiguous"
        return PatternError("grammar", seen=seen, expected="few ways to read a text", hint=hint)


def find_ways(nodes: RuleNodes, node: int) -> Ways:
    """Follow all calls from a node; a rule that is called twice, by itself or by others, is followed once."""
    reads: dict[int, dict[Place, None]] = defaultdict(dict)
    returns: dict[int, dict[Place, None]] = defaultdict(dict)
    found: dict[Place, None] = {(node, None): None}
    waiting = list(found)
    for at, opened in waiting:
        for low, high, target in nodes.edges[at]:
            for byte in range(low, high + 1):
                reads[byte][target, opened] = None
        for rule, after in nodes.calls[at]:
            start = nodes.starts[rule]
            following = [(after, opened)] if start in nodes.ends else []  # the called rule may be empty
            if after in nodes.last:
                following.append((start, opened))
            else:
                returns[rule][after, opened] = None
                following.append((start, rule))
            for place in following:
                if place not in found:
                    found[place] = None
                    waiting.append(place)
    return Ways(
        {byte: tuple(places) for byte, places in reads.items()},
        {rule: tuple(places) for rule, places in returns.items()},
    )


def build_pda(grammar: Grammar) -> PDA:
    """The pushdown machine of a grammar.

    >>> from guidedviz.machines.gbnf import parse_grammar
    >>> pda = build_pda(parse_grammar('root ::= "(" root ")" | "x"'))
    >>> pda, pda.accepts(b"((x))"), pda.accepts(b"((x)"), pda.accepts_prefix(b"((x)"), pda.accepts_prefix(b")")
    (PDA(1 rule, 4 nodes), True, False, True, False)
    >>> pda.stack(read(pda, b"(("))
    ('root', 'root')
    """
    return PDA(build_rule_nodes(grammar))
