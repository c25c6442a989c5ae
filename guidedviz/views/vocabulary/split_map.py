"""A split in two pictures: the tokens of one node on the map, and all nodes in a table.

On the map a token is accepted, rejected, or depends on the stack; the last are enlarged. The table has the counts of
these and the storage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.errors import expect, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import say_waits
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.visible import counted, name_node
from guidedviz.tokens.split import ACCEPTED, DEPENDENT, REJECTED, NodeSplit, Split
from guidedviz.views.figure import Figure, drawing, heading, soft, wide, write
from guidedviz.views.machine.highlight import state_after
from guidedviz.views.vocabulary.atlas import Atlas, atlas
from guidedviz.views.vocabulary.map import Kind, count_regions, map_figure
from guidedviz.views.words import align, label, share

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
        verdicts = split.node(int(at)).verdicts
        name = f"node {name_node(int(at))} of {split.pda.nodes.name_of(int(at))}"
        dependent = Kind("context-dependent", "gold", made.ordered(verdicts == DEPENDENT), outline=SOLID)
        kinds: tuple[Kind, ...] = (*_independent(made, verdicts), dependent)
    else:
        name, kinds = _place_name(at), split_kinds(split, made, state_after(split.pda, b"" if at is None else at))
    text = f"Split, {name}: {say_kinds(kinds)}"
    asking = count_regions(made, np.logical_or.reduce([kind.cells for kind in kinds[2:]]))
    more = ", ".join(f"{place} {count:,} context-dependent" for place, count in asking.items() if count)
    return map_figure(made, kinds, title or name, text, more)


def split_kinds(split: Split, made: Atlas, state: State) -> tuple[Kind, ...]:
    """The tokens at a state by the verdicts of the nodes and, for context-dependent tokens, of the stack."""
    verdicts, legal = split.answers(state), split.mask(state)
    asked = verdicts == DEPENDENT
    return (
        *_independent(made, verdicts),
        Kind("context-dependent, legal", "gold", made.ordered(asked & legal), outline=SOLID),
        Kind("context-dependent, illegal", "orange", made.ordered(asked & ~legal), outline=DASHED),
    )


def _independent(made: Atlas, verdicts: Any) -> tuple[Kind, Kind]:
    legal, illegal = (made.ordered(verdicts == verdict) for verdict in (ACCEPTED, REJECTED))
    return Kind("accepted", "sea", legal), Kind("rejected", "land", illegal)


def _place_name(text: State | bytes | str | None) -> str:
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


MOST = 60  # rows: of more, those with the most context-dependent tokens and bytes
ROW, EDGE, TOP = 21.0, 16.0, 70.0
HEAD = ("node", "waits for", "accepted", "rejected", "dependent", "kept as", "bytes")
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
        return f"{name_node(self.nodes[0])}{more}", shorten(self.waits, 24), *numbers, self.kind, f"{self.nbytes:,}"


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
    shown, total, rule = [row for row in rows if row in most_asked], _say_total(split, rows), ""
    head, *table = align([HEAD, *(row.words for row in shown)], NUMBERS)
    lines = [(head, {"fill": "var(--gv-soft)"})]  # each with its look
    for row, words in zip(shown, table, strict=True):
        if row.rule != rule:
            rule = row.rule
            lines.append((shorten(rule, 40), {"font_weight": "bold"}))
        lines.append((words, {"fill": "var(--gv-gold)", "font_weight": "bold"} if row.dependent else {}))
    parts = [heading(EDGE, 24, "what each node knows", title), soft(EDGE, 44, total)]
    parts += [write(EDGE, TOP + ROW * n, words, 12, mono=True, **look) for n, (words, look) in enumerate(lines)]
    width = max(6.4 * len(total), wide(head, 12)) + 2 * EDGE
    said = "\n".join([f"Split: {total}", *(words for words, _ in lines)])
    return Figure(drawing(width, TOP + ROW * len(lines), *parts, alt=said), said, said)


def _say_total(split: Split, rows: tuple[NodeRow, ...]) -> str:
    asking, nodes = (sum(len(row.nodes) for row in part) for part in ([r for r in rows if r.dependent], rows))
    kept, dense = split.nbytes, split.dense_nbytes
    said = f"{counted(nodes, 'node')} over {len(split.vocabulary):,} tokens, {asking:,} with context-dependent tokens; "
    said += f"{kept:,} bytes kept, {share(kept / dense)} of a dense table's {dense:,}"
    return said + (f"; {len(rows) - MOST:,} more rows are not shown" if len(rows) > MOST else "")
