"""The engine of lab 04 in three parts: a step of a set of NFA states, the walk of a trie, the index from walks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from guidedviz.checks.guard import Failed, attempt
from guidedviz.checks.judge import Case, Mistake, check_function, is_open, same_set, say_kind, shortest_wrong_token
from guidedviz.checks.machines.finite_machines import DECIMAL, case_of_tokens
from guidedviz.checks.tokens.trie_jump import WALKS
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.fixpoint import reach
from guidedviz.machines.names import name_node, name_state
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages, regex
from guidedviz.machines.visible import counted, visible
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.trie import Node, walk_steps
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.layout.sketch import sketch_dfa, sketch_nfa
from guidedviz.views.machine.films import moves_by, sketch_trie
from guidedviz.views.machine.picture import draw_machine

Row = dict[int, int]  # legal token -> the state after it
CLUMSY = r"\d+|\d+\.\d+|\d+,\d+"
READINGS = (  # a regex, the text read so far, and the next byte
    ("a", b"", b"a"),
    ("a", b"", b"b"),
    ("a", b"a", b"a"),
    ("[a-c]", b"", b"b"),
    ("[a-c]", b"", b"c"),
    ("ab", b"a", b"b"),
    ("ab?", b"", b"a"),
    ("a?b|a", b"", b"a"),
    ("a*", b"a", b"a"),
    ("(a*)*", b"", b"a"),
    ("é+", b"\xc3", b"\xa9"),
    ("[ab]*a[ab]{2}", b"aab", b"a"),
    (CLUMSY, b"4", b"2"),
    (CLUMSY, b"42", b"."),
    (CLUMSY, b"42", b"x"),
)
INDEXES: tuple[tuple[str, list[bytes]], ...] = (  # a regex, and pieces
    ("a", [b"a"]),
    ("a", [b"b"]),
    ("ab", [b"a", b"b"]),
    ("ab", [b"ab", b"c"]),
    ("a*", [b"a", b"aa"]),
    ("abc", [b"a", b"bc", b"ab"]),
    ("(ab)*", [b"ab", b"aba", b"b"]),
    ("[0-9]{4}-[0-9]{2}", [b"1", b"12", b"-", b"1-", b"-1", b"123"]),
    (DECIMAL, [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"]),
)
LONG = ("a*", b"", [b"a" * 9])

# -- one step of a set of NFA states -------------------------------------------------------------------------------


def check_step_set(answer: Callable[[NFA, set[int], int], Iterable[int]]) -> Verdict:
    """Does `answer(nfa, states, byte)` give all states after the byte, with those that epsilon edges add?

    >>> check_step_set(lambda nfa, states, byte: {
    ...     target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high})
    ✗ not yet right: on input 7 of 15, the smallest on which it fails
        input       NFA of the regex ab?, states {0}, byte 'a'
        yours gave  {2}
        expected    {1, 2}
        because     n1 is missing: an epsilon edge leads from n2 to n1
    """
    return check_function(answer, [_reading(*one) for one in READINGS], same_set, _step_mistake)


def _reading(text: str, begun: bytes, byte: bytes) -> Case:
    nfa = machine_stages(text)[0]
    states = _close(nfa, {nfa.initial})
    for one in begun:
        states = _step(nfa, states, one)
    given = f"NFA of the regex {text}, states {show(states)}, byte {show(byte)[1:]}"
    return Case((nfa, states, byte[0]), _step(nfa, states, byte[0]), given=(("input", given),))


def _close(nfa: NFA, states: Iterable[int]) -> set[int]:
    return set(reach(states, nfa.epsilon.__getitem__))


def _step(nfa: NFA, states: set[int], byte: int) -> set[int]:
    return _close(nfa, {target for _, target in moves_by(nfa, states, byte)})


def _step_mistake(case: Case, value: Any) -> Mistake:
    nfa, states, byte = case.arguments
    if said := _say_not_states(value):
        return Mistake(said)
    gave, expected, moves = set(value), case.expected, moves_by(nfa, states, byte)
    known = frozenset(gave.intersection(range(len(nfa))))
    sketch = replace(sketch_nfa(nfa), lit=known, words=f"lit: what yours gave, {counted(len(known), 'state')}")
    return Mistake(_say_difference(nfa, moves, gave, expected, byte), draw_machine(sketch))


def _say_not_states(value: Any) -> str:
    """Why a value is no set of states; empty if it is one."""
    if value is None:
        return "it returns None here: where no state reads the byte, the answer is the empty set"
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        return "a set of state numbers is expected"
    if any(isinstance(one, bool) for one in value):
        return "state numbers are expected, and this is a mask of True and False: np.flatnonzero(mask) gives them"
    other = [one for one in value if not isinstance(one, int)]
    return f"states are whole numbers, and this holds {show(other[0])}" if other else ""


def _say_difference(nfa: NFA, moves: list[tuple[int, int]], gave: set[int], expected: set[int], byte: int) -> str:
    sign = visible(bytes([byte]))
    if wrong := gave - expected:
        if not 0 <= (state := min(wrong)) < len(nfa):
            return f"there is no state {state}"
        return f"{name_node(state)} is too many: no edge that reads {sign} leads there, nor an epsilon edge after it"
    state = min(expected - gave, key=lambda one: (one not in {target for _, target in moves}, one))
    for source, target in moves:
        if target == state:
            return f"{name_node(state)} is missing: an edge that reads {sign} leads there from {name_node(source)}"
    ways = [source for source in sorted(expected) if state in nfa.epsilon[source]]
    source = min(ways, key=lambda one: one not in gave)
    return f"{name_node(state)} is missing: an epsilon edge leads from {name_node(source)} to {name_node(state)}"


# -- the walk of a trie --------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Watched(Node):
    """A node that records for which nodes the children were asked."""

    seen: set[int] = field(compare=False)

    @property
    def children(self) -> dict[int, Node]:
        self.seen.add(self.number)
        return {byte: Watched(self.trie, node.number, self.seen) for byte, node in super().children.items()}


@dataclass(frozen=True)
class Counting(DFA):
    """A DFA that records its steps."""

    @cached_property
    def steps(self) -> list[int]:
        return []

    def step(self, state: int | None, byte: int) -> int | None:
        self.steps.append(byte)
        return super().step(state, byte)


def check_walk(answer: Callable[[Node, DFA, int], Row]) -> Verdict:
    """Does `answer(node, machine, state)` find the legal tokens and their next states, without refused subtrees?

    >>> check_walk(lambda node, machine, state: dict.fromkeys(node.tokens, state))
    ✗ not yet right: on input 1 of 12, the smallest on which it fails
        input       regex 3, in q0: nothing was read
        pieces      [b'3']
        yours gave  {}
        expected    {0: 1}
        because     token 0 is legal: every byte passes: q0 to q1
    """

    def watched(machine: Counting, state: int, pieces: list[bytes]) -> Any:
        machine.steps.clear()
        root = Watched(Vocabulary(pieces).trie, 0, set())
        gave = attempt(answer, (root, machine, state))
        return gave if is_open(gave) else (gave, root.seen, len(machine.steps))

    cases = [_walk(*one) for one in (*WALKS, LONG)]
    verdict = check_function(watched if callable(answer) else answer, cases, _same_walk, _walk_mistake)
    return replace(verdict, said=f"{verdict.said}, and takes no step below a refused node") if verdict else verdict


def walk(node: Node, machine: DFA, state: int) -> Row:
    """The legal tokens at a node and below it, each with the state after it."""
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        after = machine.step(state, byte)
        if after is not None:
            found |= walk(child, machine, after)
    return found


def _walk(text: str, begun: bytes, pieces: list[bytes]) -> Case:
    """The expected values are the row, the live nodes, and the number of steps."""
    case = case_of_tokens(text, begun, pieces)
    machine, state, _ = case.arguments
    trie = Vocabulary(pieces).trie
    live = {0, *(node for node, _ in walk_steps(trie, machine, state))}
    steps = sum(len(Node(trie, node).children) for node in live)
    counting = Counting(machine.edges, machine.accepting)
    return replace(case, arguments=(counting, state, pieces), expected=(walk(trie.root, machine, state), live, steps))


def _same_walk(value: Any, expected: Any) -> bool:
    gave, seen, steps = value
    row, live, enough = expected
    return _same_row(gave, row) and seen <= live and steps <= 2 * enough


def _same_row(value: Any, row: Row) -> bool:
    return isinstance(value, Mapping) and value == row and not any(isinstance(one, bool) for one in value)


def _walk_mistake(case: Case, value: Any) -> Mistake:
    machine, state, pieces = case.arguments
    row, live, enough = case.expected
    gave, seen, steps = value if isinstance(value, tuple) else (value, set(), 0)  # it was stopped
    trie = Vocabulary(pieces).trie
    figure = _draw_seen(Vocabulary(pieces), seen)
    if not _same_row(gave, row):
        said = "" if isinstance(gave, Failed) else _say_row(machine, state, pieces, gave, row)
        return Mistake(said, figure, (("yours gave", show(gave)), ("expected", show(row))))
    if not seen <= live:
        (node, *_), names = sorted(seen - live), sketch_trie(trie, Vocabulary(pieces)).names
        return Mistake(
            f"the machine refuses {names[node]}: nothing below that node is legal",
            figure,
            (("looked below", names[node]),),
        )
    took = (("yours took", counted(steps, "step")), ("enough", counted(enough, "step")))
    return Mistake("each node needs one step, from the state of the node above it", figure, took)


def _say_row(machine: DFA, state: int, pieces: list[bytes], gave: Any, row: Row) -> str:
    """What is wrong with the row of a state."""
    if gave is None:
        return "it returns None here: where no token is legal, the answer is the empty dictionary"
    if not isinstance(gave, Mapping):
        right = "the ids are right; " if same_set(gave, {*row}) else ""
        kind = say_kind(gave, {*row}) if not right else ""
        return f"{right}a dictionary is expected: each legal id with the state after it" + f" ({kind})" * bool(kind)
    if said := say_kind([*gave], {*row}):
        return said
    if {*gave} == {*row}:
        other = min(token for token in row if gave[token] != row[token])
        return f"token {other} leads from {name_state(state)} to {name_state(row[other])}, not to {show(gave[other])}"
    if (token := shortest_wrong_token([*gave], {*row}, pieces)) is None:
        return "an id is not in the vocabulary"
    why = explain_token(machine, Vocabulary(pieces), state, token)
    return f"token {token} is {'legal' if why.legal else 'illegal'}: {why.reason}"


def _draw_seen(vocabulary: Vocabulary, seen: set[int]) -> Figure:
    """The trie, with the nodes highlighted at which the student's walk looked."""
    sketch, trie = sketch_trie(vocabulary.trie, vocabulary), vocabulary.trie
    lit = frozenset({0}.union(child.number for node in seen for child in Node(trie, node).children.values()))
    arrows = frozenset((int(trie.parent[node]), node) for node in lit if node)
    words = f"lit: what yours looked at, {len(lit) - 1} of {len(trie) - 1} nodes"
    return draw_machine(replace(sketch, lit=lit, lit_arrows=arrows, words=words))


