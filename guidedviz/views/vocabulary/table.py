"""The index as a table of states and tokens, and the search that chooses its tokens.

A filled cell is a legal token and names the next state. With many tokens, those with equal next states in all rows
share a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import SIGNS, counted, name_state
from guidedviz.markup import Element, node
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.index import Index, build_index
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, drawing, heading, soft, write
from guidedviz.views.vocabulary.atlas import atlas
from guidedviz.views.words import label, share

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
        raise SettingError(
            f"search {quoted(query)}", seen="no bytes", expected="two hex digits per byte, 0xE2 82"
        ) from None


COLUMNS, ROWS = 40, 60
LEFT, TOP, HIGH = 76.0, 120.0, 24.0
TokenIds = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TokenTable:
    """Rows are states, columns are groups of tokens; a group of one is a token."""

    states: tuple[str, ...]
    accepting: tuple[bool, ...]
    groups: tuple[TokenIds, ...]
    names: tuple[str, ...]
    leads: npt.NDArray[np.int32]  # the next state; -1 where the tokens are illegal
    legal: tuple[int, ...]  # legal tokens of the whole vocabulary, per state
    left_out: tuple[int, int]  # states without a row and tokens without a column
    by: str  # the meaning of a column

    @property
    def count(self) -> int:
        """The number of tokens in the table."""
        return sum(map(len, self.groups))


def token_table(guide: Guide, tokens: str | Iterable[int] | None = None) -> TokenTable:
    """The table of a DFA; `tokens` are ids or a search.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> made = token_table(gv.guide(gv.regex(r"[0-9]+(\\.[0-9]+)?"), v))
    >>> made.names, made.leads[0].tolist()
    (('.', '.5', '3', '42', 'x', '</s>'), [-1, -1, 1, 1, -1, -1])
    """
    index = finite_index(guide)
    ids = _chosen(guide, tokens)
    groups, by = _groups(index, ids)
    rows = range(min(len(index.machine), ROWS))
    return TokenTable(
        tuple(guide.label(state) for state in rows),
        tuple(guide.is_accepting(state) for state in rows),
        groups,
        tuple(_name(guide, group) for group in groups),
        index.after[[index.kind[group[0]] for group in groups], : len(rows)].T,
        tuple(index.legal[: len(rows)].tolist()),
        (len(index.machine) - len(rows), len(ids) - sum(map(len, groups))),
        by,
    )


def finite_index(guide: Guide) -> Index:
    """The index of a guide's machine, which must be a DFA."""
    check_guide(guide, "a view of all states", "gv.guide(gv.regex(text))")
    if not isinstance(guide.machine, DFA):
        expected, hint = "a guide over a finite machine", "gv.guide(gv.regex(text))"
        raise SettingError("a view of all states", seen=quoted(guide), expected=expected, hint=hint)
    return build_index(guide.machine, guide.vocabulary)


def _chosen(guide: Guide, tokens: str | Iterable[int] | None) -> TokenIds:
    """TokenIds in byte order."""
    made = atlas(guide.vocabulary)
    if tokens is None:
        return made.order.astype(np.int64)
    expect(tokens, Iterable, "token table, tokens", "ids, or a search")
    if isinstance(tokens, str):
        tokens = np.flatnonzero(find_tokens(guide.vocabulary, tokens)).tolist()
    ids = np.array([guide.vocabulary.as_id(token) for token in tokens], dtype=np.int64)
    ids = ids[np.argsort(made.rank[ids], kind="stable")]
    if not len(ids):
        raise SettingError("token table", seen="no such token", expected="at least one token")
    return ids


def _groups(index: Index, ids: TokenIds) -> tuple[tuple[TokenIds, ...], str]:
    if len(ids) <= COLUMNS:
        return tuple(np.split(ids, len(ids))), "a token"
    _, first, member, sizes = np.unique(index.kind[ids], return_index=True, return_inverse=True, return_counts=True)
    largest = np.argsort(-sizes, kind="stable")[:COLUMNS]
    groups = (ids[member == kind] for kind in sorted(largest.tolist(), key=first.__getitem__))
    return tuple(groups), "tokens that lead alike from every state"


def _name(guide: Guide, group: TokenIds) -> str:
    """The text of a column's token; for several, one of them and their number."""
    pieces = guide.vocabulary.pieces
    shortest = min(group.tolist(), key=lambda token: (len(pieces[token]) or 99, pieces[token]))
    return label(pieces[shortest]) + (f" +{len(group) - 1:,}" if len(group) > 1 else "")


