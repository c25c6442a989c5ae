"""A chart is drawn as its record says: marks at their values, and every text."""

import xml.etree.ElementTree as ET

import pytest

from guidedviz.views.charts.chart import LINES, Axis, Chart, Mark, Series
from guidedviz.views.charts.costs import COST_PARTS
from guidedviz.views.charts.plot import PlotFrame, draw_chart
from tests.views.test_theme import contrast

X = Axis("x", 0.0, 10.0, ((0.0, "0"), (10.0, "10")))
Y = Axis("y", 1.0, 100.0, ((1.0, "1"), (10.0, "10"), (100.0, "100")), log=True)
SERIES = (
    Series("line", "line", tuple(map(Mark, (0.0, 5.0, 10.0), (1.0, 10.0, 100.0))), look="dashed", part="curve"),
    Series("dots", "dots", (Mark(5.0, 10.0, hover="d0", words="ten"),), "orange", "hollow"),
    Series("bars", "bars", (Mark(2.0, 10.0, 1.0, "b0"), Mark(4.0, 400.0, 1.0, "b1", "400")), "gold", "hatched"),
    Series("spans", "spans", (Mark(3.0, 10.0, 1.0, "s0", "one"), Mark(9.0, 10.0, 4.0, "s1", "two")), "green", "hollow"),
)
CHART = Chart("a chart", X, Y, SERIES, ("a note",))


def texts(svg, tag="text"):
    elements = ET.fromstring(svg).iter()
    ending = f"}}{tag}"
    return [each.text for each in elements if each.tag.endswith(ending)]


def test_every_mark_has_its_text():
    figure = draw_chart(CHART, "words")
    titles = sorted(texts(figure.svg, "title"))
    assert titles == ["b0", "b1", "d0", "s0", "s1"], "all but the points of a line"
    names = [series.name for series in SERIES]
    for words in ("a chart", "a note", "ten", "400", "one", "two", *names):
        assert words in texts(figure.svg)


def test_a_mark_stands_where_its_value_is():
    frame = PlotFrame(CHART, 20.0, 30.0)
    x = 20 + CHART.width / 2
    y = 30 + CHART.height / 2
    assert frame.at(5.0, 10.0) == (x, y), "the middle"
    corner = (20 + CHART.width, 30 + CHART.height)
    assert frame.at(99.0, 0.001) == corner, "a value beyond an axis is at its end"


def test_plotly_has_the_same_numbers_and_texts():
    figure = draw_chart(CHART, "words")
    line, dots, bars, spans = figure.chart["data"]
    assert (line["x"], line["y"]) == ([0.0, 5.0, 10.0], [1.0, 10.0, 100.0])
    assert (dots["x"], dots["y"]) == ([5.0], [10.0])
    assert [b + h for b, h in zip(bars["base"], bars["y"], strict=True)] == [10.0, 400.0]
    assert [b + w for b, w in zip(spans["base"], spans["x"], strict=True)] == [3.0, 9.0]
    told = [trace["hovertext"] for trace in figure.chart["data"]]
    assert told == [[mark.hover for mark in series.marks] for series in SERIES]
    figure.plotly.to_plotly_json()  # it is valid


PAPERS = ("#ffffff", "#111111")  # of a notebook: Plotly itself cannot follow its theme


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", [*(name for name, _ in LINES), *(name for _, name, _ in COST_PARTS)])
def test_marks_are_told_from_light_and_dark_paper(name, paper):
    series = Series("bars", "bars", (Mark(2.0, 10.0, 1.0),), name, "hollow")
    chart = Chart("", X, Y, (series,))
    (bars,) = draw_chart(chart, "").chart["data"]
    look = bars["marker"]
    assert "opacity" not in look
    assert contrast(look["line"]["color"], paper) >= 3, "a hollow bar has a full outline"


@pytest.mark.parametrize("headless", ["1", ""])
def test_a_built_notebook_marks_the_numbers_that_differ_between_runs(monkeypatch, headless):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", headless)
    for live in (True, False):
        bundle = draw_chart(CHART, "words", live)._repr_mimebundle_()
        assert bundle["text/plain"] == "words"
        assert ('data-drawing="live"' in bundle["text/html"]) == bool(live and headless)


def test_labels_that_have_no_room_are_turned_and_if_there_are_too_many_thinned():
    def labels(count):
        x = Axis("", 0.0, float(count), tuple((float(n), "token") for n in range(count)), mono=True)
        return draw_chart(Chart("", x, Y, ()), "").svg

    assert "rotate(-90" not in labels(10)
    assert labels(60).count("rotate(-90") == 60
    assert labels(300).count("rotate(-90") == 300 // 4