# -- the index from walks ------------------------------------------------------------------------------------------


def check_index(answer: Callable[[Node, DFA, Callable[[Node, DFA, int], Row]], dict[int, Row]]) -> Verdict:
    """Does `answer(root, machine, walk)` give a row for each state that tokens lead to from the initial one?

    >>> check_index(lambda root, machine, walk: {machine.initial: walk(root, machine, machine.initial)})
    ✗ not yet right: on input 1 of 9, the smallest on which it fails
        input       regex a
        pieces      [b'a']
        yours gave  {0: {0: 1}}
        expected    {0: {0: 1}, 1: {}}
        because     q1 has no row, and token 0 leads there from q0
    """

    def build(machine: DFA, pieces: list[bytes]) -> Any:
        return attempt(answer, (Vocabulary(pieces).trie.root, machine, walk))

    cases = [_index(*one) for one in INDEXES]
    return check_function(build if callable(answer) else answer, cases, _same_index, _index_mistake)


def _index(text: str, pieces: list[bytes]) -> Case:
    machine, root = regex(text), Vocabulary(pieces).trie.root
    index = {
        state: walk(root, machine, state) for state in reach([0], lambda state: walk(root, machine, state).values())
    }
    return Case((machine, pieces), index, given=(("input", f"regex {text}"), ("pieces", show(pieces))))


