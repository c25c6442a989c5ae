"""Exercises on walks: a set of NFA states, a trie with a machine, an index, slices of a vocabulary, forced bytes."""

from __future__ import annotations

from collections import UserList
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from guidedviz.checks.guard import Failed, attempt
from guidedviz.checks.machines import begin, draw_path, rows_of
from guidedviz.checks.tokens import DECIMAL, legal_tokens
from guidedviz.checks.verdict import (
    Case,
    Mistake,
    Verdict,
    agrees,
    check_function,
    is_open,
    say_kind,
    say_not_ids,
    shortest_wrong_token,
    show,
)
from guidedviz.machines.forced import forced_bytes
from guidedviz.machines.machine import next_bytes, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages, regex
from guidedviz.machines.visible import counted, name_node, name_state, visible, visible_bytes
from guidedviz.machines.work import reach
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.trie import Node
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.layout.sketch import sketch_dfa, sketch_nfa
from guidedviz.views.machine.films import moves_by, sketch_trie
from guidedviz.views.machine.picture import draw_machine

# -- one step of a set of NFA states -------------------------------------------------------------------------------

CLUMSY = r"\d+|\d+\.\d+|\d+,\d+"
READINGS = {  # for each regex the texts read so far, and the next byte
    "a": [(b"", b"a"), (b"", b"b"), (b"a", b"a")],
    "[a-c]": [(b"", b"b"), (b"", b"c")],
    "ab": [(b"a", b"b")],
    "ab?": [(b"", b"a")],
    "a?b|a": [(b"", b"a")],
    "a*": [(b"a", b"a")],
    "(a*)*": [(b"", b"a")],
    "é+": [(b"\xc3", b"\xa9")],
    "[ab]*a[ab]{2}": [(b"aab", b"a")],
    CLUMSY: [(b"4", b"2"), (b"42", b"."), (b"42", b"x")],
}


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
    cases = []
    for text, (begun, byte) in rows_of(READINGS):
        nfa = machine_stages(text)[0]
        states = set(reach([nfa.initial], nfa.epsilon.__getitem__))
        for one in begun:
            states = step_set(nfa, states, one)
        given = f"NFA of the regex {text}, states {show(states)}, byte {show(byte)[1:]}"
        cases.append(Case((nfa, states, byte[0]), step_set(nfa, states, byte[0]), given=(("input", given),)))
    return check_function(answer, cases, _say_states)


def step_set(nfa: NFA, states: set[int], byte: int) -> set[int]:
    """The states after a byte, with those that epsilon edges add."""
    return set(reach((target for _, target in moves_by(nfa, states, byte)), nfa.epsilon.__getitem__))


def _say_states(case: Case, value: Any) -> Mistake | str:
    if value is None:
        return "it returns None here: where no state reads the byte, the answer is the empty set"
    if said := say_not_ids(value, "states"):
        return said
    nfa, states, byte = case.arguments
    known = frozenset(value).intersection(range(len(nfa)))
    sketch = replace(sketch_nfa(nfa), lit=known, words=f"lit: what yours gave, {counted(len(known), 'state')}")
    return Mistake(
        _say_difference(nfa, moves_by(nfa, states, byte), {*value}, case.expected, byte), draw_machine(sketch)
    )


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
    sources = [source for source in sorted(expected) if state in nfa.epsilon[source]]
    source = min(sources, key=lambda one: one not in gave)
    return f"{name_node(state)} is missing: an epsilon edge leads from {name_node(source)} to {name_node(state)}"


# -- two walks of a trie that skip what the machine refuses --------------------------------------------------------

