"""Two moves of Earley's parser, predict and scan, checked on columns of small grammars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.machines.completer import say_items, say_wrong_item
from guidedviz.checks.verdict import Verdict
from guidedviz.machines.earley.items import Item, Rules, predict, scan

SUM = ("sum", "+", "digit")
DIGIT = Item("digit", ("1",), 0, 0)
SUMS: Rules = {"sum": [SUM, ("digit",)], "digit": [("0",), ("1",)]}
LIST: Rules = {"list": [(), ("list", "item")], "item": [("blank", "x")], "blank": [(), (" ",)]}
TURNS: Rules = {"a": [("b", "x")], "b": [("a", "y"), ("z",)]}
COLUMNS: tuple[tuple[Rules, list[Item], int], ...] = (  # rules, a column, and its place
    ({"digit": [("1",)]}, [Item("start", ("digit",), 0, 0)], 0),
    ({"digit": [("1",)]}, [DIGIT], 0),
    ({"digit": [("1",)]}, [DIGIT.moved], 1),
    ({"pair": [("digit", "digit")], "digit": [("0",), ("1",)]}, [Item("start", ("pair",), 0, 0)], 0),
    ({"same": [("same",), ("x",)]}, [Item("start", ("same",), 0, 0)], 0),
    (SUMS, [Item("start", ("sum",), 0, 0)], 0),
    (SUMS, [Item("sum", SUM, 2, 0)], 2),
    (SUMS, [Item("sum", ("sum", "+", "sum"), 2, 0), Item("sum", ("sum", "+", "sum"), 2, 2)], 4),
    (TURNS, [Item("start", ("a",), 0, 0)], 0),
    (LIST, [Item("start", ("list",), 0, 0)], 0),
    (LIST, [Item("list", ("list", "item"), 1, 0), Item("item", ("blank", "x"), 2, 0)], 3),
)
READ: tuple[tuple[list[Item], str], ...] = (  # a column, and the character that is read
    ([DIGIT], "1"),
    ([DIGIT], "2"),
    ([DIGIT, DIGIT.moved], "1"),
    ([Item("sum", SUM, 1, 0)], "+"),
    ([Item("sum", SUM, 0, 0), Item("sum", SUM, 1, 0), Item("sum", SUM, 2, 0), Item("sum", SUM, 3, 0)], "+"),
    ([Item("sum", SUM, 1, 0), Item("sum", SUM, 1, 2), Item("root", ("sum",), 1, 0)], "+"),
    ([Item("pair", ("x", "x"), 0, 3), Item("pair", ("x", "x"), 1, 2), Item("pair", ("x", "y"), 1, 2)], "x"),
    ([Item("list", (), 0, 1), Item("item", ("blank", "x"), 0, 1), Item("blank", (" ",), 0, 1)], " "),
)


def check_predict(answer: Callable[[Rules, list[Item], int], Iterable[Item]]) -> Verdict:
    """Does `answer(rules, column, place)` give the column with all items that may begin at its place?

    >>> check_predict(lambda rules, column, place: column)
    ✗ not yet right: on input 1 of 11, the smallest on which it fails
        column 0    start → • digit (from 0)
        yours gave  start → • digit (from 0)
        expected    start → • digit (from 0); digit → • 1 (from 0)
        because     digit → • 1 (from 0) is missing: start → • digit (from 0) waits for digit
    """
    cases = []
    for rules, column, place in COLUMNS:
        given = ((f"column {place}", say_items(column)),)
        why = "each item comes once, so a rule that begins with itself is not asked again and again"
        cases.append(Case((dict(rules), column, place), predict(rules, column, place), why, given))
    return check_function(answer, cases, _same, _say_predicted)


def check_scan(answer: Callable[[list[Item], str], Iterable[Item]]) -> Verdict:
    """Does `answer(column, character)` give the first items of the next column?

    >>> print(check_scan(lambda column, character: [item for item in column if item.wanted == character]).facts[-1][1])
    digit → • 1 (from 0): its dot has to move by one
    """
    cases = []
    for column, read in READ:
        given = (("column", say_items(column)), ("read", read))
        cases.append(Case((column, read), scan(column, read), f"only items that wait for {read!r} go on", given))
    return check_function(answer, cases, _same, _say_scanned)


def _same(value: Any, expected: Sequence[Item]) -> bool:
    return sorted(map(tuple, value)) == sorted(expected)


def _read_items(value: Any) -> list[Item] | None:
    """A student's list of items; None if it is none."""
    try:
        items = [Item(*item) for item in value]
        return items if str(items) and all(map(str, items)) else None
    except (TypeError, ValueError):
        return None


def _say_predicted(case: Case, value: Any) -> Mistake:
    rules, column, place = case.arguments
    gave = (("yours gave", say_items(value)), ("expected", say_items(case.expected)))
    items = _read_items(value)
    if items is None:
        return Mistake("a list of items is expected", gave=gave)
    return Mistake(_wrong_prediction(rules, column, place, items, case.expected), gave=gave)


def _wrong_prediction(
    rules: Rules, column: Sequence[Item], place: int, items: Sequence[Item], expected: Sequence[Item]
) -> str:
    """What is wrong with the first wrong item, or which item is missing.

    >>> _wrong_prediction({"digit": [("1",)]}, [], 2, [DIGIT], [DIGIT._replace(origin=2)])
    'digit → • 1 (from 0): it begins at this place, from 2'
    """
    for item in items:
        if items.count(item) > 1:
            return f"{item} comes twice"
        if item not in expected:
            if item._replace(origin=place) in expected:
                return f"{item}: it begins at this place, from {place}"
            if item._replace(dot=0, origin=place) in expected:
                return f"{item}: nothing of it was read, so its dot stands in front"
            return f"{item}: no item waits for {item.rule}"
    missing = next(item for item in expected if item not in items)
    if missing in column:
        return f"{missing} is missing: the given items stay in the column"
    asking = next((item for item in chain(column, expected) if item.wanted == missing.rule), missing)
    return f"{missing} is missing: {asking} waits for {missing.rule}"


def _say_scanned(case: Case, value: Any) -> Mistake:
    gave = (("yours gave", say_items(value)), ("expected", say_items(case.expected)))
    items = _read_items(value)
    if items is None:
        return Mistake("a list of items is expected", gave=gave)
    return Mistake(say_wrong_item(items, case.expected), gave=gave)
