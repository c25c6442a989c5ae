"""Build a machine from a regex. Python's own parser reads it, so it has the meaning of `re.fullmatch`.

The whole text must match, under re.ASCII: `\\d` is 0-9, `\\w` is A-Z, a-z, 0-9 and _, and (?i) folds ASCII only.
Lookbehinds may have any length.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from guidedviz.errors import PatternError, shorten
from guidedviz.machines import syntax
from guidedviz.machines.regular.assertions import WORD, Lookaround, anchor_tree, guard, resolve
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import NFA, build_nfa
from guidedviz.machines.syntax import Range, Tree
from guidedviz.machines.work import spend

Item = tuple[Any, Any]  # of Python's parser: kind, details
DIGIT: tuple[Range, ...] = ((48, 57),)
SPACE: tuple[Range, ...] = ((9, 13), (32, 32))
CLASSES = {
    op.CATEGORY_DIGIT: DIGIT,
    op.CATEGORY_SPACE: SPACE,
    op.CATEGORY_WORD: WORD,
    op.CATEGORY_NOT_DIGIT: syntax.other_ranges(DIGIT),
    op.CATEGORY_NOT_SPACE: syntax.other_ranges(SPACE),
    op.CATEGORY_NOT_WORD: syntax.other_ranges(WORD),
}

# Unsupported constructs: the parser's name, our name, and a regex that finds the construct in the text.
REFUSED = {
    "GROUPREF": ("a backreference", r"\\[1-9]|\(\?P="),
    "GROUPREF_EXISTS": ("a conditional group", r"\(\?\("),
    "ATOMIC_GROUP": ("an atomic group", r"\(\?>"),
    "POSSESSIVE_REPEAT": ("a possessive repeat", r"[*+?{][^+]*\+"),
}
# The pieces of a pattern: an escape or a whole class is one piece.
PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P=|\(|>)?|(?:[*+?]|\{\d*,?\d*\})[+?]?|.", re.DOTALL)
MOST_CHARACTERS = 100_000
IGNORECASE, DOTALL, MULTILINE = map(int, (re.IGNORECASE, re.DOTALL, re.MULTILINE))  # & on an enum takes long


@lru_cache(maxsize=256)
def regex(text: str) -> DFA:
    r"""The minimal machine for a regex; `pushdown/pda.py` has the one for large counts.

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
    if not isinstance(text, str):
        hint = "text.decode()" if isinstance(text, bytes) else ""
        raise PatternError("regex", seen=type(text).__name__, expected="a str", hint=hint)


def machine_stages(text: str, whole: bool = True) -> tuple[NFA, DFA, DFA]:
    """The NFA, the DFA and the minimal DFA of a regex; without `whole`, see `build_dfa`, the DFA may be smaller.

    >>> machine_stages("(a|b)*ab")
    (NFA(5 states, 2 epsilon edges), DFA(4 states, 1 accepting), DFA(3 states, 1 accepting))
    """
    try:
        nfa = build_nfa(parse_regex(text))
    except RecursionError as error:
        raise _too_deep() from error
    dfa = build_dfa(nfa, whole)
    return nfa, dfa, minimise(dfa)


def parse_regex(text: str, search: bool = False) -> Tree:
    """The tree of a regex; with `search`, the tree of all texts that contain a match.

    >>> parse_regex("a?")
    Repeat(part=Chars(ranges=((97, 97),)), low=0, high=1, position=None)
    """
    check_regex(text)
    if len(text) > MOST_CHARACTERS:
        raise PatternError("regex", seen=f"{len(text):,} characters", expected=f"at most {MOST_CHARACTERS:,}")
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


