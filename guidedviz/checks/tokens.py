"""Exercises on tokens: sorted by one rule, filled into a mask, stored, left to the model, compared with an engine."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.checks.machines import machine_cases
from guidedviz.checks.verdict import Case, Verdict, cases_of, check_function, show
from guidedviz.decoding.jump import Cost
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible

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
