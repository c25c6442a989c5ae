"""Exercises on production: the key of a compile cache, a slow pass, an empty mask, the packed mask, and bounds of Z."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import combinations, permutations
from math import exp, log
from typing import Any

import numpy as np

from guidedviz.checks.cases import Case, cases_of, read_trials
from guidedviz.checks.function import check_function, is_open
from guidedviz.checks.verdict import Verdict, show
from guidedviz.serving.logits_processor import pack_masks

Request = Mapping[str, Any]
Pass = Mapping[str, Any]

# -- the key of a compile cache ------------------------------------------------------------------------------------

BASE: Request = {
    "schema": '{"properties": {"item": {"type": "string"}, "count": {"type": "integer"}}}',
    "vocabulary": "5ab1e0",
    "engine": "xgrammar",
    "version": "0.2.8",
    "prompt": "2 lamps",
    "seed": 1,
    "options": {"any_whitespace": False, "strict": True},
}
EXPECTED_KEYS = {"=": "the same key", "≠": "different keys"}
# how the keys compare, and what changes in each request
CHANGES = read_trials(r"""
two equal requests share one machine
    "=", {}
the prompt and the seed change no mask: leave them out
    "=", {"prompt": "12 chairs", "seed": 7}
a mask belongs to one vocabulary: its ids mean other tokens elsewhere
    "≠", {"vocabulary": "c0ffee"}
the engines compile to different objects
    "≠", {"engine": "llguidance"}
a new version may compile differently, and an old object may not load
    "≠", {"version": "0.2.9"}
the options change what the schema allows
    "≠", {"options": {"any_whitespace": True, "strict": True}}
the options have no order: sort them
    "=", {"options": {"strict": True, "any_whitespace": False}}
an option is a name with its value: both belong in the key
    "≠", {"options": {"any_whitespace": True, "strict": False}}, {"options": {"compact": False, "strict": True}}
blanks between the parts of a JSON text mean nothing: parse it, then write it again
    "=", {"schema": '{ "properties": {"item": {"type":"string"},\n "count": {"type":"integer"}}}'}
the order of the properties is that of the keys in the output: do not sort them
    "≠", {"schema": '{"properties": {"count": {"type": "integer"}, "item": {"type": "string"}}}'}
every part of the schema counts
    "≠", {"schema": '{"properties": {"item": {"type": "string"}, "count": {"type": "integer"}}, "required": ["item"]}'}
a blank inside a name counts: parse the schema
    "≠", {"schema": '{"properties": {"it em": {"type": "string"}, "count": {"type": "integer"}}}'}
""")


def _joined_alike() -> list[Request]:
    """Requests whose texts are those of BASE when they are joined, in one order or another."""
    texts = ("vocabulary", "engine", "version")
    moved: list[Request] = [  # the last character of one text moved to the front of another
        {one: BASE[one][:-1], other: BASE[one][-1] + BASE[other]} for one, other in permutations(texts, 2)
    ]
    swapped = [{one: BASE[other], other: BASE[one]} for one, other in combinations(texts, 2)]
    return [*moved, *swapped]


CHANGES |= {
    "the key must show which part is which: write a list in one order, do not join": [("≠", *_joined_alike())],
    "a short hash gives two of 1,000 vocabularies one key": [
        ("≠", *({"vocabulary": f"{number**3:x}"} for number in range(1000)))
    ],
}


def check_cache_key(answer: Any) -> Verdict:
    """Does `answer(request)` give equal keys exactly where two requests can share one compiled machine?

    >>> check_cache_key(lambda request: request["schema"])
    ✗ not yet right: on input 3 of 14, the first on which it fails
        changed     {'vocabulary': 'c0ffee'}
        yours gave  the same key
        expected    different keys
        because     a mask belongs to one vocabulary: its ids mean other tokens elsewhere
    """

    cases = []
    for why, rows in CHANGES.items():
        for sign, *changes in rows:
            requests = tuple({**BASE, **change} for change in changes)
            given = (("changed", ", ".join(map(show, changes[:3]))),)
            cases.append(Case(requests, EXPECTED_KEYS[sign], why, given))
    if callable(answer):
        answer = partial(_compare_keys, answer)
    return check_function(answer, cases, spell=str)


def _compare_keys(answer: Callable[[Request], Any], *requests: Request) -> str | None:
    """How the keys of some requests compare with that of BASE; None if the answer gives no key yet."""
    with _without_hash(answer):
        keys = [answer(request) for request in (BASE, *requests)]
    if is_open(keys[0]):
        return None
    if not isinstance(keys[0], str | bytes | tuple):
        raise TypeError("a key is a text, bytes or a tuple")
    different = len(set(keys))
    if different == 1:
        return EXPECTED_KEYS["="]
    if different == len(keys):
        return EXPECTED_KEYS["≠"]
    return "the same key for some of them"


@contextmanager
def _without_hash(answer: Callable[[Request], Any]) -> Iterator[None]:
    """Refuse `hash` where an answer finds its names."""
    names = getattr(answer, "__globals__", {})
    before = {name: names[name] for name in names.keys() & {"hash"}}
    names["hash"] = _refuse_hash
    try:
        yield
    finally:
        del names["hash"]
        names.update(before)


def _refuse_hash(value: Any) -> int:
    raise TypeError("hash() of a text is another number in each process: return the text itself")


# -- what delayed a pass -------------------------------------------------------------------------------------------


def read_pass(times: Mapping[str, Any]) -> Pass:
    """The milliseconds of a pass, and of each request in its three other parts."""
    others = {part: times.get(part, {}) for part in ("compile", "masks", "prompt")}
    return {"forward": times["forward"], **others}


PASSES = read_trials(
    build=read_pass,
    text="""
