"""Build a machine from a regex.

Python's own parser reads a regex, so it has the meaning of `re.fullmatch`: the whole text must match, under re.ASCII.
`\\d` is 0-9, `\\w` is A-Z, a-z, 0-9 and _, and (?i) folds ASCII only. Lookbehinds may have any length.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from guidedviz.errors import PatternError, check_length, expect, shorten
from guidedviz.machines import limits
from guidedviz.machines.ranges import other_ranges
from guidedviz.machines.regular.assertions import Lookaround, guard, resolve
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import NFA, build_nfa, number_in_order
from guidedviz.machines.regular.regex_text import (
    ANCHORS,
    IGNORECASE,
    MULTILINE,
    NEWLINE,
    NOT_REGULAR,
    WORD_RANGES,
    find_anchors,
    find_lookarounds,
    not_regular,
    ranges_of,
)
from guidedviz.machines.syntax import (
    ANY_CHARACTER,
    ANYTHING,
    EMPTY,
    NOTHING,
    Chars,
    Concat,
    Either,
    Repeat,
    Tree,
    concat,
    one_character,
)
from guidedviz.machines.work import limited_work, spend, working_on

Item = tuple[Any, Any]  # of Python's parser: kind, details


@lru_cache(maxsize=256)
def regex(text: str) -> DFA:
    r"""The minimal machine for a regex; `pushdown/large_regex.py` has the one for large counts.

    >>> date = regex(r"\d{4}-\d{2}-\d{2}")
    >>> date.accepts(b"2026-11-20"), date.accepts_prefix(b"2026-"), date.accepts(b"2026-"), len(date)
    (True, True, False, 11)
    >>> password = regex(r"(?=.*\d)(?!.*\bpass)\w{8,}")
    >>> password.accepts(b"word1234"), password.accepts(b"pass1234"), password.accepts(b"password")
    (True, False, False)
    """
    return machine_stages(text, whole=False)[2]


def check_regex(text: object) -> None:
    """Raise an error for any other type than str."""
    expect(text, str, "regex", "a str", "text.decode()" if isinstance(text, bytes) else "")


@limited_work()
def machine_stages(text: str, whole: bool = True) -> tuple[NFA, DFA, DFA]:
    """The NFA, the DFA and the minimal DFA of a regex; without `whole`, see `build_dfa`, the DFA may be smaller.

    >>> machine_stages("(a|b)*ab")
    (NFA(5 states, 2 epsilon edges), DFA(4 states, 1 accepting), DFA(3 states, 1 accepting))
    """
    try:
        nfa = build_nfa(parse_regex(text))
        if whole:
            nfa = number_in_order(nfa)  # for a person who reads it
    except RecursionError as error:
        raise _too_deep() from error
    with working_on(nfa.blame):
        dfa = build_dfa(nfa, whole)
        minimal = minimise(dfa)
    return nfa, dfa, minimal


def parse_regex(text: str, search: bool = False) -> Tree:
    """The tree of a regex; with `search`, the tree of all texts that contain a match.

    >>> parse_regex("a?")
    Repeat(part=Chars(ranges=((97, 97),)), low=0, high=1, position=None)
    """
    check_regex(text)
    check_length("regex", text, limits.REGEX_CHARACTERS)
    spend(2 * len(text))
    try:
        parsed = parser.parse(text, int(re.ASCII))  # a plain int: & on an enum takes ten times as long
        reader = _TreeReader(text, search)
        tree = reader.whole(parsed, parsed.state.flags)
        return resolve(tree, list(reader.lookarounds)) if reader.lookarounds else tree
    except re.error as error:
        where = f"regex, position {error.pos}"
        raise PatternError(where, seen=shorten(error.msg), expected="Python's re syntax") from error
    except (ValueError, OverflowError) as error:
        if isinstance(error, PatternError):
            raise
        raise PatternError("regex", seen=shorten(str(error)), expected="Python's re syntax under re.ASCII") from error
    except RecursionError as error:
        raise _too_deep() from error


def _too_deep() -> PatternError:
    return PatternError("regex", seen="groups nested too deeply", expected="fewer nested groups")


# Anchors and word boundaries are lookarounds of one character; `$` needs two, because a newline may follow it.
WORD_CHARACTER = Chars(WORD_RANGES)
IN_LINE = Chars(other_ranges(NEWLINE))
BEFORE_LAST_LINE = Either((IN_LINE, Concat((Chars(NEWLINE), ANY_CHARACTER))))  # what may not follow `$`
EMPTY_IS_BOUNDARY_FREE = re.fullmatch(r"\B", "") is not None  # since Python 3.14


@dataclass
class _TreeReader:
    """Converts the tree of Python's parser; the text gives positions for errors."""

    text: str
    search: bool
    lookarounds: dict[Lookaround, int] = field(default_factory=dict)

    @cached_property
    def places(self) -> Iterator[str]:
        """The lookarounds by their places, each when it is read."""
        return find_lookarounds(self.text)

    @cached_property
    def anchors(self) -> dict[str, int]:
        """The first place of each kind of anchor."""
        return find_anchors(self.text)

    def whole(self, items: Iterable[Item], flags: int) -> Tree:
        """The pattern, or an option of it: anchors at its ends are no assertions, and a search opens the other ends."""
        row = list(items)
        only: Item = row[0] if len(row) == 1 else (None, None)
        kind, value = only
        if kind is op.BRANCH:
            return Either(tuple([self.whole(option, flags) for option in value[1]]))
        if kind is op.SUBPATTERN:
            return self.whole(value[3], _flags_inside(value, flags))
        has_start = self.is_end(row[:1], op.AT_BEGINNING_STRING, op.AT_BEGINNING, flags)
        if has_start:
            row = row[1:]
        has_end = self.is_end(row[-1:], op.AT_END_STRING, op.AT_END, flags)
        if has_end:
            row = row[:-1]
        tree = self.sequence(row, flags)
        if not self.search:
            return tree
        return concat(EMPTY if has_start else ANYTHING, tree, EMPTY if has_end else ANYTHING)

    def is_end(self, found: list[Item], of_text: Any, of_line: Any, flags: int) -> bool:
        """Whether this is an anchor at an end of the text; in a search with (?m), `^` and `$` are those of a line."""
        if self.search and flags & MULTILINE:
            return found == [(op.AT, of_text)]
        return found in ([(op.AT, of_text)], [(op.AT, of_line)])

    def sequence(self, items: Iterable[Item], flags: int) -> Tree:
        return concat(*[self.node(kind, value, flags) for kind, value in items])

    def node(self, kind: Any, value: Any, flags: int) -> Tree:
        spend(8)
        if kind is op.BRANCH:
            return Either(tuple([self.sequence(option, flags) for option in value[1]]))
        if kind is op.SUBPATTERN:
            return self.sequence(value[3], _flags_inside(value, flags))
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):  # greedy and lazy repeats have the same language
            return self.repeat(value, flags)
        if kind is op.AT:
            return self.anchor(value, flags)
        if kind in (op.ASSERT, op.ASSERT_NOT):
            said = next(self.places, "a lookaround")
            direction, inner = value
            return self.guard(said, self.sequence(inner, flags), direction > 0, kind is op.ASSERT_NOT)
        if kind.name in NOT_REGULAR:
            raise not_regular(self.text, kind.name)
        return self.character(kind, value, flags)

    def character(self, kind: Any, value: Any, flags: int) -> Tree:
        if kind is op.FAILURE:
            return NOTHING
        if kind is op.LITERAL and not flags & IGNORECASE:
            return one_character(chr(value))
        return Chars(ranges_of(kind, value, flags))

    def repeat(self, value: Any, flags: int) -> Tree:
        low, high, inner = value
        part = self.sequence(inner, flags)
        if part == EMPTY:
            return part
        return Repeat(part, int(low), None if high is op.MAXREPEAT else int(high))

    def anchor(self, where: Any, flags: int) -> Tree:
        """An anchor or a word boundary."""
        sign = ANCHORS[where]
        said = f"{sign} at position {self.anchors.get(sign, 0)}"
        if where in (op.AT_BOUNDARY, op.AT_NON_BOUNDARY):
            return self.boundary(said, where is op.AT_BOUNDARY)
        ahead = where in (op.AT_END, op.AT_END_STRING)
        return self.guard(said, self.not_behind(where, flags), ahead, negated=True)

    def not_behind(self, where: Any, flags: int) -> Tree:
        """What may not stand behind an anchor, seen from the text; when searching, `$` is only at the very end."""
        if where in (op.AT_BEGINNING_STRING, op.AT_END_STRING):
            return ANY_CHARACTER
        if flags & MULTILINE:
            return IN_LINE
        return BEFORE_LAST_LINE if where is op.AT_END and not self.search else ANY_CHARACTER

    def boundary(self, said: str, boundary: bool) -> Tree:
        """Exactly one neighbour is a word character, or both or none are."""
        after_word = self.guard(said, WORD_CHARACTER, False, False)
        after_other = self.guard(said, WORD_CHARACTER, False, True)
        before_word = self.guard(said, WORD_CHARACTER, True, False)
        before_other = self.guard(said, WORD_CHARACTER, True, True)
        if boundary:
            return Either((Concat((after_word, before_other)), Concat((after_other, before_word))))
        outside = Concat((after_other, before_other))
        if not EMPTY_IS_BOUNDARY_FREE:
            neighbours = self.guard(said, ANY_CHARACTER, False, False), self.guard(said, ANY_CHARACTER, True, False)
            outside = Concat((outside, Either(neighbours)))
        return Either((Concat((after_word, before_word)), outside))

    def guard(self, said: str, tree: Tree, ahead: bool, negated: bool) -> Tree:
        """The mark of a place where this must, or must not, be ahead or behind."""
        around = Lookaround(tree, ahead, said)
        number = self.lookarounds.setdefault(around, len(self.lookarounds))
        return guard(number, negated)


def _flags_inside(group: Any, flags: int) -> int:
    """The flags inside a group: (?i-m:...) adds one and removes one."""
    _, added, removed, _ = group
    inside: int = (flags | added) & ~removed
    return inside
