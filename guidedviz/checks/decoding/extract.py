"""The first JSON object inside a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict

# a text, and what a wrong answer has missed
TEXTS = (
    ("{}", "an empty object is an object: {}"),
    ("", "there is no object: None"),
    ("[1]", "a list is no object: None"),
    ("{", "the object is not closed: None"),
    ('{"a": 1}', "the text itself is an object"),
    ('Sure: {"a": 1}', "prose before the object is skipped"),
    ('{"a": 1}\nDone!', "what comes after the object is ignored"),
    ('{x} {"a": 1}', "a brace that begins no JSON is skipped; go on with the next one"),
    ('{"a": 1} {"b": 2}', "the first object is wanted"),
    ('{"a": {"b": 2}}', "the outer object begins first"),
    ('{"a": "}"}', "a brace inside a string closes nothing"),
    ('```json\n{"a": [1, {"b": null}]}\n```', "a fence is prose, too"),
    ('{\'a\': 1} or {"a": "{"}', "single quotes are not JSON, and the second brace begins an object"),
    ('{"a": {"b": 2}', "the outer object is not closed; the inner one is the first that is"),
    ("{" * 2000, "two thousand braces, and none begins an object: None"),
)


def check_cut_out(answer: Callable[[str], Any]) -> Verdict:
    """Does `answer(text)` give the value of the first JSON object in the text, or None?

    >>> check_cut_out(lambda text: json.loads(text) if text[:1] == "{" else None).facts[-1][1]
    'the object is not closed: None'
    """
    cases = [Case((text,), cut_object(text), why) for text, why in TEXTS]
    return check_function(answer, cases, _same, _say)


def cut_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text.

    >>> cut_object('Sure: {"a": 1}!')
    {'a': 1}
    """
    for place, char in enumerate(text):
        if char == "{":
            try:
                found: dict[str, Any] = json.JSONDecoder().raw_decode(text, place)[0]
            except ValueError:
                continue
            return found
    return None


def _same(value: Any, expected: Any) -> bool:
    return value is expected if expected is None else value == expected


def _say(case: Case, value: Any) -> Mistake:
    return Mistake("the value is expected, not its text" if isinstance(value, str) else case.why)
