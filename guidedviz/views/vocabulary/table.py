"""Tables: with one column per token the index (a row per state) and a run (a row per position); and a split's nodes.

A filled cell is a legal token. That of the index names the next state; with many tokens, those with equal next states
in all rows share a column. The search finds tokens by text.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from guidedviz.decoding.trace import TRACE_HINT, Trace
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.pushdown.frames import say_waits
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import SIGNS, counted, name_node, name_state
from guidedviz.machines.work import grouped
from guidedviz.markup import Element, node
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.index import Index, build_index
from guidedviz.tokens.split import NodeSplit, Split
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, drawing, figure_of, heading, rect, soft, wide, write, write_legend
from guidedviz.views.words import align, label, share

WAYS = "text, /regex/, 0xE2 82, #id"


def find_tokens(vocabulary: Vocabulary, query: str) -> Mask:
    """The mask of the tokens that match a query; visible signs such as ␣ stand for blanks.

    >>> v = Vocabulary([b" the", b"then", b"42", b"\\xe2\\x82"])
    >>> [np.flatnonzero(find_tokens(v, q)).tolist() for q in ("the", "␣", "/[0-9]+/", "0xE282", "#2", "")]
    [[0, 1], [0], [2], [3], [2], []]
    """
    if not query:
        return np.zeros(len(vocabulary), dtype=np.bool_)
    if re.fullmatch(r"#\d+", query):
        return np.asarray(np.arange(len(vocabulary)) == int(query[1:]))
    if len(query) > 2 and query[0] == query[-1] == "/":
        accepts = regex(query[1:-1]).accepts
        return np.fromiter(map(accepts, vocabulary.pieces), dtype=np.bool_)
    needle = _bytes(query)
    return np.fromiter((needle in piece for piece in vocabulary.pieces), dtype=np.bool_)


def read_signs(text: str) -> bytes:
    """Typed text as bytes; ␣ ↵ ⇥ and the other signs are replaced by the characters they stand for.

    >>> read_signs("a␣b↵")
    b'a b\\n'
    """
    return text.translate({ord(sign): character for character, sign in SIGNS.items()}).encode("utf-8", "replace")


def _bytes(query: str) -> bytes:
    if not query.startswith("0x"):
        return read_signs(query)
    try:
        return bytes.fromhex(query[2:])
    except ValueError:
        hint = "two hex digits per byte, 0xE2 82"
        raise SettingError(f"search {quoted(query)}", seen="no bytes", expected=hint) from None


COLUMNS, ROWS = 24, 60
LEFT, TOP, WIDE, HIGH = 76.0, 120.0, 34.0, 24.0
TokenIds = npt.NDArray[np.int64]


def token_groups(index: Index, ids: TokenIds) -> list[TokenIds]:
    """The columns of a table: single tokens or, of many, the largest groups that lead alike from every state."""
    if len(ids) <= COLUMNS:
        return list(ids.reshape(-1, 1))
    _, first, member, sizes = np.unique(index.kind[ids], return_index=True, return_inverse=True, return_counts=True)
    largest = np.argsort(-sizes, kind="stable")[:COLUMNS]
    return [ids[member == kind] for kind in sorted(largest.tolist(), key=first.__getitem__)]


def draw_token_table(guide: Guide) -> Figure:
    """The table of a DFA: a filled cell is legal and names the state after it.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_token_table(gv.guide(gv.regex("[0-9]+"), v)).text
    'Token table: 2 states × 6 tokens; q0: 3→q1 42→q1; q1: 3→q1 42→q1 </s>→q1'
    """
    check_guide(guide, "draw_token_table", "gv.guide(gv.regex(text))")
    if not isinstance(guide.machine, DFA):
        expected, hint = "a guide over a finite machine", "gv.guide(gv.regex(text))"
        raise SettingError("draw_token_table", seen=quoted(guide), expected=expected, hint=hint)
    index, vocabulary = build_index(guide.machine, guide.vocabulary), guide.vocabulary
    groups, states = token_groups(index, vocabulary.order.astype(np.int64)), range(min(len(index.machine), ROWS))
    names = [_name(vocabulary, group) for group in groups]
    after = index.after[[index.kind[group[0]] for group in groups]].T.tolist()
    size = f"{counted(len(index.machine), 'state')} × {counted(len(vocabulary), 'token')}"
    by = "a token" if len(vocabulary) <= COLUMNS else "tokens that lead alike from every state"
    parts = [heading(16, 24, "state × token", f"{size} · a column is {by}")]
    for column, name in enumerate(names):
        x = LEFT + WIDE * (column + 0.5)
        turned = f"rotate(-60 {x:g} {TOP - 8:g})"
        parts.append(write(x, TOP - 8, shorten(name, 14), 11, mono=True, transform=turned))
    end, rows = LEFT + WIDE * len(groups) + 8, []
    parts.append(soft(end, TOP - 8, "legal", 11))
    for state in states:
        y, leads = TOP + HIGH * state, after[state]
        sign, count = "◎ " * guide.is_accepting(state), int(index.legal[state])
        parts.append(write(LEFT - 8, y + 16, sign + name_state(state), 12, text_anchor="end"))
        parts.append(soft(end, y + 16, f"{count:,} · {share(count / len(vocabulary))}", 11))
        for column, lead in enumerate(leads):
            parts += _cell(LEFT + WIDE * column, y, lead)
        legal = [f"{name}→{name_state(lead)}" for name, lead in zip(names, leads, strict=True) if lead >= 0]
        rows.append(f"{name_state(state)}: {' '.join(legal) or 'none'}")
    hidden = len(index.machine) - len(states), len(vocabulary) - sum(map(len, groups))
    more = f" · {hidden[0]:,} more states have no row" * bool(hidden[0])
    more += f" · {hidden[1]:,} more tokens no column" * bool(hidden[1])
    bottom = TOP + HIGH * len(states) + 20
    parts.append(soft(16, bottom, f"a filled cell is legal and names the state after it · ◎ the text may end{more}"))
    text = f"Token table: {size}; {'; '.join(rows)}"
    return Figure(drawing(max(end + 90, 760), bottom + 14, *parts, alt=text), shorten(text, 400), text)


def _name(vocabulary: Vocabulary, group: TokenIds) -> str:
    """The text of a column's token; for several, one of them and their number."""
    pieces = vocabulary.pieces
    shortest = min(group.tolist(), key=lambda token: (len(pieces[token]) or 99, pieces[token]))
    return label(pieces[shortest]) + (f" +{len(group) - 1:,}" if len(group) > 1 else "")


