"""Exercises on Earley's parser.

A case writes an item as its rule, its symbols, the place of the dot, and the column in which it began:
sum → sum • + digit (from 0) is ("sum", ("sum", "+", "digit"), 1, 0).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from guidedviz.checks.cases import Case, cases_of, read_table
from guidedviz.checks.compare import say_difference
from guidedviz.checks.function import check_function
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.earley.items import Chart, Item, Rules, complete, predict, scan
from guidedviz.views.figure import Figure
from guidedviz.views.stack.earley_chart import draw_frame
from guidedviz.views.stack.earley_film import earley_frames

RULE_SETS: dict[str, Rules] = {
    "one digit": {"digit": [("1",)]},
    "sums": {"sum": [("sum", "+", "digit"), ("digit",)], "digit": [("0",), ("1",)]},
    "a chain": {"a": [("b", "x"), ("y",)], "b": [("c", "y")], "c": [("a", "z")]},
    "lists": {"list": [(), ("list", "item")], "item": [("blank", "x")], "blank": [(), (" ",)]},
}


def read_items(items: Iterable[tuple[Any, ...]]) -> list[Item]:
    """Items from tuples."""
    return [Item(*item) for item in items]


COLUMNS = read_table(
    build=lambda name, items, place: (RULE_SETS[name], read_items(items), place),
    text="""
    "one digit", [("start", ("digit",), 0, 0)], 0
    "one digit", [("digit", ("1",), 0, 0)], 0
    "sums", [("start", ("sum",), 0, 0)], 0
    "sums", [("sum", ("sum", "+", "digit"), 2, 0)], 2
    "sums", [("sum", ("sum", "+", "sum"), 2, 0), ("sum", ("sum", "+", "sum"), 2, 2)], 4
    "a chain", [("a", ("b", "x"), 0, 0)], 0
    "lists", [("start", ("list",), 0, 0)], 0
    "lists", [("list", ("list", "item"), 1, 0), ("item", ("blank", "x"), 2, 0)], 3
""",
)
# an item that waits for "sum" does not wait for "s"
SCANS = read_table(
    build=lambda items, character: (read_items(items), character),
    text="""
    [("digit", ("1",), 0, 0)], "1"
    [("digit", ("1",), 0, 0)], "2"
    [("sum", ("sum", "+", "digit"), 0, 0), ("sum", ("sum", "+", "digit"), 1, 0), \
     ("sum", ("sum", "+", "digit"), 2, 0), ("sum", ("sum", "+", "digit"), 3, 0)], "+"
    [("sum", ("sum", "+", "digit"), 1, 0), ("sum", ("sum", "+", "digit"), 1, 2), ("root", ("sum",), 1, 0)], "+"
    [("pair", ("x", "x"), 0, 3), ("pair", ("x", "x"), 1, 2), ("pair", ("x", "X"), 1, 2)], "x"
    [("start", ("sum",), 0, 0), ("word", ("s",), 0, 0)], "s"
    [("list", (), 0, 1), ("item", ("blank", "x"), 0, 1), ("blank", (" ",), 0, 1)], " "
""",
)
GRAMMARS = read_table("""
    {"root": [("digit",)], "digit": [("1",)]}, "1"
    {"root": [("a", "b", "b")], "b": [("x",)]}, "axx"
    {"root": [("a", "root"), ("b",)]}, "aab"
    {"root": [("a", "x"), ("ab",)], "a": [("x",)], "ab": [("x", "x")]}, "xx"
    {"root": [("root", "+", "root"), ("1",)]}, "1+1+1"
    {"root": [("open",), ("half",), ("x",)], "open": [("(", "root", ")")], "half": [("(", "root", "]")]}, "((x])"
