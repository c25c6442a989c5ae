"""Build a machine from a regex. Python's own parser reads it, so it has the meaning of `re.fullmatch`.

The whole text must match, under re.ASCII: `\\d` is 0-9, `\\w` is A-Z, a-z, 0-9 and _, and (?i) folds ASCII only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from guidedviz.errors import PatternError, shorten
from guidedviz.machines.regular.assertions import WORD, Lookaround, anchor_tree, guard, resolve
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import NFA, build_nfa
from guidedviz.machines.tree import (
    EMPTY,
    NOTHING,
    Chars,
    Concat,
    Either,
    Range,
    Repeat,
    Tree,
    merge_ranges,
    one_character,
    other_ranges,
)
from guidedviz.machines.work import spend

# Convert a pattern for `re.search` to a pattern for `re.fullmatch`.
#
# Any characters may precede and follow a match, unless an anchor forbids it: `^a|b` becomes `a.*|.*b.*`.


Item = tuple[Any, Any]  # of Python's parser: kind, details
STARTS = (op.AT_BEGINNING, op.AT_BEGINNING_STRING)
ENDS = (op.AT_END, op.AT_END_STRING)
ANYTHING: Item = (op.MAX_REPEAT, (0, op.MAXREPEAT, [(op.IN, [(op.NEGATE, None)])]))


def open_ends(items: Iterable[Item], left: bool = True, right: bool = True) -> list[Item]:
    """The sequence with any text allowed at its open ends, also at the ends of groups and branches."""
    row = list(items)
    wide = [place for place, item in enumerate(row) if is_wide(item)]
    first, last = (wide[0], wide[-1]) if wide else (len(row), -1)
    left = left and not any(where in STARTS for _, where in row[:first])
    right = right and not any(where in ENDS for _, where in row[last + 1 :])
    if not row:
        return [ANYTHING] if left or right else []
    outer_left = left and any(map(has_anchor, row[:first]))  # an anchor that this function does not open
    outer_right = right and any(map(has_anchor, row[last + 1 :]))
    inner = row[first : last + 1]
    if not wide:
        outer_left, outer_right = left, right
    elif first == last:
        inner = open_item(row[first], left and not outer_left, right and not outer_right)
    else:
        before = open_item(row[first], left and not outer_left, False)
        inner = [*before, *inner[1:-1], *open_item(row[last], False, right and not outer_right)]
    return [ANYTHING] * outer_left + row[:first] + inner + row[last + 1 :] + [ANYTHING] * outer_right


def is_wide(item: Item) -> bool:
    """Whether the item may read a character; Python parses `a$|a$` as `a$` and a choice of two empty options."""
    return any(kind is not op.AT for kind, _ in leaves(item))


def has_anchor(item: Item) -> bool:
    """Whether the item is or contains an anchor."""
    return any(kind is op.AT for kind, _ in leaves(item))


def leaves(item: Item) -> Iterator[Item]:
    """The item, or the items in its groups, branches and repeats."""
    kind, value = item
    if kind is op.BRANCH:
        inner = [item for option in value[1] for item in option]
    elif kind in (op.SUBPATTERN, op.MAX_REPEAT, op.MIN_REPEAT):
        inner = value[-1]
    else:
        yield item
        return
    for part in inner:
        yield from leaves(part)


def open_item(item: Item, left: bool, right: bool) -> list[Item]:
    """The same for one item at one or both ends of a sequence."""
    kind, value = item
    if kind is op.BRANCH:
        return [(kind, (value[0], [open_ends(option, left, right) for option in value[1]]))]
    if kind is op.SUBPATTERN and not value[1] & re.MULTILINE:
        return [(kind, (*value[:3], open_ends(value[3], left, right)))]
    return [ANYTHING] * left + [item] + [ANYTHING] * right


DIGIT: tuple[Range, ...] = ((48, 57),)
SPACE: tuple[Range, ...] = ((9, 13), (32, 32))
CLASSES = {
    op.CATEGORY_DIGIT: DIGIT,
    op.CATEGORY_SPACE: SPACE,
    op.CATEGORY_WORD: WORD,
    op.CATEGORY_NOT_DIGIT: other_ranges(DIGIT),
    op.CATEGORY_NOT_SPACE: other_ranges(SPACE),
    op.CATEGORY_NOT_WORD: other_ranges(WORD),
}

# Unsupported constructs: the parser's name, our name, and a regex that finds the construct in the text.
REFUSED = {
    "LOOKBEHIND": ("a lookbehind of variable length", r"\(\?<[=!]"),
    "GROUPREF": ("a backreference", r"\\[1-9]|\(\?P="),
    "GROUPREF_EXISTS": ("a conditional group", r"\(\?\("),
    "ATOMIC_GROUP": ("an atomic group", r"\(\?>"),
    "POSSESSIVE_REPEAT": ("a possessive repeat", r"[*+?{][^+]*\+"),
}
# The pieces of a pattern: an escape or a whole class is one piece.
PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|P=|\(|>)?|(?:[*+?]|\{\d*,?\d*\})[+?]?|.", re.DOTALL)
MOST_CHARACTERS = 100_000
IGNORECASE, DOTALL, MULTILINE = map(int, (re.IGNORECASE, re.DOTALL, re.MULTILINE))  # & on an enum takes long
QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def regex(text: str) -> DFA:
    r"""The minimal machine for a regex.

    >>> date = regex(r"\d{4}-\d{2}-\d{2}")
    >>> date.accepts(b"2026-11-20"), date.accepts_prefix(b"2026-"), date.accepts(b"2026-"), len(date)
    (True, True, False, 11)
    >>> password = regex(r"(?=.*\d)(?!.*\bpass)\w{8,}")
    >>> password.accepts(b"word1234"), password.accepts(b"pass1234"), password.accepts(b"password")
    (True, False, False)
    """
    check_regex(text)
    return cached_regex(text)


@lru_cache(maxsize=256)
def cached_regex(text: str) -> DFA:
    return machine_stages(text)[2]


def check_regex(text: object) -> None:
    """Raise an error for any other type than str."""
    if not isinstance(text, str):
        hint = "text.decode()" if isinstance(text, bytes) else ""
        raise PatternError("regex", seen=type(text).__name__, expected="a str", hint=hint)


def machine_stages(text: str) -> tuple[NFA, DFA, DFA]:
    """The NFA, the DFA and the minimal DFA of a regex.

    >>> machine_stages("(a|b)*ab")
    (NFA(5 states, 2 epsilon edges), DFA(3 states, 1 accepting), DFA(3 states, 1 accepting))
    """
    try:
        nfa = build_nfa(parse_regex(text))
    except RecursionError as error:
        raise _too_deep() from error
    dfa = build_dfa(nfa)
    return nfa, dfa, minimise(dfa)


def parse_regex(text: str, search: bool = False) -> Tree:
    """The tree of a regex; with `search`, the tree of all texts that contain a match.

    >>> parse_regex("a?")
    Repeat(part=Chars(ranges=((97, 97),)), low=0, high=1, position=1)
    """
    check_regex(text)
    if len(text) > MOST_CHARACTERS:
        raise PatternError("regex", seen=f"{len(text):,} characters", expected=f"at most {MOST_CHARACTERS:,}")
    try:
        parsed = parser.parse(text, int(re.ASCII))  # a plain int: & on an enum takes ten times as long
        return _read(text, parsed, search)
    except re.error as error:
        where = f"regex, position {error.pos}"
        raise PatternError(where, seen=shorten(error.msg), expected="Python's re syntax") from error
    except (ValueError, OverflowError) as error:
        if isinstance(error, PatternError):
            raise
        raise PatternError("regex", seen=shorten(str(error)), expected="Python's re syntax under re.ASCII") from error
    except RecursionError as error:
        raise _too_deep() from error


def _read(text: str, parsed: Any, search: bool) -> Tree:
    """The tree of a parsed pattern. Anchors at its ends are no assertions, unless a search looks at lines."""
    flags, reader = parsed.state.flags, _Reader(text, search)
    tree = reader.sequence(open_ends(parsed) if search else parsed, flags, first=True, last=True)
    if search and (reader.lookarounds or flags & MULTILINE):
        reader = _Reader(text, search)
        tree = reader.sequence([ANYTHING, *parsed, ANYTHING], flags, first=False, last=False)
    return resolve(tree, list(reader.lookarounds)) if reader.lookarounds else tree


def _too_deep() -> PatternError:
    return PatternError("regex", seen="groups nested too deeply", expected="fewer nested groups")


class _Reader:
    """Converts the tree of Python's parser; the text gives positions for errors."""

    def __init__(self, text: str, search: bool) -> None:
        self.text, self.search = text, search
        self.lookarounds: dict[Lookaround, int] = {}
        self.lookbehinds = 0  # read so far

    def sequence(self, items: Iterable[Any], flags: int, first: bool, last: bool) -> Tree:
        """A sequence; `first` and `last` say whether it starts or ends the text."""
        row = list(items)
        wide = [place for place, item in enumerate(row) if is_wide(item)]
        start, end = (wide[0], wide[-1]) if wide else (len(row), -1)
        parts = []
        for place, (kind, value) in enumerate(row):
            parts.append(self.node(kind, value, flags, first and place <= start, last and place >= end))
        parts = [part for part in parts if part != EMPTY]
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def node(self, kind: Any, value: Any, flags: int, first: bool, last: bool) -> Tree:
        spend(8)
        if kind is op.BRANCH:
            return Either(tuple(self.sequence(option, flags, first, last) for option in value[1]))
        if kind is op.SUBPATTERN:
            _, added, removed, inner = value
            return self.sequence(inner, (flags | added) & ~removed, first, last)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):  # greedy and lazy repeats have the same language
            low, high, inner = value
            return self.repeat(low, high, inner, flags)
        if kind is op.AT:
            simple = (value in STARTS and first) or (value in ENDS and last)
            return EMPTY if simple else anchor_tree(value, flags, self.search, self.guard)
        if kind in (op.ASSERT, op.ASSERT_NOT):
            return self.lookaround(kind, value[0], value[1], flags)
        if kind is op.FAILURE:
            return NOTHING
        if kind.name in REFUSED:
            raise self.refusal(kind.name)
        if kind is op.LITERAL and not flags & IGNORECASE:
            return one_character(chr(value))
        return Chars(_ranges_of(kind, value, flags))

    def repeat(self, low: int, high: Any, inner: Iterable[Any], flags: int) -> Tree:
        part = self.sequence(inner, flags, first=False, last=False)
        if part == EMPTY:
            return part
        bound = None if high is op.MAXREPEAT else int(high)
        return Repeat(part, int(low), bound, self.find_quantifier(int(low), bound))

    def lookaround(self, kind: Any, direction: int, inner: Any, flags: int) -> Tree:
        low, high = inner.getwidth()
        if direction < 0 and low != high:
            raise self.refusal("LOOKBEHIND", self.lookbehinds)
        self.lookbehinds += direction < 0
        body = self.sequence(inner, flags, first=False, last=False)
        return self.guard(Lookaround(body, direction > 0), kind is op.ASSERT_NOT)

    def guard(self, lookaround: Lookaround, negated: bool) -> Tree:
        return guard(self.lookarounds.setdefault(lookaround, len(self.lookarounds)), negated)

    def refusal(self, kind: str, before: int = 0) -> PatternError:
        """The error for a construct; `before` is the number of its kind before it."""
        name, looks = REFUSED[kind]
        found = [place for place, piece in self.pieces() if re.match(looks, piece)]
        where, hint = f"regex, position {[*found, 0][before]}", "rewrite it, or use a grammar"
        return PatternError(where, seen=name, expected="a regular pattern", hint=hint)

    def pieces(self) -> Iterator[tuple[int, str]]:
        for match in PIECES.finditer(self.text):
            yield match.start(), match[0]

    def find_quantifier(self, low: int, high: int | None) -> int | None:
        """The position of a quantifier; None if it occurs several times."""
        places = self.quantifiers.get((low, high), ())
        return places[0] if len(places) == 1 else None

    @cached_property
    def quantifiers(self) -> dict[tuple[int, int | None], list[int]]:
        """The positions of every quantifier."""
        found: dict[tuple[int, int | None], list[int]] = {}
        for place, piece in self.pieces():
            if counts := _quantifier(piece):
                found.setdefault(counts, []).append(place)
        return found


def _quantifier(piece: str) -> tuple[int, int | None] | None:
    piece = piece if piece in QUANTIFIERS else piece.rstrip("?+")  # the suffix of a lazy or possessive quantifier
    if not (piece.startswith("{") and any(map(str.isdigit, piece))):
        return QUANTIFIERS.get(piece)
    low, comma, high = piece[1:-1].partition(",")
    return int(low or 0), (int(high) if high else None) if comma else int(low)


def _ranges_of(kind: Any, value: Any, flags: int) -> tuple[Range, ...]:
    """The characters of a literal, a dot or a class."""
    if kind is op.ANY:
        return other_ranges(() if flags & DOTALL else [(10, 10)])
    items = value if kind is op.IN else [(kind, value)]
    negated = bool(items) and items[0][0] in (op.NEGATE, op.NOT_LITERAL)
    ranges = merge_ranges(part for item in items for part in _item_ranges(*item))
    if flags & IGNORECASE:
        ranges = merge_ranges((*ranges, *_other_case(ranges)))
    return other_ranges(ranges) if negated else ranges


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
