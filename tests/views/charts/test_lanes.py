"""What lanes on a clock show: a simulated server, and the forward pass beside the mask."""

import re
from dataclasses import replace

from guidedviz.decoding.overlap import EngineRun, Overlap, Turn
from guidedviz.serving import Costs, Policy, Request, simulate
from guidedviz.views import draw_overlap, draw_timeline

STORY = Request(0, 4)
ORDER = Request(5, 2, "order", compile_ms=20, mask_ms=1)
ONE = tuple(Turn((10.0 * n, 10.0 * n + 5), (10.0 * n + 5, 10.0 * n + 9), 10.0 * n + 10) for n in range(12))
TWO = tuple(Turn((6.0 * n, 6.0 * n + 5), (6.0 * n, 6.0 * n + 4), 6.0 * n + 6) for n in range(12))
SLOW_FIRST = [(11.0 * n, 11.0 * n + 11) for n in range(6)] + [(66 + 6.0 * n, 72 + 6.0 * n) for n in range(6)]
RECORD = Overlap(
    (EngineRun("trie", False, ONE), EngineRun("trie", True, TWO)), "small", "cpu", "2026-11-21", "JSON", 5, "RECORDED"
)


def test_every_part_of_a_blocked_batch_is_drawn_where_it_happened():
    schedule = simulate([STORY, ORDER], Costs(forward=10), Policy("blocks"))
    figure = draw_timeline(schedule)
    assert "request 1, order: arrives 5.0 ms, joins 30.0 ms, first token 41.0 ms" in figure.text
    for words in ("forward pass", "masks", "compile", "waits for its machine or the next pass", "decodes"):
        assert words in figure.svg
    assert "--gv-sky" not in figure.svg, "the blue of dark is the sky of light"
    assert figure.svg.count("compile, the batch waits: 20.0 ms") == 1
    assert figure.svg.count("masks: 1.0 ms") == 2


def test_of_many_requests_the_first_eight_are_drawn():
    requests = [Request(10 * n, 3) for n in range(40)]
    figure = draw_timeline(simulate(requests, Costs(forward=1)))
    assert "40 requests, of which 8 are drawn" in figure.text
    assert figure.text.splitlines()[-1].startswith("request 7,")


def test_every_token_has_a_forward_and_a_mask_in_both_runs_and_a_wait_where_logits_wait():
    svg = draw_overlap(RECORD).svg
    titles = re.findall(r"<title>((?:token|mask|logits wait) \d+): ([\d.]+) ms</title>", svg)
    assert len(titles) == 2 * 2 * 6 + 6
    assert titles.count(("token 0", "5.00")) == 2
    assert titles.count(("mask 3", "4.00")) == 2
    assert titles.count(("logits wait 3", "4.00")) == 1, "none in the run side by side"


def test_an_overlap_shows_six_tokens_and_says_all_figures():
    found = draw_overlap(RECORD)
    assert "token 5" in found.svg
    assert "token 6" not in found.svg
    assert found.text.splitlines() == [
        "trie, 6 of 12 tokens, RECORDED: small; cpu",
        "one by one: forward 5.00 ms, mask 4.00 ms, the logits wait 4.00 ms, 10.00 ms per token",
        "side by side: forward 5.00 ms, mask 4.00 ms, the logits wait 0.00 ms, 6.00 ms per token",
    ]


def test_the_tokens_drawn_differ_as_much_as_the_means_of_both_runs():
    slow_first = tuple(Turn((start, start + 5), (start, start + 4), end) for start, end in SLOW_FIRST)
    runs = EngineRun("trie", False, ONE), EngineRun("trie", True, slow_first)
    svg = draw_overlap(replace(RECORD, runs=runs)).svg
    assert "token 0:" not in svg, "the first six tokens lose time, and the mean gains"
    assert "token 5:" in svg