def _cell(x: float, y: float, lead: int) -> list[Element]:
    legal = lead >= 0
    cell = rect(x, y + 1, WIDE - 2, HIGH - 2, fill=f"var(--gv-{'sea' if legal else 'land'})")
    name = write(x + WIDE / 2 - 1, y + 16, name_state(lead), 11, text_anchor="middle", fill="var(--gv-foam)")
    return [cell, name] if legal else [cell]


# --- a small vocabulary at every position of a run, and the path taken ---


MOST = 100  # tokens
CELL, ROW, GRID_LEFT, GRID_TOP = 10.6, 26.0, 84.0, 46.0


def draw_positions(trace: Trace, title: str = "") -> Figure:
    """The mask at each position of a guided run, and a line through the tokens that were drawn.

    >>> toy = gv.ToyModel([b"a", b"b", b"c"], lambda tokens: [1, 2, 3])
    >>> masks = gv.static_masks(toy.vocabulary, [{0, 1}, {2}])
    >>> print(draw_positions(gv.record(toy, "a", masks, seed=1)).text)
    position 0: 2 of 3 legal, b drawn
    position 1: 1 of 3 legal, c drawn
    """
    expect(title, str, "draw_positions, title", "a text")
    guide: Guide | None = expect(trace, Trace, "draw_positions", TRACE_HINT).guide
    if guide is None or len(guide.vocabulary) > MOST:
        seen = "a run without a guide" if guide is None else f"{len(guide.vocabulary):,} tokens"
        raise SettingError("draw_positions", seen=seen, expected=f"a guided run over at most {MOST} tokens")
    vocabulary, state = guide.vocabulary, guide.initial
    names = [vocabulary.display(token) for token in range(len(vocabulary))]
    rows, points, said = list[Element](), list[Element](), list[str]()
    path = [step.token for step in trace.steps if step.token >= 0]
    for position, token in enumerate(path):
        mask, y = guide.mask(state), GRID_TOP + ROW * position + 4
        rows.append(soft(GRID_LEFT - 14, y + 13, f"position {position}", 11, text_anchor="end"))
        rows += [_box(GRID_LEFT + CELL * n + 1, y, CELL - 2, ROW - 8, legal) for n, legal in enumerate(mask.tolist())]
        said.append(f"position {position}: {int(mask.sum())} of {len(names)} legal, {names[token]} drawn")
        points.append(_dot(*_place(position, token), names[token][:1]))
        state = guide.advance(state, token)
    line = {"points": " ".join("{:g},{:g}".format(*_place(*place)) for place in enumerate(path)), "fill": "none"}
    under = node("polyline", **line, stroke="var(--gv-page)", stroke_width=5)  # keeps the path apart from the cells
    over = node("polyline", **line, stroke="var(--gv-orange)", stroke_width=2)
    parts = [write(12, 18, title or "legal tokens at each position", font_weight="bold")]
    for token, name in enumerate(names):
        parts.append(soft(_place(0, token)[0], GRID_TOP - 4, name[:1], 10, mono=True, text_anchor="middle"))
    parts += [*rows, under, over, *points]
    low = GRID_TOP + ROW * len(path) + 20
    boxes = ((_box(5, -6, 8, 12, legal), name) for legal, name in ((True, "legal"), (False, "illegal")))
    parts += write_legend([*boxes, (_dot(9, 0, ""), "drawn")], GRID_LEFT, low)[0]
    return figure_of(max(GRID_LEFT + CELL * len(names) + 16, 330.0), low + 14, "\n".join(said), *parts)


def _place(position: int, token: int) -> tuple[float, float]:
    """The middle of a cell."""
    return GRID_LEFT + CELL * (token + 0.5), GRID_TOP + ROW * (position + 0.5)


def _box(x: float, y: float, width: float, height: float, legal: bool) -> Element:
    look = {"fill": "var(--gv-sky)"} if legal else {"fill": "none", "stroke_dasharray": "2 2"}
    return rect(x, y, width, height, stroke="var(--gv-line)", **look)


def _dot(x: float, y: float, name: str) -> Element:
    """The mark of a drawn token, with the token in it."""
    ring = node("circle", cx=x, cy=y, r=9, fill="var(--gv-page)", stroke="var(--gv-orange)", stroke_width=2.5)
    return ring + write(x, y + 4, name, 12, mono=True, text_anchor="middle", font_weight="bold")


# --- the nodes of a split: how many tokens each accepts, rejects and leaves to the stack, and the storage ---


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