def draw_token_table(guide: Guide, tokens: str | Iterable[int] | None = None, title: str = "") -> Figure:
    """The table of a DFA as a picture; `tokens` are ids or a search.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_token_table(gv.guide(gv.regex("[0-9]+"), v)).text
    'Token table: 2 states x 6 tokens; q0: 3→q1 42→q1; q1: 3→q1 42→q1 </s>→q1'
    """
    expect(title, str, "draw_token_table, title", "a text")
    made = token_table(guide, tokens)
    wide = min(44.0, (888 - LEFT - 64) / len(made.groups))
    head = [heading(16, 24, "state × token", title or say_size(made))]
    names = [_column_name(LEFT + wide * (place + 0.5), name) for place, name in enumerate(made.names)]
    names.append(soft(LEFT + wide * len(made.groups) + 8, TOP - 8, "legal", 11))
    rows = [part for row in range(len(made.states)) for part in _row(made, row, wide, len(guide.vocabulary))]
    bottom = TOP + HIGH * len(made.states) + 20
    foot = soft(16, bottom, legend(made))
    size = f"{counted(len(made.states), 'state')} x {counted(made.count, 'token')}"
    text = f"Token table: {size}; {_say(made)}"
    svg = drawing(920, bottom + 14, *head, *names, *rows, _gaps(made, wide), foot, alt=text)
    return Figure(svg, shorten(text, 400), text)


def say_size(made: TokenTable) -> str:
    """The size of the table and the meaning of a column."""
    rows, columns = made.left_out
    states, tokens = counted(len(made.states) + rows, "state"), counted(made.count + columns, "token")
    return f"{states} × {tokens} · a column is {made.by}"


def legend(made: TokenTable) -> str:
    """How to read a cell, and what is left out."""
    rows, columns = made.left_out
    more = f" · {rows:,} more states have no row" * bool(rows) + f" · {columns:,} more tokens no column" * bool(columns)
    return f"a filled cell is legal and names the state after it · ◎ the text may end{more}"


def _column_name(x: float, name: str) -> Element:
    return write(x, TOP - 8, shorten(name, 14), 11, mono=True, transform=f"rotate(-60 {x:g} {TOP - 8:g})")


def _row(made: TokenTable, row: int, wide: float, size: int) -> Iterator[Element]:
    y, end = TOP + HIGH * row, LEFT + wide * len(made.groups)
    sign = "◎ " if made.accepting[row] else ""
    yield write(LEFT - 8, y + 16, sign + shorten(made.states[row], 8), 12, text_anchor="end")
    yield node("rect", x=LEFT, y=y + 1, width=end - LEFT, height=HIGH - 2, fill="var(--gv-land)")
    for column in np.flatnonzero(made.leads[row] >= 0).tolist():
        yield from _cell(int(made.leads[row, column]), LEFT + wide * column, y, wide)
    count = made.legal[row]
    said = f"{count:,} · {share(count / size)}" if end < 720 else f"{count:,}"
    yield soft(end + 8, y + 16, said, 11)


def _cell(lead: int, x: float, y: float, wide: float) -> Iterator[Element]:
    yield node("rect", x=x, y=y + 1, width=wide, height=HIGH - 2, fill="var(--gv-sea)")
    if wide >= 16:
        words = name_state(lead) if wide >= 30 else f"{lead}"
        yield write(x + wide / 2, y + 16, words, 11, text_anchor="middle", fill="var(--gv-foam)")


def _gaps(made: TokenTable, wide: float) -> Element:
    tall = HIGH * len(made.states)
    lines = "".join(f"M{LEFT + wide * column:g} {TOP:g}v{tall:g}" for column in range(len(made.groups) + 1))
    return node("path", d=lines, fill="none", stroke="var(--gv-page)", stroke_width=2)


def _say(made: TokenTable) -> str:
    """The legal tokens of every state."""
    rows = []
    for state, leads in zip(made.states, made.leads.tolist(), strict=True):
        legal = [f"{name}→{name_state(lead)}" for name, lead in zip(made.names, leads, strict=True) if lead >= 0]
        rows.append(f"{state}: {' '.join(legal) or 'none'}")
    return "; ".join(rows)
