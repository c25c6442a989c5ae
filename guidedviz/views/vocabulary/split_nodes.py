"""The nodes of a split as a table: how many tokens each accepts, rejects and leaves to the stack, and the storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.stacks import say_waits
from guidedviz.machines.visible import counted, name_node
from guidedviz.markup import NOTHING, Element, node
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.split.split import NodeSplit, Split
from guidedviz.views.figure import Figure, drawing, heading, soft, write
from guidedviz.views.vocabulary.map import share
from guidedviz.views.vocabulary.split_map import as_split

MOST = 80  # rows: of more, those with the most context-dependent tokens and bytes
ONE = 20  # up to so many rows are in one column, more in two
ROW, EDGE, WIDE, TOP, BAR = 21.0, 16.0, 488.0, 70.0, 46.0
HEAD = ("node", "waits for", "accepted", "rejected", "dependent", "kept as", "bytes")
ENDS = (0.0, 54.0, 232.0, 292.0, 365.0, 379.0, WIDE - 3)  # where a text starts or a number ends
NUMBERS = (2, 3, 4, 6)


@dataclass(frozen=True)
class NodeRow:
    """Nodes of one rule with equal masks."""

    rule: str
    nodes: tuple[int, ...]
    waits: str  # at the first of them
    accepted: int
    rejected: int
    dependent: int
    kind: str  # how the accepted ones are stored
    nbytes: int

    @property
    def words(self) -> tuple[str, ...]:
        """Its cells."""
        more = f" +{len(self.nodes) - 1}" if len(self.nodes) > 1 else ""
        numbers = f"{self.accepted:,}", f"{self.rejected:,}", f"{self.dependent:,}" if self.dependent else "–"
        return f"{name_node(self.nodes[0])}{more}", self.waits, *numbers, self.kind, f"{self.nbytes:,}"


def split_rows(split: Split | Guide) -> tuple[NodeRow, ...]:
    """The rows of all nodes, by rule, those with the most context-dependent tokens first.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> split_rows(nested)[0]
    NodeRow(rule='root', nodes=(0,), waits='( or x', accepted=2, rejected=1, dependent=3, kind='bits', nbytes=25)
    """
    split = as_split(split)
    alike: dict[tuple[int, int, int], list[NodeSplit]] = {}
    for part in split.build():
        key = split.pda.nodes.rule_of[part.node], id(part.accepted.data), id(part.dependent)
        alike.setdefault(key, []).append(part)
    rows = ((rule, _row(split, parts)) for (rule, _, _), parts in alike.items())
    return tuple(row for _, row in sorted(rows, key=lambda pair: (pair[0], -pair[1].dependent, -pair[1].nbytes)))


def _row(split: Split, parts: Sequence[NodeSplit]) -> NodeRow:
    first = parts[0]
    accepted, dependent = first.accepted.count, len(first.dependent)
    nodes, rejected = tuple(part.node for part in parts), first.accepted.size - accepted - dependent
    waits = say_waits(split.pda, first.node)
    name = split.pda.nodes.name_of(first.node)
    return NodeRow(name, nodes, waits, accepted, rejected, dependent, first.accepted.kind, first.nbytes)


def draw_split_nodes(split: Split | Guide, title: str = "") -> Figure:
    """The table of all nodes, with its memory compared to one bit per node and token.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(draw_split_nodes(nested).text)
    Split: 3 nodes over 6 tokens, 2 with context-dependent tokens; 43 bytes kept, 1400% of a dense table's 3
    node  waits for  accepted  rejected  dependent  kept as  bytes
    root
    n0    ( or x            2         1          3  bits        25
    n1    ( or x            3         1          2  bits        17
    n3    )                 1         5          –  bits         1
    """
    expect(title, str, "draw_split_nodes, title", "a text")
    split = as_split(split)
    rows = split_rows(split)
    shown, total = cut_rows(rows), _say_total(split, rows)
    columns = _columns(shown)
    parts = [heading(EDGE, 24, "what each node knows", title), soft(EDGE, 44, total)]
    most, dense = max(1, *(row.dependent for row in rows)), (len(split.vocabulary) + 7) // 8
    for number, column in enumerate(columns):
        place = f"translate({EDGE + number * (WIDE + 2 * EDGE):g} {TOP:g})"
        parts.append(node("g", *_draw_column(column, most, dense), transform=place))
    width = max(len(columns) * (WIDE + 2 * EDGE), 6.4 * len(total) + 2 * EDGE)
    high = TOP + ROW * max(map(len, columns)) + EDGE
    said = "\n".join([f"Split: {total}", *_say_rows(shown)])
    return Figure(drawing(width, high, *parts, alt=said), said, said)


def cut_rows(rows: tuple[NodeRow, ...], most: int = MOST) -> tuple[NodeRow, ...]:
    """At most `most` rows, those with the most context-dependent tokens and bytes, in their order."""
    kept = sorted(range(len(rows)), key=lambda place: (-rows[place].dependent, -rows[place].nbytes))[:most]
    return tuple(rows[place] for place in sorted(kept))


def _say_total(split: Split, rows: tuple[NodeRow, ...]) -> str:
    asking, nodes = (sum(len(row.nodes) for row in part) for part in ([r for r in rows if r.dependent], rows))
    kept, dense = split.nbytes, split.dense_nbytes
    said = f"{counted(nodes, 'node')} over {len(split.vocabulary):,} tokens, {asking:,} with context-dependent tokens; "
    said += f"{kept:,} bytes kept, {share(kept / dense)} of a dense table's {dense:,}"
    return said + (f"; {len(rows) - MOST:,} more rows are not shown" if len(rows) > MOST else "")


def _columns(rows: tuple[NodeRow, ...]) -> list[list[str | NodeRow]]:
    """Rows under the names of their rules, in one column or in two of equal height."""
    lines = list(_lines(rows))
    if len(lines) <= ONE:
        return [lines]
    half = len(lines) // 2
    half -= isinstance(lines[half - 1], str)  # a name stays with its rows
    first, second = lines[:half], lines[half:]
    if isinstance(second[0], NodeRow):
        second.insert(0, f"{_name(second[0].rule)}, continued")
    return [first, second]


def _lines(rows: tuple[NodeRow, ...]) -> Iterator[str | NodeRow]:
    for rule, part in groupby(rows, key=lambda row: row.rule):
        yield _name(rule)
        yield from part


def _name(rule: str) -> str:
    return shorten(rule, 40)


def _draw_column(lines: list[str | NodeRow], most: int, dense: int) -> Iterator[Element]:
    yield from _draw_words(HEAD, 0, fill="var(--gv-soft)")
    yield node("path", d=f"M0 8H{WIDE:g}", stroke="var(--gv-line)")
    for number, line in enumerate(lines, 1):
        y = ROW * number + 4
        if isinstance(line, str):
            yield write(0, y, line, 13, font_weight="bold")
            continue
        yield _bar(4, y, line.dependent / most, "gold")
        yield _bar(6, y, line.nbytes / dense, "sea")
        yield from _draw_words(line.words, y, mono=True, fill="var(--gv-ink)")


def _draw_words(words: Sequence[str], y: float, **look: Any) -> Iterator[Element]:
    for column, (x, word) in enumerate(zip(ENDS, words, strict=True)):
        anchor = "end" if column in NUMBERS else "start"
        yield write(x, y, shorten(word, 16), 12, text_anchor=anchor, **look)


def _bar(column: int, y: float, part: float, colour: str) -> Element:
    """A bar behind a number."""
    long = min(1.0, part) * BAR
    size = {"x": ENDS[column] + 3 - long, "y": y - 12, "width": long, "height": 16, "rx": 2}
    return node("rect", **size, fill=f"var(--gv-{colour})", opacity=0.35) if long else NOTHING


def _say_rows(rows: tuple[NodeRow, ...]) -> Iterator[str]:
    table = [HEAD, *(row.words for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEAD))]
    for line in (HEAD, *_lines(rows)):
        if isinstance(line, str):
            yield line
            continue
        words = line.words if isinstance(line, NodeRow) else line
        sides = (">" if column in NUMBERS else "<" for column in range(len(HEAD)))
        yield "  ".join(f"{w:{side}{width}}" for w, side, width in zip(words, sides, widths, strict=True)).rstrip()
