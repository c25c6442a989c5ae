"""The nodes of a split: how many tokens each accepts, rejects and leaves to the stack, and the storage."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.pda import say_waits
from guidedviz.machines.visible import counted, name_node
from guidedviz.tokens.split import NodeSplit, Split
from guidedviz.views.figure import EDGE, Figure, figure_of, soft, wide, write
from guidedviz.views.words import align, share

NODE_HIGH = 21.0  # the height of a row
NODES_TOP = 70.0
MOST_NODE_ROWS = 60
NODE_HEAD = ("node", "waits for", "accepted", "rejected", "dependent", "kept as", "bytes")
NUMBER_COLUMNS = (2, 3, 4, 6)


def split_rows(split: Split) -> list[list[NodeSplit]]:
    """Nodes of one rule with equal masks in a row; by rule, those with the most context-dependent tokens first.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> [[part.node for part in row] for row in split_rows(nested)]
    [[0], [1], [3]]
    """
    rule_of = split.pda.nodes.rule_of
    alike = defaultdict[tuple[int, int, int], list[NodeSplit]](list)
    for part in split.build():
        alike[rule_of[part.node], id(part.accepted.data), id(part.dependent)].append(part)
    return sorted(alike.values(), key=lambda row: (rule_of[row[0].node], *_order_of(row)))


def _order_of(row: Sequence[NodeSplit]) -> tuple[int, int]:
    """The order of rows: the most context-dependent tokens and bytes first."""
    return -len(row[0].dependent), -row[0].nbytes


def _say_node(split: Split, row: Sequence[NodeSplit]) -> tuple[str, ...]:
    first = row[0]
    name = name_node(first.node)
    if len(row) > 1:
        name += f" +{len(row) - 1}"
    accepted = first.accepted.count
    dependent = len(first.dependent)
    return (
        name,
        shorten(say_waits(split.pda.stacks, first.node), 24),
        f"{accepted:,}",
        f"{first.accepted.size - accepted - dependent:,}",
        f"{dependent:,}" if dependent else "–",
        first.accepted.kind,
        f"{first.nbytes:,}",
    )


def draw_split_nodes(split: Split) -> Figure:
    """The table of all nodes, with its memory compared to one bit per node and token.

    Of many rows it has those with the most context-dependent tokens and bytes.

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
    expect(split, Split, "draw_split_nodes, split", "a split", "gv.build_split(machine, vocabulary)")
    rows = split_rows(split)
    most_asked = sorted(rows, key=_order_of)[:MOST_NODE_ROWS]
    shown = [row for row in rows if row in most_asked]
    head, *table = align([NODE_HEAD, *(_say_node(split, row) for row in shown)], NUMBER_COLUMNS)
    lines: list[tuple[str, dict[str, Any]]] = [(head, {"fill": "var(--gv-soft)"})]  # each with its look
    rule = ""
    for row, words in zip(shown, table, strict=True):
        own = split.pda.nodes.name_of(row[0].node)
        if own != rule:
            lines.append((shorten(own, 40), {"font_weight": "bold"}))
            rule = own
        asks = {"fill": "var(--gv-gold)", "font_weight": "bold"}
        lines.append((words, asks if len(row[0].dependent) else {}))
    total = _say_total(split, rows)
    parts = [write(EDGE, 24, "what each node knows", font_weight="bold"), soft(EDGE, 44, total)]
    for place, (words, look) in enumerate(lines):
        parts.append(write(EDGE, NODES_TOP + NODE_HIGH * place, words, 12, mono=True, **look))
    width = max(6.4 * len(total), wide(head, 12)) + 2 * EDGE
    said = "\n".join([f"Split: {total}", *(words for words, _ in lines)])
    return figure_of(width, NODES_TOP + NODE_HIGH * len(lines), said, *parts)


def _say_total(split: Split, rows: Sequence[Sequence[NodeSplit]]) -> str:
    tokens = len(split.vocabulary)
    asking = sum(len(row) for row in rows if len(row[0].dependent))
    dense = len(split.standing) * ((tokens + 7) // 8)  # one bit per node and token
    nodes = counted(sum(map(len, rows)), "node")
    part = share(split.nbytes / dense)
    said = f"{nodes} over {tokens:,} tokens, {asking:,} with context-dependent tokens; "
    said += f"{split.nbytes:,} bytes kept, {part} of a dense table's {dense:,}"
    if len(rows) > MOST_NODE_ROWS:
        said += f"; {len(rows) - MOST_NODE_ROWS:,} more rows are not shown"
    return said
