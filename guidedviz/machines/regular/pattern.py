"""Patterns for NanoGPT: a list of pairs of a character class (or a text) and a count."""

import re
import warnings
from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import Any

from guidedviz.errors import NoTextWarning, PatternError, nearest, quoted
from guidedviz.machines.ranges import LAST, Ranges, other_ranges
from guidedviz.machines.regular.algebra import build_machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex_text import DIGIT_RANGES, NEWLINE
from guidedviz.machines.syntax import Chars, Repeat, Times, Tree, concat, literal, read_count
from guidedviz.machines.work import limited_work

LETTER_RANGES: Ranges = ((65, 90), (97, 122))
CLASSES: dict[str, Ranges] = {
    "DIGIT": DIGIT_RANGES,
    "LETTER": LETTER_RANGES,
    "LOWER": ((97, 122),),
    "NEWLINE": NEWLINE,
    "PUNCT": other_ranges(((0, 32), *LETTER_RANGES, *DIGIT_RANGES, (127, LAST))),  # ASCII punctuation
    "SPACE": ((32, 32),),
    "UPPER": ((65, 90),),
    "ANY": ((0, LAST),),
}


@limited_work()
def pattern(parts: Iterable[Sequence[str]]) -> DFA:
    r"""The minimal machine for a list of (what, how often).

    What: UPPER LOWER LETTER DIGIT PUNCT SPACE NEWLINE (of ASCII) ANY, or a text. How often: 1 + * ? {m} {m,} {m,n}.

    >>> speaker = gv.pattern([("UPPER", "+"), (":", "1"), (" ", "1"), ("LOWER", "+"), ("\n", "1")])
    >>> speaker, speaker.accepts(b"ROMEO: ay\n"), sum(map(len, speaker.edges))
    (DFA(6 states, 1 accepting), True, 7)
    """
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        hint = '[("UPPER", "+"), (":", "1")]'
        raise PatternError("pattern", seen=quoted(parts), expected="a list of pairs", hint=hint)
    trees = list(starmap(_read_part, enumerate(parts)))
    machine = build_machine(concat(*trees))
    if not machine.accepting:
        place = next(place for place, tree in enumerate(trees) if not build_machine(tree).accepting)
        said = f"pattern, part {place}: no text in UTF-8 matches it, so the machine accepts no text"
        warnings.warn(said, NoTextWarning, stacklevel=3)
    return machine


def _read_part(place: int, part: Any) -> Tree:
    where = f"pattern, part {place}"
    is_pair = isinstance(part, tuple | list) and len(part) == 2
    if not is_pair or not all(isinstance(half, str) for half in part):
        raise PatternError(where, seen=quoted(part), expected="a pair of texts: what, how often", hint='("UPPER", "+")')
    what, often = part
    low, high = _read_times(where, often)
    inner = _read_class_or_text(where, what)
    if (low, high) == (1, 1):
        return inner
    return Repeat(inner, low, high, place)


def _read_times(where: str, often: str) -> Times:
    if often == "1":
        return 1, 1
    times = read_count(often)
    if times:
        low, high = times
        if high is None or low <= high:
            return times
    expected = "1, +, *, ?, {m}, {m,} or {m,n} with m ≤ n"
    raise PatternError(f"{where}, how often", seen=quoted(often), expected=expected)


def _read_class_or_text(where: str, what: str) -> Tree:
    if what in CLASSES:
        return Chars(CLASSES[what])
    if what and not looks_like_class(what):
        return literal(what)
    hint = nearest(what.upper(), CLASSES, cutoff=0.5)
    if what and not hint:
        hint = "one part per letter, if you mean the text itself"
    expected = f"{', '.join(CLASSES)} or a text"
    raise PatternError(f"{where}, what", seen=quoted(what), expected=expected, hint=hint)


def looks_like_class(what: str) -> bool:
    """Whether the text looks like a class name: a word in capitals, or a class name in any case.

    >>> looks_like_class("UPER"), looks_like_class("Digit"), looks_like_class("I"), looks_like_class("true")
    (True, True, False, False)
    """
    return what.upper() in CLASSES or re.fullmatch("[A-Z][A-Z_]+", what) is not None
