"""Convert a pattern for `re.search` to a pattern for `re.fullmatch`.

Any characters may precede and follow a match, unless an anchor forbids it: `^a|b` becomes `a.*|.*b.*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any

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
