"""The index as a table: a row per state, a column per token.

A filled cell is a legal token and names the next state. With many tokens, those with equal next states in all rows
share a column.
"""

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError, quoted, shorten
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted, name_state
from guidedviz.markup import Element
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.index import Index, build_index
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, drawing, heading, rect, soft, write
from guidedviz.views.words import label, share

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
