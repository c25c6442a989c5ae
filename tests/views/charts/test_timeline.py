"""Claims about the pictures of a simulated server: what is drawn when, in words and in Plotly's data."""

import pytest

import guidedviz as gv
from guidedviz.serving import Costs, Policy, Request, simulate
from guidedviz.views import draw_throughput, draw_timeline

STORY, ORDER = Request(0, 4), Request(5, 2, "order", compile_ms=20, mask_ms=1)


def test_every_part_of_a_blocked_batch_is_drawn_where_it_happened():
    figure = draw_timeline(simulate([STORY, ORDER], Costs(forward=10), Policy("blocks")))
    assert "request 1, order: arrives 5.0 ms, joins 30.0 ms, first token 41.0 ms" in figure.text
    for words in ("forward pass", "masks", "compile", "waits for its machine or a place", "decodes"):
        assert words in figure.svg
    assert figure.svg.count("compile, the batch waits: 20.0 ms") == 1
    assert figure.svg.count("masks: 1.0 ms") == 2


def test_a_window_shows_its_passes_and_requests_only():
    rows = [Request(10 * n, 3) for n in range(40)]
    figure = draw_timeline(simulate(rows, Costs(forward=1)), start=100, stop=121, requests=2)
    assert "2 of 40 requests" in figure.text
    assert [line.partition(",")[0] for line in figure.text.splitlines()[1:]] == ["request 10", "request 11"]


def test_hostile_names_are_escaped():
    figure = draw_timeline(simulate([Request(0, 2, "<script>alert(1)</script>")], Costs(forward=1)))
    assert "<script" not in figure.svg
    assert "<img" not in draw_throughput({"<img src=x>": {0: 1, 1: 2}}).svg


def test_published_numbers_are_dots_on_the_line_of_their_policy():
    figure = draw_throughput({"V1": {0: 10, 1: 5}, "V0": {0: 9, 1: 4}}, {"V1": {0: 11}}, title="rates")
    assert figure.text.splitlines() == [
        "rates",
        "V1, simulated: 0% 10.0, 100% 5.0",
        "V1, published: 0% 11.0",
        "V0, simulated: 0% 9.0, 100% 4.0",
    ]
    assert figure.svg.count("<circle") >= 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: draw_timeline("run"), "saw str, expected a timeline"),
        (lambda: draw_timeline(simulate([STORY], Costs(forward=1)), start=9, stop=3), "expected some of 4 ms"),
        (lambda: draw_timeline(simulate([STORY], Costs(forward=1)), start="a"), "start: saw 'a'"),
        (lambda: draw_throughput({"a": {0: float("nan")}}), "throughput: saw nan"),
        (lambda: draw_throughput([1]), "throughputs by share, per policy"),
        (lambda: draw_throughput({}), "saw no numbers"),
        (lambda: draw_throughput({"a": {0: 1}}, {"b": {0: 1}}), "one or more shares per policy"),
    ],
)
def test_bad_input_is_refused(call, said):
    with pytest.raises(gv.SettingError, match=said):
        call()
