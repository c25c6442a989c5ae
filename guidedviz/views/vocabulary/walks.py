"""The lazy walks along a text: how many nodes of the trie each asked about."""

from collections.abc import Sequence
from math import log10

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.tokens.lazy import LazyWalk
from guidedviz.views.charts.chart import Axis, Chart, SpanKind, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure
from guidedviz.views.vocabulary.walk import WALK_HINT
from guidedviz.views.words import label

MOST_ROWS = 40  # rows
LANE = 22.0
WITHOUT = "without slices"
KINDS: tuple[SpanKind, ...] = (
    (WITHOUT, "soft", "hollow"),
    ("the whole trie", "blue", "solid"),
    ("the rest beside a slice", "green", "solid"),
)


def draw_walks(walks: Sequence[LazyWalk], without: Sequence[LazyWalk] = ()) -> Figure:
    """One bar per token on a logarithmic axis; pale, the walks of the same text `without` slices.

    >>> v = gv.Vocabulary([b"2", b"20", b"26", b"-", b"a", b"ab"])
    >>> print(draw_walks(gv.tokens.lazy_walks(gv.regex("[0-9]{4}-"), v, "2026-")).text)
    Lazy walks, 3 tokens: nodes asked about, of 6 in the trie
    before 20: 5 asked, 3 legal
    before 26: 5 asked, 3 legal
    before -: 3 asked, 1 legal
    """
    expected, hint = "one or more walks", "gv.tokens.lazy_walks(machine, vocabulary, text)"
    expect(walks, Sequence, "draw_walks, walks", expected, hint)
    if not walks:
        raise SettingError("draw_walks, walks", seen="no walks", expected=expected, hint=hint)
    expect(without, Sequence, "draw_walks, without", "walks", hint)
    for walk in (*walks, *without):
        expect(walk, LazyWalk, "draw_walks", "a walk", WALK_HINT)
    shown = walks[:MOST_ROWS]
    lanes = [float(len(shown) - place) for place in range(len(shown))]
    boxes = [(WITHOUT, (1.0, walk.asked, lane, _say_cost(walk))) for walk, lane in zip(without, lanes, strict=False)]
    for walk, lane in zip(shown, lanes, strict=True):
        boxes.append((KINDS[2 if walk.part else 1][0], (1.0, walk.asked, lane, f"{walk.asked:,}: {_say_cost(walk)}")))
    most = max(10, *(walk.nodes for walk in walks))
    ticks = tuple((10.0**power, f"{10**power:,}") for power in range(int(log10(most)) + 1))
    names = tuple((lane, shorten(label(walk.piece), 18)) for walk, lane in zip(shown, lanes, strict=True))
    head = f"{len(walks):,} tokens: nodes asked about, of {walks[0].nodes:,} in the trie"
    more = [f"and {len(walks) - MOST_ROWS:,} more"] * (len(walks) > MOST_ROWS)
    x = Axis("nodes asked about", 1.0, float(most), ticks, log=True)
    y = Axis("", 0.4, len(shown) + 0.6, names, grid=False, mono=True)
    series = spans_by_kind(KINDS, boxes)
    chart = Chart("lazy walks", x, y, series, (head, *more), width=620.0, height=LANE * len(shown))
    return draw_chart(chart, "\n".join([f"Lazy walks, {head}", *map(_say_cost, shown), *more]))


def _say_cost(walk: LazyWalk) -> str:
    part = f", {len(walk.part):,} tokens by a slice ({walk.part.name})" if walk.part else ""
    return f"before {label(walk.piece)}: {walk.asked:,} asked{part}, {walk.legal:,} legal"
