"""The share of the vocabulary that is legal in each state."""

from __future__ import annotations

from math import ceil, log10

from guidedviz.errors import expect, shorten
from guidedviz.tokens.guide import Guide
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.charts.series import Axis, Chart, Series
from guidedviz.views.figure import Figure
from guidedviz.views.vocabulary.map import share
from guidedviz.views.vocabulary.token_table import finite_index

MOST = 400  # states that get a bar


def draw_density(guide: Guide, title: str = "") -> Figure:
    """One bar per state with its share of legal tokens, on a logarithmic scale.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_density(gv.guide(gv.regex("[0-9]+"), v)).text
    'Density: 2 states over 6 tokens; q0 33%, q1 50%'
    """
    expect(title, str, "draw_density, title", "a text")
    counts, size = finite_index(guide).legal.tolist(), len(guide.vocabulary)
    shown, decades = counts[:MOST], max(1, ceil(log10(size)))
    about = f"{len(counts):,} states over {size:,} tokens"
    names = [guide.label(state) for state in range(len(shown))]
    said = [f"{name} {share(count / size)}" for name, count in zip(names, shown, strict=True)]
    x = Axis("state", -0.5, max(len(shown), 24) - 0.5, tuple(enumerate(names)), grid=False, mono=True)
    low = 10.0**-decades * 0.9  # a single token of a full decade is still a bar
    y = Axis("legal tokens", low, 1.0, tuple((10.0**-n, share(10.0**-n)) for n in range(decades + 1)), log=True)
    bars = tuple(map(float, range(len(shown)))), tuple(max(low, count / size) for count in shown)
    hover = tuple(f"{words} of {size:,}: {count:,} tokens" for words, count in zip(said, shown, strict=True))
    ends = [state for state in range(len(shown)) if guide.is_accepting(state)]
    rings = tuple(map(float, ends)), tuple(bars[1][state] for state in ends)
    told = tuple(f"{names[state]}: the text may end here" for state in ends)
    series = (
        Series("legal tokens", "bars", *bars, hover, "sea", start=(low,) * len(shown)),
        Series("the text may end here", "dots", *rings, told, "orange", "hollow"),
    )
    text = f"Density: {about}; {', '.join(said)}"
    text += f"; {len(counts) - MOST:,} more have no bar" if len(counts) > MOST else ""
    chart = Chart("legal tokens per state", x, y, series, (title or about,), 832.0, 150.0)
    return draw_chart(chart, shorten(text, 400))
