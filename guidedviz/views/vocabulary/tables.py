"""Tables of masks: the index by state and token, the split by node, and a small vocabulary by position."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from guidedviz.decoding.trace import TRACE_HINT, Trace
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.graph import grouped
from guidedviz.machines.pushdown.pda import say_waits
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted, name_node, name_state
from guidedviz.markup import Element
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.index import Index, build_index
from guidedviz.tokens.split import NodeSplit, Split
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import (
    EDGE,
    Figure,
    Style,
    bold,
    centred,
    circle_at,
    figure_of,
    heading,
    rect,
    soft,
    soft_centred,
    soft_right,
    wide,
    write,
    write_legend,
    write_polyline,
    write_right,
)
from guidedviz.views.theme import paint
from guidedviz.views.words import align, label, share

MOST_TOKEN_COLUMNS = 24
MOST_STATE_ROWS = 60
TABLE_LEFT = 76.0
TABLE_TOP = 132.0  # below labels that are turned
STRAIGHT_TOP = 72.0  # below labels of at most this many signs, which are not:
STRAIGHT_SIGNS = 4
COLUMN_WIDTH = 34.0
STATE_HIGH = 24.0
TokenIds = npt.NDArray[np.int64]


def token_groups(index: Index, ids: TokenIds) -> list[TokenIds]:
    """The columns of a table: single tokens or, of many, the largest groups that lead alike from every state."""
    if len(ids) <= MOST_TOKEN_COLUMNS:
        return list(ids.reshape(-1, 1))
    kinds = index.kind[ids]
    _, first, sizes = np.unique(kinds, return_index=True, return_counts=True)
    largest = np.argsort(-sizes, kind="stable")[:MOST_TOKEN_COLUMNS]
    return [ids[kinds == kinds[place]] for place in np.sort(first[largest])]


def draw_token_table(guide: Guide) -> Figure:
    """The table of a DFA: a filled cell is legal and names the state after it.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_token_table(gv.guide(gv.regex("[0-9]+"), v)).text
    'Token table: 2 states × 6 tokens; q0: 3→q1 42→q1; q1: 3→q1 42→q1 </s>→q1'
    """
    check_guide(guide, "draw_token_table", "gv.guide(gv.regex(text))")
    if not isinstance(guide.machine, DFA):
        expected = "a guide over a finite machine"
        hint = "gv.guide(gv.regex(text))"
        raise SettingError("draw_token_table", seen=quoted(guide), expected=expected, hint=hint)
    index = build_index(guide.machine, guide.vocabulary)
    tokens = len(guide.vocabulary)
    groups = token_groups(index, guide.vocabulary.order.astype(np.int64))
    names = [_name_group(guide.vocabulary, group) for group in groups]
    by = "a token" if tokens <= MOST_TOKEN_COLUMNS else "tokens that lead alike from every state"
    states = counted(len(index.machine), "state")
    size = f"{states} × {counted(tokens, 'token')}"
    parts = [heading(16, 24, "state × token", f"{size} · a column is {by}")]
    straight = max(map(len, names), default=0) <= STRAIGHT_SIGNS
    top = STRAIGHT_TOP if straight else TABLE_TOP
    parts += [_write_column(column, top, name, straight) for column, name in enumerate(names)]
    end = TABLE_LEFT + COLUMN_WIDTH * len(groups) + 8
    parts.append(soft(end, top - 8, "legal", 11))
    kinds = [index.kind[group[0]] for group in groups]
    after = index.after[kinds].T[:MOST_STATE_ROWS].tolist()
    rows = []
    y = top
    for state, leads in enumerate(after):
        name = name_state(state)
        mark = "◎ " if guide.is_accepting(state) else ""
        base = y + 16
        parts.append(write_right(TABLE_LEFT - 8, base, mark + name, 12))
        count = int(index.legal[state])
        said = f"{count:,} · {share(count / tokens)}"
        parts.append(soft(end, base, said, 11))
        legal = []
        for column, lead in enumerate(leads):
            parts += _write_lead(TABLE_LEFT + COLUMN_WIDTH * column, y, lead)
            if lead >= 0:
                legal.append(f"{names[column]}→{name_state(lead)}")
        words = " ".join(legal) or "none"
        rows.append(f"{name}: {words}")
        y += STATE_HIGH
    hidden = tokens - sum(map(len, groups))
    key = _say_key(len(index.machine) - len(after), hidden)
    parts.append(soft(16, y + 20, key))
    text = f"Token table: {size}; {'; '.join(rows)}"
    width = max(end + 90, 760)
    return figure_of(width, y + 34, shorten(text, 400), *parts, alt=text)


def _write_column(column: int, top: float, name: str, straight: bool) -> Element:
    """The name above a column; a long one is turned."""
    x = TABLE_LEFT + COLUMN_WIDTH * (column + 0.5)
    y = top - 8
    if straight:
        return centred(x - 1, y, name, 11, mono=True)
    turned = f"rotate(-60 {x:g} {y:g})"
    return write(x, y, shorten(name, 16), 11, mono=True, transform=turned)


def _say_key(states: int, tokens: int) -> str:
    """The meaning of a cell, and how many states and tokens are not shown."""
    key = "a filled cell is legal and names the state after it · ◎ the text may end"
    if states:
        key += f" · {states:,} more states have no row"
    if tokens:
        key += f" · {tokens:,} more tokens no column"
    return key


def _name_group(vocabulary: Vocabulary, group: TokenIds) -> str:
    """The text of a column's token; for several, one of them and their number."""
    pieces = [vocabulary.pieces[token] for token in group.tolist()]
    shortest = min(pieces, key=lambda piece: (len(piece) or 99, piece))
    name = label(shortest)
    others = len(group) - 1
    return f"{name} +{others:,}" if others else name


