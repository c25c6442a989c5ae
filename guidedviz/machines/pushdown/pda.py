"""The pushdown machine of a grammar: the automata of its rules, and a stack of the calls that are open.

    root ::= "(" root ")" | "x"         "((x))" leads from node 0 over 1, 1, 2, 2 to 2, where the bottom is reached

Several configurations may be possible at once, so a state is a set of them. Stacks never change and share their cells:
a step back is an old state, and a step that was taken before is a look-up.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from guidedviz.machines import limits
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, check_grammar, recursive_rules
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown import frames
from guidedviz.machines.pushdown.automaton import build_rule_nodes
from guidedviz.machines.pushdown.closure import Closure
from guidedviz.machines.pushdown.frames import Frame, SharedFrame
from guidedviz.machines.pushdown.stack import Cell, Configuration, Configurations, State
from guidedviz.machines.pushdown.step import StackSteps
from guidedviz.machines.visible import counted
from guidedviz.machines.work import limited_work


class PDA(Machine[State]):
    """Reads bytes by the rules of a grammar, which may be left-recursive, empty or ambiguous.

    A text that can be read in so many ways that over 500 stacks meet on one node ends in an error.

    >>> pda = PDA(gv.grammar('root ::= "(" root ")" | "x"').grammar)
    >>> pda, pda.accepts(b"((x))"), pda.accepts(b"((x)"), pda.accepts_prefix(b"((x)"), pda.accepts_prefix(b")")
    (PDA(1 rule, 4 nodes), True, False, True, False)
    """

    def __init__(self, grammar: Grammar, notes: tuple[str, ...] = (), copies: int = limits.COPIED_STATES) -> None:
        self.notes = notes  # what the source says and the machine does not enforce
        self.grammar = grammar
        self.nodes = build_rule_nodes(grammar, copies)
        self.steps = StackSteps(self, self.nodes, self.kinds)
        self.stacks = self.steps.stacks
        self.bottom = self.steps.bottom
        self._own = self.steps.known.own
        start = self.steps.settle([(self.nodes.starts[0], self.bottom)])
        assert start is not None  # the root can be finished, or its nodes would not have been built
        self.initial: State = start

    def __repr__(self) -> str:
        notes = f"; {counted(len(self.notes), 'note')}" if self.notes else ""
        return f"PDA({counted(len(self.nodes.names), 'rule')}, {counted(len(self.nodes), 'node')}{notes})"

    @property
    def kinds(self) -> bytes:
        """The kind of every byte: bytes of one kind move every node alike."""
        return self.nodes.kinds

    @property
    def finite(self) -> bool:
        """Whether no rule calls itself: stacks have bounded depth, and only counts make the machine large.

        >>> grammar('root ::= "x" [a-z]{0,5000}').finite, grammar('root ::= "(" root ")" | "x"').finite
        (True, False)
        """
        return not recursive_rules(self.grammar.calls)

    def step(self, state: State | None, byte: int) -> State | None:
        """The next state, or None. A known step is only looked up, also from a state of another PDA."""
        return self.steps.known.step(state, byte)

    def is_accepting(self, state: State | None) -> bool:
        """Whether the text may end here: one configuration has finished with an empty stack."""
        return state is not None and self._own(state).accepting

    def depth(self, state: State) -> int:
        """How many rules are open on the first stack."""
        tops = self._own(state).tops
        if not tops:
            return 0
        _, cells = tops[0]
        return cells[0].depth

    def places(self, state: State) -> tuple[int, ...]:
        """The possible nodes."""
        return tuple(node for node, _ in self._own(state).tops)

    def first_stack(self, state: State) -> Iterator[Configuration]:
        """The first stack of a state, innermost configuration first; it may be very deep."""
        tops = self._own(state).tops
        if not tops:
            return iter(())
        node, cells = tops[0]
        return self.stack_under(node, cells[0])

    def stack_under(self, node: int, cell: Cell) -> Iterator[Configuration]:
        """The first stack with this top, innermost configuration first."""
        yield node, cell
        below = self.below(cell)
        while below:
            node, cell = below[0]
            yield node, cell
            below = self.below(cell)

    def stack(self, state: State) -> tuple[str, ...]:
        """The names of the open rules of the first stack, innermost first; of a deep stack the innermost 40."""
        innermost = islice(self.first_stack(state), frames.MOST_SHOWN)
        names = tuple(self.nodes.name_of(node) for node, _ in innermost)
        more = self.depth(state) - len(names)
        return (*names, f"… {more:,} more") if more else names

    def frames(self, state: State) -> tuple[Frame, ...]:
        """The open rules of the first stack, each with its node and what may come there."""
        innermost = islice(self.first_stack(state), frames.MOST_SHOWN)
        return tuple(frames.make_frame(self.stacks, node, cell) for node, cell in innermost)

    def unfinished(self, state: State) -> Frame | None:
        """The innermost open rule that cannot end here."""
        for node, cell in self.first_stack(state):
            if not frames.may_end(self.stacks, node, cell):
                return frames.make_frame(self.stacks, node, cell)
        return None

    def branches(self, state: State) -> tuple[SharedFrame, ...]:
        """The frames of all stacks, tops first; a frame that several stacks share is listed once."""
        return frames.list_branches(self.stacks, self._own(state))

    def closure(self, node: int) -> Closure:
        """What is possible at a node, whatever lies below it."""
        return self.stacks.closure(node)

    def below(self, cell: Cell) -> Configurations:
        """The configurations in which a text may go on when this call has ended; none at the bottom."""
        return self.stacks.list_below(cell)


@limited_work()
def grammar(text: str, root: str = "root") -> PDA:
    """The pushdown machine of a grammar in GBNF, the dialect of llama.cpp.

    >>> nested = grammar('root ::= "(" root ")" | "x"')
    >>> state = nested.step(nested.initial, ord("("))
    >>> nested.stack(state), nested.frames(state)[0]
    (('root',), Frame(rule='root', node=1, waits='( or x', number=0))
    """
    parsed = parse_grammar(text, root)
    check_grammar(parsed)
    return PDA(parsed)


# JSON in GBNF, as in RFC 8259: a well-known grammar that no finite machine can express.
JSON_GBNF = r"""root   ::= ws value ws
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member (ws "," ws member)* ws)? "}"
member ::= string ws ":" ws value
array  ::= "[" ws (value (ws "," ws value)* ws)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" escape)* "\""
escape ::= ["\\/bfnrt] | "u" hex hex hex hex
hex    ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?
ws     ::= [ \t\n\r]*
"""


@lru_cache(maxsize=1)
def json() -> PDA:
    """The machine of JSON: any value at the root, blanks wherever RFC 8259 allows them.

    >>> json().accepts(b'{"a": [1, {"b": null}]}'), json().accepts(b"[1,]"), json().accepts_prefix(b"[[[[")
    (True, False, True)
    """
    return grammar(JSON_GBNF)
