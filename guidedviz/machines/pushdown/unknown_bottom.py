"""The same machine on a stack of which only the top is known: what holds wherever a node occurs.

    root ::= "<" item ">" | "[" item "]"        inside item, after letters, ">" and "]" are possible: which of them
    item ::= [a-z]+                             depends on the call that opened item, below the known part of the stack

Below the known cells there is no bottom where a text may end, but an unknown one. Inside item "ab" is legal whatever
lies below, "?" nowhere, and "b>" in some places. So each rule has two bottoms. A text begins on the *sure* bottom of
the rule of its node, and what is read there is legal on every stack. When that rule ends, the text goes on as after
some call of it, now on the *guessed* bottom of the rule that called. What is only read there is legal on some stacks,
and what not even a guess reads is legal on none (context expansion, arXiv 2411.15100).
"""

from collections.abc import Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import replace
from sys import maxsize

from guidedviz.machines.graph import grouped
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import ANY_COUNT, Bounds, Counts, join_counts
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import Cell, Configurations, State
from guidedviz.machines.pushdown.step import StackSteps

Place = tuple[int, Counts]  # a node, and how many parts of its rule were read
MOST_WORK = 1_000_000  # moves for one walk; half a second
MANY_BYTES = 24  # in a row, that keep a text at one node
MOST_WALKS = 10  # whose work may add up