masks took 27 ms together, 7 beyond the forward pass
    {"forward": 20.0, "masks": {3: 15.0, 4: 12.0}, "prompt": {5: 4.0}}
the batch waits for the whole compile: 90 ms before its forward pass
    {"forward": 20.0, "masks": {1: 2.0}}
    {"forward": 20.0, "compile": {2: 90.0}, "masks": {1: 2.0, 2: 1.0}, "prompt": {2: 1.0}}
the forward pass contains its prompts: 40 of its 60 ms are the prompt of request 5
    {"forward": 60.0, "masks": {1: 2.0}, "prompt": {5: 40.0}}
    {"forward": 20.0, "masks": {1: 12.0, 2: 11.0, 4: 2.0}}
a prompt is a part of `forward`, so do not add its time again: 60 ms are less than 70
    {"forward": 60.0, "masks": {1: 2.0}, "prompt": {5: 40.0}}
    {"forward": 20.0, "compile": {2: 50.0}}
masks are filled during the forward pass: only the time beyond it counts, and 50 ms are less than 60
    {"forward": 50.0, "masks": {1: 44.0}}
    {"forward": 60.0, "masks": {1: 3.0}, "prompt": {6: 6.0}}
a pass ends when its masks are filled: 80 ms are more than 60
    {"forward": 20.0, "masks": {3: 80.0}}
    {"forward": 60.0}
compile took 25 ms, the masks 11 beyond the forward pass, the prompt 2 of its 30; request 2 compiled longest
    {"forward": 30.0, "compile": {1: 8.0, 2: 9.0, 3: 8.0}, "masks": {7: 41.0}, "prompt": {7: 2.0}}
    {"forward": 60.0, "prompt": {3: 50.0}}
""",
)


def check_slow_pass(answer: Any) -> Verdict:
    """Does `answer(passes)` name the part that delayed the slowest pass most, and the request behind it?

    >>> check_slow_pass(lambda passes: ("masks", min(passes[0]["masks"]))).facts[-1][1]
    'the batch waits for the whole compile: 90 ms before its forward pass'
    """
    cases = []
    for why, passes in PASSES.items():
        names = [f"pass {number}, {pass_ms(one):g} ms" for number, one in enumerate(passes)]
        given = tuple(zip(names, map(show, passes), strict=True))
        cases.append(Case((passes,), slow_pass(passes), why, given))
    return check_function(answer, cases)


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
    delays = {part: sum(one[part].values()) for part in ("compile", "masks", "prompt")}
    delays["masks"] = max(0.0, delays["masks"] - one["forward"])
    return delays


def pass_ms(one: Pass) -> float:
    """How long a pass took; its prompts are inside `forward`.

    >>> pass_ms({"forward": 20.0, "compile": {2: 5.0}, "masks": {3: 30.0}, "prompt": {4: 2.0}})
    35.0
    """
    delays = delays_of(one)
    return float(one["forward"]) + delays["compile"] + delays["masks"]


Allowed = Mapping[str, set[int]]  # for each rule the ids that it allows

# -- who emptied the mask ------------------------------------------------------------------------------------------

# the smallest guilty group is always unique
RULES = read_trials("""
some token is legal for every rule, so nothing emptied the mask
    {"grammar": {1, 2}}
    {"grammar": {0}, "min_tokens": {0, 1}}
one rule alone allows no token
    {"grammar": set()}
    {"grammar": {1, 2}, "allowed": set(), "min_tokens": {3}}
two rules allow no token together; smaller groups come first
    {"grammar": {5}, "min_tokens": {1, 2, 3}}
    {"grammar": {5}, "min_tokens": {1, 2, 5}, "bad words": {1, 2}}
    {"min_tokens": {1, 2, 3}, "bad words": {1, 2, 5}, "grammar": {5}}
