"""A small vocabulary at every position of a run, and the path taken."""

from guidedviz.decoding.trace import TRACE_HINT, Trace
from guidedviz.errors import SettingError, expect
from guidedviz.markup import Element, node
from guidedviz.tokens.guide import Guide
from guidedviz.views.figure import Figure, figure_of, rect, soft, write, write_legend

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
