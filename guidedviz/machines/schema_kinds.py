"""What the keywords of one kind of value add up to: a string, a number, an object, an array."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.formats import FORMATS
from guidedviz.machines.json_text import ONE_CHARACTER, escape, quoted
from guidedviz.machines.numerals import Bound, decimals, integers
from guidedviz.machines.overlap import overlap
from guidedviz.machines.regex import parse_regex
from guidedviz.machines.schema_source import below, nearest, refusal, shown, take_counts, take_number
from guidedviz.machines.tree import EMPTY, LAST, NOTHING, Chars, Net, Repeat, Tree, concat, literal, optional

Token = Callable[[Tree, str], Tree]  # a piece of JSON and the blanks that may follow it
Member = tuple[Tree, bool]  # key, colon and value; must it be there?


def string_tree(schema: dict[str, Any], path: str) -> Tree:
    """A string; with a pattern or a format as the overlap of all that is asked."""
    if "pattern" in schema or "format" in schema:
        return quoted(escape(string_texts(schema, path)))
    return quoted(Repeat(ONE_CHARACTER, *take_counts(schema, "minLength", "maxLength", path)))


def string_texts(schema: dict[str, Any], path: str) -> Tree:
    """The characters that a string may have, as they are before JSON escapes them."""
    low, high = take_counts(schema, "minLength", "maxLength", path)
    asked: list[Tree] = []
    if "pattern" in schema:
        asked.append(pattern_tree(schema["pattern"], below(path, "pattern")))
    if "format" in schema:
        asked.append(format_tree(schema["format"], below(path, "format")))
    if not asked or (low, high) != (0, None):
        asked.append(Repeat(Chars(((0, LAST),)), low, high))
    try:
        tree = overlap(asked)
    except PatternError as error:
        raise refusal(path, error.seen, error.expected, error.hint) from error
    if tree == NOTHING:
        keys = [key for key in ("pattern", "format", "minLength", "maxLength") if key in schema]
        raise refusal(path, " and ".join(keys) + " that no string meets", "some string")
    return tree


def pattern_tree(pattern: Any, path: str) -> Tree:
    if not isinstance(pattern, str):
        raise refusal(path, shown(pattern), "a regex")
    try:
        return parse_regex(pattern, search=True)
    except PatternError as error:
        raise refusal(path, f"{error.where}: {error.seen}", error.expected, error.hint) from error


def format_tree(name: Any, path: str) -> Tree:
    if not isinstance(name, str) or name not in FORMATS:
        known = ", ".join(FORMATS)
        raise refusal(path, f"the format {shown(name)}", f"one of {known}", nearest(str(name), FORMATS))
    return parse_regex(FORMATS[name])


def number_tree(schema: dict[str, Any], path: str, whole: bool) -> Tree:
    """A number between its bounds; `whole` if it must be an integer."""
    low = tighter(schema, path, "minimum", "exclusiveMinimum", max)
    high = tighter(schema, path, "maximum", "exclusiveMaximum", min)
    if not whole:
        tree = decimals(low, high)
    else:
        first = None if low is None else math.floor(low.value) + 1 if low.strict else math.ceil(low.value)
        last = None if high is None else math.ceil(high.value) - 1 if high.strict else math.floor(high.value)
        tree = integers(first, last)
    if tree == NOTHING:
        kind = "integer" if whole else "number"
        raise refusal(path, f"bounds with no {kind} between them", "a minimum not above the maximum")
    return tree


def tighter(schema: dict[str, Any], path: str, closed: str, strict: str, pick: Callable[..., Any]) -> Bound | None:
    """The bound that leaves less; of two equal ones the strict one."""
    closed_value, strict_value = take_number(schema, closed, path), take_number(schema, strict, path)
    if closed_value is None or (strict_value is not None and pick(closed_value, strict_value) == strict_value):
        return None if strict_value is None else Bound(strict_value, strict=True)
    return Bound(closed_value)


def object_tree(members: Sequence[Member], token: Token, low: int = 0) -> Tree:
    """Members in their order; those that need not be there may be left out (all of them if low is 0)."""
    must = next((place for place, (_, required) in enumerate(members) if required), None)
    comma = token(literal(","), ",")
    if must is None:
        inside = any_of(members, comma, low)
    else:
        before = [optional(concat(tree, comma)) for tree, _ in members[:must]]
        after = [
            concat(comma, tree) if required else optional(concat(comma, tree)) for tree, required in members[must + 1 :]
        ]
        inside = concat(*before, members[must][0], *after)
    return concat(token(literal("{"), ""), inside, token(literal("}"), ""))


def any_of(members: Sequence[Member], comma: Tree, low: int) -> Tree:
    """Some of the members, or none: a net that knows by its place whether a comma is due, so each is there once."""
    if len(members) < 2:
        return optional(members[0][0]) if members and not low else concat(*(tree for tree, _ in members))
    edges: list[tuple[int, Tree, int]] = []
    for number, (tree, _) in enumerate(members):
        fresh, after, now = 3 * number, 3 * number + 1, 3 * number + 2  # nothing yet; something before; here it comes
        edges += [(fresh, EMPTY, now), (after, comma, now), (now, tree, after + 3)]
        edges += [(fresh, EMPTY, fresh + 3), (after, EMPTY, after + 3)]
    last = 3 * len(members)
    return Net(last + 2, tuple(edges if low else [*edges, (last, EMPTY, last + 1)]))


def array_tree(first: Sequence[Tree], rest: Tree, low: int, high: int | None, token: Token) -> Tree:
    """Items: those of `first` in order, then any number of `rest`; from low to high of them in all."""
    comma = token(literal(","), ",")
    row = ([*first] or [rest])[:high]
    inside = EMPTY
    if high is None or high > len(row):
        inside = Repeat(concat(comma, rest), max(0, low - len(row)), None if high is None else high - len(row))
    for place in reversed(range(len(row))):
        inside = concat(comma if place else EMPTY, row[place], inside)
        inside = inside if place < low else optional(inside)
    return concat(token(literal("["), ""), inside, token(literal("]"), ""))
