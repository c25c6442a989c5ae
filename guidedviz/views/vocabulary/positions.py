"""A small vocabulary at every position of a run, and the path taken."""

from collections.abc import Iterator

from guidedviz.decoding.trace import TRACE_HINT, Trace
from guidedviz.errors import SettingError, expect
from guidedviz.markup import Element, node
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide
from guidedviz.views.figure import Figure, centred, figure_of, rect, soft_centred, soft_right, write, write_legend

MOST_GRID_TOKENS = 100  # tokens
TOKEN_PITCH = 10.6
POSITION_PITCH = 26.0
GRID_LEFT = 84.0
GRID_TOP = 46.0


def draw_positions(trace: Trace, title: str = "") -> Figure:
    """The mask at each position of a guided run, and a line through the tokens that were drawn.

    >>> toy = gv.ToyModel([b"a", b"b", b"c"], lambda tokens: [1, 2, 3])
    >>> masks = gv.static_masks(toy.vocabulary, [{0, 1}, {2}])
    >>> print(draw_positions(gv.record(toy, "a", masks, seed=1)).text)
    position 0: 2 of 3 legal, b drawn
    position 1: 1 of 3 legal, c drawn
    """
    expect(title, str, "draw_positions, title", "a text")
    guide = _small_guide(expect(trace, Trace, "draw_positions", TRACE_HINT))
    names = [guide.vocabulary.display(token) for token in range(len(guide.vocabulary))]
    path = [step.token for step in trace.steps if step.token >= 0]
    parts = [write(12, 18, title or "legal tokens at each position", font_weight="bold")]
    for token, name in enumerate(names):
        x, _ = _grid_place(0, token)
        parts.append(soft_centred(x, GRID_TOP - 4, name[:1], 10, mono=True))
    lines = []
    state = guide.initial
    for position, token in enumerate(path):
        mask = guide.mask(state)
        parts += _write_position(position, mask)
        legal = int(mask.sum())
        lines.append(f"position {position}: {legal} of {len(names)} legal, {names[token]} drawn")
        state = guide.advance(state, token)
    places = [_grid_place(position, token) for position, token in enumerate(path)]
    points = " ".join(f"{x:g},{y:g}" for x, y in places)
    line = {"points": points, "fill": "none"}
    parts.append(node("polyline", **line, stroke="var(--gv-page)", stroke_width=5))  # keeps the path apart from cells
    parts.append(node("polyline", **line, stroke="var(--gv-orange)", stroke_width=2))
    parts += [_write_drawn(x, y, names[token][:1]) for (x, y), token in zip(places, path, strict=True)]
    low = GRID_TOP + POSITION_PITCH * len(path) + 20
    signs = (
        (_write_legal(5, -6, 8, 12, True), "legal"),
        (_write_legal(5, -6, 8, 12, False), "illegal"),
        (_write_drawn(9, 0, ""), "drawn"),
    )
    parts += write_legend(signs, GRID_LEFT, low)[0]
    width = max(GRID_LEFT + TOKEN_PITCH * len(names) + 16, 330.0)
    return figure_of(width, low + 14, "\n".join(lines), *parts)


def _small_guide(trace: Trace) -> Guide:
    """The guide of a run over few tokens."""
    guide: Guide | None = trace.guide
    if guide is not None and len(guide.vocabulary) <= MOST_GRID_TOKENS:
        return guide
    seen = "a run without a guide" if guide is None else f"{len(guide.vocabulary):,} tokens"
    raise SettingError("draw_positions", seen=seen, expected=f"a guided run over at most {MOST_GRID_TOKENS} tokens")


def _grid_place(position: int, token: int) -> tuple[float, float]:
    """The middle of a cell."""
    return GRID_LEFT + TOKEN_PITCH * (token + 0.5), GRID_TOP + POSITION_PITCH * (position + 0.5)


def _write_position(position: int, mask: Mask) -> Iterator[Element]:
    """The cells of one position."""
    y = GRID_TOP + POSITION_PITCH * position + 4
    yield soft_right(GRID_LEFT - 14, y + 13, f"position {position}", 11)
    for token, legal in enumerate(mask.tolist()):
        yield _write_legal(GRID_LEFT + TOKEN_PITCH * token + 1, y, TOKEN_PITCH - 2, POSITION_PITCH - 8, legal)


def _write_legal(x: float, y: float, width: float, height: float, legal: bool) -> Element:
    if legal:
        return rect(x, y, width, height, stroke="var(--gv-line)", fill="var(--gv-sky)")
    return rect(x, y, width, height, stroke="var(--gv-line)", fill="none", stroke_dasharray="2 2")


def _write_drawn(x: float, y: float, name: str) -> Element:
    """The mark of a drawn token, with the token in it."""
    ring = node("circle", cx=x, cy=y, r=9, fill="var(--gv-page)", stroke="var(--gv-orange)", stroke_width=2.5)
    return ring + centred(x, y + 4, name, 12, mono=True, font_weight="bold")
