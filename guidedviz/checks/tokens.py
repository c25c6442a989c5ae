"""Exercises on tokens: sorted by one rule, filled into a mask, stored, left to the model, compared with an engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from guidedviz.checks.machines import begin, draw_path, rows_of
from guidedviz.checks.verdict import Case, Verdict, cases_of, check_function, form, is_pair, say_not_ids, show
from guidedviz.decoding.jump import Cost
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible

DECIMAL = r"\d+(\.\d+)?"

# -- sorted by one rule --------------------------------------------------------------------------------------------

WORDS = ("accepted", "rejected", "dependent")
WORD = '"[a-z]+"'
NUMBER = r"[0-9]+(\.[0-9]+)?"
TOKENS = {  # for each rule the texts read so far, and a piece
    "a": [(b"", b"a"), (b"", b"b"), (b"", b"a}"), (b"a", b"}")],
    "a+": [(b"a", b"aa")],
    "ab": [(b"", b"a}"), (b"", b"aa")],
    WORD: [(b'"', b"b"), (b'"', b"b}"), (b'"a', b'b"'), (b'"a', b'b"}]'), (b'"', b'"}')],
    NUMBER: [(b"4", b"2}"), (b"4", b".}"), (b"4.", b"}"), (b"", b"}")],
    "a(bcd)?": [(b"a", b"bcx")],
}


def check_sort_token(answer: Callable[[DFA, int, bytes], str]) -> Verdict:
    """Does `answer(rule, state, piece)` say "accepted", "rejected" or "dependent", knowing the rule alone?

    >>> check_sort_token(lambda rule, state, piece: "rejected" if rule.step(state, piece[0]) is None else "accepted")
    ✗ not yet right: on input 3 of 17, the smallest on which it fails
        rule        regex a, in q0: nothing was read
        piece       a}
        yours gave  'accepted'
        expected    'dependent'
        because     after a the rule is finished and } is left over: the rules below it on the stack decide
    """
    cases = []
    for text, (begun, piece) in rows_of(TOKENS):
        rule, state, words = begin(text, begun)
        expected, why = sort_by_ends(rule, state, piece)
        draw = partial(draw_path, rule, piece, state, f"the piece {visible(piece)}")
        cases.append(Case((rule, state, piece), expected, why, (("rule", words), ("piece", visible(piece))), draw))
    words = '"accepted", "rejected" or "dependent" is expected'
    return check_function(answer, cases, form(lambda value: value in WORDS, words))


def sort_by_ends(rule: Machine[Any], state: Hashable, piece: bytes) -> tuple[str, str]:
    """The answer and its reason, from every place in the piece where the rule may have ended.

    >>> sort_by_ends(begin("a+", b"a")[0], 1, b"a]")[0]
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
NODES: tuple[tuple[list[Part], set[int]], ...] = (  # and the tokens that are legal on the stack
    ([({1}, set())], set()),
    ([({1}, {2})], {2}),
    ([({1}, {2})], set()),
    ([({1}, set()), ({2}, set())], set()),
    ([(set(), {1, 3}), (set(), {2})], {2, 3}),
    ([(set(), {1}), ({1}, set())], set()),
    ([(set(), {1, 2}), ({2}, {3})], {1}),
    ([({4}, {1, 2}), ({2}, {3}), ({3, 5}, {5, 6})], {6, 7}),
)


@dataclass(frozen=True)
class Stack:
    """Says whether a token is legal on the stack; refuses tokens for which no stack is needed."""

    legal: set[int]
    dependent: set[int]  # the tokens that an engine has to look up here

    def __call__(self, token: int) -> bool:
        if isinstance(token, Collection):
            raise TypeError(f"on_stack takes one id, and this is {show(token)}")
        if token not in self.dependent:
            raise LookupError(f"on_stack({show(token)}): the verdict of this token is known without the stack")
        return token in self.legal


