"""Lab 07: Earley's move that completes, asked about every item that is finished while some small texts are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from guidedviz.checks.verdict import Case, Verdict, agrees, call, check_function, show
from guidedviz.views.chart import draw_chart
from guidedviz.views.figure import Figure

Rules = Mapping[str, Sequence[tuple[str, ...]]]
GRAMMARS: tuple[tuple[Rules, str], ...] = (  # and a text
    ({"root": [("digit",)], "digit": [("1",)]}, "1"),
    ({"root": [("a", "b", "b")], "b": [("x",)]}, "axx"),
    ({"root": [("a", "root"), ("b",)]}, "aab"),
    ({"root": [("root", "+", "root"), ("1",)]}, "1+1+1"),
    ({"root": [("open",), ("half",), ("x",)], "open": [("(", "root", ")")], "half": [("(", "root", "]")]}, "((x])"),
)


class Item(NamedTuple):
    """An alternative of a rule, and how far it has come."""

    rule: str
    symbols: tuple[str, ...]
    dot: int
    origin: int

    @property
    def wanted(self) -> str | None:
        """What must come next; None if it is finished."""
        return self.symbols[self.dot] if self.dot < len(self.symbols) else None

    @property
    def moved(self) -> Item:
        """With the dot one place on."""
        return self._replace(dot=self.dot + 1)


Chart = list[list[Item]]


def complete(chart: Chart, done: Item) -> list[Item]:
    """What waited for a rule where the finished item began, one place on."""
    return [item.moved for item in chart[done.origin] if item.wanted == done.rule]


def finished_items(rules: Rules, text: str) -> Iterator[tuple[Chart, Item]]:
    """Every chance to complete: the columns so far, and the item that is finished.

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
    """Lab 07: does `answer(chart, done)` give the items that waited for a finished one, with their dots moved?

    >>> check_complete(lambda chart, done: [item.moved for item in chart[-1] if item.wanted == done.rule])
    ✗ not yet right: on input 1 of 19, the smallest on which it fails
        text        1, column 1
        done        digit → 1 • (from 0)
        yours gave  nothing
        expected    root → digit • (from 0)
        because     it began in column 0: look there for what waits for digit
    """
    given = [
        (rules, text, [*map(list, chart)], done)
        for rules, text in GRAMMARS
        for chart, done in finished_items(rules, text)
    ]
    cases = [Case((chart, done), complete(chart, done)) for _, _, chart, done in given]
    verdict = check_function(answer, cases, _same_items)
    if verdict.result != "wrong" or not callable(answer):
        return verdict
    for (rules, text, chart, done), case in zip(given, cases, strict=True):
        value, touched = call(answer, case.arguments)
        if touched:
            return verdict
        if not agrees(value, case.expected, _same_items):
            return Verdict("wrong", verdict.said, *_show_items(rules, text[: len(chart) - 1], done, case, value))
    return verdict


def _same_items(value: Any, expected: list[Item]) -> bool:
    return sorted(map(tuple, value)) == sorted(map(tuple, expected))


def _show_items(
    rules: Rules, text: str, done: Item, case: Case, value: Any
) -> tuple[tuple[tuple[str, str], ...], Figure]:
    facts = (
        ("text", f"{text}, column {len(text)}"),
        ("done", say_item(done)),
        ("yours gave", say_items(value)),
        ("expected", say_items(case.expected)),
        ("because", f"it began in column {done.origin}: look there for what waits for {done.rule}"),
    )
    return facts, draw_chart(show_rules(rules), text)


def say_items(items: Any) -> str:
    """Items for people; what is no list of them as it is.

    >>> say_items([Item("root", ("a", "root"), 1, 0)]), say_items(7), say_items([])
    ('root → a • root (from 0)', '7', 'nothing')
    """
    try:
        return "; ".join(say_item(Item(*item)) for item in items) or "nothing"
    except Exception:  # whatever a student gives
        return show(items)


def say_item(item: Item) -> str:
    """One item."""
    words = [*item.symbols[: item.dot], "•", *item.symbols[item.dot :]]
    return f"{item.rule} → {' '.join(words)} (from {item.origin})"


def show_rules(rules: Rules) -> str:
    """As GBNF.

    >>> print(show_rules(GRAMMARS[2][0]))
    root ::= "a" root | "b"
    """

    def side(symbols: tuple[str, ...]) -> str:
        return " ".join(symbol if symbol in rules else f'"{symbol}"' for symbol in symbols)

    return "\n".join(f"{name} ::= {' | '.join(map(side, sides))}" for name, sides in rules.items())
