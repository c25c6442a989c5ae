"""A pattern that may be found anywhere, as `re.search` finds it, said as one that spans the whole text.

Any characters may stand before it and after it, save where an anchor says that the text begins or ends there:
`^a|b` is `a` and whatever follows, or `b` with anything on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any

Item = tuple[Any, Any]  # as Python's parser says it: what it is, its details
STARTS = (op.AT_BEGINNING, op.AT_BEGINNING_STRING)
ENDS = (op.AT_END, op.AT_END_STRING)
ANYTHING: Item = (op.MAX_REPEAT, (0, op.MAXREPEAT, [(op.IN, [(op.NEGATE, None)])]))


def open_ends(items: Iterable[Item], left: bool = True, right: bool = True) -> list[Item]:
    """The same row with anything allowed at its open ends; inside a group or a branch, at the ends of that."""
    row = list(items)
    wide = [place for place, item in enumerate(row) if is_wide(item)]
    first, last = (wide[0], wide[-1]) if wide else (len(row), -1)
    left = left and not any(where in STARTS for _, where in row[:first])
    right = right and not any(where in ENDS for _, where in row[last + 1 :])
    if not wide:
        return [ANYTHING] if left or right else []
    if first == last:
        return [*row[:first], *open_item(row[first], left, right), *row[last + 1 :]]
    opened = [*open_item(row[first], left, False), *row[first + 1 : last], *open_item(row[last], False, right)]
    return [*row[:first], *opened, *row[last + 1 :]]


def is_wide(item: Item) -> bool:
    """May it read a character? Of `a$|a$` the parser makes `a$` and then a choice of two times nothing."""
    kind, value = item
    if kind is op.BRANCH:
        return any(is_wide(inner) for option in value[1] for inner in option)
    if kind in (op.SUBPATTERN, op.MAX_REPEAT, op.MIN_REPEAT):
        return any(map(is_wide, value[-1]))
    return kind is not op.AT


def open_item(item: Item, left: bool, right: bool) -> list[Item]:
    """One item of a row that is the first of it, the last, or both."""
    kind, value = item
    if kind is op.BRANCH:
        return [(kind, (value[0], [open_ends(option, left, right) for option in value[1]]))]
    if kind is op.SUBPATTERN and not value[1] & re.MULTILINE:
        return [(kind, (*value[:3], open_ends(value[3], left, right)))]
    return [ANYTHING] * left + [item] + [ANYTHING] * right
