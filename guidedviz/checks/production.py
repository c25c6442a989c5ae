"""Exercises on servers: the rules that emptied a mask, the packed mask, the key of a cache, and what delayed a pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from operator import and_
from typing import Any

import numpy as np

from guidedviz.checks.verdict import Case, Mistake, Verdict, cases_of, check_function, form, is_pair, show

Request = Mapping[str, Any]
Pass = Mapping[str, Any]
Allowed = Mapping[str, set[int]]  # for each rule the ids that it allows

# -- who emptied the mask ------------------------------------------------------------------------------------------

RULES: tuple[Allowed, ...] = (  # the smallest guilty group is always unique
    {"grammar": {1, 2}},
    {"grammar": set()},
    {"grammar": {0}, "min_tokens": {0, 1}},
    {"grammar": {5}, "min_tokens": {1, 2, 3}},
    {"grammar": {5}, "min_tokens": {1, 2, 5}, "bad words": {1, 2}},
    {"bad words": {1, 2}, "grammar": {5}, "min_tokens": {1, 2, 5}},
    {"min_tokens": {1, 2, 3}, "bad words": {1, 2, 5}, "grammar": {5}},
    {"grammar": {1, 2}, "allowed": set(), "min_tokens": {3}},
    {"grammar": {1, 2}, "min_tokens": {2, 3}, "bad words": {1, 3}},
    {"allowed": {1, 2, 3, 4}, "grammar": {1, 2}, "min_tokens": {2, 3, 4}, "bad words": {1, 3, 4}},
    {"allowed": {1, 2, 3}, "grammar": {1, 2, 3}, "min_tokens": {2, 3}, "bad words": {3}},
)


def check_who_emptied(answer: Callable[[Allowed], set[str]]) -> Verdict:
    """Does `answer(rules)` name the smallest group of rules that allow no token together?

    >>> check_who_emptied(lambda rules: set(rules))
    ✗ not yet right: on input 1 of 11, the smallest on which it fails
        grammar     {1, 2}
        yours gave  {'grammar'}
        expected    set()
        because     token 1 is legal for every rule, so nothing emptied the mask
    """
    cases = []
    for rules in RULES:
        given = tuple((name, show(ids)) for name, ids in rules.items())
        cases.append(Case((rules,), who_emptied(rules), given=given))
    return check_function(answer, cases, _say_group)


def who_emptied(rules: Allowed) -> set[str]:
    """The smallest group of rules that allow no token together; empty if some token is legal.

    >>> sorted(who_emptied({"grammar": {5}, "least": {1, 2, 5}, "bad words": {1, 2}}))
    ['bad words', 'grammar']
    """
    groups = (set(group) for size in range(1, len(rules) + 1) for group in combinations(rules, size))
    return next((group for group in groups if not _legal(rules, group)), set())


def _legal(rules: Allowed, group: set[str]) -> set[int]:
    """The ids that every rule of a group allows."""
    return reduce(and_, (rules[name] for name in group))


def _say_group(case: Case, value: Any) -> str:
    rules, right = case.arguments[0], case.expected
    if not isinstance(value, set | list | tuple | frozenset) or not all(isinstance(name, str) for name in value):
        return "a set of names is expected" + "; the empty set if some token is legal" * (not right)
    if strange := sorted({*value} - {*rules}):
        return f"there is no rule {strange[0]!r}"
    if not right:
        return f"token {min(_legal(rules, {*rules}))} is legal for every rule, so nothing emptied the mask"
    names = " and ".join(sorted(right))
    if not value:
        return f"no token is legal: {names} {'allow none together' if len(right) > 1 else 'allows none'}"
    if left := _legal(rules, {*value}):
        return f"token {min(left)} is legal for {' and '.join(sorted(value))}"
    return f"a smaller group is enough: {names}"


# -- the packed mask -----------------------------------------------------------------------------------------------

SIGN = "bit 31 is the sign of an int32: its word is -2147483648; set the bits as uint32 and view them as int32"
ROWS: tuple[tuple[Sequence[int], int, str], ...] = (
    ([], 32, "no token is legal: all bits are 0"),
    ([0], 32, "token 0 is the lowest bit of word 0"),
    ([0, 2], 5, "tokens 0 and 2 are the bits 1 and 4; a word has 32 bits, also if there are fewer tokens"),
    ([33], 64, "token 33 is bit 1 of word 1: the word is token // 32, the bit is token % 32"),
    ([], 33, "33 tokens need two words"),
    ([31], 32, SIGN),
    ([3, 3], 32, "a token may be named twice: set its bit with |=, do not add"),
    ([*range(64)], 64, "32 legal tokens in a row are the word -1"),
    ([128_255, 5, 64], 128_256, "the tokens come in any order"),
)


def check_packed_row(answer: Callable[[Sequence[int], int], Any]) -> Verdict:
    """Does `answer(ids, size)` give the packed mask of these legal tokens as int32 words?

    >>> check_packed_row(lambda ids, size: [0] * (size // 32)).facts[-1][1]
    'token 0 is the lowest bit of word 0'
    """
    return check_function(answer, cases_of(packed_row, ROWS, "ids", "size"), _say_words)


def packed_row(ids: Sequence[int], size: int) -> list[int]:
    """The words of a mask.

    >>> packed_row([0, 33], 40)
    [1, 2]
    """
    words = np.zeros(-(-size // 32), np.uint32)
    for token in ids:
        words[token // 32] |= np.uint32(1 << token % 32)
    return [int(word) for word in words.view(np.int32)]


def _say_words(case: Case, value: Any) -> str:
    size, right = case.arguments[1], case.expected
    if not isinstance(value, list | tuple) or not all(isinstance(word, int) for word in value):
        return "a row of whole numbers is expected, one per word"
    if len(value) != len(right):
        return f"{size:,} tokens need {len(right):,} words of 32 bits, rounded up"
    if any(not -(2**31) <= word < 2**31 for word in value):
        return SIGN
    if [f"{word % 2**32:032b}" for word in value] == [f"{word % 2**32:032b}"[::-1] for word in right]:
        return "the bits are in the wrong order: token 0 is the lowest bit, 1 << 0"
    return ""


# -- the key of a compile cache ------------------------------------------------------------------------------------

BASE: Request = {
    "schema": '{"properties": {"item": {"type": "string"}, "count": {"type": "integer"}}}',
    "vocabulary": "5ab1e0",
    "engine": "xgrammar",
    "version": "0.2.8",
    "options": {"any_whitespace": False, "strict": True},
    "prompt": "2 lamps",
    "seed": 1,
}
SPACED = '{ "properties": {"item": {"type":"string"},\n "count": {"type":"integer"}}}'
TURNED = '{"properties": {"count": {"type": "integer"}, "item": {"type": "string"}}}'
REQUIRED = BASE["schema"][:-1] + ', "required": ["item"]}'
BLANK_INSIDE = BASE["schema"].replace("item", "it em")
CHANGES: tuple[tuple[Mapping[str, Any], bool, str], ...] = (  # to the request, and whether its key stays the same
    ({}, True, "two equal requests share one machine"),
    ({"prompt": "12 chairs", "seed": 7}, True, "the prompt and the seed change no mask: leave them out"),
    ({"vocabulary": "c0ffee"}, False, "a mask belongs to one vocabulary: its ids mean other tokens elsewhere"),
    ({"engine": "llguidance"}, False, "the engines compile to different objects"),
    ({"version": "0.3.0"}, False, "a new version may compile differently, and an old object may not load"),
    ({"options": {"any_whitespace": True, "strict": True}}, False, "the options change what the schema allows"),
    ({"options": {"strict": True, "any_whitespace": False}}, True, "the options have no order: sort them"),
    ({"schema": SPACED}, True, "blanks between the parts of a JSON text mean nothing: parse it, then write it again"),
    ({"schema": TURNED}, False, "the order of the properties is that of the keys in the output: do not sort them"),
    ({"schema": REQUIRED}, False, "every part of the schema counts"),
    ({"schema": BLANK_INSIDE}, False, "a blank inside a name counts: parse the schema instead of removing blanks"),
)
KEYS = ("different keys", "the same key")


def check_cache_key(answer: Callable[[Request], Any]) -> Verdict:
    """Does `answer(request)` give equal keys exactly where two requests can share one compiled machine?

    >>> check_cache_key(lambda request: request["schema"]).facts[-1][1]
    'a mask belongs to one vocabulary: its ids mean other tokens elsewhere'
    """
    cases = [Case((BASE,), "a key", given=(("request", ", ".join(BASE)),))]
    for change, stays, why in CHANGES:
        told = ", ".join(f"{name}: {show(value)}" for name, value in change.items()) or "nothing"
        cases.append(Case(({**BASE, **change},), KEYS[stays], why, (("changed", told),)))
    first: list[Any] = []  # the key of the unchanged request

    def same(value: Any, expected: str) -> bool:
        is_key = isinstance(value, str | bytes | tuple)
        first.extend([value] * (is_key and not first))
        return is_key and expected in ("a key", KEYS[value == first[0]])

    def say(case: Case, value: Any) -> Mistake:
        if not isinstance(value, str | bytes | tuple):
            because = "a key must be hashable, and the same in another process: hash() is not"
            return Mistake(because, gave=(("yours gave", show(value)), ("expected", "a text, bytes or a tuple")))
        return Mistake(case.why, gave=(("yours gave", KEYS[value == first[0]]), ("expected", case.expected)))

    return check_function(answer, cases, say, same)


# -- what delayed a pass -------------------------------------------------------------------------------------------


def _pass(forward: float, compiling: Any = (), masks: Any = (), prompt: Any = ()) -> Pass:
    """The milliseconds of a pass, and of each request in its three other parts."""
    return {"forward": forward, "compile": dict(compiling), "masks": dict(masks), "prompt": dict(prompt)}


PASSES: tuple[tuple[list[Pass], str], ...] = (
    (
        [_pass(20.0, masks={3: 30.0})],
        "with one pass, only its parts can differ: the masks of request 3 took longer than the forward pass",
    ),
    (
        [_pass(20.0, masks={1: 2.0}), _pass(20.0, {2: 90.0}, {1: 2.0, 2: 1.0}, {2: 1.0})],
        "the batch waits for the whole compile: 90 ms before its forward pass",
    ),
    (
        [_pass(60.0, {}, {1: 2.0}, {5: 40.0}), _pass(20.0, masks={1: 12.0, 2: 11.0, 4: 2.0})],
        "the forward pass contains its prompts: 40 of its 60 ms are the prompt of request 5",
    ),
    (
        [_pass(60.0, {}, {1: 2.0}, {5: 40.0}), _pass(20.0, {2: 50.0})],
        "a prompt is a part of `forward`, so it does not make the pass longer once more: 60 ms are less than 70",
    ),
    (
        [_pass(50.0, {}, {1: 44.0}, {6: 6.0}), _pass(20.0, masks={1: 3.0})],
        "masks are filled during the forward pass: only the time beyond it counts, and 44 ms are less than 50",
    ),
    (
        [_pass(20.0, {1: 8.0, 2: 9.0, 3: 8.0}, {7: 41.0}), _pass(20.0)],
        "the three compiles together took 25 ms, the masks 21 ms beyond the forward pass; 2 took the longest of them",
    ),
)


def check_slow_pass(answer: Callable[[Sequence[Pass]], tuple[str, int]]) -> Verdict:
    """Does `answer(passes)` name the part that delayed the slowest pass most, and the request behind it?

    >>> check_slow_pass(lambda passes: ("masks", max(passes[0]["masks"]))).facts[-1][1]
    'the batch waits for the whole compile: 90 ms before its forward pass'
    """
    cases = []
    for passes, why in PASSES:
        given = tuple((f"pass {number}, {pass_ms(one):g} ms", show(one)) for number, one in enumerate(passes))
        cases.append(Case((passes,), slow_pass(passes), why, given))
    words = 'a pair is expected: "compile", "masks" or "prompt", and the number of a request'
    return check_function(answer, cases, form(lambda value: is_pair(value, delays_of(_pass(0.0))), words))


def slow_pass(passes: Sequence[Pass]) -> tuple[str, int]:
    """The part that delayed the slowest pass most, and the request with the largest share of it.

    >>> slow_pass([{"forward": 20.0, "compile": {}, "masks": {3: 30.0, 4: 1.0}, "prompt": {4: 2.0}}])
    ('masks', 3)
    """
    slowest = max(passes, key=pass_ms)
    delays = delays_of(slowest)
    part = max(delays, key=lambda name: delays[name])
    return part, max(slowest[part], key=slowest[part].get)


def delays_of(one: Pass) -> dict[str, float]:
    """How long each part delayed a pass."""
    beyond = max(0.0, sum(one["masks"].values()) - one["forward"])
    return {"compile": sum(one["compile"].values()), "masks": beyond, "prompt": sum(one["prompt"].values())}


def pass_ms(one: Pass) -> float:
    """How long a pass took; its prompts are inside `forward`.

    >>> pass_ms({"forward": 20.0, "compile": {2: 5.0}, "masks": {3: 30.0}, "prompt": {4: 2.0}})
    35.0
    """
    delays = delays_of(one)
    return float(one["forward"]) + delays["compile"] + delays["masks"]