""")


def check_predict(answer: Any) -> Verdict:
    """Does `answer(rules, column, place)` give the column with all items that may begin at its place?

    >>> check_predict(lambda rules, column, place: column)
    ✗ not yet right: on input 1 of 8, the first on which it fails
        rules       {'digit': [('1',)]}
        column      start → • digit (from 0)
        place       0
        yours gave  start → • digit (from 0)
        expected    start → • digit (from 0); digit → • 1 (from 0)
        because     digit → • 1 (from 0) is missing: for each rule that some item waits for, its items begin here, once
    """
    why = "for each rule that some item waits for, its items begin here, once"
    cases = cases_of(predict, {why: COLUMNS}, "rules", "column", "place", spell=show_items)
    return check_function(answer, cases, _say_items, _same_items, show_items)


def check_scan(answer: Any) -> Verdict:
    """Does `answer(column, character)` give the first items of the next column?

    >>> print(check_scan(lambda column, character: [item for item in column if item.wanted == character]).facts[-1][1])
    digit → 1 • (from 0) is missing: the dot of each item that wants exactly this character moves by one
    """
    why = "the dot of each item that wants exactly this character moves by one"
    cases = cases_of(scan, {why: SCANS}, "column", "read", spell=show_items)
    return check_function(answer, cases, _say_items, _same_items, show_items)


def check_complete(answer: Any) -> Verdict:
    """Does `answer(chart, done)` give the items that waited for a finished one, with their dots moved?

    >>> check_complete(lambda chart, done: [item.moved for item in chart[-1] if item.wanted == done.rule])
    ✗ not yet right: on input 1 of 23, the first on which it fails
        text        1, column 1
        done        digit → 1 • (from 0)
        yours gave  nothing
        expected    root → digit • (from 0)
        because     root → digit • (from 0) is missing: in column 0 digit was awaited: move these dots by one
    """
    cases = []
    for rules, text in GRAMMARS:
        for chart, done in finished_items(rules, text):
            begun = text[: len(chart) - 1]
            given = (("text", f"{begun}, column {len(begun)}"), ("done", str(done)))
            why = f"in column {done.origin} {done.rule} was awaited: move these dots by one"
            columns = [list(column) for column in chart]  # the chart goes on growing
            draw = partial(_draw_chart, rules, begun)
            cases.append(Case((columns, done), complete(chart, done), why, given, draw))
    return check_function(answer, cases, _say_items, _same_items, show_items)


def _draw_chart(rules: Rules, text: str) -> Figure:
    """The chart of a text as the film of Earley's algorithm shows it."""
    return draw_frame(earley_frames(rules, text)[-1])


def finished_items(rules: Rules, text: str) -> Iterator[tuple[Chart, Item]]:
    """Each finished item while a text is read, with the columns so far.

    >>> [done.rule for _, done in finished_items(*GRAMMARS[0])]
    ['digit', 'root']
    """
    chart: Chart = []
    column = [Item("start", ("root",), 0, 0)]
    for sign in [*text, ""]:
        chart.append(column)
        for item in column:  # it grows
            if item.wanted is None and item.rule != "start":
                yield chart, item
                column += [new for new in complete(chart, item) if new not in column]
            column += [new for new in predict(rules, [item], len(chart) - 1) if new not in column]
        column = scan(column, sign)


def _same_items(value: Any, expected: Sequence[Item]) -> bool:
    return sorted(map(tuple, value)) == sorted(expected)


def _say_items(case: Case, value: Any) -> str:
    """What is wrong with a student's list of items."""
    wrong = say_difference(read_items(value), case.expected, str) or "an item comes twice"
    return f"{wrong}: {case.why}"


def show_items(items: Any) -> str:
    """Items as people write them; rules, and what is no list of items, as a value.

    >>> show_items([Item("digit", ("1",), 0, 0)]), show_items(7)
    ('digit → • 1 (from 0)', '7')
    """
    if isinstance(items, dict):  # a name of four letters would become an item
        return show(items)
    try:
        return "; ".join(str(Item(*item)) for item in items) or "nothing"
    except (TypeError, IndexError, KeyError):
        return show(items)