Row = dict[int, int]  # legal token -> the state after it
WALKS: tuple[tuple[str, bytes, list[bytes]], ...] = (  # a regex, the text read so far, and pieces
    ("3", b"", [b"3"]),
    ("3", b"", [b"x"]),
    ("3|4", b"", [b"3", b"4"]),
    ("34", b"", [b"3", b"34"]),
    ("34", b"", [b"34", b"35"]),
    ("34|4", b"", [b"34", b"4"]),
    ("4", b"", [b"34", b"35", b"4"]),
    ("(ab)*", b"", [b"ab", b"aba", b"b"]),
    ("ab*", b"", [b"a", b"abb", b"ac", b"acb", b"b", b"a"]),
    (DECIMAL, b"3", [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"]),
    (DECIMAL, b"3.", [b"1", b"12", b"125", b"12.", b"1.5", b".", b".5", b"a", b"and", b"ant"]),
)
LONG = ("a*", b"", [b"a" * 9])


@dataclass(frozen=True, repr=False)
class WatchedNode(Node):
    """A node of a trie that records which nodes below it an answer sees."""

    prefix: bytes = field(compare=False)
    seen: set[bytes] = field(compare=False)

    @property
    def children(self) -> dict[int, Node]:
        found = super().children.items()
        self.seen.update(self.prefix + bytes([byte]) for byte, _ in found)
        return {
            byte: WatchedNode(self.trie, node.number, self.prefix + bytes([byte]), self.seen) for byte, node in found
        }


@dataclass(frozen=True)
class CountingDFA(DFA):
    """A DFA that records its steps."""

    @cached_property
    def steps(self) -> list[int]:
        return []

    def step(self, state: int | None, byte: int) -> int | None:
        self.steps.append(byte)
        return super().step(state, byte)


class WatchedNumbers(UserList[int]):
    """Numbers that record which of their places were read, also where NumPy reads them all."""

    @cached_property
    def seen(self) -> set[int]:
        return set()

    def __getitem__(self, place: Any) -> Any:
        found = range(len(self))[place]
        self.seen.update(found if isinstance(found, range) else [found])
        return self.data[place]


class Flat(NamedTuple):
    """A trie depth first: for each node its byte, its depth, the nodes of its subtree, and the ids that end there."""

    byte: WatchedNumbers
    depth: WatchedNumbers
    size: list[int]
    ends: list[list[int]]


def flatten(pieces: Sequence[bytes]) -> Flat:
    """The trie of some pieces, depth first.

    >>> flatten([b"a", b"ab", b"ac", b"b"])
    Flat(byte=[97, 98, 99, 98], depth=[1, 2, 2, 1], size=[3, 1, 1, 1], ends=[[0], [1], [2], [3]])
    """
    nodes = list_nodes(pieces)
    size = [sum(other.startswith(one) for other in nodes) for one in nodes]
    ends = [[token for token, piece in enumerate(pieces) if piece == one] for one in nodes]
    return Flat(WatchedNumbers(one[-1] for one in nodes), WatchedNumbers(len(one) for one in nodes), size, ends)


def list_nodes(pieces: Sequence[bytes]) -> list[bytes]:
    """Each beginning of a piece once, depth first.

    >>> list_nodes([b"b", b"ab", b"ac"])
    [b'a', b'ab', b'ac', b'b']
    """
    return sorted({piece[:end] for piece in pieces for end in range(1, len(piece) + 1)})


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

    def watched(machine: CountingDFA, state: int, pieces: list[bytes]) -> Any:
        machine.steps.clear()
        seen = set[bytes]()
        gave = attempt(answer, (WatchedNode(Vocabulary(pieces).trie, 0, b"", seen), machine, state))
        return gave if is_open(gave) else (gave, seen, len(machine.steps))

    hint = "the machine refuses {}: nothing below that node is legal"
    return _judge_walk(answer, watched, walk_row, (*WALKS, LONG), hint, "takes no step below a refused node")


def check_jump(answer: Callable[[DFA, Any, Flat], Iterable[int]]) -> Verdict:
    """Does `answer(machine, state, tree)` find the legal ids without reading a node below a refused one?

    >>> check_jump(lambda machine, state, tree: {0})
    ✗ not yet right: on input 2 of 11, the smallest on which it fails
        input       regex 3, in q0: nothing was read
        pieces      [b'x']
        yours gave  {0}
        expected    set()
        because     token 0 is illegal: x cannot come: expected 3
    """

    def watched(machine: DFA, state: Any, pieces: list[bytes]) -> Any:
        tree, nodes = flatten(pieces), list_nodes(pieces)
        gave = attempt(answer, (machine, state, tree))
        if tree.ends != flatten(pieces).ends:
            gave = Failed("it changed tree.ends: collect the tokens in a set of its own")
        return gave if is_open(gave) else (gave, {nodes[place] for place in tree.byte.seen | tree.depth.seen}, 0)

    hint = "{} was refused: continue after its subtree, and remove old states"
    return _judge_walk(answer, watched, legal_tokens, WALKS, hint, "looks at no node below a refused one")


def walk_row(machine: DFA, state: Any, pieces: Sequence[bytes]) -> Row:
    """The legal tokens, each with the state after it."""
    after: Callable[[int], Any] = lambda token: read(machine, pieces[token], state)  # noqa: E731
    return {token: after(token) for token in legal_tokens(machine, state, pieces)}


def _judge_walk(
    answer: Any,
    watched: Callable[[CountingDFA, Any, list[bytes]], Any],
    reference: Callable[[DFA, Any, list[bytes]], Any],
    trials: Iterable[tuple[str, bytes, list[bytes]]],
    hint: str,
    praise: str,
) -> Verdict:
    """Judge what an answer finds, which nodes it sees below refused ones, and how many steps it takes."""
    cases = []
    for text, begun, pieces in trials:
        machine, state, words = begin(text, begun)
        nodes = list_nodes(pieces)
        below = {node for node in nodes if read(machine, node[:-1], state) is None}
        expected = (reference(machine, state, pieces), below, len(nodes) - len(below))
        given = (("input", words), ("pieces", show(pieces)))
        cases.append(Case((CountingDFA(machine.edges, machine.accepting), state, pieces), expected, given=given))

    def same(value: Any, expected: Any) -> bool:
        (gave, seen, steps), (right, below, enough) = value, expected
        return agrees(gave, right) and not seen & below and steps <= 2 * enough

    def say(case: Case, value: Any) -> Mistake:
        machine, state, pieces = case.arguments
        right, below, enough = case.expected
        gave, seen, steps = value if isinstance(value, tuple) else (value, set(), 0)  # it was stopped
        figure = _draw_seen(pieces, seen)
        if not agrees(gave, right):
            said = "" if isinstance(gave, Failed) else say_tokens(machine, state, pieces, gave, right)
            return Mistake(said, figure, (("yours gave", show(gave)), ("expected", show(right))))
        if seen & below:
            node = min(seen & below)
            refused = next(node[:end] for end in range(1, len(node)) if read(machine, node[:end], state) is None)
            return Mistake(hint.format(visible(refused)), figure, (("looked at", visible(node)),))
        took = (("yours took", counted(steps, "step")), ("enough", counted(enough, "step")))
        return Mistake("each node needs one step, from the state of the node above it", figure, took)

    verdict = check_function(watched if callable(answer) else answer, cases, say, same)
    return replace(verdict, said=f"{verdict.said}, and {praise}") if verdict else verdict


def say_tokens(machine: DFA, state: Any, pieces: Sequence[bytes], gave: Any, right: Any) -> str:
    """What is wrong with the legal ids of a state, or with a row: the ids with the states after them."""
    if isinstance(right, dict):
        if gave is None:
            return "it returns None here: where no token is legal, the answer is the empty dictionary"
        if not isinstance(gave, Mapping):
            ids = "the ids are right; " if agrees(gave, {*right}) else ""
            kind = say_kind(gave, {*right})
            return f"{ids}a dictionary is expected: each legal id with the state after it" + f" ({kind})" * bool(kind)
        if agrees([*gave], {*right}):
            token = min(token for token in right if gave[token] != right[token])
            after = f"to {name_state(right[token])}, not to {show(gave[token])}"
            return f"token {token} leads from {name_state(state)} {after}"
    if said := say_kind([*gave] if isinstance(gave, Mapping) else gave, {*right}):
        return said
    if (token := shortest_wrong_token([*gave], right, pieces)) is None:
        return "an id is not in the vocabulary"
    why = explain_token(machine, Vocabulary(pieces), state, token)
    return f"token {token} is {'legal' if why.legal else 'illegal'}: {why.reason}"


def _draw_seen(pieces: Sequence[bytes], seen: set[bytes]) -> Figure:
    """The trie, with the nodes highlighted that the student's answer saw."""
    vocabulary = Vocabulary(pieces)
    sketch = sketch_trie(vocabulary.trie, vocabulary)
    nodes = sorted(list_nodes(pieces), key=len)  # as the sketch numbers them, from 1
    lit = frozenset(place for place, one in enumerate(nodes, 1) if one in seen)
    arrows = frozenset((arrow.source, arrow.target) for arrow in sketch.arrows if arrow.target in lit)
    words = f"lit: what yours looked at, {len(lit)} of {len(nodes)} nodes"
    return draw_machine(replace(sketch, lit=lit, lit_arrows=arrows, words=words))


# -- the index from walks ------------------------------------------------------------------------------------------

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

    cases = []
    for text, pieces in INDEXES:
        machine = regex(text)
        states = reach([machine.initial], lambda state: walk_row(machine, state, pieces).values())  # noqa: B023
        index = {state: walk_row(machine, state, pieces) for state in states}
        cases.append(Case((machine, pieces), index, given=(("input", f"regex {text}"), ("pieces", show(pieces)))))
    return check_function(build if callable(answer) else answer, cases, _say_index)


def walk(node: Node, machine: DFA, state: int) -> Row:
    """The legal tokens at a node and below it, each with the state after it."""
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        after = machine.step(state, byte)
        if after is not None:
            found |= walk(child, machine, after)
    return found


def _say_index(case: Case, value: Any) -> Mistake | str:
    machine, pieces = case.arguments
    if not isinstance(value, Mapping):
        return "a dictionary is expected: for each state its row" if value is not None else ""
    rows = frozenset(state for state in value if isinstance(state, int) and 0 <= state < len(machine))
    sketch = replace(sketch_dfa(machine), lit=rows, words="lit: the states with a row in yours")
    return Mistake(_say_rows(machine, pieces, value, case.expected), draw_machine(sketch))


def _say_rows(machine: DFA, pieces: list[bytes], value: Mapping[Any, Any], index: dict[int, Row]) -> str:
    for state, row in index.items():
        if state not in value:
            ways = ((source, token) for source in index for token, after in index[source].items() if after == state)
            source, token = next(ways, (0, -1))
            come = f"token {token} leads there from {name_state(source)}" if token >= 0 else "the machine starts there"
            return f"{name_state(state)} has no row, and {come}"
        if not agrees(value[state], row):
            return f"in the row of {name_state(state)}, {say_tokens(machine, state, pieces, value[state], row)}"
    (other, *_) = [one for one in value if one not in index]
    named = name_state(other) if type(other) is int and 0 <= other < len(machine) else show(other)
    return f"{named} has a row, and no token leads there"


# -- slices that a machine can read whole --------------------------------------------------------------------------

STRING = r'"[^"\\\x00-\x1f]*"'
SLICES = {  # for each regex the texts read so far, and the regexes of slices
    "a*": [(b"", "a*"), (b"", "b*"), (b"", "ab")],
    "a*b": [(b"", "a*")],
    "aa*": [(b"", "a*")],
    "ab*": [(b"", "[ab]*")],
    "a{0,3}": [(b"", "a*"), (b"", "a{0,3}"), (b"a", "a{0,3}")],
    "[ab]*c": [(b"b", "(ab)*")],
    "a{0,30}": [(b"", "a*"), (b"", "a{0,30}")],
    r"[^\x00]*": [(b"", r"[\x00-b]*")],
    DECIMAL: [(b"3", "[0-9]*"), (b"3", "[0-9.]*")],
    STRING: [(b'"', "[a-z ]*"), (b'"', "[é-ë]*"), (b'"x"', "[a-z ]*")],
    '"[a-z]*"': [(b'"', "[a-zé]*")],
}


def check_whole(answer: Callable[[Any, Any, Any], bool]) -> Verdict:
    """Does `answer(machine, state, part)` say whether the machine can read from its state all that a part can?

    >>> check_whole(lambda machine, state, part: all(
    ...     machine.step(state, byte) is not None for byte in range(256) if part.step(0, byte) is not None))
    ✗ not yet right: on input 3 of 19, the smallest on which it fails
        machine     regex a*, in q0: nothing was read
        slice       regex ab
        yours gave  True
        expected    False
        because     ab begins a text of the slice, and the machine refuses its last byte
    """
    cases = []
    for text, (begun, part) in rows_of(SLICES):
        (machine, state, words), inner = begin(text, begun), regex(part)
        refused = shortest_refused(machine, state, inner)
        why = "the machine can read each text that the slice can read"
        if refused is not None:
            why = f"{visible(refused)} begins a text of the slice, and the machine refuses its last byte"
        draw = partial(draw_path, machine, refused or b"", state, "the machine")
        given = (("machine", words), ("slice", f"regex {part}"))
        cases.append(Case((machine, state, inner), refused is None, why, given, draw))
    return check_function(answer, cases)


def shortest_refused(machine: DFA, state: Any, part: DFA) -> bytes | None:
    """The shortest text that a slice can read and a machine, from its state, cannot; None if there is none.

    >>> shortest_refused(regex("a{0,3}"), 0, regex("a*")), shortest_refused(regex("a*b"), 0, regex("a*"))
    (b'aaaa', None)
    """
    found: dict[Any, bytes] = {(state, part.initial): b""}
    waiting: list[Any] = [(state, part.initial)]
    for here, there in waiting:
        for byte in next_bytes(part, there):
            text, after = found[here, there] + bytes([byte]), machine.step(here, byte)
            if after is None:
                return text
            pair = (after, part.step(there, byte))
            if pair not in found:
                found[pair] = text
                waiting.append(pair)
    return None


# -- forced bytes --------------------------------------------------------------------------------------------------

BEGUN = {  # for each regex the texts read so far
    "a": [b""],
    "ab": [b"", b"a", b"ab"],
    "a|b": [b""],
    "ab?": [b"", b"a"],
    "a[bc]d": [b""],
    "(ab)*": [b"", b"a"],
    "a+b": [b"", b"a"],
    "ab(cd)?": [b"", b"ab", b"abc"],
    r"a\x00b?": [b""],
    "a{30}b?": [b""],
    "café[0-9]": [b""],
    "name: [a-z]+": [b"", b"name: "],
    r'\{"id": [0-9]+\}': [b"", b'{"i', b'{"id": 7'],
    r'\{"name": "[a-z]+"\}': [b""],
}


def check_forced(answer: Callable[[DFA, Any], bytes]) -> Verdict:
    """Does `answer(machine, state)` give the bytes that must come next?

    >>> check_forced(lambda machine, state: b"" if machine.is_accepting(state) else bytes(
    ...     byte for byte in range(256) if machine.step(state, byte) is not None)[:1])
    ✗ not yet right: on input 2 of 24, the smallest on which it fails
        input       regex ab, in q0: nothing was read
        yours gave  b'a'
        expected    b'ab'
        because     after a only b may come, and the text may not end, so b is forced
    """
    cases = []
    for text, begun in rows_of(BEGUN):
        machine, state, words = begin(text, begun)
        cases.append(Case((machine, state), forced_bytes(machine, state), given=(("input", words),)))

    def say(case: Case, value: Any) -> Mistake | str:
        if not isinstance(value, bytes):
            return ""
        machine, state = case.arguments
        return Mistake(say_forced(machine, state, value), draw_path(machine, value, state, "the path of your bytes"))

    return check_function(answer, cases, say)


def say_forced(machine: DFA, state: Any, gave: bytes) -> str:
    """Why some bytes are not the forced bytes: at the first byte that is wrong or missing.

    >>> say_forced(regex("ab(cd)?"), 0, b"abcd"), say_forced(regex("[ab]"), 0, b"a")
    ('after ab the text may end, so c is not forced', 'here there is a choice, a b, so a is not forced')
    """
    right = forced_bytes(machine, state)
    at = max(end for end in range(len(right) + 1) if gave.startswith(right[:end]))
    here: Any = read(machine, right[:at], state)
    where = f"after {visible(right[:at])}" if at else "here"
    if at < len(right):
        byte = visible(right[at : at + 1])
        return f"{where} only {byte} may come, and the text may not end, so {byte} is forced"
    byte, choices = visible(gave[at : at + 1]), next_bytes(machine, here)
    if gave[at] not in choices:
        return f"{where} {byte} cannot come"
    if machine.is_accepting(here):
        return f"{where} the text may end, so {byte} is not forced"
    return f"{where} there is a choice, {visible_bytes(choices)}, so {byte} is not forced"
