"""A regex of any size: a DFA, or a machine that counts the repeats of which copies would be too many.

If no text matches, a warning names the first part after which nothing can follow.
"""

import re
import warnings
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from guidedviz.errors import NoTextWarning, PatternError, quoted
from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.rewrite import is_counted
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.algebra import build_machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import check_regex, parse_regex
from guidedviz.machines.regular.regex import regex as finite_regex
from guidedviz.machines.regular.regex_text import ANCHORS, COMMENTS, LOOKAROUND, PATTERN_PIECES
from guidedviz.machines.visible import draw_caret
from guidedviz.machines.work import limited_work, spend

LARGE = re.compile(r"\{[0-9,]*[0-9]{2}")  # a count of two digits


@limited_work()
def regex(text: str) -> DFA | PDA:
    r"""The minimal machine for a regex; with very large counts a machine that counts.

    >>> date = regex(r"\d{4}-\d{2}-\d{2}")
    >>> date.accepts(b"2026-11-20"), date.accepts_prefix(b"2026-"), date.accepts(b"2026-"), len(date)
    (True, True, False, 11)
    >>> regex("[a-z]{0,5000}"), regex("[a-z]{0,5000}").accepts(b"a" * 5001)
    (PDA(2 rules, 4 nodes), False)
    """
    check_regex(text)
    machine = counted_regex(text) if LARGE.search(text) else finite_regex(text)
    if isinstance(machine, DFA) and not machine.accepting:
        warn_of_no_text(text)
    return machine


@lru_cache(maxsize=64)
def counted_regex(text: str) -> DFA | PDA:
    tree = parse_regex(text)
    try:
        return PDA(Grammar((Rule("root", tree),))) if is_counted(tree) else finite_regex(text)
    except (PatternError, RecursionError):
        return finite_regex(text)  # or its error


QUANTIFIER = re.compile(r"(?:[*+?]|\{\d*,?\d*\})[+?]?")
ANY_TEXT = r"[\s\S]*"


class PatternPart(NamedTuple):
    """A part of a regex that is no option and not inside a group, with its quantifier."""

    text: str
    start: int

    @property
    def asserts(self) -> bool:
        """Whether it is a lookaround or an anchor, or begins with one."""
        if self.text[:2] in ANCHORS.values() or self.text[:1] in ("^", "$"):
            return True
        return LOOKAROUND.match(self.text) is not None

    def __str__(self) -> str:
        return quoted(self.text, 30)


def warn_of_no_text(text: str) -> None:
    """Warn that the machine of a regex accepts no text, for the caller of `gv.regex`."""
    where = "regex"
    said = "no text matches it"
    picture = ""
    found = find_dead_part(text)
    if found:
        part, cause = found
        where = f"regex, position {part.start}"
        said = f"no text matches {part}"
        if cause:
            said += f" after {cause} at position {cause.start}"
        picture = f"\n{draw_caret(text, part.start)}"
    warnings.warn(f"{where}: {said}, so the machine accepts no text{picture}", NoTextWarning, stacklevel=4)


def find_dead_part(text: str) -> tuple[PatternPart, PatternPart | None] | None:
    """The first part that no text can match, and an assertion before it without which it could be matched.

    It is None for a pattern that is too large to be tried part by part.

    >>> find_dead_part("x(?=a)b+c")
    (PatternPart(text='b+', start=6), PatternPart(text='(?=a)', start=1))
    >>> find_dead_part("a^b")
    (PatternPart(text='^', start=1), None)
    """
    try:
        parts = split_parts(text)
        for number, part in enumerate(parts):
            before = text[: part.start]
            if not has_text(before + part.text):
                for one in parts[:number]:
                    without = before[: one.start] + before[one.start + len(one.text) :]
                    if one.asserts and has_text(without + part.text):
                        return part, one
                return part, None
    except PatternError:
        return None
    return None


def split_parts(text: str) -> list[PatternPart]:
    """The parts of a regex; none if it is long or may have comments.

    >>> [part.text for part in split_parts("a+(b|c){2}[d)]")]
    ['a+', '(b|c){2}', '[d)]']
    """
    pieces = list(PATTERN_PIECES.finditer(text))
    if len(pieces) > limits.TRIED_PIECES or COMMENTS.search(text):
        return []
    ends = [0]
    for piece, after in pairwise([*pieces, None]):
        goes_on = after is not None and QUANTIFIER.fullmatch(after[0])
        if piece and not goes_on and is_regex(text[: piece.end()]):
            ends.append(piece.end())
    return [PatternPart(text[start:end], start) for start, end in pairwise(ends)]


def is_regex(text: str) -> bool:
    """Whether the text can be read by itself."""
    spend(6 * len(text))
    try:
        re.compile(text, re.ASCII)
    except (re.error, ValueError, OverflowError, RecursionError):
        return False
    return True


def has_text(text: str) -> bool:
    """Whether a text begins with a match of this regex."""
    return bool(build_machine(parse_regex(text + ANY_TEXT)).accepting)
