"""The nodes of a split: how many tokens each accepts, rejects and leaves to the stack, and the storage."""

from collections.abc import Sequence

from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.frames import say_waits
from guidedviz.machines.visible import counted, name_node
from guidedviz.machines.work import grouped
from guidedviz.tokens.split import NodeSplit, Split
from guidedviz.views.figure import Figure, figure_of, soft, wide, write
from guidedviz.views.vocabulary.token_table import ROWS
from guidedviz.views.words import align, share

LINE, FIRST = 21.0, 70.0
HEAD = ("node", "waits for", "accepted", "rejected", "dependent", "kept as", "bytes")
NUMBERS = (2, 3, 4, 6)


def split_rows(split: Split) -> list[list[NodeSplit]]:
    """Nodes of one rule with equal masks in a row; by rule, those with the most context-dependent tokens first.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> [[part.node for part in row] for row in split_rows(nested)]
    [[0], [1], [3]]
    """
    rule_of = split.pda.nodes.rule_of
    alike = grouped(((rule_of[part.node], id(part.accepted.data), id(part.dependent)), part) for part in split.build())
    return sorted(alike.values(), key=lambda row: (rule_of[row[0].node], *_most(row)))


def _most(row: Sequence[NodeSplit]) -> tuple[int, int]:
    """The order of rows: the most context-dependent tokens and bytes first."""
    return -len(row[0].dependent), -row[0].nbytes


def _say_row(split: Split, row: Sequence[NodeSplit]) -> tuple[str, ...]:
    first, more = row[0], f" +{len(row) - 1}" * (len(row) > 1)
    accepted, dependent = first.accepted.count, len(first.dependent)
    numbers = f"{accepted:,}", f"{first.accepted.size - accepted - dependent:,}", f"{dependent:,}" if dependent else "–"
    waits = shorten(say_waits(split.pda.stacks, first.node), 24)
    return f"{name_node(first.node)}{more}", waits, *numbers, first.accepted.kind, f"{first.nbytes:,}"


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
    rows, rule = split_rows(split), ""
    most_asked = sorted(rows, key=_most)[:ROWS]
    shown, total = [row for row in rows if row in most_asked], _say_total(split, rows)
    head, *table = align([HEAD, *(_say_row(split, row) for row in shown)], NUMBERS)
    lines = [(head, {"fill": "var(--gv-soft)"})]  # each with its look
    for row, words in zip(shown, table, strict=True):
        if rule != (rule := split.pda.nodes.name_of(row[0].node)):
            lines.append((shorten(rule, 40), {"font_weight": "bold"}))
        lines.append((words, {"fill": "var(--gv-gold)", "font_weight": "bold"} if row[0].dependent.size else {}))
    parts = [write(16, 24, "what each node knows", font_weight="bold"), soft(16, 44, total)]
    parts += [write(16, FIRST + LINE * n, words, 12, mono=True, **look) for n, (words, look) in enumerate(lines)]
    width = max(6.4 * len(total), wide(head, 12)) + 32
    said = "\n".join([f"Split: {total}", *(words for words, _ in lines)])
    return figure_of(width, FIRST + LINE * len(lines), said, *parts)


def _say_total(split: Split, rows: Sequence[Sequence[NodeSplit]]) -> str:
    asking, nodes = (sum(map(len, part)) for part in ([row for row in rows if len(row[0].dependent)], rows))
    kept, dense = split.nbytes, len(split.standing) * ((len(split.vocabulary) + 7) // 8)  # one bit per node and token
    said = f"{counted(nodes, 'node')} over {len(split.vocabulary):,} tokens, {asking:,} with context-dependent tokens; "
    said += f"{kept:,} bytes kept, {share(kept / dense)} of a dense table's {dense:,}"
    return said + (f"; {len(rows) - ROWS:,} more rows are not shown" if len(rows) > ROWS else "")
