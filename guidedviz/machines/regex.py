"""From a regex to a machine. The text is read by Python's own parser, so it means what `re.fullmatch` means.

The whole text must match, under re.ASCII: `\\d` is 0-9, `\\w` is A-Z, a-z, 0-9 and _, and only A-Z fold under (?i).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.dfa import DFA, build_dfa
from guidedviz.machines.minimal import minimise
from guidedviz.machines.nfa import NFA, build_nfa
from guidedviz.machines.search import ENDS, STARTS, is_wide, open_ends
from guidedviz.machines.tree import EMPTY, Chars, Concat, Either, Range, Repeat, Tree, merge_ranges, other_ranges

DIGIT: tuple[Range, ...] = ((48, 57),)
SPACE: tuple[Range, ...] = ((9, 13), (32, 32))
WORD: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122))
CLASSES = {
    op.CATEGORY_DIGIT: DIGIT,
    op.CATEGORY_SPACE: SPACE,
    op.CATEGORY_WORD: WORD,
    op.CATEGORY_NOT_DIGIT: other_ranges(DIGIT),
    op.CATEGORY_NOT_SPACE: other_ranges(SPACE),
    op.CATEGORY_NOT_WORD: other_ranges(WORD),
}

# What no finite machine (or not ours) can say: the parser's name for it, ours, and how it looks in the text.
REFUSED = {
    "ASSERT": ("lookaround", r"\(\?<?="),
    "ASSERT_NOT": ("lookaround", r"\(\?<?!"),
    "FAILURE": ("lookaround", r"\(\?!"),
    "GROUPREF": ("a backreference", r"\\[1-9]|\(\?P="),
    "GROUPREF_EXISTS": ("a conditional group", r"\(\?\("),
    "ATOMIC_GROUP": ("an atomic group", r"\(\?>"),
    "POSSESSIVE_REPEAT": ("a possessive repeat", r"[*+?{][^+]*\+"),
    "AT_BOUNDARY": ("a word boundary", r"\\b"),
    "AT_NON_BOUNDARY": ("a word boundary", r"\\B"),
    "AT": ("an anchor inside the text", r"[\^$]|\\[AZ]"),
}
# One piece of a pattern's text at a time: an escape and a whole class are one piece.
PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|P=|\(|>)?|(?:[*+?]|\{\d*,?\d*\})[+?]?|.", re.DOTALL)
MOST_CHARACTERS = 100_000
QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@lru_cache(maxsize=256)
def regex(text: str) -> DFA:
    r"""The smallest machine for a regex.

    >>> date = regex(r"\d{4}-\d{2}-\d{2}")
    >>> date.accepts(b"2026-11-20"), date.accepts_prefix(b"2026-"), date.accepts(b"2026-"), len(date)
    (True, True, False, 11)
    """
    return machine_stages(text)[2]


def machine_stages(text: str) -> tuple[NFA, DFA, DFA]:
    """A regex on its way: the NFA, the DFA, the smallest DFA.

    >>> machine_stages("(a|b)*ab")
    (NFA(5 states, 2 free edges), DFA(3 states, 1 accepting), DFA(3 states, 1 accepting))
    """
    try:
        nfa = build_nfa(parse_regex(text))
    except RecursionError as error:
        raise _too_deep() from error
    dfa = build_dfa(nfa)
    return nfa, dfa, minimise(dfa)


def parse_regex(text: str, search: bool = False) -> Tree:
    """The tree of a regex; with `search` of all texts in which it is found somewhere.

    >>> parse_regex("a?")
    Repeat(part=Chars(ranges=((97, 97),)), low=0, high=1, position=1)
    """
    if not isinstance(text, str):
        raise PatternError("regex", seen=type(text).__name__, expected="a str")
    if len(text) > MOST_CHARACTERS:
        raise PatternError("regex", seen=f"{len(text):,} characters", expected=f"at most {MOST_CHARACTERS:,}")
    try:
        parsed = parser.parse(text, int(re.ASCII))  # as a plain int: an enum's & takes ten times as long
        if search and parsed.state.flags & re.MULTILINE:
            raise PatternError("regex", seen="(?m)", expected="anchors that mean the ends of the whole text")
        items = open_ends(parsed) if search else parsed
        return _Reader(text).sequence(items, parsed.state.flags, first=True, last=True)
    except re.error as error:
        raise PatternError(f"regex, position {error.pos}", seen=error.msg, expected="Python's re syntax") from error
    except (ValueError, OverflowError) as error:
        if isinstance(error, PatternError):
            raise
        raise PatternError("regex", seen=str(error), expected="Python's re syntax under re.ASCII") from error
    except RecursionError as error:
        raise _too_deep() from error


def _too_deep() -> PatternError:
    return PatternError("regex", seen="groups nested too deeply", expected="a flatter pattern")


class _Reader:
    """Turns the parser's tree into ours; holds the text only to find positions for errors."""

    def __init__(self, text: str) -> None:
        self.text = text

    def sequence(self, items: Iterable[Any], flags: int, first: bool, last: bool) -> Tree:
        """Parts in a row; `first` and `last` say whether the row touches the ends of the text."""
        row = list(items)
        wide = [place for place, item in enumerate(row) if is_wide(item)]
        start, end = (wide[0], wide[-1]) if wide else (len(row), -1)
        parts = []
        for place, (kind, value) in enumerate(row):
            parts.append(self.node(kind, value, flags, first and place <= start, last and place >= end))
        parts = [part for part in parts if part != EMPTY]
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def node(self, kind: Any, value: Any, flags: int, first: bool, last: bool) -> Tree:
        if kind is op.BRANCH:
            return Either(tuple(self.sequence(option, flags, first, last) for option in value[1]))
        if kind is op.SUBPATTERN:
            _, added, removed, inner = value
            return self.sequence(inner, (flags | added) & ~removed, first, last)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):  # greedy or lazy: the same texts
            low, high, inner = value
            return self.repeat(low, high, inner, flags)
        if kind is op.AT:
            return self.anchor(value, first, last)
        if kind.name in REFUSED:
            raise self.refusal(kind.name)
        return Chars(_ranges_of(kind, value, flags))

    def repeat(self, low: int, high: Any, inner: Iterable[Any], flags: int) -> Tree:
        part = self.sequence(inner, flags, first=False, last=False)
        if part == EMPTY:
            return part
        bound = None if high is op.MAXREPEAT else int(high)
        return Repeat(part, int(low), bound, self.find_quantifier(int(low), bound))

    def anchor(self, where: Any, first: bool, last: bool) -> Tree:
        if (where in STARTS and first) or (where in ENDS and last):
            return EMPTY
        raise self.refusal(where.name if where.name in REFUSED else "AT")

    def refusal(self, kind: str) -> PatternError:
        name, looks = REFUSED[kind]
        found = (place for place, piece in self.pieces() if re.match(looks, piece))
        hint = "anchors at the two ends are harmless" if kind == "AT" else "say it without, or as a grammar"
        return PatternError(f"regex, position {next(found, 0)}", seen=name, expected="a regular pattern", hint=hint)

    def pieces(self) -> Iterator[tuple[int, str]]:
        for match in PIECES.finditer(self.text):
            yield match.start(), match[0]

    def find_quantifier(self, low: int, high: int | None) -> int | None:
        """Where the quantifier stands; None if it stands at several places, as the parser does not say which."""
        places = self.quantifiers.get((low, high), ())
        return places[0] if len(places) == 1 else None

    @cached_property
    def quantifiers(self) -> dict[tuple[int, int | None], list[int]]:
        """The places of every quantifier."""
        found: dict[tuple[int, int | None], list[int]] = {}
        for place, piece in self.pieces():
            if counts := _quantifier(piece):
                found.setdefault(counts, []).append(place)
        return found


