"""A split in two pictures: the tokens of one node on the map, and all nodes in a table.

On the map a token is accepted, rejected, or depends on the stack; the last are enlarged. The table has the counts of
these and the storage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from guidedviz.errors import expect, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.stacks import State, say_waits
from guidedviz.machines.visible import counted, name_node
from guidedviz.markup import NOTHING, Element, node
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.repeats import ACCEPTED, DEPENDENT, REJECTED
from guidedviz.tokens.split import NodeSplit, Split
from guidedviz.views.figure import Figure, drawing, heading, soft, write
from guidedviz.views.machine.highlight import state_after
from guidedviz.views.vocabulary.atlas import Atlas, atlas
from guidedviz.views.vocabulary.map import Kind, count_regions, draw_zoom, map_figure, share
from guidedviz.views.words import label

SOLID, DASHED = "none", "3 2"
SPLIT_HINT = "gv.build_split(machine, vocabulary)"


def draw_split(split: Split, at: int | State | bytes | str | None = None, title: str = "") -> Figure:
    """All tokens at a node, with an unknown stack, or after a text, with the answers of the stack.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(draw_split(nested, 0).text)
    Split, node n0 of root: of 6 tokens 2 are accepted, 1 rejected, 3 context-dependent
    >>> print(draw_split(nested, "((").text)
    Split, after ((: of 6 tokens 3 are accepted, 1 rejected, 2 context-dependent: 1 legal, 1 illegal
    """
    expect(title, str, "draw_split, title", "a text")
    expect(split, Split, "draw_split, split", "a split", SPLIT_HINT)
    made = atlas(split.vocabulary)
    if isinstance(at, int | np.integer):
        name, kinds = _at_node(split, made, int(at))
    else:
        name, kinds = (
            _place_name(split, at),
            split_kinds(split, made, state_after(split.pda, b"" if at is None else at)),
        )
    text = f"Split, {name}: {say_kinds(kinds)}"
    asking = count_regions(made, np.logical_or.reduce([kind.cells for kind in kinds[2:]]))
    more = ", ".join(f"{place} {count:,} context-dependent" for place, count in asking.items() if count)
    return map_figure(made, kinds, title or name, text, more, draw_zoom(made, kinds))


def _at_node(split: Split, made: Atlas, node: int) -> tuple[str, tuple[Kind, ...]]:
    part = split.node(node)
    verdicts = part.verdicts
    return f"node {name_node(node)} of {split.pda.nodes.name_of(node)}", (
        *_independent(made, verdicts == ACCEPTED, verdicts == REJECTED),
        Kind("context-dependent", "gold", made.ordered(verdicts == DEPENDENT), outline=SOLID),
    )


def split_kinds(split: Split, made: Atlas, state: State) -> tuple[Kind, ...]:
    """The tokens at a state by the verdicts of the nodes and, for context-dependent tokens, of the stack."""
    said, legal = split.answers(state), split.mask(state)
    asked = said == DEPENDENT
    return (
        *_independent(made, said == ACCEPTED, said == REJECTED),
        Kind("context-dependent, legal", "gold", made.ordered(asked & legal), outline=SOLID),
        Kind("context-dependent, illegal", "orange", made.ordered(asked & ~legal), outline=DASHED),
    )


def _independent(made: Atlas, legal: Mask, illegal: Mask) -> tuple[Kind, ...]:
    return Kind("accepted", "sea", made.ordered(legal)), Kind("rejected", "land", made.ordered(illegal))


def _place_name(split: Split, text: State | bytes | str | None) -> str:
    if isinstance(text, State):
        return f"{text!r}"
    read = to_bytes(text or b"")
    return f"after {label(read[:20])}{'…' * (len(read) > 20)}" if read else "at the start"


def say_kinds(kinds: Sequence[Kind]) -> str:
    """The number of tokens of each kind."""
    legal, illegal, *asked = (kind.count for kind in kinds)
    said = f"of {legal + illegal + sum(asked):,} tokens {legal:,} are accepted, {illegal:,} rejected"
    if not sum(asked):
        return f"{said}, none is context-dependent"
    if len(asked) == 1:
        return f"{said}, {asked[0]:,} context-dependent"
    return f"{said}, {sum(asked):,} context-dependent: {asked[0]:,} legal, {asked[1]:,} illegal"


# The nodes of a split as a table: how many tokens each accepts, rejects and leaves to the stack, and the storage.


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


def split_rows(split: Split) -> tuple[NodeRow, ...]:
    """The rows of all nodes, by rule, those with the most context-dependent tokens first.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> split_rows(nested)[0]
    NodeRow(rule='root', nodes=(0,), waits='( or x', accepted=2, rejected=1, dependent=3, kind='bits', nbytes=13)
    """
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


def draw_split_nodes(split: Split, title: str = "") -> Figure:
    """The table of all nodes, with its memory compared to one bit per node and token.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(draw_split_nodes(nested).text)
    Split: 3 nodes over 6 tokens, 2 with context-dependent tokens; 23 bytes kept, 770% of a dense table's 3
    node  waits for  accepted  rejected  dependent  kept as  bytes
    root
    n0    ( or x            2         1          3  bits        13
    n1    ( or x            3         1          2  bits         9
    n3    )                 1         5          –  bits         1
    """
    expect(title, str, "draw_split_nodes, title", "a text")
    expect(split, Split, "draw_split_nodes, split", "a split", SPLIT_HINT)
    rows = split_rows(split)
    most_asked = set(sorted(rows, key=lambda row: (-row.dependent, -row.nbytes))[:MOST])
    shown, total = tuple(row for row in rows if row in most_asked), _say_total(split, rows)
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
        second.insert(0, f"{_rule_name(second[0].rule)}, continued")
    return [first, second]


def _lines(rows: tuple[NodeRow, ...]) -> Iterator[str | NodeRow]:
    for rule, part in groupby(rows, key=lambda row: row.rule):
        yield _rule_name(rule)
        yield from part


def _rule_name(rule: str) -> str:
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