def check_fill_mask(answer: Callable[[Sequence[Part], Callable[[int], bool]], set[int]]) -> Verdict:
    """Does `answer(parts, on_stack)` give the legal tokens of a state from the sets of its nodes?

    >>> check_fill_mask(lambda parts, on_stack: set.union(*(accepted for accepted, dependent in parts)))
    ✗ not yet right: on input 2 of 8, the smallest on which it fails
        node 1      accepted {1}, dependent {2}
        on_stack    true for {2}
        yours gave  {1}
        expected    {1, 2}
        because     token 2 is context-dependent, and legal on this stack
    """
    cases = []
    for parts, legal in NODES:
        said = [[show(ids) if ids else "{}" for ids in part] for part in parts]
        nodes = ((f"node {n}", f"accepted {one}, dependent {other}") for n, (one, other) in enumerate(said, 1))
        given = (*nodes, ("on_stack", f"true for {show(legal) if legal else 'no token'}"))
        accepted, dependent = merge_parts(parts)
        cases.append(Case((parts, Stack(legal, dependent)), accepted | (dependent & legal), given=given))
    return check_function(answer, cases, _say_mask)


def merge_parts(parts: Sequence[Part]) -> Part:
    """A token is accepted if one node accepts it; otherwise it is context-dependent if it is so at one node.

    >>> merge_parts([({1}, {2}), (set(), {1, 3})])
    ({1}, {2, 3})
    """
    accepted = set[int]().union(*(accepted for accepted, _ in parts))
    return accepted, set[int]().union(*(dependent for _, dependent in parts)) - accepted


def _say_mask(case: Case, value: Any) -> str:
    """Why the first wrong token is legal or illegal."""
    if say_not_ids(value):
        return ""
    token, right = min({*value} ^ case.expected), case.expected
    accepted, dependent = merge_parts(case.arguments[0])
    if token in accepted:
        return f"token {token} is accepted at one node, so it is legal on every stack"
    if token in dependent:
        return f"token {token} is context-dependent, and {'' if token in right else 'il'}legal on this stack"
    return f"token {token} is rejected at every node"


# -- the fewest bytes for a set ------------------------------------------------------------------------------------

# the number of tokens in a set, and in the vocabulary
SETS = ((0, 8), (8, 8), (1, 40), (2, 40), (39, 40), (20, 41), (423, 128256), (126625, 128256), (123180, 128256))


def check_storage(answer: Callable[[int, int], tuple[str, int]]) -> Verdict:
    """Does `answer(count, size)` choose the storage with the fewest bytes, and give their number?

    >>> check_storage(lambda count, size: min(("accepted", 4 * count), ("rejected", 4 * (size - count))))
    ✗ not yet right: on input 2 of 9, the smallest on which it fails
        input       8 of 8 tokens are in the set
        yours gave  ('accepted', 32)
        expected    ('rejected', 0)
        because     accepted takes 32 bytes, rejected 0, bits 1
    """
    cases = []
    for count, size in SETS:
        ways = ways_to_store(count, size)
        why = "accepted takes {:,} bytes, rejected {:,}, bits {:,}".format(*ways.values())
        given = (("input", f"{count:,} of {size:,} tokens are in the set"),)
        cases.append(Case((count, size), min(ways.items(), key=lambda way: way[1]), why, given))
    words = 'a pair is expected: "accepted", "rejected" or "bits", and the number of bytes'
    return check_function(answer, cases, form(lambda value: is_pair(value, ways_to_store(0, 0)), words))


