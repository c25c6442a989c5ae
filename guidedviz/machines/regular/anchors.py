"""Anchors and word boundaries as lookarounds of one character; `$` needs two, because a newline may follow it."""

from __future__ import annotations

import re
from collections.abc import Callable
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any

from guidedviz.machines.regular.assertions import Lookaround
from guidedviz.machines.tree import LAST, Chars, Concat, Either, Range, Tree, other_ranges

WORD: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122))
ANY, WORDS, NEWLINE, IN_LINE = (Chars(r) for r in (((0, LAST),), WORD, ((10, 10),), other_ranges([(10, 10)])))
BEFORE_LAST_LINE = Either((IN_LINE, Concat((NEWLINE, ANY))))  # what may not follow `$`
BOUNDARIES = (op.AT_BOUNDARY, op.AT_NON_BOUNDARY)
EMPTY_IS_BOUNDARY_FREE = re.fullmatch(r"\B", "") is not None  # since Python 3.14

Guard = Callable[[Lookaround, bool], Tree]  # lookaround, whether it is negated -> a leaf


def anchor_tree(where: Any, flags: int, search: bool, guard: Guard) -> Tree:
    """An anchor or a word boundary; when searching, `$` is only at the very end of the text."""
    if where in BOUNDARIES:
        return boundary_tree(where is op.AT_BOUNDARY, guard)
    lines = bool(flags & re.MULTILINE)
    if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
        return guard(Lookaround(IN_LINE if lines and where is op.AT_BEGINNING else ANY, ahead=False), True)
    if where is op.AT_END and (lines or not search):
        return guard(Lookaround(IN_LINE if lines else BEFORE_LAST_LINE, ahead=True), True)
    return guard(Lookaround(ANY, ahead=True), True)


def boundary_tree(boundary: bool, guard: Guard) -> Tree:
    """Exactly one neighbour is a word character, or both or none are."""

    def beside(ahead: bool, negated: bool, chars: Chars = WORDS) -> Tree:
        return guard(Lookaround(chars, ahead), negated)

    if boundary:
        return Either(tuple(Concat((beside(False, one), beside(True, not one))) for one in (False, True)))
    some = Concat(()) if EMPTY_IS_BOUNDARY_FREE else Either((beside(False, False, ANY), beside(True, False, ANY)))
    both, none = (Concat((beside(False, one), beside(True, one))) for one in (False, True))
    return Either((both, Concat((none, some))))
