"""What Python's parser leaves out of a regex: which characters a class has, and where a construct stands in the text.

It gives `[a-c\\d]` as [(RANGE, (97, 99)), (CATEGORY, CATEGORY_DIGIT)]: each item has its ranges, under re.ASCII. It
forgets most positions: the pieces of `a[)]{2}(?=b)` are a, [)], {2}, (?, =, b and ).
"""

import re
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.ranges import Range, Ranges, merge_ranges, other_ranges

DIGIT_RANGES: Ranges = ((48, 57),)
SPACE_RANGES: Ranges = ((9, 13), (32, 32))
WORD_RANGES: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
NEWLINE: Ranges = ((10, 10),)
CATEGORY_RANGES = {
    op.CATEGORY_DIGIT: DIGIT_RANGES,
    op.CATEGORY_SPACE: SPACE_RANGES,
    op.CATEGORY_WORD: WORD_RANGES,
    op.CATEGORY_NOT_DIGIT: other_ranges(DIGIT_RANGES),
    op.CATEGORY_NOT_SPACE: other_ranges(SPACE_RANGES),
    op.CATEGORY_NOT_WORD: other_ranges(WORD_RANGES),
}
# Plain ints: & on an enum takes ten times as long.
IGNORECASE = int(re.IGNORECASE)
DOTALL = int(re.DOTALL)
MULTILINE = int(re.MULTILINE)


def ranges_of(kind: Any, value: Any, flags: int) -> Ranges:
    """The characters of an item of Python's parser that reads one character."""
    if kind is op.ANY:
        return other_ranges(() if flags & DOTALL else NEWLINE)
    items = value if kind is op.IN else [(kind, value)]
    negated = bool(items) and items[0][0] in (op.NEGATE, op.NOT_LITERAL)
    found: list[Range] = []
    for item in items:
        found.extend(_ranges_of_item(*item))
    if flags & IGNORECASE:
        found.extend(list(_other_case(found)))
    return other_ranges(found) if negated else merge_ranges(found)


def _ranges_of_item(kind: Any, value: Any) -> Ranges:
    if kind is op.NEGATE:
        return ()
    if kind is op.CATEGORY:
        return CATEGORY_RANGES[value]
    return (value,) if kind is op.RANGE else ((value, value),)


def _other_case(ranges: Iterable[Range]) -> Iterator[Range]:
    """The ASCII letters of these ranges with swapped case."""
    for low, high in ranges:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            start = max(low, first)
            end = min(high, last)
            if start <= end:
                yield start + shift, end + shift


# The pieces of a pattern: an escape or a whole class is one piece.
PATTERN_PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P=|\(|>)?|(?:[*+?]|\{\d*,?\d*\})[+?]?|.", re.DOTALL)
LOOKAROUND = re.compile(r"\(\?(?:<?=|<?!(?!\)))")  # an empty one that is negated is none for the parser
COMMENTS = re.compile(r"\(\?(?:#|[a-zA-Z]*x)")  # or the flag that allows them
ANCHORS = {
    op.AT_BEGINNING: "^",
    op.AT_BEGINNING_STRING: r"\A",
    op.AT_END: "$",
    op.AT_END_STRING: r"\Z",
    op.AT_BOUNDARY: r"\b",
    op.AT_NON_BOUNDARY: r"\B",
}
# Unsupported constructs: the parser's name, our name, and a regex that finds the construct in the text.
NOT_REGULAR = {
    "GROUPREF": ("a backreference", r"\\[1-9]|\(\?P="),
    "GROUPREF_EXISTS": ("a conditional group", r"\(\?\("),
    "ATOMIC_GROUP": ("an atomic group", r"\(\?>"),
    "POSSESSIVE_REPEAT": ("a possessive repeat", r"[*+?{][^+]*\+"),
}


def find_lookarounds(text: str) -> Iterator[str]:
    """The lookarounds of a pattern by their places, in their order; none if there may be comments.

    >>> list(find_lookarounds("(?=a[(?=](?<!b))"))
    ['(?= at position 0', '(?<! at position 9']
    """
    if COMMENTS.search(text):
        return
    for piece in PATTERN_PIECES.finditer(text):
        found = LOOKAROUND.match(text, piece.start())
        if piece[0] == "(?" and found:
            yield f"{found[0]} at position {piece.start()}"


def find_anchors(text: str) -> dict[str, int]:
    """The first place of each kind of anchor.

    >>> find_anchors("^a$|^[$]")
    {'^': 0, '$': 2}
    """
    found: dict[str, int] = {}
    for piece in PATTERN_PIECES.finditer(text):
        if piece[0] in ANCHORS.values():
            found.setdefault(piece[0], piece.start())
    return found


def not_regular(text: str, construct: str) -> PatternError:
    """The error for a construct that no finite machine can read.

    >>> print(not_regular("(a)b\\\\1", "GROUPREF"))
    regex, position 4: saw a backreference, expected a regular pattern; try: rewrite it, or use a grammar
    """
    name, looks = NOT_REGULAR[construct]
    found = (piece.start() for piece in PATTERN_PIECES.finditer(text) if re.match(looks, piece[0]))
    where = f"regex, position {next(found, 0)}"
    return PatternError(where, seen=name, expected="a regular pattern", hint="rewrite it, or use a grammar")