def _write_lead(x: float, y: float, lead: int) -> Iterator[Element]:
    """A cell: a legal one is filled and names the next state."""
    legal = lead >= 0
    ground = paint("sea" if legal else "land")
    yield rect(x, y + 1, COLUMN_WIDTH - 2, STATE_HIGH - 2, fill=ground)
    if legal:
        middle = x + COLUMN_WIDTH / 2 - 1
        yield centred(middle, y + 16, name_state(lead), 11, fill="var(--gv-foam)")


# --- the nodes of a split ---


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
    nodes = split.build()

    def looks_of(part: NodeSplit) -> tuple[int, int, int]:
        return rule_of[part.node], id(part.accepted.data), id(part.dependent)

    alike = grouped((looks_of(part), part) for part in nodes)
    return sorted(alike.values(), key=lambda row: (rule_of[row[0].node], *_order_of(row)))


def _order_of(row: Sequence[NodeSplit]) -> tuple[int, int]:
    """The order of rows: the most context-dependent tokens and bytes first."""
    return -len(row[0].dependent), -row[0].nbytes


def _say_node(split: Split, row: Sequence[NodeSplit]) -> tuple[str, ...]:
    first = row[0]
    name = name_node(first.node)
    if len(row) > 1:
        name += f" +{len(row) - 1}"
    waits = shorten(say_waits(split.pda.stacks, first.node), 24)
    accepted = first.accepted.count
    dependent = len(first.dependent)
    rejected = first.accepted.size - accepted - dependent
    asks = f"{dependent:,}" if dependent else "–"
    kept = (first.accepted.form, f"{first.nbytes:,}")
    return name, waits, f"{accepted:,}", f"{rejected:,}", asks, *kept


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
    cells = [_say_node(split, row) for row in shown]
    head, *table = align([NODE_HEAD, *cells], NUMBER_COLUMNS)
    lines = list[tuple[str, Style]]()  # each with its look
    lines.append((head, {"fill": "var(--gv-soft)"}))
    rule = ""
    for row, words in zip(shown, table, strict=True):
        own = split.pda.nodes.name_of(row[0].node)
        if own != rule:
            lines.append((shorten(own, 40), {"font_weight": "bold"}))
            rule = own
        look = {}
        if len(row[0].dependent):
            look = {"fill": "var(--gv-gold)", "font_weight": "bold"}
        lines.append((words, look))
    total = _say_total(split, rows)
    parts = [bold(EDGE, 24, "what each node knows"), soft(EDGE, 44, total)]
    y = NODES_TOP
    for words, look in lines:
        parts.append(write(EDGE, y, words, 12, mono=True, **look))
        y += NODE_HIGH
    widest = max(6.4 * len(total), wide(head, 12))
    table = [words for words, _ in lines]
    said = "\n".join([f"Split: {total}", *table])
    return figure_of(widest + 2 * EDGE, y, said, *parts)


