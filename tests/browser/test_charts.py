"""Charts in JupyterLab are Plotly's: offline, in both themes, with texts under the pointer and a legend to press."""

from pathlib import Path

import plotly
import pytest

from guidedviz.decoding.overlap import Overlap
from guidedviz.files import shipped
from guidedviz.serving import Costs, Request, simulate
from guidedviz.views.charts.costs import draw_break_even
from guidedviz.views.charts.lanes import draw_overlap, draw_timeline
from tests.views.test_theme import contrast

pytestmark = pytest.mark.browser

CHARTS = """from dataclasses import replace
import guidedviz as gv
from guidedviz.decoding.overlap import Overlap
from guidedviz.files import shipped
from guidedviz.views.charts.costs import draw_break_even
from guidedviz.views.charts.lanes import draw_overlap
toy = gv.ToyModel([b"a", b"<b>x</b>", b"$x$"], lambda tokens: [0.0, 1.0, 2.0])
trace = gv.record(toy, "a", max_tokens=12)
times = [(8.0, 2.0, 1.0), (7.0, 3.0, 0.5), (60.0, 2.0, 1.0)]
trace = replace(trace, steps=tuple(
    replace(step, forward_ms=a, mask_ms=b, sample_ms=c) for step, (a, b, c) in zip(trace.steps, times * 4)))"""
SHOWN = (
    "gv.draw_costs(trace)",
    "draw_break_even({'table': (40, 0.02), 'walk': (0, 1.02)})",
    "draw_overlap(Overlap.load(shipped('traces/overlap-cpu.json')), 'trie')",
)


def hex_of(words):
    """A colour as `rgb(r, g, b)`, as the palette writes it."""
    parts = words.partition("(")[2].rstrip(")").split(",")[:3]
    return "#" + "".join(f"{round(float(part)):02x}" for part in parts)


COLOURS = """plot => [...plot.querySelectorAll('text')]
  .filter(t => t.textContent.trim() && t.closest('.xtick, .ytick, .gtitle, .legendtext'))
  .map(t => getComputedStyle([...t.querySelectorAll('tspan')].at(-1) ?? t).fill)"""


@pytest.mark.slow
def test_charts_are_plotly_figures_that_follow_the_theme(open_notebook):
    notebook = open_notebook(CHARTS, *SHOWN)
    asked = []
    notebook.page.on("request", lambda request: asked.append(request.url))
    notebook.run_all()
    assert notebook.failed_cells() == []
    plots = notebook.page.locator(".js-plotly-plot")
    plots.nth(len(SHOWN) - 1).locator(".main-svg").first.wait_for()
    for theme, back in (("Light", "#ffffff"), ("Dark", "#111111")):
        notebook.theme(f"JupyterLab {theme}")
        for plot in plots.all():
            fills = plot.evaluate(COLOURS)
            assert len(fills) > 4
            assert min(contrast(hex_of(fill), back) for fill in fills) >= 4.5
    assert not [url for url in asked if "127.0.0.1" not in url and not url.startswith(("data:", "blob:"))]

    costs = plots.first
    assert "<b>x</b>" in costs.inner_text() or "$x$" in costs.inner_text(), "tokens stay text"
    bars = costs.locator(".bars .point path")
    hover = costs.locator(".hovertext")
    assert bars.count() == 3 * 12
    for _ in range(20):  # Plotly forgets a mouse that comes while it draws the chart in its new colours
        costs.hover(force=True, position={"x": 1, "y": 1})
        bars.nth(1).hover(force=True)
        notebook.page.wait_for_timeout(200)
        if hover.count():
            break
    assert "forward 7.0 ms" in hover.text_content()
    costs.locator(".legendtoggle").first.click()
    shown = "plot => plot.querySelectorAll('.bars .point').length === 24"
    notebook.page.wait_for_function(shown, arg=costs.element_handle())


PLOTLY = Path(plotly.__file__).parent / "package_data/plotly.min.js"
LANES = [Request(0, 3), Request(0, 2, "order", compile_ms=5, mask_ms=1)]
CASES = {
    "lanes": lambda: draw_timeline(
        simulate(LANES, Costs(forward=4)), "a title of many words, which no phone shows whole"
    ),
    "notes": lambda: draw_overlap(Overlap.load(shipped("traces/overlap-cpu.json")), "trie"),
    "lines": lambda: draw_break_even({name: (40, 0.02 * n) for n, name in enumerate(("table", "walk", "recorded"), 1)}),
}
PLACED = """([data, layout]) => {
  const place = document.body.appendChild(document.createElement("div"));
  return Plotly.newPlot(place, data, layout, { responsive: true });
}"""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.quick("lanes")
def test_on_a_phone_the_title_of_a_chart_is_whole_and_nothing_lies_on_it(bare, name):
    page = bare.page
    page.add_script_tag(path=PLOTLY)
    chart = CASES[name]().chart
    page.evaluate(PLACED, [chart["data"], chart["layout"]])
    for room in (282, 931):  # in a cell on a phone, and beside a file browser
        bare.resize(room, 844)
        page.wait_for_function("room => document.querySelector('.main-svg').clientWidth > room - 40", arg=room)
        page.wait_for_timeout(300)
        title, legend, plot = (page.locator(part).bounding_box() for part in (".gtitle", ".legend", ".nsewdrag"))
        assert title["x"] >= 0
        assert title["x"] + title["width"] <= room, "it is not cut"
        assert title["y"] + title["height"] <= plot["y"]
        assert plot["y"] + plot["height"] <= legend["y"]
        assert plot["height"] > 90
        whole = page.locator(".main-svg").first.bounding_box()
        assert legend["y"] + legend["height"] <= whole["y"] + whole["height"] + 1
