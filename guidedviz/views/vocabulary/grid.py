"""A small vocabulary at every position of a run: one column per token, one row per position, and the path taken."""

from collections.abc import Sequence

from guidedviz.decoding.trace import Trace
from guidedviz.errors import SettingError, expect
from guidedviz.markup import Element, node, together
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import TRACE_HINT, Figure, drawing, soft, write

MOST = 100  # tokens
CELL, ROW, LEFT, TOP = 10.6, 26.0, 84.0, 46.0


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
    vocabulary, state, rows, said, points = (
        guide.vocabulary,
        guide.initial,
        list[Element](),
        list[str](),
        list[Element](),
    )
    path = [step.token for step in trace.steps if step.token >= 0]
    for position, token in enumerate(path):
        mask = guide.mask(state)
        rows.append(_draw_row(position, mask.tolist()))
        legal = f"{int(mask.sum())} of {len(vocabulary)} legal"
        said.append(f"position {position}: {legal}, {vocabulary.display(token)} drawn")
        points.append(_dot(*_place(position, token), vocabulary.display(token)[:1]))
        state = guide.advance(state, token)
    line = {"points": " ".join("{:g},{:g}".format(*_place(*place)) for place in enumerate(path)), "fill": "none"}
    under = node("polyline", **line, stroke="var(--gv-page)", stroke_width=5)  # keeps the path apart from the cells
    over = node("polyline", **line, stroke="var(--gv-orange)", stroke_width=2)
    head = write(12, 18, title or "legal tokens at each position", font_weight="bold")
    parts = [head, _draw_names(vocabulary), *rows, under, over, *points, _draw_legend(len(path))]
    width, text = max(LEFT + CELL * len(vocabulary) + 16, 330.0), "\n".join(said)
    return Figure(drawing(width, TOP + ROW * len(path) + 34, *parts, alt=text), text, text)


def _place(position: int, token: int) -> tuple[float, float]:
    """The middle of a cell."""
    return LEFT + CELL * (token + 0.5), TOP + ROW * (position + 0.5)


def _draw_names(vocabulary: Vocabulary) -> Element:
    return together(
        soft(_place(0, token)[0], TOP - 4, vocabulary.display(token)[:1], 10, mono=True, text_anchor="middle")
        for token in range(len(vocabulary))
    )


def _draw_row(position: int, mask: Sequence[bool]) -> Element:
    y = TOP + ROW * position + 4
    cells = (_cell(LEFT + CELL * token + 1, y, CELL - 2, ROW - 8, legal) for token, legal in enumerate(mask))
    return soft(LEFT - 14, y + 13, f"position {position}", 11, text_anchor="end") + together(cells)


def _cell(x: float, y: float, width: float, height: float, legal: bool) -> Element:
    look = {"fill": "var(--gv-sky)"} if legal else {"fill": "none", "stroke_dasharray": "2 2"}
    return node("rect", x=x, y=y, width=width, height=height, stroke="var(--gv-line)", **look)


def _dot(x: float, y: float, name: str) -> Element:
    """The mark of a drawn token, with the token in it."""
    ring = node("circle", cx=x, cy=y, r=9, fill="var(--gv-page)", stroke="var(--gv-orange)", stroke_width=2.5)
    return ring + write(x, y + 4, name, 12, mono=True, text_anchor="middle", font_weight="bold")


def _draw_legend(rows: int) -> Element:
    y = TOP + ROW * rows + 20
    signs = [_cell(LEFT, y - 10, 8, 12, True), _cell(LEFT + 66, y - 10, 8, 12, False), _dot(LEFT + 146, y - 4, "")]
    words = (soft(LEFT + x, y, name, 12) for x, name in ((14, "legal"), (80, "illegal"), (162, "drawn")))
    return together([*signs, *words])