def _say_total(split: Split, rows: Sequence[Sequence[NodeSplit]]) -> str:
    tokens = len(split.vocabulary)
    asking = [len(row) for row in rows if len(row[0].dependent)]
    dense = len(split.standing) * ((tokens + 7) // 8)  # one bit per node and token
    nodes = counted(sum(map(len, rows)), "node")
    part = share(split.nbytes / dense)
    said = f"{nodes} over {tokens:,} tokens, {sum(asking):,} with context-dependent tokens"
    said += f"; {split.nbytes:,} bytes kept, {part} of a dense table's {dense:,}"
    hidden = len(rows) - MOST_NODE_ROWS
    if hidden > 0:
        said += f"; {hidden:,} more rows are not shown"
    return said


# --- a small vocabulary at every position of a run ---


MOST_GRID_TOKENS = 100  # tokens
TOKEN_PITCH = 10.6
POSITION_PITCH = 26.0
GRID_LEFT = 84.0
GRID_TOP = 46.0


def draw_positions(trace: Trace, title: str = "") -> Figure:
    """The mask at each position of a guided run, or of its state there, and a line through the tokens that were drawn.

    >>> toy = gv.ToyModel([b"a", b"b", b"c"], lambda tokens: [1, 2, 3])
    >>> masks = gv.static_masks(toy.vocabulary, [{0, 1}, {2}])
    >>> print(draw_positions(gv.record(toy, "a", masks, seed=1)).text)
    position 0: 2 of 3 legal, next b
    position 1: 1 of 3 legal, next c
    """
    expect(title, str, "draw_positions, title", "a text")
    guide = _small_guide(expect(trace, Trace, "draw_positions", TRACE_HINT))
    vocabulary = guide.vocabulary
    names = list(map(vocabulary.display, range(len(vocabulary))))
    path = [step.token for step in trace.steps if step.token >= 0]
    parts = [bold(12, 18, title or "legal tokens at each position")]
    for token, name in enumerate(names):
        x, _ = _grid_place(0, token)
        sign = soft_centred(x, GRID_TOP - 4, name[:1], 10, mono=True)
        parts.append(sign)
    lines = []
    state = guide.initial
    for position, token in enumerate(path):
        mask = guide.mask(state)
        row = guide.label(state) or f"position {position}"
        parts += _write_position(position, row, mask)
        said = f"{int(mask.sum())} of {len(names)} legal, next {names[token]}"
        lines.append(f"{row}: {said}")
        state = guide.advance(state, token)
    places = [_grid_place(position, token) for position, token in enumerate(path)]
    for colour, thick in (("page", 5), ("orange", 2)):  # a wide one keeps the path apart from the cells
        parts.append(write_polyline(places, stroke=paint(colour), stroke_width=thick))
    for (x, y), token in zip(places, path, strict=True):
        parts.append(_write_drawn(x, y, names[token][:1]))
    low = GRID_TOP + POSITION_PITCH * len(path) + 20
    signs = [(_write_legal(5, -6, 8, 12, True), "legal")]
    signs.append((_write_legal(5, -6, 8, 12, False), "illegal"))
    signs.append((_write_drawn(9, 0, ""), "next token"))
    parts += write_legend(signs, GRID_LEFT, low)[0]
    width = max(GRID_LEFT + TOKEN_PITCH * len(names) + 16, 330.0)
    return figure_of(width, low + 14, "\n".join(lines), *parts)


def _small_guide(trace: Trace) -> Guide:
    """The guide of a run over few tokens."""
    guide: Guide | None = trace.guide
    if guide is not None and len(guide.vocabulary) <= MOST_GRID_TOKENS:
        return guide
    seen = "a run without a guide"
    if guide is not None:
        seen = f"{len(guide.vocabulary):,} tokens"
    raise SettingError("draw_positions", seen=seen, expected=f"a guided run over at most {MOST_GRID_TOKENS} tokens")


def _grid_place(position: int, token: int) -> tuple[float, float]:
    """The middle of a cell."""
    x = GRID_LEFT + TOKEN_PITCH * (token + 0.5)
    y = GRID_TOP + POSITION_PITCH * (position + 0.5)
    return x, y


def _write_position(position: int, row: str, mask: Mask) -> Iterator[Element]:
    """The cells of one position."""
    y = GRID_TOP + POSITION_PITCH * position + 4
    yield soft_right(GRID_LEFT - 14, y + 13, shorten(row, 12), 11)
    for token, legal in enumerate(mask.tolist()):
        x = GRID_LEFT + TOKEN_PITCH * token + 1
        yield _write_legal(x, y, TOKEN_PITCH - 2, POSITION_PITCH - 8, legal)


def _write_legal(x: float, y: float, width: float, height: float, legal: bool) -> Element:
    look = {"fill": "var(--gv-sky)"} if legal else {"fill": "none", "stroke_dasharray": "2 2"}
    return rect(x, y, width, height, stroke="var(--gv-line)", **look)


def _write_drawn(x: float, y: float, name: str) -> Element:
    """The mark of a drawn token, with the token in it; it has the colour of a legal one."""
    ring = circle_at(x, y, 9, fill="var(--gv-sky)", stroke="var(--gv-orange)", stroke_width=2.5)
    return ring + bold(x, y + 4, name, 12, mono=True, text_anchor="middle")