class _TreeReader:
    """Converts the tree of Python's parser; the text gives positions for errors."""

    def __init__(self, text: str, search: bool) -> None:
        self.text, self.search = text, search
        self.lookarounds: dict[Lookaround, int] = {}

    def whole(self, items: Iterable[Item], flags: int) -> Tree:
        """The pattern, or an option of it: anchors at its ends are no assertions, and a search opens the other ends."""
        row = list(items)
        if len(row) == 1 and row[0][0] is op.BRANCH:
            return syntax.Either(tuple(self.whole(option, flags) for option in row[0][1][1]))
        if len(row) == 1 and row[0][0] is op.SUBPATTERN:
            _, added, removed, inner = row[0][1]
            return self.whole(inner, (flags | added) & ~removed)
        lines = self.search and flags & MULTILINE
        start = row[:1] == [(op.AT, op.AT_BEGINNING_STRING)] or (not lines and row[:1] == [(op.AT, op.AT_BEGINNING)])
        end = row[-1:] == [(op.AT, op.AT_END_STRING)] or (not lines and row[-1:] == [(op.AT, op.AT_END)])
        around = [syntax.ANYTHING] * self.search
        return syntax.concat(*around[start:], self.sequence(row[start : len(row) - end], flags), *around[end:])

    def sequence(self, items: Iterable[Item], flags: int) -> Tree:
        return syntax.concat(*(self.node(kind, value, flags) for kind, value in items))

    def node(self, kind: Any, value: Any, flags: int) -> Tree:
        spend(8)
        if kind is op.BRANCH:
            return syntax.Either(tuple(self.sequence(option, flags) for option in value[1]))
        if kind is op.SUBPATTERN:
            return self.sequence(value[3], (flags | value[1]) & ~value[2])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):  # greedy and lazy repeats have the same language
            part, bound = self.sequence(value[2], flags), None if value[1] is op.MAXREPEAT else int(value[1])
            return part if part == syntax.EMPTY else syntax.Repeat(part, int(value[0]), bound)
        if kind is op.AT:
            return anchor_tree(value, flags, self.search, self.guard)
        if kind in (op.ASSERT, op.ASSERT_NOT):
            return self.guard(Lookaround(self.sequence(value[1], flags), value[0] > 0), kind is op.ASSERT_NOT)
        if kind is op.FAILURE:
            return syntax.NOTHING
        if kind.name in REFUSED:
            name, looks = REFUSED[kind.name]
            found = (piece.start() for piece in PIECES.finditer(self.text) if re.match(looks, piece[0]))
            where, hint = f"regex, position {next(found, 0)}", "rewrite it, or use a grammar"
            raise PatternError(where, seen=name, expected="a regular pattern", hint=hint)
        if kind is op.LITERAL and not flags & IGNORECASE:
            return syntax.one_character(chr(value))
        return syntax.Chars(_ranges_of(kind, value, flags))

    def guard(self, lookaround: Lookaround, negated: bool) -> Tree:
        return guard(self.lookarounds.setdefault(lookaround, len(self.lookarounds)), negated)


def _ranges_of(kind: Any, value: Any, flags: int) -> tuple[Range, ...]:
    """The characters of a literal, a dot or a class."""
    if kind is op.ANY:
        return syntax.other_ranges(() if flags & DOTALL else [(10, 10)])
    items = value if kind is op.IN else [(kind, value)]
    negated = bool(items) and items[0][0] in (op.NEGATE, op.NOT_LITERAL)
    ranges = syntax.merge_ranges(part for item in items for part in _item_ranges(*item))
    if flags & IGNORECASE:
        ranges = syntax.merge_ranges((*ranges, *_other_case(ranges)))
    return syntax.other_ranges(ranges) if negated else ranges


def _item_ranges(kind: Any, value: Any) -> tuple[Range, ...]:
    if kind in (op.LITERAL, op.NOT_LITERAL):
        return ((value, value),)
    if kind is op.RANGE:
        return (value,)
    return () if kind is op.NEGATE else CLASSES[value]


def _other_case(ranges: Iterable[Range]) -> Iterator[Range]:
    """The ASCII letters of these ranges with swapped case."""
    for low, high in ranges:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                yield max(low, first) + shift, min(high, last) + shift
