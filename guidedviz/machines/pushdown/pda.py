"""The pushdown machine of a grammar: the automata of its rules, a stack of the calls that are open, and both in words.

    root ::= "(" root ")" | "x"         "((x))" leads from node 0 over 1, 1, 3 and 3 to the end. No state stands at
                                        node 2, where root has ended, because no byte is read there.
                                        After "((" there are two frames of root: one stands at node 1 and waits for
                                        "(" or "x", the other will go on at node 3 and waits for ")"

Several configurations may be possible at once, so a state is a set of them. Stacks never change and share their cells:
a step back is an old state, and a step that was taken before is a look-up. A configuration (a node with a cell) is
shown as a frame: the open call, and the node where its text stands or will go on. A stack is listed from its innermost
frame down, along the first path.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.files import text_of
from guidedviz.machines import limits
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, check_grammar, recursive_rules
from guidedviz.machines.machine import LOW_CONTROLS, Machine
from guidedviz.machines.pushdown.automaton import build_rule_nodes
from guidedviz.machines.pushdown.counting import Bounds
from guidedviz.machines.pushdown.stack import Cell, Configuration, Configurations, Stacks, State
from guidedviz.machines.pushdown.step import StackSteps
from guidedviz.machines.regular.nfa import EdgeRow
from guidedviz.machines.special import no_names
from guidedviz.machines.visible import counted, visible_bytes
from guidedviz.machines.work import limited_work

MOST_SHOWN = 40  # frames of a stack
MOST_SHARED = 60  # frames of all stacks
MOST_BYTES = 12  # that are listed one by one
BLANKS = frozenset(b" \t\n\v\f\r")
ASCII = frozenset(range(128))
CONTROLS = LOW_CONTROLS | {127}


@dataclass(frozen=True)
class Frame:
    """One open rule: the node where it stands (innermost) or will go on, and what may come there."""

    rule: str
    node: int
    waits: str
    number: int  # of the open call, not of the frame; the same at every step; 0 is the root's


@dataclass(frozen=True)
class SharedFrame:
    """A frame that several stacks may share, and the numbers of the frames that may lie below it; 0 is the bottom.

    A number is the same at every step. When there are very many frames, `below` may name frames that are not listed.
    """

    number: int
    rule: str
    node: int
    below: tuple[int, ...]


def list_branches(stacks: Stacks, state: State) -> tuple[SharedFrame, ...]:
    """The frames of all stacks, tops first; a frame that several stacks share is listed once."""
    found = dict.fromkeys(state.configurations)
    waiting = list(found)
    shared: list[SharedFrame] = []
    for node, cell in waiting:  # it grows
        if len(shared) == MOST_SHARED:
            break
        below = dict.fromkeys(stacks.list_below(cell))
        waiting += [configuration for configuration in below if configuration not in found]
        found.update(below)
        numbers = tuple(number_frame(stacks, *configuration) for configuration in below)
        shared.append(SharedFrame(number_frame(stacks, node, cell), stacks.nodes.name_of(node), node, numbers or (0,)))
    return tuple(shared)


def number_frame(stacks: Stacks, node: int, cell: Cell) -> int:
    """The number of a frame: one per node and call, the same at every step; 0 is left for the bottom."""
    return 1 + cell.number * len(stacks.nodes) + node


def make_frame(stacks: Stacks, node: int, cell: Cell) -> Frame:
    """An open call at a node, in words."""
    nodes = stacks.nodes
    limit = nodes.counts[cell.rule]
    place = node
    if limit and not stacks.closure(node).reads:  # at the end of a part: what comes is a part from its start
        place = nodes.starts[cell.rule]
    waits = say_waits(stacks, place, may_end(stacks, node, cell))
    if limit and cell.rule == nodes.rule_of[node]:
        waits += f" ({limit.describe(cell.counts)})"
    return Frame(nodes.name_of(node), node, waits, cell.number)


def may_end(stacks: Stacks, node: int, cell: Cell) -> bool:
    """Whether an open rule may end at its node; in a counted repeat, also whether enough parts are read then."""
    nodes = stacks.nodes
    limit = nodes.counts[cell.rule]
    if not isinstance(limit, Bounds):
        return node in nodes.ends
    if node == nodes.starts[cell.rule]:  # between two parts: inside one no text comes back to its start
        return limit.may_stop(cell.counts)
    _, enough = limit.after_part(cell.counts)
    return enough and node in nodes.ends


def say_waits(stacks: Stacks, node: int, may_end_here: bool | None = None) -> str:
    """What may come at a node, in words. Several kinds of blank are left out if other bytes may come, too.

    Without `may_end_here` the node alone says whether its rule may end.

    >>> pairs = gv.grammar('root ::= [0-9] [ \\t]* ("," | ";") root?')
    >>> [say_waits(pairs.stacks, node) for node in range(3)]
    ['0-9', ', or ;', '0-9 or its end']
    >>> say_waits(gv.grammar(r'root ::= [^"\\x00-\\x1F]*').stacks, 0)
    'any character but " controls or its end'
    """
    parts = _say_bytes(frozenset(stacks.closure(node).reads))
    if may_end_here is None:
        may_end_here = node in stacks.nodes.ends
    if may_end_here:
        parts.append("its end")
    if len(parts) == 1:
        return parts[0]
    return " ".join(parts[:-1]) + " or " + parts[-1]


def _say_bytes(choices: frozenset[int]) -> list[str]:
    """These bytes as words; of most of ASCII it says what is missing."""
    if len(choices & ASCII) > len(ASCII) // 2:
        return [_say_many(choices)]
    if len(choices & BLANKS) > 1 and choices - BLANKS:  # a single blank is a character like others
        choices -= BLANKS
    if not choices:
        return []
    said = visible_bytes(choices, limit=MOST_BYTES)
    if said.endswith((" byte", " more")):
        return [said]
    return said.split(" ")


def _say_many(choices: frozenset[int]) -> str:
    """Most of ASCII, described by what is missing."""
    said = "any character" if choices - ASCII else "any of ASCII"
    missing = ASCII - choices
    words = []
    if missing - CONTROLS:
        words.append(visible_bytes(missing - CONTROLS))
    if missing & CONTROLS:
        words.append("controls")
    if not words:
        return said
    return f"{said} but {' '.join(words)}"


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
        self.kinds = self.nodes.kinds
        self.steps = StackSteps(self, self.nodes, self.kinds)
        self.stacks = self.steps.stacks
        self.bottom = self.steps.bottom
        self._own = self.steps.known.own  # refuses the states of other machines
        start = self.steps.settle([(self.nodes.starts[0], self.bottom)])
        assert start is not None  # the root can be finished, or its nodes would not have been built
        self.initial: State = start

    def __repr__(self) -> str:
        notes = f"; {counted(len(self.notes), 'note')}" if self.notes else ""
        return f"PDA({counted(len(self.nodes.names), 'rule')}, {counted(len(self.nodes), 'node')}{notes})"

    @property
    def byte_rows(self) -> Sequence[EdgeRow]:
        """The edges over bytes of every node."""
        return self.nodes.edges

    @property
    def finite(self) -> bool:
        """Whether no rule calls itself: stacks have bounded depth, and only counts make the machine large.

        >>> grammar('root ::= "x" [a-z]{0,5000}').finite, grammar('root ::= "(" root ")" | "x"').finite
        (True, False)
        """
        return not recursive_rules(self.grammar.calls)

    def step(self, state: State | None, byte: int) -> State | None:
        """The next state, or None. Only a new step checks that the state is of this machine."""
        return self.steps.known.step(state, byte)

    def is_accepting(self, state: State | None) -> bool:
        """Whether the text may end here: one configuration has finished with an empty stack."""
        return state is not None and self._own(state).accepting

    def depth(self, state: State) -> int:
        """How many rules are open on the first stack; 0 if no byte can follow."""
        tops = self._own(state).tops
        if not tops:
            return 0
        _, cells = tops[0]
        return cells[0].depth

    def places(self, state: State) -> tuple[int, ...]:
        """The nodes from which another byte can be read; none after a text that can only end."""
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
        below: Configurations = ((node, cell),)
        while below:
            node, cell = below[0]
            yield node, cell
            below = self.stacks.list_below(cell)

    def stack(self, state: State) -> tuple[str, ...]:
        """The names of the open rules of the first stack, innermost first; of a deep stack the innermost 40."""
        innermost = islice(self.first_stack(state), MOST_SHOWN)
        names = tuple(self.nodes.name_of(node) for node, _ in innermost)
        more = self.depth(state) - len(names)
        return (*names, f"… {more:,} more") if more else names

    def frames(self, state: State) -> tuple[Frame, ...]:
        """The innermost 40 open rules of the first stack, each with its node and what may come there."""
        innermost = islice(self.first_stack(state), MOST_SHOWN)
        return tuple(make_frame(self.stacks, node, cell) for node, cell in innermost)

    def unfinished(self, state: State) -> Frame | None:
        """The innermost open rule that cannot end here."""
        for node, cell in self.first_stack(state):
            if not may_end(self.stacks, node, cell):
                return make_frame(self.stacks, node, cell)
        return None

    def branches(self, state: State) -> tuple[SharedFrame, ...]:
        """The frames of all stacks, tops first; a frame that several stacks share is listed once."""
        return list_branches(self.stacks, self._own(state))


@limited_work()
def grammar(text: Any, root: str = "root", vocabulary: Any = None) -> PDA:
    """The pushdown machine of a grammar in GBNF, the dialect of llama.cpp, or of that in a file.

    `vocabulary` says which token `<[128010]>` names by its id.

    >>> nested = gv.grammar('root ::= "(" root ")" | "x"')
    >>> state = nested.step(nested.initial, ord("("))
    >>> nested.stack(state), nested.frames(state)[0]
    (('root',), Frame(rule='root', node=1, waits='( or x', number=0))
    """
    parsed = parse_grammar(text_of(text, "grammar"), root, no_names if vocabulary is None else vocabulary.special_names)
    try:
        return PDA(parsed)
    except PatternError:
        check_grammar(parsed)  # says which rule can never finish, if that is the reason
        raise


# JSON in GBNF, as in RFC 8259. Its brackets are balanced, so no finite machine can express it.
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

    >>> gv.json().accepts(b'{"a": [1, {"b": null}]}'), gv.json().accepts(b"[1,]"), gv.json().accepts_prefix(b"[[[[")
    (True, False, True)
    """
    return grammar(JSON_GBNF)
