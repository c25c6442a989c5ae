"""Exercises on a vocabulary and a machine: sorted tokens, masks, storage, walks, an index, slices, forced bytes."""

from collections import UserList
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

from guidedviz.checks import verdict
from guidedviz.checks.guard import Failed, attempt
from guidedviz.checks.machines import draw_path, machine_cases
from guidedviz.checks.verdict import Case, Mistake, Verdict, cases_of, check_function, say_difference, say_kind, show
from guidedviz.decoding.cost_model import Cost
from guidedviz.machines.graph import reach
from guidedviz.machines.machine import Machine, next_bytes, read
from guidedviz.machines.regular.dfa import DFA, build_dfa_steps
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages, regex
from guidedviz.machines.visible import counted, name_node, visible
from guidedviz.tokens.explain import expected_next, explain_token
from guidedviz.tokens.trie import Node
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.layout.sketch import sketch_nfa
from guidedviz.views.machine.nfa_reading import moves_by
from guidedviz.views.machine.picture import draw_machine

DECIMAL = r"\d+(\.\d+)?"

# -- sorted by one rule --------------------------------------------------------------------------------------------

WORD = '"[a-z]+"'
NUMBER = r"[0-9]+(\.[0-9]+)?"
TOKENS = (  # a regex, the text read so far, and a piece
    ("a", b"", b"a"), ("a", b"", b"b"), ("a", b"", b"a}"), ("a", b"a", b"}"), ("a+", b"a", b"aa"), ("a*", b"", b"aa"),
    ("ab", b"", b"a}"), ("ab", b"", b"aa"), ("a(bcd)?", b"a", b"bcx"), ("aé", b"a", "é".encode()),
    (WORD, b'"', b"b"), (WORD, b'"', b"b}"), (WORD, b'"a', b'b"'), (WORD, b'"a', b'b""b"'), (WORD, b'"', b'"}'),
    (NUMBER, b"4", b"2}"), (NUMBER, b"4", b".}"), (NUMBER, b"4.", b"}"), (NUMBER, b"", b"}"),
)  # fmt: skip


def check_sort_token(answer: Callable[[DFA, int, bytes], str]) -> Verdict:
    """Does `answer(rule, state, piece)` say "accepted", "rejected" or "dependent", knowing the rule alone?

    >>> check_sort_token(lambda rule, state, piece: "rejected" if rule.step(state, piece[0]) is None else "accepted")
    ✗ not yet right: on input 3 of 19, the first on which it fails
        machine     regex a, in q0: nothing was read
        piece       b'a}'
        yours gave  'accepted'
        expected    'dependent'
        because     after a the rule is finished and } is left over: the rules below it on the stack decide
    """
    why = lambda *given: sort_by_ends(*given)[1]  # noqa: E731
    cases = machine_cases(lambda *given: sort_by_ends(*given)[0], TOKENS, "piece", why=why, title="the piece")
    return check_function(answer, cases)


def sort_by_ends(rule: Machine[Any], state: Hashable, piece: bytes) -> tuple[str, str]:
    """The answer and its reason, from every place in the piece where the rule may have ended.

    >>> sort_by_ends(gv.regex("a+"), 1, b"a]")[0]
    'dependent'
    """
    if read(rule, piece, state) is not None:
        return "accepted", "the rule reads all of it"
    for end in range(len(piece) - 1, -1, -1):
        reached = read(rule, piece[:end], state)
        if reached is not None and rule.is_accepting(reached):
            when = f"after {visible(piece[:end])}" if end else "before the piece"
            left = f"{visible(piece[end:])} is left over: the rules below it on the stack decide"
            return "dependent", f"{when} the rule is finished and {left}"
    return "rejected", "the rule cannot read it, and is not finished anywhere before the byte that it cannot read"


# -- the mask of several nodes -------------------------------------------------------------------------------------

