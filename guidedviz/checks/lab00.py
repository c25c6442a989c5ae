"""Lab 00: which texts are JSON."""

from __future__ import annotations

from collections.abc import Callable

from guidedviz.checks.judge import Case, check_function
from guidedviz.checks.verdict import Verdict


def check_parses(answer: Callable[[str], bool]) -> Verdict:
    """Lab 00: does `answer(text)` say whether a text is valid JSON, with nothing before or after it?

    >>> check_parses(lambda text: text.startswith("{"))
    ✗ not yet right: on input 2 of 9, the smallest on which it fails
        input       '{'
        yours gave  True
        expected    False
    """
    yes = ["{}", "[1]", '{"age": 42}']
    no = ["", "{", "Sure! {}", "{}\nDone!", "{'age': 42}", '```json\n{"age": 42}\n```']
    cases = [Case((text,), text in yes) for text in sorted(yes + no, key=lambda text: (len(text), text not in yes))]
    return check_function(answer, cases, lambda value, expected: value is expected)
