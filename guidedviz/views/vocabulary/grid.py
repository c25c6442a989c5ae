"""A small vocabulary at every position of a run: one column per token, one row per position, and the path taken."""

from __future__ import annotations

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
    path = [step.token for step in trace.steps if step.token >= 0]
    masks = [set(legal) for legal in _masks_along(guide, path)]
    said = "\n".join(_say_rows(guide.vocabulary, masks, path))
    width = max(LEFT + CELL * len(guide.vocabulary) + 16, 330.0)
    rows = [_draw_row(place, masks[place], len(guide.vocabulary)) for place in range(len(path))]
    head = [write(12, 18, title or "legal tokens at each position", font_weight="bold"), _draw_names(guide.vocabulary)]
    names = [guide.vocabulary.display(token)[:1] for token in path]
    parts = [*head, *rows, _draw_path(path, names), _draw_legend(len(path))]
    return Figure(drawing(width, TOP + ROW * len(path) + 34, *parts, alt=said), said, said)


def _masks_along(guide: Guide, path: list[int]) -> list[list[int]]:
    state, masks = guide.initial, []
    for token in path:
        masks.append(guide.mask(state).nonzero()[0].tolist())
        state = guide.advance(state, token)
    return masks


def _place(position: int, token: int) -> tuple[float, float]:
    """The middle of a cell."""
    return LEFT + CELL * (token + 0.5), TOP + ROW * (position + 0.5)


def _draw_names(vocabulary: Vocabulary) -> Element:
    names = (vocabulary.display(token) for token in range(len(vocabulary)))
    return together(
        soft(_place(0, token)[0], TOP - 4, name[:1], 10, mono=True, text_anchor="middle")
        for token, name in enumerate(names)
    )


def _draw_row(position: int, legal: set[int], size: int) -> Element:
    y = TOP + ROW * position + 4
    cell = {"y": y, "width": CELL - 2, "height": ROW - 8}
    cells = []
    for token in range(size):
        look = {"fill": "var(--gv-sky)"} if token in legal else {"fill": "none", "stroke_dasharray": "2 2"}
        cells.append(node("rect", x=LEFT + CELL * token + 1, **cell, stroke="var(--gv-line)", **look))
    return soft(LEFT - 14, y + 13, f"position {position}", 11, text_anchor="end") + together(cells)


def _draw_path(path: list[int], names: list[str]) -> Element:
    points = [_place(position, token) for position, token in enumerate(path)]
    line = " ".join(f"{x:g},{y:g}" for x, y in points)
    colours = (("page", 5), ("orange", 2))  # the light line below keeps the path apart from the cells
    look = {"points": line, "fill": "none"}
    ways = (node("polyline", **look, stroke=f"var(--gv-{name})", stroke_width=thick) for name, thick in colours)
    return together([*ways, *(_dot(x, y, name) for (x, y), name in zip(points, names, strict=True))])


def _dot(x: float, y: float, name: str) -> Element:
    """The mark of a drawn token, with the token in it."""
    ring = node("circle", cx=x, cy=y, r=9, fill="var(--gv-page)", stroke="var(--gv-orange)", stroke_width=2.5)
    return ring + write(x, y + 4, name, 12, mono=True, text_anchor="middle", font_weight="bold")


def _draw_legend(rows: int) -> Element:
    y = TOP + ROW * rows + 20
    box = {"y": y - 10, "width": 8, "height": 12, "stroke": "var(--gv-line)"}
    legal = node("rect", x=LEFT, fill="var(--gv-sky)", **box)
    illegal = node("rect", x=LEFT + 66, fill="none", stroke_dasharray="2 2", **box)
    words = (soft(LEFT + x, y, name, 12) for x, name in ((14, "legal"), (80, "illegal"), (162, "drawn")))
    return legal + illegal + _dot(LEFT + 146, y - 4, "") + together(words)


def _say_rows(vocabulary: Vocabulary, masks: list[set[int]], path: list[int]) -> list[str]:
    return [
        f"position {position}: {len(legal)} of {len(vocabulary)} legal, {vocabulary.display(token)} drawn"
        for position, (legal, token) in enumerate(zip(masks, path, strict=True))
    ]