Part = tuple[set[int], set[int]]  # of one node: the accepted and the context-dependent tokens
NODES: dict[str, list[tuple[list[Part], set[int]]]] = {  # and the tokens that are legal on the stack
    "a token that one node accepts is legal on every stack": [
        ([({1}, set())], set()), ([({1}, set()), ({2}, set())], set()), ([(set(), {1}), ({1}, set())], set()),
    ],
    "a context-dependent token is legal if on_stack says so": [
        ([({1}, {2})], {2}), ([({1}, {2})], set()), ([(set(), {0, 1, 3}), (set(), {2})], {0, 2, 3}),
        ([(set(), {1, 2}), ({2}, {3})], {1}), ([({4}, {1, 2}), ({2}, {3}), ({3, 5}, {5, 6})], {6, 7}),
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Stack:
    """Says whether a token is legal on the stack; refuses tokens for which no stack is needed."""

    legal: set[int]
    dependent: set[int]  # the tokens that an engine has to look up here

    def __call__(self, token: int) -> bool:
        if token not in self.dependent:
            raise LookupError(f"on_stack({show(token)}): the verdict of this token is known without the stack")
        return token in self.legal


def check_fill_mask(answer: Callable[[Sequence[Part], Callable[[int], bool]], set[int]]) -> Verdict:
    """Does `answer(parts, on_stack)` give the legal tokens of a state from the sets of its nodes?

    >>> check_fill_mask(lambda parts, on_stack: set.union(*(accepted for accepted, dependent in parts)))
    ✗ not yet right: on input 4 of 8, the first on which it fails
        parts       [({1}, {2})]
        on_stack    {2}
        yours gave  {1}
        expected    {1, 2}
        because     a context-dependent token is legal if on_stack says so
    """
    cases = []
    for why, rows in NODES.items():
        for parts, legal in rows:
            accepted = set[int]().union(*(accepted for accepted, _ in parts))
            dependent = set[int]().union(*(dependent for _, dependent in parts)) - accepted
            given = (("parts", show(parts)), ("on_stack", show(legal)))
            cases.append(Case((parts, Stack(legal, dependent)), accepted | (dependent & legal), why, given))
    return check_function(answer, cases)


# -- the fewest bytes for a set ------------------------------------------------------------------------------------

# the number of tokens in a set, and in the vocabulary
SETS = ((0, 8), (8, 8), (1, 40), (2, 40), (39, 40), (20, 41), (423, 128256), (126625, 128256), (123180, 128256))


def check_storage(answer: Callable[[int, int], tuple[str, int]]) -> Verdict:
    """Does `answer(count, size)` choose the storage with the fewest bytes, and give their number?

    >>> check_storage(lambda count, size: min(("accepted", 4 * count), ("rejected", 4 * (size - count))))
    ✗ not yet right: on input 2 of 9, the first on which it fails
        count       8
        size        8
        yours gave  ('accepted', 32)
        expected    ('rejected', 0)
        because     accepted takes 32 bytes, rejected 0, bits 1
    """

    sentence = "accepted takes {:,} bytes, rejected {:,}, bits {:,}".format
    trials = {sentence(*ways_to_store(*row).values()): [row] for row in SETS}
    cases = cases_of(lambda *row: min(ways_to_store(*row).items(), key=lambda way: way[1]), trials, "count", "size")
    return check_function(answer, cases)


def ways_to_store(count: int, size: int) -> dict[str, int]:
    """The bytes of the three kinds of storage: four per id, or one bit per token, rounded up to whole bytes.

    >>> ways_to_store(20, 41)
    {'accepted': 80, 'rejected': 84, 'bits': 6}
    """
    return {"accepted": 4 * count, "rejected": 4 * (size - count), "bits": -(-size // 8)}


# -- forced tokens that are left to the model, and what jump-forward saves -----------------------------------------

SPELLED: tuple[tuple[list[bytes], list[set[bytes]]], ...] = (  # tokens, and the pieces that are legal at each
    ([], []), ([b"a"], [{b"a"}]), ([b"a"], [{b"a", b"ba"}]), ([b"a"], [{b"a", b"ab"}]),
    ([b"ab"], [{b"a", b"ab", b"xyz"}]), ([b"a", b"b", b"c"], [{b"a", b"abd"}, {b"b"}, {b"c"}]),
    ([b"a", b"b"], [{b"a", b"ab"}, {b"b"}]), ([b"a", b"b"], [{b"a"}, {b"b", b"bc"}]),
    ([b"a", b"b"], [{b"a", b"acb"}, {b"b"}]), ([b"a", b"a"], [{b"a", b"aa"}, {b"a", b"aa"}]),
    ([b"or", b"der"], [{b"or", b"order", b"orderId"}, {b"der"}]),
    ([b"caf", b"\xc3"], [{b"caf"}, {b"\xc3", b"\xc3\xa9"}]),
    ([b'{"', b"na", b"me"], [{b"{", b'{"'}, {b"na", b"names"}, {b"m", b"me"}]),
    ([b'{"', b"na", b"me", b'"'], [{b'{"'}, {b"na", b'name":'}, {b"me", b'me"'}, {b'"', b'":'}]),
)  # fmt: skip
PRICES = (  # the fraction, pass_ms and token_ms
    (0.0, 1.0, 0.0), (0.75, 9.0, 0.0), (0.0, 9.0, 1.0), (0.5, 1.0, 1.0), (0.75, 9.0, 1.0), (0.75, 9.0, 8.0),
    (0.95, 20.0, 3.2),
)  # fmt: skip


def check_heal(answer: Callable[[Sequence[bytes], Sequence[set[bytes]]], int]) -> Verdict:
    """Does `answer(tokens, legal)` say how many of the tokens are safe, so that the model chooses the others?

    >>> check_heal(lambda tokens, legal: len(tokens))
    ✗ not yet right: on input 4 of 14, the first on which it fails
        tokens      [b'a']
        legal       [{b'a', b'ab'}]
        yours gave  1
        expected    0
        because     stop before the first place at which a legal piece begins with all that is left and is longer
    """
    why = "stop before the first place at which a legal piece begins with all that is left and is longer"
    return check_function(answer, cases_of(count_kept, {why: SPELLED}, "tokens", "legal"))


def count_kept(tokens: Sequence[bytes], legal: Sequence[set[bytes]]) -> int:
    """The number of tokens before the first place where a legal piece begins with all that is left and is longer.

    >>> count_kept([b"x", b"or", b"der"], [{b"x"}, {b"or", b"orderId"}, {b"der"}])
    1
    """
    for place in range(len(tokens)):
        left = b"".join(tokens[place:])
        if any(piece.startswith(left) and piece != left for piece in legal[place]):
            return place
    return len(tokens)


def check_speedup(answer: Callable[[float, float, float], float]) -> Verdict:
    """Does `answer(fraction, pass_ms, token_ms)` say how many times as fast jump-forward is?

    >>> check_speedup(lambda fraction, pass_ms, token_ms: 1 / (1 - fraction))
    ✗ not yet right: on input 4 of 7, the first on which it fails
        fraction    0.5
        pass_ms     1
        token_ms    1
        yours gave  2
        expected    1.333
        because     divide the time per token without a jump by that with jumps, which lacks a fraction of pass_ms
    """
    why = "divide the time per token without a jump by that with jumps, which lacks a fraction of pass_ms"
    names = ("fraction", "pass_ms", "token_ms")
    return check_function(answer, cases_of(lambda f, p, t: Cost(p, t).speedup(f), {why: PRICES}, *names))


# -- the mask of another engine, judged byte by byte ---------------------------------------------------------------

Faults = tuple[Iterable[int], Iterable[int]]  # the ids that it omits, and those that it must not allow
MASKS: tuple[tuple[str, bytes, list[bytes], set[int]], ...] = (  # a regex, the text so far, pieces, the engine's ids
    ("a", b"", [b"a"], {0}), ("a", b"", [b"a"], set()), ("a", b"", [b"a", b"b"], {0, 1}),
    ("a*", b"", [b"a", b"b"], {1}),
    ("ab", b"", [b"a", b"ab", b"b"], {0, 2}), ("ab", b"a", [b"b", b"bb", b"ba"], {1, 2}),
    ("a|ab", b"", [b"a", b"ab", b"abc", b"a"], {0, 2}),
    (DECIMAL, b"3", [b".", b".5", b"3.", b"x", b"3x", b".."], {1, 4}),
    ("[^\\x00]*é", b"", [b"\xc3", b"\xa9", b"\x00", b"\xc3\xa9"], {1, 3}),
)  # fmt: skip


def check_faults(answer: Callable[[Any, Any, list[bytes], set[int]], Faults]) -> Verdict:
    """Does `answer(machine, state, pieces, allowed)` give the legal ids that are missing, and the illegal ones?

    >>> check_faults(lambda machine, state, pieces, allowed: (set(), set()))
    ✗ not yet right: on input 2 of 9, the first on which it fails
        machine     regex a, in q0: nothing was read
        pieces      [b'a']
        allowed     set()
        yours gave  (set(), set())
        expected    ({0}, set())
        because     first the legal ids that the engine omits, then the illegal ids that it allows
    """

    def reference(machine: DFA, state: Any, pieces: list[bytes], allowed: set[int]) -> Faults:
        legal = legal_tokens(machine, state, pieces)
        return legal - allowed, allowed - legal

    why = "first the legal ids that the engine omits, then the illegal ids that it allows"
    return check_function(answer, machine_cases(reference, MASKS, "pieces", "allowed", why=lambda *given: why))


def legal_tokens(machine: DFA, state: Any, pieces: Sequence[bytes]) -> set[int]:
    """The ids of the pieces that a machine can read from a state."""
    return {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}


# -- one step of a set of NFA states -------------------------------------------------------------------------------

CLUMSY = r"\d+|\d+\.\d+|\d+,\d+"
READINGS = (  # a regex, the text read so far, and the next byte
    ("a", b"", b"a"), ("a", b"", b"b"), ("a", b"a", b"a"), ("[a-c]", b"", b"b"), ("[a-c]", b"", b"c"),
    ("ab", b"a", b"b"), ("ab?", b"", b"a"), ("a?b|a", b"", b"a"), ("a*", b"a", b"a"), ("(a*)*", b"", b"a"),
    ("é+", b"\xc3", b"\xa9"), ("[ab]*a[ab]{2}", b"aab", b"a"), ("ab?c?d?e?f?", b"", b"a"),
    (CLUMSY, b"4", b"2"), (CLUMSY, b"42", b"."), (CLUMSY, b"42", b"x"),
)  # fmt: skip


def check_step_set(answer: Callable[[NFA, set[int], int], Iterable[int]]) -> Verdict:
    """Does `answer(nfa, states, byte)` give all states after the byte, with those that epsilon edges add?

    >>> check_step_set(lambda nfa, states, byte: {
    ...     target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high})
    ✗ not yet right: on input 7 of 16, the first on which it fails
        input       NFA of the regex ab?, states {0}, byte 'a'
        yours gave  {2}
        expected    {1, 2}
        because     n1 is missing: take the edges that read the byte, then follow all epsilon edges
    """
    cases = []
    for text, begun, byte in READINGS:
        nfa = machine_stages(text)[0]
        states = set(reach([nfa.initial], nfa.epsilon.__getitem__))
        for one in begun:
            states = step_set(nfa, states, one)
        given = f"NFA of the regex {text}, states {show(states)}, byte {show(byte)[1:]}"
        why = "take the edges that read the byte, then follow all epsilon edges"
        cases.append(Case((nfa, states, byte[0]), step_set(nfa, states, byte[0]), why, (("input", given),)))
    return check_function(answer, cases, _say_states)


def step_set(nfa: NFA, states: set[int], byte: int) -> set[int]:
    """The states after a byte, with those that epsilon edges add."""
    return set(reach((target for _, target in moves_by(nfa, states, byte)), nfa.epsilon.__getitem__))


def _say_states(case: Case, value: Any) -> Mistake | str:
    if verdict.say_not_ids(value):
        return ""
    nfa = case.arguments[0]
    known = frozenset(value).intersection(range(len(nfa)))
    sketch = replace(sketch_nfa(nfa), lit=known, words=f"lit: what yours gave, {counted(len(known), 'state')}")
    return Mistake(f"{say_difference(value, case.expected, name_node)}: {case.why}", draw_machine(sketch))


SUBSETS = ("a", "ab", "a|b", "ab?", "a?b|a", "(a*)*", r"\x00a", "[ab]*a[ab]", "[ab]*a[ab]{2}", "é+", CLUMSY)
BORDER = NFA((((255, 255, 1),), ()), ((), ()))  # it reads the last byte, which UTF-8 never has


def check_subsets(answer: Callable[..., Iterable[frozenset[int]]]) -> Verdict:
    """Does `answer(start, step)` find all sets of NFA states that a text leads to, except the empty one?

    >>> check_subsets(lambda start, step: [start, *(after for byte in range(256) if (after := step(start, byte)))])
    ✗ not yet right: on input 2 of 12, the first on which it fails
        input       NFA of the regex ab, start {0}
        yours gave  [{0}, {2}]
        expected    {{0}, {1}, {2}}
        because     {1} is missing
    """

    def say(case: Case, value: Any) -> str:
        return say_difference({*map(frozenset, value)}, case.expected).replace("frozenset()", "the empty set")

    cases, why = [], "each is start, or what step gives for a set of the list and a byte"
    nfas = {f"NFA of the regex {text}": machine_stages(text)[0] for text in SUBSETS}
    for words, nfa in (nfas | {"NFA with one edge, of the byte 255": BORDER}).items():
        step = cache(lambda states, byte, nfa=nfa: frozenset(step_set(nfa, states, byte)))
        sets = [one.subset for one in build_dfa_steps(nfa, whole=True)]
        any(step(one, byte) is None for one in sets for byte in range(256))  # the guard's time is for the answer
        cases.append(Case((sets[0], step), {*sets}, why, (("input", f"{words}, start {show(sets[0])}"),)))
    return check_function(answer, cases, say, lambda value, right: {*map(frozenset, value)} == right)


# -- two walks of a trie that skip what the machine refuses --------------------------------------------------------

Row = dict[int, int]  # legal token -> the state after it
WALKS: tuple[tuple[str, bytes, list[bytes]], ...] = (  # a regex, the text read so far, and pieces
    ("3", b"", [b"3"]), ("3", b"", [b"x"]), ("3|4", b"", [b"3", b"4"]), ("34", b"", [b"34", b"35"]),
    ("34|4", b"", [b"34", b"4"]), ("4", b"", [b"34", b"3567890", b"4"]), ("a*", b"", [b"a" * 9]),
    ("(ab)*", b"", [b"ab", b"aba", b"b"]), ("ab*", b"", [b"a", b"abb", b"ac", b"acb", b"b", b"a"]),
    (DECIMAL, b"3", [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"]),
    (DECIMAL, b"3.", [b"1", b"12", b"125", b"12.", b"1.5", b".", b".5", b"a", b"and", b"ant"]),
)  # fmt: skip


@dataclass(frozen=True)
class CountingDFA(DFA):
    """A DFA that records its steps."""

    @cached_property
    def steps(self) -> list[int]:
        return []

    def step(self, state: int | None, byte: int) -> int | None:
        self.steps.append(byte)
        return super().step(state, byte)


class CountingList(UserList[int]):
    """Numbers that count how often one of them was read, also where NumPy reads them all."""

    looks = 0

    def __getitem__(self, place: Any) -> Any:
        self.looks += 1
        return self.data[place]


class Flat(NamedTuple):
    """A trie depth first: for each node its byte, its depth, the nodes of its subtree, and the ids that end there."""

    byte: CountingList
    depth: CountingList
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
    return Flat(CountingList(one[-1] for one in nodes), CountingList(len(one) for one in nodes), size, ends)


def list_nodes(pieces: Sequence[bytes]) -> list[bytes]:
    """Each beginning of a piece once, depth first.

    >>> list_nodes([b"b", b"ab", b"ac"])
    [b'a', b'ab', b'ac', b'b']
    """
    return sorted({piece[:end] for piece in pieces for end in range(1, len(piece) + 1)})


def check_walk(answer: Callable[[Node, DFA, int], Row]) -> Verdict:
    """Does `answer(node, machine, state)` find the legal tokens and their next states, without refused subtrees?

    >>> check_walk(lambda node, machine, state: dict.fromkeys(node.tokens, state))
    ✗ not yet right: on input 1 of 11, the first on which it fails
        machine     regex 3, in q0: nothing was read
        pieces      [b'3']
        yours gave  {}
        expected    {0: 1}
        because     token 0 is legal: every byte passes: q0 to q1
    """

    def limited(machine: DFA, state: int, pieces: list[bytes]) -> Any:
        counting, root = CountingDFA(machine.edges, machine.accepting), Vocabulary(pieces).trie.root
        gave, looks = attempt(answer, (root, counting, state)), len(counting.steps)
        for byte, child in root.children.items() if gave == walk(root, machine, state) else ():
            after, twin = machine.step(state, byte), DFA(machine.edges, machine.accepting)
            if after is not None and attempt(answer, (child, twin, after)) != walk(child, machine, after):
                at = f"at the node of {show(bytes([byte]))[1:]} in q{after}"
                return Failed(f"right at the root, wrong {at}: tokens that end at `node` belong to the result")
        return within_limit(gave, looks, machine, state, pieces)

    cases = machine_cases(lambda machine, at, pieces: walk(Vocabulary(pieces).trie.root, machine, at), WALKS, "pieces")
    return check_function(limited if callable(answer) else answer, cases, say_tokens)


def check_jump(answer: Callable[[DFA, Any, Flat], Iterable[int]]) -> Verdict:
    """Does `answer(machine, state, tree)` find the legal ids without reading a node below a refused one?

    >>> check_jump(lambda machine, state, tree: {0})
    ✗ not yet right: on input 2 of 11, the first on which it fails
        machine     regex 3, in q0: nothing was read
        pieces      [b'x']
        yours gave  {0}
        expected    set()
        because     token 0 is illegal: x cannot come: expected 3
    """

    def limited(machine: DFA, state: Any, pieces: list[bytes]) -> Any:
        tree = flatten(pieces)
        gave = attempt(answer, (machine, state, tree))
        if tree.ends != flatten(pieces).ends:
            return Failed("it changed tree.ends: collect the tokens in a set of its own")
        return within_limit(gave, (tree.byte.looks + tree.depth.looks) // 2, machine, state, pieces)

    cases = machine_cases(legal_tokens, WALKS, "pieces")
    return check_function(limited if callable(answer) else answer, cases, say_tokens)


def within_limit(gave: Any, looks: int, machine: DFA, state: Any, pieces: list[bytes]) -> Any:
    """What an answer gave, if it looked at most twice as often as a walk that skips refused subtrees."""
    enough = sum(read(machine, node[:-1], state) is not None for node in list_nodes(pieces))
    too_many = f"it looks at {looks} nodes where {enough} are enough: skip all that is below a refused node"
    return gave if looks <= 2 * enough else Failed(too_many)


def say_tokens(case: Case, value: Any) -> str:
    """Why the first wrong id is legal or illegal, or to which state it leads."""
    if say_kind(value, case.expected):
        return ""
    machine, state, pieces = case.arguments
    row = case.expected
    wrong = {*value} ^ {*row} or {token for token in row if str(value[token]) != str(row[token])}
    token = min(wrong, key=lambda one: (len(pieces[one]), one) if one in range(len(pieces)) else (0, one))
    if token not in range(len(pieces)):
        return f"{token} is not in the vocabulary"
    why = explain_token(machine, Vocabulary(pieces), state, token)
    return f"token {token} is {'legal' if why.legal else 'illegal'}: {why.reason}"


# -- the index from walks ------------------------------------------------------------------------------------------

INDEXES: tuple[tuple[str, bytes, list[bytes]], ...] = (  # a regex, nothing that was read, and pieces
    ("a", b"", [b"a"]), ("a", b"", [b"b"]), ("ab", b"", [b"a", b"b"]), ("a*", b"", [b"a", b"aa"]),
    ("abc", b"", [b"a", b"bc", b"ab"]), ("(ab)*", b"", [b"ab", b"aba", b"b"]),
    ("[0-9]{4}-[0-9]{2}", b"", [b"1", b"12", b"-", b"1-", b"-1", b"123"]),
    (DECIMAL, b"", [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"]),
)  # fmt: skip


def check_index(answer: Callable[[Node, DFA, Callable[[Node, DFA, int], Row]], dict[int, Row]]) -> Verdict:
    """Does `answer(root, machine, walk)` give a row for each state that tokens lead to from the initial one?

    >>> check_index(lambda root, machine, walk: {machine.initial: walk(root, machine, machine.initial)})
    ✗ not yet right: on input 1 of 8, the first on which it fails
        machine     regex a, in q0: nothing was read
        pieces      [b'a']
        yours gave  {0: {0: 1}}
        expected    {0: {0: 1}, 1: {}}
        because     the row of q1 is missing: a row for each state that tokens lead to from the initial one
    """

    def build(machine: DFA, state: int, pieces: list[bytes]) -> Any:
        return attempt(answer, (Vocabulary(pieces).trie.root, machine, walk))

    def reference(machine: DFA, state: int, pieces: list[bytes]) -> dict[int, Row]:
        root = Vocabulary(pieces).trie.root
        return {one: walk(root, machine, one) for one in reach([state], lambda at: walk(root, machine, at).values())}

    def say(case: Case, value: Any) -> str:
        found = say_difference(value, case.expected, "the row of q{}".format)
        why = f"{found}: a row for each state that tokens lead to from the initial one" * bool(found)
        return say_kind(value, case.expected) or why

    cases = machine_cases(reference, INDEXES, "pieces", why=lambda *given: "a row is what walk gives for its state")
    return check_function(build if callable(answer) else answer, cases, say)


def walk(node: Node, machine: DFA, state: int) -> Row:
    """The legal tokens at a node and below it, each with the state after it."""
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        after = machine.step(state, byte)
        if after is not None:
            found |= walk(child, machine, after)
    return found


# -- slices that a machine can read whole --------------------------------------------------------------------------

STRING = r'"[^"\\\x00-\x1f]*"'
SLICES = (  # a regex, the text read so far, and the regex of a slice
    ("a*", b"", "a*"), ("a*", b"", "b*"), ("a*", b"", "ab"), ("a*", b"", "a{0,3}"), ("a*b", b"", "a*"),
    ("aa*", b"", "a*"), ("ab*", b"", "[ab]*"), ("a{0,3}", b"", "a*"), ("a{0,3}", b"", "a{0,3}"),
    ("a{0,3}", b"a", "a{0,3}"), ("[ab]*c", b"b", "(ab)*"), ("a{0,30}", b"", "a*"), ("a{0,30}", b"", "a{0,30}"),
    (r"[^\x00]*", b"", r"[\x00-b]*"), (DECIMAL, b"3", "[0-9]*"), (DECIMAL, b"3", "[0-9.]*"),
    (STRING, b'"', "[a-z ]*"), (STRING, b'"', "[é-ë]*"), (STRING, b'"x"', "[a-z ]*"), ('"[a-z]*"', b'"', "[a-zé]*"),
)  # fmt: skip


def check_whole(answer: Callable[[Any, Any, Any], bool]) -> Verdict:
    """Does `answer(machine, state, part)` say whether the machine can read from its state all that a part can?

    >>> check_whole(lambda machine, state, part: all(
    ...     machine.step(state, byte) is not None for byte in range(256) if part.step(0, byte) is not None))
    ✗ not yet right: on input 3 of 20, the first on which it fails
        machine     regex a*, in q0: nothing was read
        slice       regex ab
        yours gave  True
        expected    False
        because     ab begins a text of the slice, and the machine refuses its last byte
    """

    def why(machine: DFA, state: Any, part: DFA) -> str:
        refused = shortest_refused(machine, state, part)
        if refused is None:
            return "the machine can read each text that the slice can read"
        return f"{visible(refused)} begins a text of the slice, and the machine refuses its last byte"

    words = {regex(part): f"regex {part}" for _, _, part in SLICES}
    rows = [(text, begun, regex(part)) for text, begun, part in SLICES]
    cases = machine_cases(lambda *x: shortest_refused(*x) is None, rows, "slice", why=why, spell=words.__getitem__)
    return check_function(answer, cases)


def shortest_refused(machine: DFA, state: Any, part: DFA) -> bytes | None:
    """The shortest text that a slice can read and a machine, from its state, cannot; None if there is none.

    >>> shortest_refused(regex("a{0,3}"), 0, regex("a*")), shortest_refused(regex("a*b"), 0, regex("a*"))
    (b'aaaa', None)
    """
    found: dict[Any, bytes] = {(state, part.initial): b""}
    waiting = list(found)
    for here, there in waiting:
        for byte in next_bytes(part, there):
            text, pair = found[here, there] + bytes([byte]), (machine.step(here, byte), part.step(there, byte))
            if pair[0] is None:
                return text
            if pair not in found:
                found[pair] = text
                waiting.append(pair)
    return None


# -- forced bytes --------------------------------------------------------------------------------------------------

BEGUN = (  # a regex, and the text read so far
    ("a", b""), ("ab", b""), ("ab", b"a"), ("ab", b"ab"), ("a|b", b""), ("ab?", b""), ("ab?", b"a"),
    ("a[bc]d", b""), ("(ab)*", b""), ("(ab)*", b"a"), ("a+b", b""), ("a+b", b"a"), ("ab(cd)?", b""),
    ("ab(cd)?", b"ab"), ("ab(cd)?", b"abc"), (r"a\x00b?", b""), ("a{30}b?", b""), ("café[0-9]", b""),
    ("name: [a-z]+", b""), ("name: [a-z]+", b"name: "), (r'\{"id": [0-9]+\}', b'{"i'), (r'\{"id": [0-9]+\}', b""),
    ("[éè]", b""), ("caf[éè]s", b""), ("[éè]s", "é".encode()[:1]),
)  # fmt: skip


def check_forced(answer: Callable[[DFA, Any], bytes]) -> Verdict:
    """Does `answer(machine, state)` give the bytes that must come next, also where they end inside a character?

    >>> check_forced(lambda machine, state: b"" if machine.is_accepting(state) else bytes(
    ...     byte for byte in range(256) if machine.step(state, byte) is not None)[:1])
    ✗ not yet right: on input 2 of 25, the first on which it fails
        machine     regex ab, in q0: nothing was read
        yours gave  b'a'
        expected    b'ab'
        because     after a may come: b
    """

    def say(case: Case, value: Any) -> Mistake:
        machine, state = case.arguments
        return Mistake(say_forced(machine, state, value), draw_path(machine, value, state, "the path of your bytes"))

    return check_function(answer, machine_cases(forced_run, BEGUN), say)


def forced_run(machine: DFA, state: Any) -> bytes:
    """The forced bytes, not cut to whole characters as the library cuts them.

    >>> forced_run(regex("caf[éè]"), 0)
    b'caf\\xc3'
    """
    run = b""
    while not machine.is_accepting(state) and len(ways := next_bytes(machine, state)) == 1:
        run, state = run + ways, machine.step(state, ways[0])
    return run


def say_forced(machine: DFA, state: Any, gave: bytes) -> str:
    """What may come where some bytes differ from the forced bytes.

    >>> say_forced(regex("ab(cd)?"), 0, b"abcd"), say_forced(regex("[ab]"), 0, b"a")
    ('after ab may come: c or the end', 'here may come: a b')
    """
    right = forced_run(machine, state)
    at = max(end for end in range(len(right) + 1) if gave.startswith(right[:end]))
    here: Any = read(machine, right[:at], state)
    return f"{f'after {visible(right[:at])}' if at else 'here'} may come: {expected_next(machine, here)}"
