"""Sort a token by one rule, fill a mask from the sets of several nodes, and store a set in the fewest bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function, same_set, say_not_ids
from guidedviz.checks.same_language import draw_path
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible

Part = tuple[set[int], set[int]]  # of one node: the accepted and the context-dependent tokens

WORDS = ("accepted", "rejected", "dependent")
WORD = '"[a-z]+"'
NUMBER = r"[0-9]+(\.[0-9]+)?"
# A rule, the text read so far, and a piece.
TOKENS: tuple[tuple[str, bytes, bytes], ...] = (
    ("a", b"", b"a"),
    ("a", b"", b"b"),
    ("a", b"", b"a}"),
    ("a", b"a", b"}"),
    ("a+", b"a", b"aa"),
    ("ab", b"", b"a}"),
    ("ab", b"", b"aa"),
    (WORD, b'"', b"b"),
    (WORD, b'"', b"b}"),
    (WORD, b'"a', b'b"'),
    (WORD, b'"a', b'b"}]'),
    (WORD, b'"', b'"}'),
    (NUMBER, b"4", b"2}"),
    (NUMBER, b"4", b".}"),
    (NUMBER, b"4.", b"}"),
    (NUMBER, b"", b"}"),
    ("a(bcd)?", b"a", b"bcx"),
)
# Of several nodes, and the tokens that are legal on the stack.
PLACES: tuple[tuple[tuple[Part, ...], set[int]], ...] = (
    ((({1}, set()),), set()),
    ((({1}, {2}),), {2}),
    ((({1}, {2}),), set()),
    ((({1}, set()), ({2}, set())), set()),
    (((set(), {1, 3}), (set(), {2})), {2, 3}),
    (((set(), {1}), ({1}, set())), set()),
    (((set(), {1, 2}), ({2}, {3})), {1}),
    ((({4}, {1, 2}), ({2}, {3}), ({3, 5}, {5, 6})), {6, 7}),
)
# The number of tokens in a set, and in the vocabulary.
SETS = ((0, 8), (8, 8), (1, 40), (2, 40), (39, 40), (20, 41), (423, 128256), (126625, 128256), (123180, 128256))


def check_sort_token(answer: Callable[[DFA, int, bytes], str]) -> Verdict:
    """Does `answer(rule, state, piece)` say "accepted", "rejected" or "dependent", knowing the rule alone?

    >>> check_sort_token(lambda rule, state, piece: "rejected" if rule.step(state, piece[0]) is None else "accepted")
    ✗ not yet right: on input 3 of 17, the smallest on which it fails
        rule        a, of which nothing was read
        piece       a}
        yours gave  'accepted'
        expected    'dependent'
        because     after a the rule is finished and } is left over: the rules below it on the stack decide
    """
    return check_function(answer, [_token_case(*trial) for trial in TOKENS], explain=_word_mistake)


def _word_mistake(case: Case, value: Any) -> Mistake:
    return Mistake("" if value in WORDS else '"accepted", "rejected" or "dependent" is expected')


def _token_case(text: str, begun: bytes, piece: bytes) -> Case:
    rule = regex(text)
    state: Any = read(rule, begun)
    said = f"{text}, of which {visible(begun) if begun else 'nothing'} was read"
    draw = partial(draw_path, rule, piece, state, f"the piece {visible(piece)}")
    expected, why = sort_by_ends(rule, state, piece)
    return Case((rule, state, piece), expected, why, (("rule", said), ("piece", visible(piece))), draw)


def sort_by_ends(rule: Machine, state: Hashable, piece: bytes) -> tuple[str, str]:
    """The answer and its reason, from every place in the piece where the rule may have ended.

    >>> sort_by_ends(regex("a+"), 1, b"a]")[0]
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


@dataclass(frozen=True)
class Stack:
    """Says whether a token is legal on the stack; refuses tokens for which no stack is needed."""

    legal: frozenset[int]
    known: frozenset[int]  # the tokens that an engine has to look up here

    def __call__(self, token: int) -> bool:
        if isinstance(token, Collection):
            raise TypeError(f"on_stack takes one id, and this is {show(token)}")
        if token not in self.known:
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
    for parts, legal in PLACES:
        nodes = ((f"node {number}", _say(part)) for number, part in enumerate(parts, 1))
        given = (*nodes, ("on_stack", f"true for {show(legal) if legal else 'no token'}"))
        accepted, dependent = merge_parts(parts)
        stack = Stack(frozenset(legal), frozenset(dependent))
        cases.append(Case((list(parts), stack), accepted | (dependent & legal), given=given))
    return check_function(answer, cases, same_set, _mask_mistake)


def merge_parts(parts: Sequence[Part]) -> Part:
    """A token is accepted if one node accepts it; otherwise it is context-dependent if it is so at one node.

    >>> merge_parts([({1}, {2}), (set(), {1, 3})])
    ({1}, {2, 3})
    """
    accepted = set[int]().union(*(accepted for accepted, _ in parts))
    return accepted, set[int]().union(*(dependent for _, dependent in parts)) - accepted


def _say(part: Part) -> str:
    return ", ".join(
        f"{name} {show(ids) if ids else '{}'}" for name, ids in zip(("accepted", "dependent"), part, strict=True)
    )


def _mask_mistake(case: Case, value: Any) -> Mistake:
    """Why the first wrong token is legal or illegal."""
    if said := say_not_ids(value):
        return Mistake("" if value is None else said)
    token = min(set(value) ^ case.expected)
    accepted, dependent = merge_parts(case.arguments[0])
    if token in accepted:
        return Mistake(f"token {token} is accepted at one node, so it is legal on every stack")
    if token in dependent:
        return Mistake(
            f"token {token} is context-dependent, and {'' if token in case.expected else 'il'}legal on this stack"
        )
    return Mistake(f"token {token} is rejected at every node")


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
    return check_function(answer, cases, lambda value, expected: tuple(value) == expected, _storage_mistake)


def _storage_mistake(case: Case, value: Any) -> Mistake:
    if isinstance(value, list | tuple) and len(value) == 2 and value[0] in ways_to_store(*case.arguments):
        return Mistake()
    return Mistake('a pair is expected: "accepted", "rejected" or "bits", and the number of bytes')


def ways_to_store(count: int, size: int) -> dict[str, int]:
    """The bytes of the three kinds of storage: four per id, or one bit per token, rounded up to whole bytes.

    >>> ways_to_store(20, 41)
    {'accepted': 80, 'rejected': 84, 'bits': 6}
    """
    return {"accepted": 4 * count, "rejected": 4 * (size - count), "bits": -(-size // 8)}
