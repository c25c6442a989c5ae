"""Lab 06: a token sorted by its rule alone, what several nodes say together, and the least memory for a set."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from guidedviz.checks.machine import follow
from guidedviz.checks.verdict import Case, Same, Verdict, agrees, call, check_function, show
from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.regex import regex
from guidedviz.machines.sketch import sketch_dfa
from guidedviz.machines.visible import visible
from guidedviz.views.figure import Figure
from guidedviz.views.machine import draw_machine

Part = tuple[set[int], set[int]]  # what a node says: the tokens that are surely legal there, and those that ask

WORD = '"[a-z]+"'
NUMBER = r"[0-9]+(\.[0-9]+)?"
# A rule, what was read of it, and a piece.
TOKENS: tuple[tuple[str, bytes, bytes], ...] = (
    ("a", b"", b"a"),
    ("a", b"", b"b"),
    ("a", b"", b"a}"),
    ("a", b"a", b"}"),
    ("a+", b"a", b"aa"),
    ("ab", b"", b"a}"),
    (WORD, b'"a', b'b"'),
    (WORD, b'"a', b'b"}]'),
    (WORD, b'"', b'"}'),
    (NUMBER, b"4", b"2}"),
    (NUMBER, b"4", b".}"),
    (NUMBER, b"4.", b"}"),
    (NUMBER, b"", b"}"),
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
# How many tokens are in a set, of how many.
SETS = ((0, 8), (8, 8), (1, 40), (2, 40), (39, 40), (20, 41), (423, 128256), (126625, 128256), (123180, 128256))


def check_sort_token(answer: Callable[[DFA, int, bytes], str]) -> Verdict:
    """Lab 06: does `answer(rule, state, piece)` say "yes", "no" or "ask" by what the rule alone knows?

    >>> check_sort_token(lambda rule, state, piece: "yes" if rule.step(state, piece[0]) is not None else "no")
    ✗ not yet right: on input 3 of 13, the smallest on which it fails
        rule        a, of which nothing was read
        piece       a}
        yours says  'yes'
        expected    'ask'
        because     after a the rule is finished and } is left over: what lies below decides
    """
    cases = [_token_case(*trial) for trial in TOKENS]
    verdict = check_function(answer, cases, operator.eq)
    if (wrong := _first_wrong(verdict, answer, cases, operator.eq)) is None:
        return verdict
    place, value = wrong
    text, begun, piece = TOKENS[place]
    facts = (
        ("rule", f"{text}, of which {visible(begun) if begun else 'nothing'} was read"),
        ("piece", visible(piece)),
        ("yours says", show(value)),
        ("expected", show(cases[place].expected)),
        ("because", cases[place].why),
    )
    return Verdict("wrong", verdict.said, facts, _draw_token(cases[place]))


def _first_wrong(verdict: Verdict, answer: object, cases: Sequence[Case], same: Same) -> tuple[int, Any] | None:
    """The first case on which an answer is wrong, and what it gave; None if it is right, or changed its input."""
    if verdict.result != "wrong" or not callable(answer):
        return None
    gave = (call(answer, case.arguments) for case in cases)
    for place, (value, touched) in enumerate(gave):
        if touched:
            return None
        if not agrees(value, cases[place].expected, same):
            return place, value
    return None


def _token_case(text: str, begun: bytes, piece: bytes) -> Case:
    rule = regex(text)
    state = read(rule, begun)
    return Case((rule, state, piece), *sort_by_ends(rule, state, piece))


def sort_by_ends(rule: Machine, state: Hashable, piece: bytes) -> tuple[str, str]:
    """The answer and its reason, out of every place in the piece where the rule may have ended.

    >>> sort_by_ends(regex("a+"), 1, b"a]")
    ('ask', 'after a the rule is finished and ] is left over: what lies below decides')
    """
    if read(rule, piece, state) is not None:
        return "yes", "the rule reads all of it"
    for end in range(len(piece) - 1, -1, -1):
        reached = read(rule, piece[:end], state)
        if reached is not None and rule.is_accepting(reached):
            when = f"after {visible(piece[:end])}" if end else "before the piece"
            why = f"{when} the rule is finished and {visible(piece[end:])} is left over: what lies below decides"
            return "ask", why
    return "no", "the rule cannot read it, and is finished nowhere on the way"


def _draw_token(case: Case) -> Figure:
    """The way of the piece through the rule, and the byte that the rule cannot read."""
    rule, state, piece = case.arguments
    path = follow(sketch_dfa(rule), piece, state)
    died = visible(piece[len(path) - 1 : len(path)])
    return draw_machine(rule, path, title=f"the piece {visible(piece)}", died=died)


def check_merge(answer: Callable[[Sequence[Part]], Part]) -> Verdict:
    """Lab 06: does `answer(parts)` put together what several nodes say: what is surely legal, and what asks?

    >>> check_merge(lambda parts: (set.union(*(yes for yes, ask in parts)), set.union(*(ask for yes, ask in parts))))
    ✗ not yet right: on input 5 of 7, the smallest on which it fails
        node 1      yes {1}, ask {}
        node 2      yes {}, ask {1}
        yours gave  yes {1}, ask {1}
        expected    yes {1}, ask {}
        because     token 1 is surely legal at one node, and no stack can forbid it any more
    """
    cases = [Case((list(parts),), merge_parts(parts)) for parts in PLACES]
    verdict = check_function(answer, cases, _same_part)
    if (wrong := _first_wrong(verdict, answer, cases, _same_part)) is None:
        return verdict
    place, value = wrong
    expected = cases[place].expected
    places = ((f"node {number}", _say_part(part)) for number, part in enumerate(PLACES[place], 1))
    facts = (("yours gave", _say_part(value)), ("expected", _say_part(expected)), _why_merged(value, expected))
    return Verdict("wrong", verdict.said, (*places, *facts))


def merge_parts(parts: Sequence[Part]) -> Part:
    """Legal at one node is legal; where a node asks and none is sure, the stack is asked.

    >>> merge_parts([({1}, {2}), (set(), {1, 3})])
    ({1}, {2, 3})
    """
    yes = set[int]().union(*(yes for yes, _ in parts))
    return yes, set[int]().union(*(ask for _, ask in parts)) - yes


def _same_part(value: Any, expected: Part) -> bool:
    yes, ask = value
    return (set(yes), set(ask)) == expected


def _say_part(value: Any) -> str:
    """Two sets in words; whatever else an answer gave, as it is."""
    try:
        yes, ask = map(set, value)
        return ", ".join(f"{name} {show(ids) if ids else '{}'}" for name, ids in (("yes", yes), ("ask", ask)))
    except (TypeError, ValueError):
        return show(value)


def _why_merged(value: Any, expected: Part) -> tuple[str, str]:
    """What is true of the first token that an answer puts elsewhere."""
    try:
        yes, ask = map(set, value)
        token = min((yes ^ expected[0]) | (ask ^ expected[1]))
    except (TypeError, ValueError):
        return "but", "two sets are asked for: the tokens that are surely legal, and those that ask"
    if token in expected[0]:
        return "because", f"token {token} is surely legal at one node, and no stack can forbid it any more"
    if token in expected[1]:
        return "because", f"token {token} asks at one node and is surely legal at none: the stack decides"
    return "because", f"token {token} is in no set of any node"


def check_storage(answer: Callable[[int, int], tuple[str, int]]) -> Verdict:
    """Lab 06: does `answer(count, size)` choose what takes the fewest bytes, and say how many?

    >>> check_storage(lambda count, size: min(("accepted", 4 * count), ("rejected", 4 * (size - count))))
    ✗ not yet right: on input 2 of 9, the smallest on which it fails
        input       8 of 8 tokens are in the set
        yours gave  ('accepted', 32)
        expected    ('rejected', 0)
        because     accepted takes 32 bytes, rejected 0, bits 1
    """
    cases = [Case(trial, min(ways_to_store(*trial).items(), key=lambda way: way[1])) for trial in SETS]
    verdict = check_function(answer, cases, _same_way)
    if (wrong := _first_wrong(verdict, answer, cases, _same_way)) is None:
        return verdict
    place, value = wrong
    count, size = SETS[place]
    accepted, rejected, bits = ways_to_store(count, size).values()
    facts = (
        ("input", f"{count:,} of {size:,} tokens are in the set"),
        ("yours gave", show(value)),
        ("expected", show(cases[place].expected)),
        ("because", f"accepted takes {accepted:,} bytes, rejected {rejected:,}, bits {bits:,}"),
    )
    return Verdict("wrong", verdict.said, facts)


def ways_to_store(count: int, size: int) -> dict[str, int]:
    """The bytes of the three ways: four for an id, an eighth for a bit, and no part of a byte.

    >>> ways_to_store(20, 41)
    {'accepted': 80, 'rejected': 84, 'bits': 6}
    """
    return {"accepted": 4 * count, "rejected": 4 * (size - count), "bits": -(-size // 8)}


def _same_way(value: Any, expected: tuple[str, int]) -> bool:
    return tuple(value) == expected