def ways_to_store(count: int, size: int) -> dict[str, int]:
    """The bytes of the three kinds of storage: four per id, or one bit per token, rounded up to whole bytes.

    >>> ways_to_store(20, 41)
    {'accepted': 80, 'rejected': 84, 'bits': 6}
    """
    return {"accepted": 4 * count, "rejected": 4 * (size - count), "bits": -(-size // 8)}


# -- forced tokens that are left to the model, and what jump-forward saves -----------------------------------------

SPELLED: tuple[tuple[list[bytes], list[set[bytes]]], ...] = (  # tokens, and the pieces that are legal at each
    ([], []),
    ([b"a"], [{b"a"}]),
    ([b"a"], [{b"a", b"ab"}]),
    ([b"ab"], [{b"a", b"ab", b"abc"}]),
    ([b"ab"], [{b"a", b"ab", b"xyz"}]),
    ([b"a", b"b"], [{b"a", b"ab"}, {b"b"}]),
    ([b"a", b"b"], [{b"a"}, {b"b", b"bc"}]),
    ([b"a", b"b"], [{b"a", b"acb"}, {b"b"}]),
    ([b"a", b"b"], [{b"a", b"abc"}, {b"b"}]),
    ([b"a", b"a"], [{b"a", b"aa"}, {b"a", b"aa"}]),
    ([b"or", b"der"], [{b"or", b"order", b"orderId"}, {b"der"}]),
    ([b"caf", b"\xc3"], [{b"caf"}, {b"\xc3", b"\xc3\xa9"}]),
    ([b'{"', b"na", b"me"], [{b"{", b'{"'}, {b"na", b"name"}, {b"m", b"me"}]),
    ([b'{"', b"na", b"me"], [{b"{", b'{"'}, {b"na", b"names"}, {b"m", b"me"}]),
    ([b'{"', b"na", b"me", b'"'], [{b'{"'}, {b"na", b'name":'}, {b"me", b'me"'}, {b'"', b'":'}]),
)
PRICES = (  # the fraction, pass_ms, token_ms, and the rows
    (0.0, 1.0, 0.0, 1),
    (0.5, 1.0, 0.0, 1),
    (0.75, 9.0, 0.0, 1),
    (0.0, 9.0, 1.0, 1),
    (0.5, 1.0, 1.0, 1),
    (0.75, 9.0, 1.0, 1),
    (0.75, 9.0, 1.0, 8),
    (0.75, 9.0, 1.0, 10_000),
    (0.95, 20.0, 0.05, 64),
)


def check_heal(answer: Callable[[Sequence[bytes], Sequence[set[bytes]]], int]) -> Verdict:
    """Does `answer(tokens, legal)` say how many of the tokens are safe, so that the model chooses the others?

    >>> check_heal(lambda tokens, legal: len(tokens))
    ✗ not yet right: on input 3 of 15, the smallest on which it fails
        tokens      [b'a']
        legal[0]    {b'a', b'ab'}
        yours gave  1
        expected    0
        because     what is left from place 0 is a, and ab begins with it and is longer
    """
    cases = []
    for tokens, legal in SPELLED:
        given = (("tokens", show(tokens)), *((f"legal[{place}]", show(pieces)) for place, pieces in enumerate(legal)))
        cases.append(Case((tokens, legal), count_kept(tokens, legal), given=given))
    return check_function(answer, cases, _say_kept)


def count_kept(tokens: Sequence[bytes], legal: Sequence[set[bytes]]) -> int:
    """The number of tokens before the first place where a legal piece begins with all that is left and is longer.

    >>> count_kept([b"x", b"or", b"der"], [{b"x"}, {b"or", b"orderId"}, {b"der"}])
    1
    """
    return next((place for place in range(len(tokens)) if _longer(tokens, legal, place)), len(tokens))


def _longer(tokens: Sequence[bytes], legal: Sequence[set[bytes]], place: int) -> list[bytes]:
    """The legal pieces that begin with all that is left, and are longer."""
    left = b"".join(tokens[place:])
    return sorted(piece for piece in legal[place] if piece.startswith(left) and piece != left)


def _say_kept(case: Case, value: Any) -> str:
    tokens, legal = case.arguments
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= len(tokens):
        return f"a number of tokens is expected, from 0 to {len(tokens)}"
    place = min(value, case.expected)
    longer = _longer(tokens, legal, place)
    left, which = visible(b"".join(tokens[place:])), visible(longer[0]) if longer else "no legal piece"
    return f"what is left from place {place} is {left}, and {which} begins with it and is longer"


def check_speedup(answer: Callable[[float, float, float, int], float]) -> Verdict:
    """Does `answer(fraction, pass_ms, token_ms, rows)` say how many times as fast jump-forward is?

    >>> check_speedup(lambda fraction, pass_ms, token_ms, rows: 1 / (1 - fraction))
    ✗ not yet right: on input 5 of 9, the smallest on which it fails
        fraction    0.5
        pass_ms     1
        token_ms    1
        rows        1
        yours gave  2
        expected    1.333
        because     a token takes 1 + 1 × 1 = 2 ms without jump-forward, and (1 - 0.5) × 1 + 1 × 1 = 1.5 ms with it
    """

    def reference(fraction: float, pass_ms: float, token_ms: float, rows: int) -> float:
        return Cost(pass_ms, token_ms).speedup(fraction, rows)

    trials = []
    for fraction, pass_ms, token_ms, rows in PRICES:
        tokens, free = token_ms * rows, (1 - fraction) * pass_ms
        naive = f"{pass_ms:g} + {token_ms:g} × {rows} = {pass_ms + tokens:g} ms"
        jumped = f"(1 - {fraction:g}) × {pass_ms:g} + {token_ms:g} × {rows} = {free + tokens:g} ms"
        why = f"a token takes {naive} without jump-forward, and {jumped} with it"
        trials.append((fraction, pass_ms, token_ms, rows, why))
    return check_function(answer, cases_of(reference, trials, "fraction", "pass_ms", "token_ms", "rows"))


# -- the mask of another engine, judged byte by byte ---------------------------------------------------------------

Faults = tuple[Iterable[int], Iterable[int]]  # the ids that it omits, and those that it must not allow
MASKS: tuple[tuple[str, bytes, list[bytes], set[int]], ...] = (  # a regex, the text so far, pieces, the engine's ids
    ("a", b"", [b"a"], {0}),
    ("a", b"", [b"a"], set()),
    ("a", b"", [b"a", b"b"], {0, 1}),
    ("ab", b"", [b"a", b"ab", b"b"], {0, 2}),
    ("ab", b"a", [b"a", b"ab", b"b"], {0, 2}),
    ("ab", b"a", [b"b", b"bb", b"ba"], {1, 2}),
    ("a|ab", b"", [b"a", b"ab", b"abc", b"a"], {0, 2}),
    (DECIMAL, b"3", [b".", b".5", b"3.", b"x", b"3x", b".."], {1, 4}),
    ("[^\\x00]*é", b"", [b"\xc3", b"\xa9", b"\x00", b"\xc3\xa9"], {1, 3}),
)


def check_faults(answer: Callable[[Any, Any, list[bytes], set[int]], Faults]) -> Verdict:
    """Does `answer(machine, state, pieces, allowed)` give the legal ids that are missing, and the illegal ones?

    >>> check_faults(lambda machine, state, pieces, allowed: (set(), set()))
    ✗ not yet right: on input 2 of 9, the smallest on which it fails
        machine     regex a, in q0: nothing was read
        pieces      [b'a']
        allowed     set()
        yours gave  (set(), set())
        expected    ({0}, set())
        because     token 0, a, is legal, and the engine omits it, so it is missing
    """
    cases = []
    for text, begun, pieces, allowed in MASKS:
        machine, state, words = begin(text, begun)
        legal = legal_tokens(machine, state, pieces)
        given = (("machine", words), ("pieces", show(pieces)), ("allowed", show(allowed)))
        cases.append(Case((machine, state, pieces, allowed), (legal - allowed, allowed - legal), given=given))
    return check_function(answer, cases, _say_faults)


def legal_tokens(machine: DFA, state: Any, pieces: Sequence[bytes]) -> set[int]:
    """The ids of the pieces that a machine can read from a state."""
    return {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}


def _say_faults(case: Case, value: Any) -> str:
    machine, state, pieces, allowed = case.arguments
    if not isinstance(value, tuple | list) or len(value) != 2:
        return "two sets of ids are expected: the missing, then the extra"
    for name, gave, right in zip(("missing", "extra"), value, case.expected, strict=True):
        if said := say_not_ids(gave):
            return f"{name}: {said}"
        for token in sorted({*gave} ^ right):
            if not 0 <= token < len(pieces):
                return f"{name}: {token} is not in the vocabulary"
            legal = "legal" if token in legal_tokens(machine, state, pieces) else "illegal"
            does = "allows" if token in allowed else "omits"
            is_fault = f"so it {'is' if token in right else 'is not'} {name}"
            return f"token {token}, {visible(pieces[token])}, is {legal}, and the engine {does} it, {is_fault}"
    return ""
