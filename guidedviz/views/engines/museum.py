"""The museum of differences: recorded differences of the real engines, with their versions."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from guidedviz.errors import shorten
from guidedviz.files import shipped
from guidedviz.markup import Element, node
from guidedviz.tokens.compare.differences import KINDS
from guidedviz.views.engines.mask_differences import write_sign
from guidedviz.views.figure import Figure, drawing, moved, soft, write
from guidedviz.views.words import reading

NAME = "differences.json"
HEADS = ((16.0, "what"), (340.0, "engines"), (566.0, "seen in"), (716.0, "for example"))
ROOMS = (54, 36, 22, 26)  # characters per cell
WIDTH, TOP, ROW, HEAD = 920.0, 80.0, 22.0, 30.0


@dataclass(frozen=True)
class KnownDifference:
    """One kind of difference and all engines that showed it."""

    kind: str
    name: str
    engines: tuple[str, ...]
    exhibits: tuple[str, ...]
    example: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a row."""
        return self.name, ", ".join(self.engines), ", ".join(self.exhibits), self.example


@cache
def read_record() -> dict[str, Any]:
    """The results of the command `python -m bench differences`."""
    found: dict[str, Any] = json.loads(shipped(NAME).read_text(encoding="utf-8"))
    return found


def known_differences(record: Mapping[str, Any]) -> tuple[KnownDifference, ...]:
    """One row per kind of difference, the most frequent first.

    >>> row = {"kind": "known fault", "name": "f", "missing": "1: b", "extra": ""}
    >>> rows = [row | {"engine": "e", "exhibit": "x"}, row | {"engine": "e, loud", "exhibit": "y"}]
    >>> known_differences({"rows": rows})
    (KnownDifference(kind='known fault', name='f', engines=('e',), exhibits=('x', 'y'), example='without b'),)
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in record["rows"]:
        if row["kind"] in KINDS:
            groups[row["kind"], row["name"]].append(row)
    order = sorted(groups, key=lambda key: (KINDS.index(key[0]), -len({row["exhibit"] for row in groups[key]})))
    return tuple(_piece(*key, groups[key]) for key in order)


def _piece(kind: str, name: str, rows: list[Mapping[str, Any]]) -> KnownDifference:
    engines = dict.fromkeys(row["engine"] for row in rows)
    plain = [one for one in engines if one.partition(",")[0] == one or one.partition(",")[0] not in engines]
    exhibits = tuple(dict.fromkeys(row["exhibit"] for row in rows))
    return KnownDifference(kind, name, tuple(one.replace(", ", " with ") for one in plain), exhibits, _example(rows[0]))


def _example(row: Mapping[str, Any]) -> str:
    """The tokens of the first occurrence."""
    said = (("without", row["missing"]), ("with", row["extra"]))
    return ", ".join(f"{word} {re.sub(r'^[0-9,]+: ', '', tokens)}" for word, tokens in said if tokens)


def draw_museum(record: Mapping[str, Any] | None = None) -> Figure:
    """Every recorded kind of difference, with the engines and their versions.

    >>> draw_museum().text.startswith("museum of differences, RECORDED 20")
    True
    """
    record = record or read_record()
    known, date = known_differences(record), str(record["about"]["date"])[:10]
    versions = str(record["about"]["versions"])
    title = f"museum of differences, RECORDED {date}"
    parts = [write(16, 26, title, 13, font_weight="bold"), soft(16, 48, reading(versions))]
    parts += [soft(x, 76, head) for x, head in HEADS]
    y, kind = TOP, ""
    for each in known:
        if each.kind != kind:
            kind, y = each.kind, y + HEAD
            parts += [write_sign(kind, 28, y - 10), write(48, y - 6, kind, 13, font_weight="bold")]
        parts.append(moved(0, y, *_row(each)))
        y += ROW
    said = "\n".join([title, versions, *_say(known)])
    return Figure(drawing(WIDTH, y + 10, *parts, alt=said), said, said)


def _row(each: KnownDifference) -> Iterator[Element]:
    yield node("line", x1=16, x2=WIDTH - 16, y1=0, y2=0, stroke="var(--gv-line)")
    for (x, _), room, words in zip(HEADS, ROOMS, each.cells, strict=True):
        colour = "ink" if x == HEADS[0][0] else "soft"
        yield write(x, 15, shorten(reading(words), room), 12, mono=x == HEADS[-1][0], fill=f"var(--gv-{colour})")


def _say(known: tuple[KnownDifference, ...]) -> Iterator[str]:
    for each in known:
        name, engines, exhibits, example = each.cells
        yield f"{each.kind}: {name} ({engines}; seen in {exhibits}; {example})"