def _same_index(value: Any, index: dict[int, Row]) -> bool:
    return (
        isinstance(value, Mapping) and {*value} == {*index} and all(_same_row(value[one], index[one]) for one in index)
    )


def _index_mistake(case: Case, value: Any) -> Mistake:
    machine, pieces = case.arguments
    index = case.expected
    if not isinstance(value, Mapping):
        return Mistake("a dictionary is expected: for each state its row") if value is not None else Mistake()
    rows = frozenset(state for state in value if isinstance(state, int) and 0 <= state < len(machine))
    sketch = replace(sketch_dfa(machine), lit=rows, words="lit: the states with a row in yours")
    return Mistake(_say_rows(machine, pieces, value, index), draw_machine(sketch))


def _say_rows(machine: DFA, pieces: list[bytes], value: Mapping[Any, Any], index: dict[int, Row]) -> str:
    for state in index:
        if state not in value:
            ways = ((source, token) for source in index for token, after in index[source].items() if after == state)
            source, token = next(ways, (0, -1))
            come = f"token {token} leads there from {name_state(source)}" if token >= 0 else "the machine starts there"
            return f"{name_state(state)} has no row, and {come}"
        if not _same_row(value[state], index[state]):
            return f"in the row of {name_state(state)}, {_say_row(machine, state, pieces, value[state], index[state])}"
    (other, *_) = [one for one in value if one not in index]
    named = name_state(other) if type(other) is int and 0 <= other < len(machine) else show(other)
    return f"{named} has a row, and no token leads there"
