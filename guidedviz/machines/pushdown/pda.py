"""The pushdown machine of a grammar: the automata of its rules, and a stack of the calls that are open.

Several configurations may be possible at once, so a state is a set of them. Stacks never change and share their cells:
a step back is an old state, and a step that was taken before is a look-up.

Next: `tokens/split.py`.
"""

from __future__ import annotations

from guidedviz.machines.grammars.analysis import find_loops
from guidedviz.machines.grammars.counted import MOST_COPIES
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.lint import check_grammar
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.call_stack import (
    Frame,
    SharedFrame,
    list_frames,
    rule_names,
    shared_frames,
    unfinished_frame,
)
from guidedviz.machines.pushdown.closure import Closure
from guidedviz.machines.pushdown.rule_nodes import build_rule_nodes
from guidedviz.machines.pushdown.stack_graph import Cell, Configuration, StackGraph, State
from guidedviz.machines.visible import counted
from guidedviz.machines.work import limited_work


class PDA:
    """Reads bytes by the rules of a grammar, which may be left-recursive, empty or ambiguous.

    A text that can be read in so many ways that over 500 stacks meet on one node ends in an error.

    >>> pda = PDA(gv.grammar('root ::= "(" root ")" | "x"').grammar)
    >>> pda, pda.accepts(b"((x))"), pda.accepts(b"((x)"), pda.accepts_prefix(b"((x)"), pda.accepts_prefix(b")")
    (PDA(1 rule, 4 nodes), True, False, True, False)
    """

    def __init__(
        self, grammar: Grammar, merge: bool = True, notes: tuple[str, ...] = (), copies: int = MOST_COPIES
    ) -> None:
        self.notes = notes  # what the source says and the machine does not enforce
        self.grammar, self.nodes = grammar, build_rule_nodes(grammar, merge, copies)
        self.kinds = self.nodes.kinds
        self.graph = StackGraph(self, self.nodes, self.kinds)
        self.bottom = self.graph.bottom
        start = self.graph.settle([(self.nodes.starts[0], self.bottom)])
        assert start is not None  # the root can be finished, or its nodes would not have been built
        self.initial: State = start

    def __repr__(self) -> str:
        notes = f"; {counted(len(self.notes), 'note')}" if self.notes else ""
        return f"PDA({counted(len(self.nodes.names), 'rule')}, {counted(len(self.nodes), 'node')}{notes})"

    @property
    def finite(self) -> bool:
        """Whether no rule calls itself: stacks have bounded depth, and only counts make the machine large.

        >>> grammar('root ::= "x" [a-z]{0,5000}').finite, grammar('root ::= "(" root ")" | "x"').finite
        (True, False)
        """
        return not find_loops(self.grammar.calls)

    @property
    def work(self) -> int:
        """The work done so far, in moves from stack to stack; a mask limits it."""
        return self.graph.work

    def step(self, state: State | None, byte: int) -> State | None:
        """The next state, or None. A known step is only looked up, also from a state of another PDA."""
        return self.graph.steps.step(state, byte)

    def is_accepting(self, state: State | None) -> bool:
        """Whether the text may end here: one configuration has finished with an empty stack."""
        return state is not None and self._own(state).accepting

    def accepts(self, data: bytes) -> bool:
        """Whether this is a complete text."""
        state = read(self, data)
        return isinstance(state, State) and state.accepting

    def accepts_prefix(self, data: bytes) -> bool:
        """Whether this can become a complete text."""
        return read(self, data) is not None

    def depth(self, state: State) -> int:
        """How many rules are open on the first stack."""
        tops = self._own(state).tops
        return tops[0][1][0].depth if tops else 0

    def stack(self, state: State) -> tuple[str, ...]:
        """The names of the open rules of the first stack, innermost first; of a deep stack the innermost 40."""
        return rule_names(self, self._own(state))

    def frames(self, state: State) -> tuple[Frame, ...]:
        """The open rules of the first stack, each with its node and what may come there."""
        return list_frames(self, self._own(state))

    def unfinished(self, state: State) -> Frame | None:
        """The innermost open rule that cannot end here."""
        return unfinished_frame(self, self._own(state))

    def branches(self, state: State) -> tuple[SharedFrame, ...]:
        """The frames of all stacks, tops first; shared frames are listed once."""
        return shared_frames(self, self._own(state))

    def places(self, state: State) -> tuple[int, ...]:
        """The possible nodes."""
        return tuple(node for node, _ in self._own(state).tops)

    def closure(self, node: int) -> Closure:
        """What is possible at a node, whatever lies below it."""
        return self.graph.closure(node)

    def below(self, cell: Cell) -> tuple[Configuration, ...]:
        """The configurations in which a text may go on when this call has ended; none at the bottom."""
        return self.graph.below(cell)

    def _own(self, state: State) -> State:
        return self.graph.steps.own(state)


@limited_work()
def grammar(text: str, root: str = "root") -> PDA:
    """The pushdown machine of a grammar in GBNF, the dialect of llama.cpp.

    >>> nested = grammar('root ::= "(" root ")" | "x"')
    >>> state = read(nested, b"((")
    >>> nested.stack(state), nested.frames(state)[0]
    (('root', 'root'), Frame(rule='root', node=1, waits='( or x', number=1))
    """
    parsed = parse_grammar(text, root)
    check_grammar(parsed)
    return PDA(parsed)
