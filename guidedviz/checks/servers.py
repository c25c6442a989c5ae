"""Exercises on servers: the key of a compile cache, and what delayed a pass."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import combinations, permutations
from typing import Any

from guidedviz.checks.cases import Case, read_trials
from guidedviz.checks.function import check_function, is_open
from guidedviz.checks.verdict import Verdict, show

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


def check_cache_key(answer: Callable[[Request], Any]) -> Verdict:
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
a prompt is a part of `forward`, so it does not make the pass longer once more: 60 ms are less than 70
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


def check_slow_pass(answer: Callable[[Sequence[Pass]], tuple[str, int]]) -> Verdict:
    """Does `answer(passes)` name the part that delayed the slowest pass most, and the request behind it?

    >>> check_slow_pass(lambda passes: ("masks", min(passes[0]["masks"]))).facts[-1][1]
    'the batch waits for the whole compile: 90 ms before its forward pass'
    """
    cases = []
    for why, passes in PASSES.items():
        given = [(f"pass {number}, {pass_ms(one):g} ms", show(one)) for number, one in enumerate(passes)]
        cases.append(Case((passes,), slow_pass(passes), why, tuple(given)))
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
    beyond = max(0.0, sum(one["masks"].values()) - one["forward"])
    return {"compile": sum(one["compile"].values()), "masks": beyond, "prompt": sum(one["prompt"].values())}


def pass_ms(one: Pass) -> float:
    """How long a pass took; its prompts are inside `forward`.

    >>> pass_ms({"forward": 20.0, "compile": {2: 5.0}, "masks": {3: 30.0}, "prompt": {4: 2.0}})
    35.0
    """
    delays = delays_of(one)
    return float(one["forward"]) + delays["compile"] + delays["masks"]
