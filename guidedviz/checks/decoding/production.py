"""Three parts of a server: the packed mask, the key of the compile cache, and what made a pass slow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict, show

Request = Mapping[str, Any]
Pass = Mapping[str, Any]

# -- packed_row ----------------------------------------------------------------------------------------------------

ROWS: tuple[tuple[tuple[int, ...], int, str], ...] = (
    ((), 32, "no token is legal: all bits are 0"),
    ((0,), 32, "token 0 is the lowest bit of word 0"),
    ((0, 2), 5, "tokens 0 and 2 are the bits 1 and 4; a word has 32 bits, also if there are fewer tokens"),
    ((33,), 64, "token 33 is bit 1 of word 1: the word is token // 32, the bit is token % 32"),
    ((), 33, "33 tokens need two words"),
    (
        (31,),
        32,
        "bit 31 is the sign of an int32: its word is -2147483648; set the bits as uint32 and view them as int32",
    ),
    ((3, 3), 32, "a token may be named twice: set its bit with |=, do not add"),
    (tuple(range(64)), 64, "32 legal tokens in a row are the word -1"),
    ((128_255, 5, 64), 128_256, "the tokens come in any order"),
)


def check_packed_row(answer: Callable[[Sequence[int], int], Any]) -> Verdict:
    """Does `answer(ids, size)` give the packed mask of these legal tokens as int32 words?

    >>> check_packed_row(lambda ids, size: [0] * (size // 32)).facts[-1][1]
    'token 0 is the lowest bit of word 0'
    """
    cases = []
    for ids, size, why in ROWS:
        given = (("ids", show(list(ids))), ("size", f"{size:,}"))
        cases.append(Case((list(ids), size), packed_row(ids, size).tolist(), why, given))
    return check_function(answer, cases, _same_words, _say_words)


def packed_row(ids: Sequence[int], size: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The words of a mask.

    >>> packed_row([0, 33], 40).tolist()
    [1, 2]
    """
    words = np.zeros(-(-size // 32), np.uint32)
    for token in ids:
        words[token // 32] |= np.uint32(1 << token % 32)
    return words.view(np.int32)


def _as_words(value: Any) -> list[int] | None:
    try:
        found = [int(word) for word in value]
        return found if found == list(value) else None
    except (TypeError, ValueError):
        return None


def _same_words(value: Any, expected: list[int]) -> bool:
    return _as_words(value) == expected


def _say_words(case: Case, value: Any) -> Mistake:
    words = _as_words(value)
    if words is None:
        return Mistake("a row of whole numbers is expected, one per word")
    if len(words) != len(case.expected):
        return Mistake(f"{case.arguments[1]:,} tokens need {len(case.expected):,} words of 32 bits, rounded up")
    if any(not -(2**31) <= word < 2**31 for word in words):
        return Mistake(ROWS[5][2])
    if [word + 2**32 * (word < 0) for word in words] == [
        int(f"{word + 2**32 * (word < 0):032b}"[::-1], 2) for word in case.expected
    ]:
        return Mistake("the bits are in the wrong order: token 0 is the lowest bit, 1 << 0")
    return Mistake(case.why)


# -- cache_key -----------------------------------------------------------------------------------------------------

BASE: Request = {
    "schema": '{"properties": {"item": {"type": "string"}, "count": {"type": "integer"}}}',
    "vocabulary": "5ab1e0",
    "engine": "xgrammar",
    "version": "0.2.8",
    "options": {"any_whitespace": False, "strict": True},
    "prompt": "2 lamps",
    "seed": 1,
}
TWINS: tuple[tuple[Mapping[str, Any], bool, str], ...] = (
    ({}, True, "two equal requests share one machine"),
    ({"prompt": "12 chairs", "seed": 7}, True, "the prompt and the seed change no mask: leave them out"),
    ({"vocabulary": "c0ffee"}, False, "a mask belongs to one vocabulary: its ids mean other tokens elsewhere"),
    ({"engine": "llguidance"}, False, "the engines compile to different objects"),
    (
        {"version": "0.3.0"},
        False,
        "a new version of the engine may compile differently, and an old object may not load",
    ),
    ({"options": {"any_whitespace": True, "strict": True}}, False, "the options change what the schema allows"),
    ({"options": {"strict": True, "any_whitespace": False}}, True, "the options have no order: sort them"),
    (
        {"schema": '{ "properties": {"item": {"type":"string"},\n "count": {"type":"integer"}}}'},
        True,
        "blanks between the parts of a JSON text mean nothing: parse the schema, then write it again",
    ),
    (
        {"schema": '{"properties": {"count": {"type": "integer"}, "item": {"type": "string"}}}'},
        False,
        "the order of the properties is the order of the keys in the output: do not sort the schema",
    ),
    (
        {"schema": '{"properties": {"item": {"type": "string"}, "count": {"type": "integer"}}, "required": ["item"]}'},
        False,
        "every part of the schema counts",
    ),
    (
        {"schema": '{"properties": {"it em": {"type": "string"}, "count": {"type": "integer"}}}'},
        False,
        "a blank inside a name counts: parse the schema instead of removing blanks",
    ),
)


KEYS = ("different keys", "the same key")


def check_cache_key(answer: Callable[[Request], Any]) -> Verdict:
    """Does `answer(request)` give equal keys exactly where two requests can share one compiled machine?

    >>> check_cache_key(lambda request: request["schema"]).facts[-1][1]
    'a mask belongs to one vocabulary: its ids mean other tokens elsewhere'
    """
    given = (("request", ", ".join(BASE)),)
    cases = [Case((deepcopy(dict(BASE)),), "a key", "a key is a text, bytes or a tuple", given)]
    for change, same, why in TWINS:
        told = ", ".join(f"{name}: {show(value)}" for name, value in change.items()) or "nothing"
        cases.append(Case((deepcopy({**BASE, **change}),), KEYS[same], why, (("changed", told),)))
    keys: list[Any] = []  # of the unchanged request

    def same_key(value: Any, expected: str) -> bool:
        if isinstance(value, str | bytes | tuple) and not keys:
            keys.append(value)
        return isinstance(value, str | bytes | tuple) and expected in ("a key", KEYS[value == keys[0]])

    def say(case: Case, value: Any) -> Mistake:
        if not isinstance(value, str | bytes | tuple):
            because = "a key must be hashable, and the same in another process: hash() is not"
            return Mistake(because, None, (("yours gave", show(value)), ("expected", "a text, bytes or a tuple")))
        return Mistake(case.why, None, (("yours gave", KEYS[value == keys[0]]), ("expected", case.expected)))

    return check_function(answer, cases, same_key, say)


# -- slow_pass -----------------------------------------------------------------------------------------------------

PASSES: tuple[tuple[tuple[Pass, ...], str], ...] = (
    (
        ({"forward": 20.0, "compile": {}, "masks": {3: 30.0}, "prompt": {}},),
        "with one pass, only its parts can differ: the masks of request 3 took longer than the forward pass",
    ),
    (
        (
            {"forward": 20.0, "compile": {}, "masks": {1: 2.0}, "prompt": {}},
            {"forward": 20.0, "compile": {2: 90.0}, "masks": {1: 2.0, 2: 1.0}, "prompt": {2: 1.0}},
        ),
        "the batch waits for the whole compile: 90 ms before its forward pass",
    ),
    (
        (
            {"forward": 60.0, "compile": {}, "masks": {1: 2.0}, "prompt": {5: 40.0}},
            {"forward": 20.0, "compile": {}, "masks": {1: 12.0, 2: 11.0, 4: 2.0}, "prompt": {}},
        ),
        "the forward pass contains its prompts: 40 of its 60 ms are the prompt of request 5",
    ),
    (
        (
            {"forward": 60.0, "compile": {}, "masks": {1: 2.0}, "prompt": {5: 40.0}},
            {"forward": 20.0, "compile": {2: 50.0}, "masks": {}, "prompt": {}},
        ),
        "a prompt is a part of `forward`, so it does not make the pass longer once more: 60 ms are less than 70",
    ),
    (
        (
            {"forward": 50.0, "compile": {}, "masks": {1: 44.0}, "prompt": {6: 6.0}},
            {"forward": 20.0, "compile": {}, "masks": {1: 3.0}, "prompt": {}},
        ),
        "masks are filled during the forward pass: only the time beyond it counts, and 44 ms are less than 50",
    ),
    (
        (
            {"forward": 20.0, "compile": {1: 8.0, 2: 9.0, 3: 8.0}, "masks": {7: 41.0}, "prompt": {}},
            {"forward": 20.0, "compile": {}, "masks": {}, "prompt": {}},
        ),
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
        cases.append(Case((deepcopy(list(passes)),), slow_pass(passes), why, given))
    return check_function(answer, cases, _same_pair, _say_pair)


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


def _same_pair(value: Any, expected: tuple[str, int]) -> bool:
    return isinstance(value, tuple | list) and tuple(value) == expected


def _say_pair(case: Case, value: Any) -> Mistake:
    if not isinstance(value, tuple | list) or len(value) != 2 or value[0] not in ("compile", "masks", "prompt"):
        return Mistake('a pair is expected: "compile", "masks" or "prompt", and the number of a request')
    return Mistake(case.why)
