"""A regex of any size: a DFA, or a machine that counts the repeats of which copies would be too many.

If no text matches, a warning names the first part after which nothing can follow.
"""

import re
import warnings
from functools import lru_cache
from os import PathLike
from typing import Any

from guidedviz.errors import NoTextWarning, PatternError, quoted
from guidedviz.files import text_of
from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.rewrite import is_counted
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.algebra import build_machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import check_regex, parse_regex
from guidedviz.machines.regular.regex import regex as finite_regex
from guidedviz.machines.regular.regex_text import COMMENTS, PATTERN_PIECES
from guidedviz.machines.visible import draw_caret
from guidedviz.machines.work import limited_work, spend

ANY_TEXT = r"[\s\S]*"
MAYBE_LARGE = re.compile(r"\{[0-9,]*[0-9]{2}")  # a count of two digits or more, which may be too many copies


@limited_work()
def regex(text: Any) -> DFA | PDA:
    r"""The minimal machine for a regex, or for that in a file; with very large counts a machine that counts.

    >>> date = gv.regex(r"\d{4}-\d{2}-\d{2}")
    >>> date.accepts(b"2026-11-20"), date.accepts_prefix(b"2026-"), date.accepts(b"2026-"), len(date)
    (True, True, False, 11)
    >>> gv.regex("[a-z]{0,5000}"), gv.regex("[a-z]{0,5000}").accepts(b"a" * 5001)
    (PDA(2 rules, 4 nodes), False)
    """
    if isinstance(text, PathLike):
        text = text_of(text, "regex").rstrip("\r\n")
    check_regex(text)
    machine = counted_regex(text) if MAYBE_LARGE.search(text) else finite_regex(text)
    if isinstance(machine, DFA) and not machine.accepting:
        warn_of_no_text(text)
    return machine


@lru_cache(maxsize=64)
def counted_regex(text: str) -> DFA | PDA:
    """The machine that counts, or the DFA if no repeat is too large or if counting fails."""
    tree = parse_regex(text)
    try:
        return PDA(Grammar((Rule("root", tree),))) if is_counted(tree) else finite_regex(text)
    except (PatternError, RecursionError):
        return finite_regex(text)  # this may raise an error, too


def warn_of_no_text(text: str) -> None:
    """Warn that the machine of a regex accepts no text, for the caller of `gv.regex`."""
    where = "regex"
    said = "no text matches it"
    try:
        part = find_dead_part(text)
    except PatternError:  # too much work
        part = None
    if part:
        where += f", position {part.start}"
        said = f"no text matches {quoted(text[part.start : part.stop], 30)} there"
    said += ", so the machine accepts no text"
    if part:
        said += f"\n{draw_caret(text, part.start)}"
    # the fourth frame is the caller: before it are this function, `regex` and the decorator of `regex`
    warnings.warn(f"{where}: {said}", NoTextWarning, stacklevel=4)


def find_dead_part(text: str) -> range | None:
    """The first part of a regex after which nothing can follow; None for one that is too large to be tried by parts.

    A regex is cut where both sides are regexes themselves. Parts are added until the regex so far, followed by any
    text, matches nothing: the part that was added last is dead.

    >>> find_dead_part("x(?=a)b+c"), find_dead_part("a^b")
    (range(6, 8), range(1, 2))
    """
    if len(text) > limits.TRIED_CHARACTERS or COMMENTS.search(text):
        return None
    start = 0
    for piece in PATTERN_PIECES.finditer(text):
        end = piece.end()
        if is_regex(text[:end]) and is_regex(text[end:]):
            if not build_machine(parse_regex(text[:end] + ANY_TEXT)).accepting:
                return range(start, end)
            start = end
    return None


def is_regex(text: str) -> bool:
    """Whether the text is a regex by itself."""
    spend(6 * len(text))
    try:
        re.compile(text, re.ASCII)
    except (re.error, ValueError, OverflowError, RecursionError):
        return False
    return True
