"""The lazy walks along a text: how many nodes of the trie each asked about."""

from collections.abc import Sequence
from math import log10

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.tokens.lazy import LazyWalk
from guidedviz.views.charts.chart import Axis, Box, Chart, SpanKind, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure
from guidedviz.views.vocabulary.walk import WALK_HINT
from guidedviz.views.words import label

MOST_WALK_ROWS = 40  # rows
WALK_LANE = 22.0
WITHOUT_SLICES = "without slices"
WHOLE_TRIE = "the whole trie"
BESIDE_SLICE = "the rest beside a slice"
WALK_SPANS: tuple[SpanKind, ...] = (
    (WITHOUT_SLICES, "soft", "hollow"),
    (WHOLE_TRIE, "blue", "solid"),
    (BESIDE_SLICE, "green", "solid"),
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
    expected = "one or more walks"
    hint = "gv.tokens.lazy_walks(machine, vocabulary, text)"
    expect(walks, Sequence, "draw_walks, walks", expected, hint)
    if not walks:
        raise SettingError("draw_walks, walks", seen="no walks", expected=expected, hint=hint)
    expect(without, Sequence, "draw_walks, without", "walks", hint)
    for walk in (*walks, *without):
        expect(walk, LazyWalk, "draw_walks", "a walk", WALK_HINT)
    shown = walks[:MOST_WALK_ROWS]
    names = tuple((float(len(shown) - place), shorten(label(walk.piece), 18)) for place, walk in enumerate(shown))
    boxes = list[tuple[str, Box]]()
    for walk, (lane, _) in zip(without, names, strict=False):
        boxes.append((WITHOUT_SLICES, (1.0, walk.asked, lane, _say_asked(walk))))
    for walk, (lane, _) in zip(shown, names, strict=True):
        kind = BESIDE_SLICE if walk.part else WHOLE_TRIE
        boxes.append((kind, (1.0, walk.asked, lane, f"{walk.asked:,}: {_say_asked(walk)}")))
    most = max(10, *(walk.nodes for walk in walks))
    ticks = tuple((10.0**power, f"{10**power:,}") for power in range(int(log10(most)) + 1))
    notes = [f"{len(walks):,} tokens: nodes asked about, of {walks[0].nodes:,} in the trie"]
    lines = [f"Lazy walks, {notes[0]}", *map(_say_asked, shown)]
    if len(walks) > MOST_WALK_ROWS:
        more = f"and {len(walks) - MOST_WALK_ROWS:,} more"
        notes.append(more)
        lines.append(more)
    x = Axis("nodes asked about", 1.0, float(most), ticks, log=True)
    y = Axis("", 0.4, len(shown) + 0.6, names, grid=False, mono=True)
    series = spans_by_kind(WALK_SPANS, boxes)
    chart = Chart("lazy walks", x, y, series, tuple(notes), width=620.0, height=WALK_LANE * len(shown))
    return draw_chart(chart, "\n".join(lines))


def _say_asked(walk: LazyWalk) -> str:
    said = f"before {label(walk.piece)}: {walk.asked:,} asked"
    if walk.part:
        said += f", {len(walk.part):,} tokens by a slice ({walk.part.name})"
    return f"{said}, {walk.legal:,} legal"
