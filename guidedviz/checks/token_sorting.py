"""Sort a token by one rule, merge the tokens of several nodes, and store a set in the fewest bytes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function, say_not_ids
from guidedviz.checks.same_language import draw_path
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible

Part = tuple[set[int], set[int]]  # of one node: the tokens that are surely legal, and those that depend on the stack

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
PLACES: tuple[tuple[Part, ...], ...] = (
    (({1}, {2}),),
    (({1}, set()), ({2}, set())),
    ((set(), {1}), (set(), {2})),
    ((set(), {1}), (set(), {1})),
    (({1}, set()), (set(), {1})),
    ((set(), {1, 2}), ({2}, {3})),
    (({4}, {1, 2}), ({2}, {3}), ({3, 5}, {5, 6})),
)
# The number of tokens in a set, and in the vocabulary.
SETS = ((0, 8), (8, 8), (1, 40), (2, 40), (39, 40), (20, 41), (423, 128256), (126625, 128256), (123180, 128256))


def check_sort_token(answer: Callable[[DFA, int, bytes], str]) -> Verdict:
    """Does `answer(rule, state, piece)` say "yes", "no" or "ask", knowing the rule alone?

    >>> check_sort_token(lambda rule, state, piece: "yes" if rule.step(state, piece[0]) is not None else "no")
    ✗ not yet right: on input 3 of 17, the smallest on which it fails
        rule        a, of which nothing was read
        piece       a}
        yours gave  'yes'
        expected    'ask'
        because     after a the rule is finished and } is left over: the rules below it on the stack decide
    """
    return check_function(answer, [_token_case(*trial) for trial in TOKENS], explain=_word_mistake)


def _word_mistake(case: Case, value: Any) -> Mistake:
    return Mistake("" if value in ("yes", "no", "ask") else '"yes", "no" or "ask" is expected')


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
    'ask'
    """
    if read(rule, piece, state) is not None:
        return "yes", "the rule reads all of it"
    for end in range(len(piece) - 1, -1, -1):
        reached = read(rule, piece[:end], state)
        if reached is not None and rule.is_accepting(reached):
            when = f"after {visible(piece[:end])}" if end else "before the piece"
            left = f"{visible(piece[end:])} is left over: the rules below it on the stack decide"
            return "ask", f"{when} the rule is finished and {left}"
    return "no", "the rule cannot read it, and is not finished anywhere before the byte that it cannot read"


def check_merge(answer: Callable[[Sequence[Part]], Part]) -> Verdict:
    """Does `answer(parts)` merge several nodes: which tokens are surely legal, and which depend on the stack?

    >>> check_merge(lambda parts: (set.union(*(yes for yes, ask in parts)), set.union(*(ask for yes, ask in parts))))
    ✗ not yet right: on input 5 of 7, the smallest on which it fails
        node 1      yes {1}, ask {}
        node 2      yes {}, ask {1}
        yours gave  yes {1}, ask {1}
        expected    yes {1}, ask {}
        because     token 1 is surely legal at one node, so no stack can forbid it
    """
    cases = []
    for parts in PLACES:
        given = tuple((f"node {number}", _say(part)) for number, part in enumerate(parts, 1))
        cases.append(Case((list(parts),), merge_parts(parts), given=given))
    return check_function(answer, cases, lambda value, expected: _part(value) == expected, _merge_mistake)


def merge_parts(parts: Sequence[Part]) -> Part:
    """A token is legal if it is surely legal at one node; otherwise it depends on the stack if it does at one node.

    >>> merge_parts([({1}, {2}), (set(), {1, 3})])
    ({1}, {2, 3})
    """
    yes = set[int]().union(*(yes for yes, _ in parts))
    return yes, set[int]().union(*(ask for _, ask in parts)) - yes


def _part(value: Any) -> Part:
    yes, ask = value
    if said := say_not_ids(yes) or say_not_ids(ask):
        raise TypeError(said)
    return set(yes), set(ask)


def _say(part: Part) -> str:
    return ", ".join(f"{name} {show(ids) if ids else '{}'}" for name, ids in zip(("yes", "ask"), part, strict=True))


def _merge_mistake(case: Case, value: Any) -> Mistake:
    """Why the first token that is in a wrong set belongs elsewhere."""
    yes, ask = case.expected
    expected = ("expected", _say(case.expected))
    try:
        part = _part(value)
    except (TypeError, ValueError) as error:
        said = str(error) if isinstance(value, list | tuple) and len(value) == 2 else "two sets are expected"
        return Mistake(
            f"{said}: the tokens that are surely legal, and those that ask",
            gave=(("yours gave", show(value)), expected),
        )
    token = min((part[0] ^ yes) | (part[1] ^ ask))
    if token in yes:
        why = "is surely legal at one node, so no stack can forbid it"
    elif token in ask:
        why = "asks at one node and is surely legal at none: the stack decides"
    else:
        why = "is in no set of any node"
    return Mistake(f"token {token} {why}", gave=(("yours gave", _say(part)), expected))


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