class UnknownBottom:
    """Reads bytes from any node of a grammar, with an unknown stack below.

    When the known rules have ended, a text goes on with `expand` as after some call of the ended rule, and without it
    anything may follow.
    More stacks are possible than in the real machine: `limited` limits the work of the steps inside it.
    Counts that behave alike while `longest` bytes are read become one.
    """

    def __init__(self, pda: PDA, expand: bool = True, longest: int = maxsize) -> None:
        self.kinds = pda.kinds
        self.nodes = pda.nodes if expand else add_anything(pda.nodes)
        self._real_bottom = pda.bottom
        self._steps = StackSteps(self, self.nodes, pda.kinds, longest)
        self._stacks = self._steps.stacks
        self._stacks.closures = pda.stacks.closures  # they do not depend on what lies below
        self._end = self._stacks.add_bottom(sure=True)  # of a stack that is known down to the real bottom
        rules = range(len(pda.nodes.names))
        self._sure = [self._stacks.add_bottom(rule, sure=True) for rule in rules]
        self._guessed = [self._stacks.add_bottom(rule, guessed=True) for rule in rules]
        callers = follow_calls(pda.nodes)
        for rule in rules:
            following: Configurations = ((len(pda.nodes), self._guessed[0]),)  # the node that reads all bytes
            if expand:
                following = tuple((node, self._guessed[self.nodes.rule_of[node]]) for node in callers[rule])
            self._stacks.bottoms[self._guessed[rule]] = following
            if expand and self.nodes.counts[rule] and len(callers[rule]) == 1:  # a repeat, which ends at one place
                (after,) = callers[rule]
                caller = self.nodes.rule_of[after]
                if self.nodes.counts[caller] is None:
                    following = ((after, self._sure[caller]),)  # so on every stack
            self._stacks.bottoms[self._sure[rule]] = following
        self._plain = find_plain_repeats(pda.nodes)
        self._bytes_of = grouped((kind, byte) for byte, kind in enumerate(pda.kinds))

    def limited(self, walks: int = 1) -> AbstractContextManager[None]:
        """Limit the work of so many walks."""
        return self._steps.limited(min(walks, MOST_WALKS) * MOST_WORK)

    def step(self, state: State, byte: int) -> State | None:
        """The next state; the step of a byte that no node of the state reads is not kept in `state.moves`."""
        kind = self.kinds[byte]
        if kind in state.moves:
            return state.moves[kind]
        for node, _ in state.tops:
            if kind in self.kinds_at(node):
                after = state.moves[kind] = self._steps.read_byte(state, byte)
                return after
        return None

    def span(self, state: State, byte: int) -> tuple[int, int]:
        """The lowest and the highest byte around this one that are known to lead to the same state."""
        low = 0
        high = 255
        for node, _ in state.tops:
            if self.nodes.calls[node]:
                return byte, byte
            for first, last, _ in self.nodes.edges[node]:
                if last < byte:
                    low = max(low, last + 1)
                elif first > byte:
                    high = min(high, first - 1)
                else:
                    low = max(low, first)
                    high = min(high, last)
        return low, high

    def at(self, node: int, counts: Counts = ANY_COUNT) -> State:
        """The state at one node with nothing known below it, after so many parts of its rule."""
        return self._steps.intern({node: (self._bottom_of(node, counts),)})

    def _bottom_of(self, node: int, counts: Counts) -> Cell:
        """The sure bottom of the rule of a node, with these counts."""
        return self._stacks.recount(self._sure[self.nodes.rule_of[node]], counts)

    def places(self, state: State) -> tuple[Place, ...]:
        """The nodes of a state of the real machine, each with its counts, where those that are alike are merged."""
        if not self._steps.counting:
            return tuple((node, ANY_COUNT) for node, _ in state.tops)
        return tuple((node, join_counts(self._counts_at(node, cell) for cell in cells)) for node, cells in state.tops)

    def _counts_at(self, node: int, cell: Cell) -> Counts:
        """The counts of the rule of a node.

        After a tail call the cell is of another rule. The rule of the node is not counted then: it would have a cell.
        """
        if cell.rule != self.nodes.rule_of[node]:
            return ANY_COUNT
        return self._merge_alike(cell)

    def _merge_alike(self, cell: Cell) -> Counts:
        counting = self._steps.counting
        return counting.merge_alike(cell.counts, cell.rule) if counting else ANY_COUNT

    def start_repeat(self, node: int, counts: Counts) -> tuple[int, State] | None:
        """The counted rule that begins at a node or is its only call, and the state between two of its parts.

        There the repeat may go on and may end. None if there is no such rule, or if it calls others. A part may still
        be open if each of its ends can also go on.
        """
        rule = self._repeat_at(node)
        if rule is None:
            return None
        ((_, below), *_) = self._stacks.bottoms[self._sure[rule]]
        if below.sure or rule == self.nodes.rule_of[node]:  # at one place, what lies below is the same at both nodes
            cell = self._sure[rule]
        else:
            cell = self._stacks.cell(node, rule, (self._bottom_of(node, counts),))
        # when a part ends here, the next one may begin and the repeat may end
        ends = [one for one in self.nodes.accepting if self.nodes.rule_of[one] == rule]
        end = next((one for one in ends if one in self.nodes.byteless), ends[0])
        start = self._steps.settle([(end, self._stacks.recount(cell, ANY_COUNT))])
        return (rule, start) if start else None

    def _repeat_at(self, node: int) -> int | None:
        """The repeat of `find_plain_repeats` that is the only call of a node, or that begins there."""
        own = self.nodes.rule_of[node]
        found = own if node == self.nodes.starts[own] else None
        if not self.nodes.edges[node] and len(self.nodes.calls[node]) == 1:
            called, _ = self.nodes.calls[node][0]
            if called != own:
                found = called
        return found if found in self._plain else None

    def kinds_at(self, node: int) -> Set[int]:
        """The kinds of the bytes that may come next at a node."""
        return self._stacks.closure(node).of_kind.keys()

    def sure_step(self, state: State, byte: int) -> State | None:
        """The next state, if the text is legal on every stack: one stack on a sure bottom reads whatever lies below."""
        after = self.step(state, byte)
        return after if after is not None and after.sure else None

    def cut_to(self, state: State, depth: float) -> State:
        """A state of the real machine, cut to the top `depth` cells of its stacks.

        >>> from guidedviz.machines.machine import read
        >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= [a-z]+')
        >>> unknown, state = UnknownBottom(lists), read(lists, b"<a")
        >>> [read(unknown, text, unknown.cut_to(state, 0)).sure for text in (b"bc", b"b>", b"b]")]
        [True, False, False]
        >>> [read(unknown, b"b]", unknown.cut_to(state, depth)) is None for depth in (0, 1)]
        [False, True]
        """
        done: dict[tuple[Cell, float], Cell] = {}
        tops = {node: {self._cut(cell, node, depth, done) for cell in cells} for node, cells in state.tops}
        return self._steps.intern(tops)

    def _cut(self, cell: Cell, node: int, depth: float, done: dict[tuple[Cell, float], Cell]) -> Cell:
        """The top of a stack that stands at a node, on an unknown bottom; `done` holds the cells cut so far."""
        if depth == 0:
            return self._bottom_of(node, self._counts_at(node, cell))
        if cell is self._real_bottom:
            return self._end
        key = cell, depth
        if key not in done:
            below = {self._cut(under, cell.node, depth - 1, done) for under in cell.below}
            in_order = tuple(sorted(below, key=lambda under: under.number))
            same = self._stacks.cell(cell.node, cell.rule, in_order)
            done[key] = self._stacks.recount(same, self._merge_alike(cell))
        return done[key]

    def reads(self, state: State) -> list[int]:
        """The bytes that may come next."""
        kinds = frozenset().union(*(self.kinds_at(node) for node, _ in state.tops))
        return [byte for kind in kinds for byte in self._bytes_of[kind]]

    def text_beside(self, node: int, counts: Counts) -> int | None:
        """The node of free text to which a node leads by most bytes, as one in a key that has a name; None without."""
        text = self._text_after(node)
        if counts != ANY_COUNT or text is None or text == node or self._text_after(text) != text:
            return None
        return text

    def _text_after(self, node: int) -> int | None:
        """The node to which many bytes lead."""
        return next((target for low, high, target in self.nodes.edges[node] if high - low >= MANY_BYTES), None)

    def differ(self, one: State | None, other: State | None) -> list[int]:
        """The bytes that may lead two states to different ones; None is dead."""
        apart = self._leads(one).items() ^ self._leads(other).items()
        return [byte for kind in {kind for kind, _ in apart} for byte in self._bytes_of[kind]]

    def _leads(self, state: State | None) -> dict[int, object]:
        """What each kind of byte leads to, known without a step; kinds of two states with equal values lead to one."""
        if state is None:
            return {}
        if len(state.tops) == 1:
            node, cells = state.tops[0]
            closure = self._stacks.closure(node)
            if not closure.returns:  # no call is opened on the way
                return {kind: (positions, cells) for kind, positions in closure.of_kind.items()}
        return {kind: state for node, _ in state.tops for kind in self.kinds_at(node)}


def add_anything(nodes: RuleNodes) -> RuleNodes:
    """One more node, which reads all bytes and never ends (so any rule will do); the kinds of bytes stay the same."""
    more = len(nodes)
    return replace(
        nodes,
        edges=(*nodes.edges, ((0, 255, more),)),
        calls=(*nodes.calls, ()),
        rule_of=(*nodes.rule_of, 0),
    )


def find_plain_repeats(nodes: RuleNodes) -> frozenset[int]:
    """The counted rules that call no rule."""
    counted = {rule for rule, limit in enumerate(nodes.counts) if isinstance(limit, Bounds)}
    calling = {nodes.rule_of[node] for node, row in enumerate(nodes.calls) if row}
    return frozenset(counted - calling)


def follow_calls(nodes: RuleNodes) -> Mapping[int, list[int]]:
    """For every rule that is called the nodes where a text goes on when a call of it has ended.

    >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= [a-z]+')
    >>> dict(follow_calls(lists.nodes))
    {1: [3, 4]}
    """
    return grouped(dict.fromkeys(call for row in nodes.calls for call in row))
