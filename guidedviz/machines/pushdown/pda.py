"""The pushdown machine of a grammar: the automata of its rules, and a stack of the calls that are open.

Several configurations may be possible at once, so a state is a set of them. Stacks never change and share their cells:
a step back is an old state, and a step that was taken before is a look-up.

Next: `tokens/split.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, starmap

from guidedviz.machines.grammars.counted import MOST_COPIES
from guidedviz.machines.grammars.grammar import Grammar, check_grammar, parse_grammar, recursive_rules
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.automaton import build_rule_nodes
from guidedviz.machines.pushdown.closure import Closure
from guidedviz.machines.pushdown.stack import Cell, Configuration, State
from guidedviz.machines.pushdown.step import StackGraph
from guidedviz.machines.visible import counted, visible_bytes
from guidedviz.machines.work import limited_work

# The stacks of a pushdown machine for people: which rules are open, where each stands, what it waits for.
#
# A cell is an open call. With the node where its caller stands, or will go on, it is a frame. A stack is listed from
# its innermost frame down, along the first path; `branches` lists the frames of all stacks.


MOST_SHOWN = 40  # frames of a stack
MOST_SHARED = 60  # frames of all stacks
BLANKS = frozenset(b" \t\n\v\f\r")
ASCII, CONTROLS = frozenset(range(128)), frozenset([*range(32), 127])


@dataclass(frozen=True)
class Frame:
    """One open rule: the node where it stands (innermost) or will go on, and what may come there."""

    rule: str
    node: int
    waits: str
    number: int  # of the open call, the same at every step; 0 is the root's


@dataclass(frozen=True)
class SharedFrame:
    """A frame that several stacks may share, and the numbers of the frames that may lie below it; 0 is the bottom.

    A number is the same at every step. When there are very many frames, some numbers in `below` are not listed.
    """

    number: int
    rule: str
    node: int
    below: tuple[int, ...]


class PDA(Machine[State]):
    """Reads bytes by the rules of a grammar, which may be left-recursive, empty or ambiguous.

    A text that can be read in so many ways that over 500 stacks meet on one node ends in an error.

    >>> pda = PDA(gv.grammar('root ::= "(" root ")" | "x"').grammar)
    >>> pda, pda.accepts(b"((x))"), pda.accepts(b"((x)"), pda.accepts_prefix(b"((x)"), pda.accepts_prefix(b")")
    (PDA(1 rule, 4 nodes), True, False, True, False)
    """

    def __init__(self, grammar: Grammar, notes: tuple[str, ...] = (), copies: int = MOST_COPIES) -> None:
        self.notes = notes  # what the source says and the machine does not enforce
        self.grammar, self.nodes = grammar, build_rule_nodes(grammar, copies)
        self.graph = StackGraph(self, self.nodes, self.kinds)
        self.bottom, self._own = self.graph.bottom, self.graph.steps.own
        start = self.graph.settle([(self.nodes.starts[0], self.bottom)])
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
        return self.graph.steps.step(state, byte)

    def is_accepting(self, state: State | None) -> bool:
        """Whether the text may end here: one configuration has finished with an empty stack."""
        return state is not None and self._own(state).accepting

    def depth(self, state: State) -> int:
        """How many rules are open on the first stack."""
        tops = self._own(state).tops
        return tops[0][1][0].depth if tops else 0

    def places(self, state: State) -> tuple[int, ...]:
        """The possible nodes."""
        return tuple(node for node, _ in self._own(state).tops)

    def first_stack(self, state: State) -> Iterator[Configuration]:
        """The first stack of a state, innermost configuration first; it may be very deep."""
        tops = self._own(state).tops
        return self.stack_under(tops[0][0], tops[0][1][0]) if tops else iter(())

    def stack_under(self, node: int, cell: Cell) -> Iterator[Configuration]:
        """The first stack with this top."""
        yield node, cell
        while cell is not self.bottom:
            node, cell = self.below(cell)[0]
            yield node, cell

    def stack(self, state: State) -> tuple[str, ...]:
        """The names of the open rules of the first stack, innermost first; of a deep stack the innermost 40."""
        names = tuple(self.nodes.name_of(node) for node, _ in islice(self.first_stack(state), MOST_SHOWN))
        more = self.depth(state) - len(names)
        return (*names, f"… {more:,} more") if more else names

    def frames(self, state: State) -> tuple[Frame, ...]:
        """The open rules of the first stack, each with its node and what may come there."""
        return tuple(starmap(self._frame, islice(self.first_stack(state), MOST_SHOWN)))

    def unfinished(self, state: State) -> Frame | None:
        """The innermost open rule that cannot end here."""
        stuck = ((node, cell) for node, cell in self.first_stack(state) if not self._may_end(node, cell))
        return next(starmap(self._frame, stuck), None)

    def branches(self, state: State) -> tuple[SharedFrame, ...]:
        """The frames of all stacks, tops first; a frame that several stacks share is listed once."""
        found = dict.fromkeys((node, cell) for node, cells in self._own(state).tops for cell in cells)
        waiting = list(found)
        shared: list[SharedFrame] = []
        for node, cell in waiting:  # it grows
            if len(shared) == MOST_SHARED:
                break
            below = dict.fromkeys(self.below(cell))
            waiting += [configuration for configuration in below if configuration not in found]
            found.update(below)
            numbers = tuple(starmap(self._number, below)) or (0,)
            shared.append(SharedFrame(self._number(node, cell), self.nodes.name_of(node), node, numbers))
        return tuple(shared)

    def _number(self, node: int, cell: Cell) -> int:
        return 1 + cell.number * len(self.nodes) + node

    def _frame(self, node: int, cell: Cell) -> Frame:
        nodes, bounds = self.nodes, self.nodes.counts[cell.rule]
        again = bounds is not None and not self.closure(node).reads  # the next part, if any
        waits = say_waits(self, nodes.starts[cell.rule] if again else node, self._may_end(node, cell))
        if bounds and cell.rule == nodes.rule_of[node]:
            waits += f" ({bounds.say(cell.counts)})"
        return Frame(nodes.name_of(node), node, waits, cell.number)

    def _may_end(self, node: int, cell: Cell) -> bool:
        """Whether an open rule may end at its node: at the end of a part, or after enough parts of a counted repeat."""
        bounds = self.nodes.counts[cell.rule]
        if bounds is None or bounds.spare is not None:
            return node in self.nodes.ends
        if node == self.nodes.starts[cell.rule]:
            return bounds.may_stop(cell.counts)
        return node in self.nodes.ends and bounds.once_more(cell.counts)[1]

    def closure(self, node: int) -> Closure:
        """What is possible at a node, whatever lies below it."""
        return self.graph.closure(node)

    def below(self, cell: Cell) -> tuple[Configuration, ...]:
        """The configurations in which a text may go on when this call has ended; none at the bottom."""
        return self.graph.below(cell)


def say_waits(pda: PDA, node: int, may_end: bool | None = None) -> str:
    """What may come at a node, in words; optional whitespace is not named. `may_end`: whether the rule may end there.

    >>> pairs = gv.grammar('root ::= [0-9] [ \\t]* ("," | ";") root?')
    >>> [say_waits(pairs, node) for node in range(3)]
    ['0-9', ', or ;', '0-9 or its end']
    >>> say_waits(gv.grammar(r'root ::= [^"\\x00-\\x1F]*'), 0)
    'any character but " controls or its end'
    """
    choices = frozenset(pda.closure(node).reads)
    many = len(choices & ASCII) > len(ASCII) // 2
    if not many and len(choices & BLANKS) > 1 and choices - BLANKS:  # a single blank is a character like others
        choices -= BLANKS
    said = visible_bytes(choices, limit=12) if choices and not many else ""
    parts = [_say_many(choices)] if many else [said] if said.endswith((" byte", " more")) else said.split()
    parts += ["its end"] * (node in pda.nodes.ends if may_end is None else may_end)
    return " ".join(parts[:-1]) + " or " * (len(parts) > 1) + parts[-1]


def _say_many(choices: frozenset[int]) -> str:
    """Most of ASCII, described by what is missing."""
    missing = ASCII - choices
    words = [visible_bytes(missing - CONTROLS)] * bool(missing - CONTROLS) + ["controls"] * bool(missing & CONTROLS)
    return ("any character" if choices - ASCII else "any of ASCII") + f" but {' '.join(words)}" * bool(words)


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
