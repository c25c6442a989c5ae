"""The museum of differences: what the real engines were seen to answer otherwise, recorded with their versions."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from guidedviz.files import shipped
from guidedviz.tokens.differences import KINDS
from guidedviz.views.differences import write_sign
from guidedviz.views.figure import Figure, drawing, node, shorten, write
from guidedviz.views.words import reading

NAME = "differences.json"
HEADS = ((16.0, "what"), (390.0, "engines"), (620.0, "seen in"), (822.0, "for example"))
ROOMS = (56, 36, 30, 33)  # characters of each cell
WIDTH, TOP, ROW, HEAD = 1080.0, 80.0, 22.0, 30.0


@dataclass(frozen=True)
class Piece:
    """One kind of difference, and all who were seen to have it."""

    kind: str
    name: str
    engines: tuple[str, ...]
    exhibits: tuple[str, ...]
    example: str

    @property
    def cells(self) -> tuple[str, ...]:
        """What a row says."""
        return self.name, ", ".join(self.engines), ", ".join(self.exhibits), self.example


@cache
def read_record() -> dict[str, Any]:
    """What the command `python -m guidedviz.bench differences` has found."""
    found: dict[str, Any] = json.loads(shipped(NAME).read_text(encoding="utf-8"))
    return found


def list_pieces(record: Mapping[str, Any]) -> tuple[Piece, ...]:
    """A piece for every kind of difference, those that are seen most often first.

    >>> row = {"kind": "known fault", "name": "f", "missing": "1: b", "extra": ""}
    >>> rows = [row | {"engine": "e", "exhibit": "x"}, row | {"engine": "e, loud", "exhibit": "y"}]
    >>> list_pieces({"rows": rows})
    (Piece(kind='known fault', name='f', engines=('e',), exhibits=('x', 'y'), example='without b'),)
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in record["rows"]:
        if row["kind"] in KINDS:
            groups[row["kind"], row["name"]].append(row)
    order = sorted(groups, key=lambda key: (KINDS.index(key[0]), -len({row["exhibit"] for row in groups[key]})))
    return tuple(_piece(*key, groups[key]) for key in order)


def _piece(kind: str, name: str, rows: list[Mapping[str, Any]]) -> Piece:
    engines = dict.fromkeys(row["engine"] for row in rows)
    plain = [one for one in engines if one.partition(",")[0] == one or one.partition(",")[0] not in engines]
    exhibits = tuple(dict.fromkeys(row["exhibit"] for row in rows))
    return Piece(kind, name, tuple(one.replace(", ", " with ") for one in plain), exhibits, _example(rows[0]))


def _example(row: Mapping[str, Any]) -> str:
    """The tokens of the first place where it was seen."""
    said = (("without", row["missing"]), ("with", row["extra"]))
    return ", ".join(f"{word} {re.sub(r'^[0-9,]+: ', '', tokens)}" for word, tokens in said if tokens)


def draw_museum(record: Mapping[str, Any] | None = None) -> Figure:
    """Every kind of difference that was seen, with the engines, and the versions that they had then.

    >>> draw_museum().text.startswith("museum of differences, RECORDED 20")
    True
    """
    record = record or read_record()
    pieces, date = list_pieces(record), str(record["about"]["date"])[:10]
    versions = str(record["about"]["versions"])
    title = f"museum of differences, RECORDED {date}"
    parts = [write(16, 26, title, 13, font_weight="bold"), write(16, 48, reading(versions), 12, fill="var(--gv-soft)")]
    parts += [write(x, 76, head, 12, fill="var(--gv-soft)") for x, head in HEADS]
    y, kind = TOP, ""
    for piece in pieces:
        if piece.kind != kind:
            kind, y = piece.kind, y + HEAD
            parts += [write_sign(kind, 28, y - 10), write(48, y - 6, kind, 13, font_weight="bold")]
        parts.append(node("g", *_row(piece), transform=f"translate(0 {y:g})"))
        y += ROW
    said = "\n".join([title, versions, *_say(pieces)])
    return Figure(drawing(WIDTH, y + 10, *parts, alt=said), said, said)


def _row(piece: Piece) -> Iterator[str]:
    yield node("line", x1=16, x2=WIDTH - 16, y1=0, y2=0, stroke="var(--gv-line)")
    for (x, _), room, words in zip(HEADS, ROOMS, piece.cells, strict=True):
        colour = "ink" if x == HEADS[0][0] else "soft"
        yield write(x, 15, shorten(reading(words), room), 12, mono=x == HEADS[-1][0], fill=f"var(--gv-{colour})")


def _say(pieces: tuple[Piece, ...]) -> Iterator[str]:
    for piece in pieces:
        name, engines, exhibits, example = piece.cells
        yield f"{piece.kind}: {name} ({engines}; seen in {exhibits}; {example})"