a group that stays guilty when no rule can be left out need not be the smallest: try all pairs first
    {"grammar": {1, 2}, "min_tokens": {2, 3}, "allowed": {1, 3}, "bad words": {3}}
    {"bad words": {1, 2, 3, 4, 5, 6}, "grammar": {7, 8, 9}, "min_tokens": {1, 7}, "allowed": {2, 7}, "stop": {1, 2, 8}}
    {"grammar": {1, 2, 3, 4, 5, 6}, "min_tokens": {7, 8, 9}, "allowed": {1, 7}, "stop": {2, 7}, "bad words": {1, 2, 8}}
    {"min_tokens": {1, 2, 3, 4, 5, 6}, "allowed": {7, 8, 9}, "stop": {1, 7}, "bad words": {2, 7}, "grammar": {1, 2, 8}}
    {"allowed": {1, 2, 3, 4, 5, 6}, "stop": {7, 8, 9}, "bad words": {1, 7}, "grammar": {2, 7}, "min_tokens": {1, 2, 8}}
    {"stop": {1, 2, 3, 4, 5, 6}, "bad words": {7, 8, 9}, "grammar": {1, 7}, "min_tokens": {2, 7}, "allowed": {1, 2, 8}}
    {"grammar": {1, 2}, "min_tokens": {1, 3, 4}, "bad words": {2, 5, 6}}
only three rules together allow no token, and the others leave some
    {"grammar": {1, 2}, "min_tokens": {2, 3}, "bad words": {1, 3}}
    {"allowed": {1, 2, 3, 4}, "grammar": {1, 2}, "min_tokens": {2, 3, 4}, "bad words": {1, 3, 4}}
""")


def check_who_emptied(answer: Any) -> Verdict:
    """Does `answer(rules)` name the smallest group of rules that allow no token together?

    >>> check_who_emptied(lambda rules: set(rules))
    ✗ not yet right: on input 1 of 16, the first on which it fails
        input       {'grammar': {1, 2}}
        yours gave  {'grammar'}
        expected    set()
        because     some token is legal for every rule, so nothing emptied the mask
    """
    return check_function(answer, cases_of(who_emptied, RULES))


def who_emptied(rules: Allowed) -> set[str]:
    """The smallest group of rules that allow no token together; empty if some token is legal.

    >>> sorted(who_emptied({"grammar": {5}, "least": {1, 2, 5}, "bad words": {1, 2}}))
    ['bad words', 'grammar']
    """
    for size in range(1, len(rules) + 1):
        for group in combinations(rules, size):
            if not set.intersection(*(rules[name] for name in group)):
                return set(group)
    return set()


# -- the packed mask -----------------------------------------------------------------------------------------------

PACKED_IDS = read_trials("""
no token is legal: all bits are 0
    [], 32
token 0 is the lowest bit of word 0, worth 1; token 2 is worth 4
    [0], 32
    [0, 2], 32
token 33 is bit 1 of word 1: the word is token // 32, the bit is token % 32
    [33], 64
    [0], 64
a word has 32 bits, and a part of a word needs a whole one
    [1], 5
    [], 33
bit 31 is the sign of an int32: set bits as uint32, view them as int32
    [0, 31], 32
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, \
     30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, \
     57, 58, 59, 60, 61, 62, 63], 64
a token may be named twice: set its bit with |=, do not add
    [3, 3], 32
the tokens come in any order
    [128255, 5, 64], 128256
""")


def check_packed_row(answer: Any) -> Verdict:
    """Does `answer(ids, size)` give the packed mask of these legal tokens as int32 words?

    >>> check_packed_row(lambda ids, size: [0] * (size // 32)).facts[-1][1]
    'token 0 is the lowest bit of word 0, worth 1; token 2 is worth 4'
    """

    def reference(ids: Sequence[int], size: int) -> Any:
        masks = np.zeros((1, size), bool)
        masks[0, ids] = True
        return pack_masks(masks)[0].tolist()

    return check_function(answer, cases_of(reference, PACKED_IDS, "ids", "size"))


# -- bounds of Z from the likeliest tokens -------------------------------------------------------------------------

# the probabilities of the likeliest tokens, and the legal tokens
TOPS = read_trials(
    build=lambda top, legal: ({token: log(chance) for token, chance in top.items()}, legal),
    text="""
all listed tokens are legal: Z is their sum or more, up to 1
    {"a": 0.5, "b": 0.25}, {"a", "b", "c"}
no listed token is legal: Z may be 0, and at most what is not listed
    {"a": 0.5, "c": 0.25}, {"b"}
legal ones give the lower bound, illegal ones the upper
    {"a": 0.5, "b": 0.2}, {"b", "c"}
nothing is listed, so nothing is known
    {}, {"a"}
""",
)


def check_z_bounds(answer: Any) -> Verdict:
    """Does `answer(top, legal)` bound the legal mass by the log-probabilities of the likeliest tokens?

    >>> check_z_bounds(lambda top, legal: (sum(top.values()), 1.0)).facts[-1][1]
    'all listed tokens are legal: Z is their sum or more, up to 1'
    """
    return check_function(answer, cases_of(z_bounds, TOPS, "top", "legal"))


def z_bounds(top: Mapping[str, float], legal: set[str]) -> tuple[float, float]:
    """The least and the largest legal mass that fits these log-probabilities.

    >>> z_bounds({"a": log(0.5)}, {"a"})
    (0.5, 1.0)
    """
    low = sum((exp(top[one]) for one in top.keys() & legal), 0.0)
    illegal = sum((exp(top[one]) for one in top.keys() - legal), 0.0)
    return low, 1.0 - illegal
