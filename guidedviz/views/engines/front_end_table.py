"""Two tables: the front ends and their names, and what the frameworks wrote with the same model and schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from textwrap import wrap
from typing import Any

from guidedviz.errors import SettingError, expect
from guidedviz.files import shipped
from guidedviz.markup import Element, node, together
from guidedviz.serving.front_end import FrontEnd
from guidedviz.views.figure import Figure, drawing, moved, soft, write

EDGE, TOP, LINE, GAP = 16.0, 66.0, 16.0, 9.0
LETTER = 6.5  # mean width of a character at size 12
BAR = 72.0
WHERE = "draw_front_ends, ends"
Cells = tuple[list[str], ...]
SIGNS = {True: "✓ same", False: "≠ differs", None: "–"}


def draw_front_ends(ends: Sequence[FrontEnd]) -> Figure:
    """Per front end: its current names, the names before, the version that was read, and what it does with a schema.

    >>> age = {"type": "object", "properties": {"age": {"type": "integer"}}}
    >>> print(draw_front_ends(gv.serving.front_ends(age)[:1]).text)
    1 front end
    vLLM, 0.33.0: structured_outputs; before: guided_json, guided_regex, guided_grammar; XGrammar, its first choice: ...
    """
    hint = "gv.serving.front_ends(schema)"
    given: Sequence[object] = expect(ends, list | tuple, WHERE, "the records of front ends", hint)
    kinds = {type(end).__name__ for end in given}
    if kinds != {"FrontEnd"}:
        seen = ", ".join(sorted(kinds)) or "no record"
        raise SettingError(WHERE, seen=seen, expected="the records of front ends", hint=hint)
    heads = (("front end, version read", 150), ("name now", 200), ("before", 132), ("with a schema", 396))
    rows = [
        ([end.name, end.version], _fold(end.now, 200), _fold(end.old or "–", 132), _fold(end.note, 396)) for end in ends
    ]
    title = f"{len(ends)} front end{'s' * (len(ends) != 1)}"
    said = [f"{e.name}, {e.version}: {e.now}; before: {e.old or 'none known'}; {e.note}" for e in ends]
    return _draw(title, "one schema, and where each of them takes it", heads, rows, said)


@cache
def read_frameworks() -> dict[str, Any]:
    """The results of the command `python -m bench frameworks`."""
    found: dict[str, Any] = json.loads(shipped("bench/frameworks.json").read_text(encoding="utf-8"))
    return found


def draw_frameworks(record: Mapping[str, Any] | None = None) -> Figure:
    """Per framework: whether it ran, whether it wrote our text, and at how many steps its mask is not ours.

    >>> draw_frameworks().text.startswith("clerk in the frameworks, RECORDED 20")
    True
    """
    record = read_frameworks() if record is None else record
    steps, date = record["ours"]["steps"], str(record["about"]["date"])[:10]
    heads = (
        ("framework, version", 196),
        ("greedy", 84),
        ("120 lamps", 84),
        ("same seed", 84),
        ("masks that differ", 132),
        ("+ it adds tokens, − it omits tokens: reason, steps", 356),
    )
    rows = [_framework(row) for row in record["rows"]]
    title = f"clerk in the frameworks, RECORDED {date}"
    about = f"compared with our text and our masks at its {steps} steps; {record['about']['device']}"
    return _draw(title, about, heads, rows, [_say(row) for row in record["rows"]], _bars(record["rows"], heads))


def _framework(row: Mapping[str, Any]) -> Cells:
    name = [row["name"], row["version"] or "not installed"]
    if not row["texts"]:
        return name, ["did not run"], [], [], [], _fold(row["said"], 356)
    first, second = (SIGNS[each] for each in row["same"])
    why = _fold(", ".join(map(_reason, row["differences"])), 356) + (_fold(row["said"], 356) if row["said"] else [])
    share = ["", f"{row['differ']} of {row['steps']}"]  # below the bar
    return name, [first], [second], [SIGNS[row["same_sample"]]], share, why or ["no difference"]


def _reason(each: Mapping[str, Any]) -> str:
    words = f"{'+' if each['extra'] else '−'} {each['reason']} {len(each['steps'])}"
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def _say(row: Mapping[str, Any]) -> str:
    head = f"{row['name']}, {row['version'] or 'not installed'}: "
    if not row["texts"]:
        return f"{head}did not run, {row['said']}"
    first, second = ("same" if each else "differs" for each in row["same"])
    sample = {True: "same", False: "differs", None: "not compared"}[row["same_sample"]]
    told = [f"greedy {first}", f"120 lamps {second}", f"same seed {sample}"]
    why = ", ".join(f"{'adds' if e['extra'] else 'omits'} {e['reason']} {len(e['steps'])}" for e in row["differences"])
    masks = f"masks differ at {row['differ']} of {row['steps']} steps" + (f" ({why})" if why else "")
    return head + "; ".join([*told, masks, *filter(None, [row["said"]])])


def _bars(rows: Sequence[Mapping[str, Any]], heads: Sequence[tuple[str, float]]) -> Iterator[tuple[int, Element]]:
    """The share of steps with another mask, per row."""
    x = EDGE + sum(width for _, width in heads[:4])
    for number, row in enumerate(rows):
        if row["texts"] and row["steps"]:
            part = BAR * row["differ"] / row["steps"]
            back = node("rect", x=x, y=8, width=BAR, height=6, rx=2, fill="var(--gv-line)")
            yield number, back + node("rect", x=x, y=8, width=part, height=6, rx=2, fill="var(--gv-blue)")


def _fold(text: str, width: float) -> list[str]:
    return wrap(text, int((width - 12) / LETTER))


def _draw(
    title: str,
    about: str,
    heads: Sequence[tuple[str, float]],
    rows: Sequence[Cells],
    said: Sequence[str],
    extra: Iterable[tuple[int, Element]] = (),
) -> Figure:
    """A table; a cell is a list of lines, and the first cell is a name with a version below."""
    below = dict(extra)
    places = [EDGE + sum(width for _, width in heads[:column]) for column in range(len(heads))]
    width, y = EDGE * 2 + sum(width for _, width in heads), TOP
    parts = [write(EDGE, 26, title, 13, font_weight="bold"), soft(EDGE + 8 * len(title) + 8, 26, about)]
    parts += [soft(x, TOP - 12, head) for x, (head, _) in zip(places, heads, strict=True)]
    for number, row in enumerate(rows):
        line = node("path", d=f"M{EDGE:g} 0H{width - EDGE:g}", stroke="var(--gv-line)")
        cells = [_cell(x, cell, column) for column, (x, cell) in enumerate(zip(places, row, strict=True))]
        parts.append(moved(0, y, line, *cells, below.get(number, "")))
        y += LINE * max(map(len, row)) + GAP
    text = "\n".join([title, *said])
    return Figure(drawing(width, y + 8, *parts, alt=text), text, text)


def _cell(x: float, lines: Sequence[str], column: int) -> Element:
    """The lines of a cell; in the first column, a name and softly what is below it."""
    looks: list[dict[str, Any]] = [{"font_weight": "bold"}, {"fill": "var(--gv-soft)"}] if column == 0 else []
    return together(
        write(x, 18 + LINE * number, words, 12, **looks[min(number, 1)] if looks else {})
        for number, words in enumerate(lines)
    )
