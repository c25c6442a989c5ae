"""The pushdown machine: the automata of a grammar's rules, and a stack of the calls that are open.

A configuration is a node and a stack. Several may be possible at once, so a state is a set of them; their stacks are
never changed and share their tails, and whatever was met once is kept: a step back is an old state, a step taken
before is a look-up. Where many stacks stand on one node they share its place (the graph-structured stack of Tomita,
1985); all calls of a rule from one place are one cell, which is how a rule may call itself first (GLL, Scott and
Johnstone, 2010). A call with nothing after it is not put on the stack, so a list that ends in itself stays flat.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from threading import RLock

from guidedviz.errors import PatternError
from guidedviz.machines.gbnf import parse_grammar
from guidedviz.machines.grammar import Grammar
from guidedviz.machines.lint import check_grammar
from guidedviz.machines.machine import no_state, read
from guidedviz.machines.rule_nodes import RuleNodes, build_rule_nodes
from guidedviz.machines.stack import Frame, SharedStack, list_frames, rule_names, shared_stacks, unfinished_frame
from guidedviz.machines.visible import counted
from guidedviz.machines.ways import Ways, find_ways

MOST_STACKS = 500  # on one node of a state; two seconds, where each byte adds one
MOST_MOVES = 300_000  # from stack to stack for one byte; two seconds to get there
MOST_KEPT = 500_000  # moves, states and cells; about 150 MB


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Cell:
    """An open call of a rule, made at a node, and the cells that may lie below; compared by identity, as all are kept.

    Where it goes on is not in the cell: that is known of the node and the rule.
    """

    number: int
    node: int
    rule: int
    below: tuple[Cell, ...]
    depth: int  # of the first stack that it is the top of

    def __repr__(self) -> str:
        return f"Cell({self.number}: rule {self.rule} called at node {self.node})"


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class State:
    """The nodes one can be at, each with the tops of the stacks that stand there; compared by identity."""

    number: int
    tops: tuple[tuple[int, tuple[Cell, ...]], ...]
    accepting: bool
    bottom: Cell | None  # of its machine, to tell states of another one
    moves: dict[int, State | None] = field(default_factory=dict)  # what was asked so far, by kind of byte

    def __repr__(self) -> str:
        return f"q{self.number}"


UNASKED = State(-1, (), False, None)


class PDA:
    """Reads bytes by the rules of a grammar; left-recursive, empty and ambiguous rules are taken as well.

    A text that can be read in so many ways that over 500 stacks meet on one node ends in an error. What was met is kept
    so that it is not made again; when it grows too much it is forgotten, and states that are still held stay good.
    """

    work = 0  # done so far, in moves from stack to stack

    def __init__(self, grammar: Grammar, merge: bool = True) -> None:
        self._open(grammar, build_rule_nodes(grammar, merge))
        start = self._rest([(self.nodes.starts[0], self.bottom)])
        assert start is not None  # the root can be finished, or its nodes would not have been built
        self.initial: State = start

    def _open(self, grammar: Grammar, nodes: RuleNodes) -> None:
        self.grammar, self.nodes, self.kinds = grammar, nodes, nodes.kinds
        self._cell_numbers, self._state_numbers = count(1), count()
        self._walked: list[State] = []
        self._lock = RLock()  # a page asks for masks and for pictures at once
        self._forget()
        self.bottom = Cell(0, -1, 0, (), 1)

    def __repr__(self) -> str:
        return f"PDA({counted(len(self.nodes.names), 'rule')}, {counted(len(self.nodes), 'node')})"

    def step(self, state: State, byte: int) -> State | None:
        """The next state, or None."""
        kind = self.kinds[byte]
        try:
            after = state.moves.get(kind, UNASKED)
        except AttributeError:
            raise no_state(self, state) from None
        return self._ask(state, kind, byte) if after is UNASKED else after

    def _ask(self, state: State, kind: int, byte: int) -> State | None:
        """The next state, found for the first time."""
        self._own(state)
        with self._lock:
            if self._kept > MOST_KEPT:
                self._forget()
            if not state.moves:
                self._walked.append(state)
            after = state.moves[kind] = self._read(state, byte)
            self._kept += 1
            return after

    def _own(self, state: State) -> State:
        """The state, if it is one of this machine."""
        if not isinstance(state, State) or state.bottom is not self.bottom:
            raise no_state(self, state)
        return state

    def _forget(self) -> None:
        """Begin with empty tables: whoever holds a state walks on from it into new ones."""
        for state in self._walked:
            state.moves.clear()  # or one state would keep all that was ever reached from it
        self._walked.clear()
        self._ways: dict[int, Ways] = {}
        self._cells: dict[tuple[int, int, tuple[Cell, ...]], Cell] = {}
        self._states: dict[object, State] = {}
        self._kept = 0

    def is_accepting(self, state: State) -> bool:
        """May the text end here? One configuration has finished, its stack empty."""
        return self._own(state).accepting

    def accepts(self, data: bytes) -> bool:
        """Is this a complete text?"""
        state = read(self, data)
        return isinstance(state, State) and state.accepting

    def accepts_prefix(self, data: bytes) -> bool:
        """Can this become a complete text?"""
        return read(self, data) is not None

    def depth(self, state: State) -> int:
        """How many rules are open on the first stack."""
        tops = self._own(state).tops
        return tops[0][1][0].depth if tops else 0

    def stack(self, state: State) -> tuple[str, ...]:
        """The names of the open rules of the first stack, innermost first; of a deep stack the innermost 40."""
        return rule_names(self, self._own(state))

    def frames(self, state: State) -> tuple[Frame, ...]:
        """The same with the node where each rule stands and what may come there."""
        return list_frames(self, self._own(state))

    def unfinished(self, state: State) -> Frame | None:
        """The innermost open rule that cannot end here."""
        return unfinished_frame(self, self._own(state))

    def branches(self, state: State) -> tuple[SharedStack, ...]:
        """All stacks at once, tops first, their tails shared."""
        return shared_stacks(self, self._own(state))

    def places(self, state: State) -> tuple[int, ...]:
        """The nodes one can be at."""
        return tuple(node for node, _ in self._own(state).tops)

    def ways(self, node: int) -> Ways:
        """All calls followed from a node until a byte is read or the rule ends; found once."""
        if (ways := self._ways.get(node)) is None:
            ways = self._ways[node] = find_ways(self.nodes, node)
            self._kept += len(ways.reads)
        return ways

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
                        raise self._too_many(places, f"{MOST_STACKS:,} stacks at one place of")

        arrive(arrived)
        accepting, most = False, self.work + MOST_MOVES
        for node, cell in waiting:
            if node in self.nodes.ends:
                accepting |= cell is self.bottom
                arrive(self.below(cell))
                if self.work > most:
                    raise self._too_many(places, f"{MOST_MOVES:,} moves for one byte in")
        self.work += 20 * len(waiting)  # to make one takes longer than to go over it
        self._kept += len(waiting)
        return self._state(places, accepting) if places else None

    def below(self, cell: Cell) -> Iterator[tuple[int, Cell]]:
        """Where a finished call may go on: a node, and the call that it stands in; nothing at the bottom."""
        if cell is not self.bottom:
            for after, rule in self.ways(cell.node).returns[cell.rule]:
                self.work += len(cell.below)
                for under in self._under(cell, rule):
                    yield after, under

    def _under(self, cell: Cell, rule: int | None) -> tuple[Cell, ...]:
        """What lies below a call: the stacks it was made on, or another call that was opened at the same node."""
        return cell.below if rule is None else (self._cell(cell.node, rule, cell.below),)

    def _cell(self, node: int, rule: int, below: tuple[Cell, ...]) -> Cell:
        key = node, rule, below
        if (found := self._cells.get(key)) is None:
            depth = below[0].depth + self.ways(node).depth[rule]
            found = self._cells[key] = Cell(next(self._cell_numbers), *key, depth)
            self._kept += 1
        return found

    def _state(self, places: Mapping[int, Iterable[Cell]], accepting: bool) -> State:
        resting = ((node, cells) for node, cells in places.items() if node not in self.nodes.last)
        tops = tuple((node, tuple(sorted(cells, key=lambda cell: cell.number))) for node, cells in resting)
        key = accepting, tops if len(tops) == 1 else frozenset(tops)
        if (found := self._states.get(key)) is None:
            found = self._states[key] = State(next(self._state_numbers), tops, accepting, self.bottom)
        return found

    def _too_many(self, places: Mapping[int, Collection[Cell]], what: str) -> PatternError:
        most = max(map(len, places.values()))
        crowded = [node for node, cells in places.items() if len(cells) > most // 2]
        names = " and ".join(list(dict.fromkeys(map(self.nodes.name_of, crowded)))[:3])
        hint = "rules that are not ambiguous"
        return PatternError("grammar", seen=f"more than {what} {names}", expected="few ways to read a text", hint=hint)


def build_pda(grammar: Grammar) -> PDA:
    """The pushdown machine of a grammar.

    >>> from guidedviz.machines.gbnf import parse_grammar
    >>> pda = build_pda(parse_grammar('root ::= "(" root ")" | "x"'))
    >>> pda, pda.accepts(b"((x))"), pda.accepts(b"((x)"), pda.accepts_prefix(b"((x)"), pda.accepts_prefix(b")")
    (PDA(1 rule, 4 nodes), True, False, True, False)
    """
    return PDA(grammar)


def grammar(text: str, root: str = "root") -> PDA:
    """The pushdown machine of a grammar in GBNF, the dialect of llama.cpp.

    >>> nested = grammar('root ::= "(" root ")" | "x"')
    >>> state = read(nested, b"((")
    >>> nested.stack(state), nested.frames(state)[0]
    (('root', 'root'), Frame(rule='root', node=1, waits='( or x', number=1))
    """
    parsed = parse_grammar(text, root)
    check_grammar(parsed)
    return build_pda(parsed)