def _quantifier(piece: str) -> tuple[int, int | None] | None:
    piece = piece if piece in QUANTIFIERS else piece.rstrip("?+")  # the sign of a lazy or a possessive one
    if not (piece.startswith("{") and any(map(str.isdigit, piece))):
        return QUANTIFIERS.get(piece)
    low, comma, high = piece[1:-1].partition(",")
    return int(low or 0), (int(high) if high else None) if comma else int(low)


def _ranges_of(kind: Any, value: Any, flags: int) -> tuple[Range, ...]:
    """The characters of a literal, a dot or a class."""
    if kind is op.ANY:
        return other_ranges(() if flags & re.DOTALL else [(10, 10)])
    items = value if kind is op.IN else [(kind, value)]
    negated = bool(items) and items[0][0] in (op.NEGATE, op.NOT_LITERAL)
    ranges = merge_ranges(part for item in items for part in _item_ranges(*item))
    if flags & re.IGNORECASE:
        ranges = merge_ranges((*ranges, *_other_case(ranges)))
    return other_ranges(ranges) if negated else ranges


def _item_ranges(kind: Any, value: Any) -> tuple[Range, ...]:
    if kind in (op.LITERAL, op.NOT_LITERAL):
        return ((value, value),)
    if kind is op.RANGE:
        return (value,)
    return () if kind is op.NEGATE else CLASSES[value]


def _other_case(ranges: Iterable[Range]) -> Iterator[Range]:
    """The ASCII letters of these ranges in the other case."""
    for low, high in ranges:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                yield max(low, first) + shift, min(high, last) + shift
