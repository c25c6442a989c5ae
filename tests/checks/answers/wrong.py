"""Judges wrong answers: each must be called wrong, with a reason."""

import re

from guidedviz.checks.verdict import Verdict
from tests.checks.answers import WRONG, check


def not_refused(name: str, most: int | None) -> list[str]:
    """The verdicts on the first wrong answers to a check, or on all, that do not say that they are wrong, and why."""
    answers = [answer for one, answer in WRONG if one == name]
    verdicts = [check(name, answer) for answer in answers[:most]]
    return [repr(verdict) for verdict in verdicts if not is_refused(verdict)]


def is_refused(verdict: Verdict) -> bool:
    if verdict.result != "wrong" or re.search("NameError|SyntaxError", repr(verdict)):
        return False
    facts = dict(verdict.facts)
    if "of the library" in verdict.said or {"because", "but", "error"} & facts.keys():
        return True
    shown = "Error|does not end|it looks at|it asks the machine|it changed|right at the root"
    return re.search(shown, facts["yours gave"]) is not None
