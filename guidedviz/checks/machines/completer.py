"""The completer of Earley's parser, checked on each finished item while small texts are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.earley.items import Chart, Item, Rules, complete
from guidedviz.views.stack.chart import draw_chart

GRAMMARS: tuple[tuple[Rules, str], ...] = (  # rules, and a text
    ({"root": [("digit",)], "digit": [("1",)]}, "1"),
    ({"root": [("a", "b", "b")], "b": [("x",)]}, "axx"),
    ({"root": [("a", "root"), ("b",)]}, "aab"),
    ({"root": [("root", "+", "root"), ("1",)]}, "1+1+1"),
    ({"root": [("open",), ("half",), ("x",)], "open": [("(", "root", ")")], "half": [("(", "root", "]")]}, "((x])"),
)


def finished_items(rules: Rules, text: str) -> Iterator[tuple[Chart, Item]]:
    """Each finished item while a text is read, with the columns so far.

    >>> [done.rule for _, done in finished_items(*GRAMMARS[0])]
    ['digit', 'root']
    """
    chart: Chart = []
    column = [Item("start", ("root",), 0, 0)]
    for sign in [*text, ""]:
        chart.append(column)
        for item in column:
            if item.wanted is None and item.rule != "start":
                yield chart, item
                column += [new for new in complete(chart, item) if new not in column]
            wanted = item.wanted or ""
            begun = [Item(wanted, symbols, 0, len(chart) - 1) for symbols in rules.get(wanted, ())]
            column += [new for new in begun if new not in column]
        column = [item.moved for item in column if item.wanted == sign]


def check_complete(answer: Callable[[Chart, Item], Iterable[Item]]) -> Verdict:
    """Does `answer(chart, done)` give the items that waited for a finished one, with their dots moved?

    >>> check_complete(lambda chart, done: [item.moved for item in chart[-1] if item.wanted == done.rule])
    ✗ not yet right: on input 1 of 19, the smallest on which it fails
        text        1, column 1
        done        digit → 1 • (from 0)
        yours gave  nothing
        expected    root → digit • (from 0)
        because     it began in column 0: look there for what waits for digit
    """
    cases = []
    for rules, text in GRAMMARS:
        for chart, done in finished_items(rules, text):
            begun = text[: len(chart) - 1]
            given = (("text", f"{begun}, column {len(begun)}"), ("done", str(done)))
            why = f"it began in column {done.origin}: look there for what waits for {done.rule}"
            draw = partial(draw_chart, show_rules(rules), begun)
            cases.append(Case(([*map(list, chart)], done), complete(chart, done), why, given, draw))
    return check_function(answer, cases, lambda value, right: sorted(map(tuple, value)) == sorted(right), _mistake)


def _mistake(case: Case, value: Any) -> Mistake:
    gave = (("yours gave", say_items(value)), ("expected", say_items(case.expected)))
    try:
        items = [Item(*item) for item in value]
    except TypeError:
        return Mistake("a list of items is expected", gave=gave)
    return Mistake(say_wrong_item(items, case.expected), gave=gave)


def say_wrong_item(items: Sequence[Item], expected: Sequence[Item]) -> str:
    """What is wrong with the first item that is not expected; empty if one is missing instead.

    >>> root = Item("root", ("digit",), 0, 0)
    >>> say_wrong_item([root], [root.moved])
    'root → • digit (from 0): its dot has to move by one'
    """
    missing = [item for item in expected if item not in items]
    for item in items:
        if item in expected and items.count(item) > 1:
            return f"{item} comes twice"
        if item in expected:
            continue
        if any(item._replace(dot=right.dot) == right for right in missing):
            return f"{item}: its dot has to move by one"
        if any(item._replace(origin=right.origin) == right for right in missing):
            return f"{item}: only the dot moves, the column where it began stays"
    return ""


def say_items(items: Any) -> str:
    try:
        return "; ".join(str(Item(*item)) for item in items) or "nothing"
    except (TypeError, IndexError, KeyError):  # no list of items
        return show(items)


def show_rules(rules: Rules) -> str:
    """Rules as GBNF.

    >>> print(show_rules(GRAMMARS[2][0]))
    root ::= "a" root | "b"
    """

    def side(symbols: tuple[str, ...]) -> str:
        return " ".join(symbol if symbol in rules else f'"{symbol}"' for symbol in symbols) or '""'

    return "\n".join(f"{name} ::= {' | '.join(map(side, sides))}" for name, sides in rules.items())
