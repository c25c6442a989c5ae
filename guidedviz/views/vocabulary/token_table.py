"""The index as a table: a row per state, a column per token.

A filled cell is a legal token and names the next state. With many tokens, those with equal next states in all rows
share a column.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError, quoted, shorten
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted, name_state
from guidedviz.markup import Element
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.index import Index, build_index
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, centred, drawing, heading, rect, soft, write
from guidedviz.views.theme import paint
from guidedviz.views.words import label, share

MOST_TOKEN_COLUMNS = 24
MOST_STATE_ROWS = 60
TABLE_LEFT = 76.0
TABLE_TOP = 120.0
COLUMN_WIDTH = 34.0
STATE_HIGH = 24.0
TokenIds = npt.NDArray[np.int64]


def token_groups(index: Index, ids: TokenIds) -> list[TokenIds]:
    """The columns of a table: single tokens or, of many, the largest groups that lead alike from every state."""
    if len(ids) <= MOST_TOKEN_COLUMNS:
        return list(ids.reshape(-1, 1))
    _, first, member, sizes = np.unique(index.kind[ids], return_index=True, return_inverse=True, return_counts=True)
    largest = np.argsort(-sizes, kind="stable")[:MOST_TOKEN_COLUMNS]
    return [ids[member == kind] for kind in sorted(largest.tolist(), key=first.__getitem__)]


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
    size = f"{counted(len(index.machine), 'state')} × {counted(tokens, 'token')}"
    parts = [heading(16, 24, "state × token", f"{size} · a column is {by}")]
    parts += map(_write_column, range(len(names)), names)
    end = TABLE_LEFT + COLUMN_WIDTH * len(groups) + 8
    parts.append(soft(end, TABLE_TOP - 8, "legal", 11))
    after = index.after[[index.kind[group[0]] for group in groups]].T[:MOST_STATE_ROWS].tolist()
    rows = []
    y = TABLE_TOP
    for state, leads in enumerate(after):
        name = name_state(state)
        parts.append(write(TABLE_LEFT - 8, y + 16, _mark_end(guide, state) + name, 12, text_anchor="end"))
        count = int(index.legal[state])
        parts.append(soft(end, y + 16, f"{count:,} · {share(count / tokens)}", 11))
        for column, lead in enumerate(leads):
            parts += _write_lead(TABLE_LEFT + COLUMN_WIDTH * column, y, lead)
        legal = [f"{token}→{name_state(lead)}" for token, lead in zip(names, leads, strict=True) if lead >= 0]
        rows.append(f"{name}: {' '.join(legal) or 'none'}")
        y += STATE_HIGH
    parts.append(soft(16, y + 20, _say_key(len(index.machine) - len(after), tokens - sum(map(len, groups)))))
    text = f"Token table: {size}; {'; '.join(rows)}"
    return Figure(drawing(max(end + 90, 760), y + 34, *parts, alt=text), shorten(text, 400), text)


def _write_column(column: int, name: str) -> Element:
    """The name above a column, turned."""
    x = TABLE_LEFT + COLUMN_WIDTH * (column + 0.5)
    turned = f"rotate(-60 {x:g} {TABLE_TOP - 8:g})"
    return write(x, TABLE_TOP - 8, shorten(name, 14), 11, mono=True, transform=turned)


def _say_key(states: int, tokens: int) -> str:
    """The meaning of a cell, and how many states and tokens are not shown."""
    key = "a filled cell is legal and names the state after it · ◎ the text may end"
    if states:
        key += f" · {states:,} more states have no row"
    if tokens:
        key += f" · {tokens:,} more tokens no column"
    return key


def _mark_end(guide: Guide, state: int) -> str:
    return "◎ " if guide.is_accepting(state) else ""


def _name_group(vocabulary: Vocabulary, group: TokenIds) -> str:
    """The text of a column's token; for several, one of them and their number."""
    pieces = vocabulary.pieces
    shortest = min(group.tolist(), key=lambda token: (len(pieces[token]) or 99, pieces[token]))
    name = label(pieces[shortest])
    return f"{name} +{len(group) - 1:,}" if len(group) > 1 else name


def _write_lead(x: float, y: float, lead: int) -> Iterator[Element]:
    """A cell: a legal one is filled and names the next state."""
    legal = lead >= 0
    yield rect(x, y + 1, COLUMN_WIDTH - 2, STATE_HIGH - 2, fill=paint("sea" if legal else "land"))
    if legal:
        middle = x + COLUMN_WIDTH / 2 - 1
        yield centred(middle, y + 16, name_state(lead), 11, fill="var(--gv-foam)")
