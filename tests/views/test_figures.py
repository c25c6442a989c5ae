"""Figures: whole SVGs in which a hostile vocabulary stays text, with the same said in words."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.decoding.trace import Candidate, Step, Trace
from guidedviz.views.figure import inline, picture
from guidedviz.views.theme import DARK, LIGHT, stand_alone

HOSTILE = [
    b"<script>alert(1)</script>",
    b'"onload="x',
    b"]]>",
    b"&amp;",
    b"\x00\x1b\xff",
    "\u202e\u200b".encode(),
    b"",
    b"\n",
]


def step(position, piece, legal=True, how="sampled", end=""):
    candidates = (
        Candidate(position, piece, 0.5, 0.8 if legal else 0.0, legal, 0.9 if legal else 0.0),
        Candidate(99, b" x", 0.1, 0.2, True, 0.1),
    )
    return Step(
        position, position, piece, how, 0.5, 0.8, 0.9, candidates, 2, 0.6, "q1", ("object",), 2.0, 0.003, 0.2, end
    )


STEPS = tuple(step(i, piece, i % 2 == 0) for i, piece in enumerate(HOSTILE))
TRACE = Trace(STEPS, "say <b>\n", "toy", "cpu", "2026-11-20", "<c>", 3, 0.7, 30, "TOY")
FIGURES = {
    "stage": gv.draw_stage(TRACE),
    "stage at a step": gv.draw_stage(TRACE, 3, costs=True),
    "stage at the prompt": gv.draw_stage(replace(TRACE, steps=())),
    "strip": gv.draw_strip(TRACE, 2),
    "distribution": gv.draw_distribution(STEPS[1]),
    "bars": gv.draw_bars(
        [p.decode("latin-1") for p in HOSTILE], {"before": [0.1] * 8, "after": [-2.0] * 8}, struck={1}
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_well_formed_and_everything_hostile_is_text(name):
    root = ET.fromstring(FIGURES[name].svg)
    assert {e.tag.split("}")[1] for e in root.iter()} <= {"svg", "g", "rect", "text", "line"}
    assert not [key for e in root.iter() for key in e.attrib if key.startswith("on")]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_that_stands_alone_is_opaque_and_needs_no_page(name):
    svg = stand_alone(FIGURES[name].svg)
    assert "var(--gv" not in svg
    back = ET.fromstring(svg)[0]
    assert back.get("fill") == LIGHT["page"]
    assert back.get("width") == ET.fromstring(svg).get("width")


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_the_same_in_words(name):
    figure = FIGURES[name]
    assert figure.text
    assert figure.alt == ET.fromstring(figure.svg).get("aria-label")
    assert "\n" not in figure.text


def test_headless_a_figure_is_a_picture_and_live_it_follows_the_theme(monkeypatch):
    figure = FIGURES["stage"]
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    html = figure._repr_mimebundle_()["text/html"]
    assert html == picture(figure)
    data = re.search(r'base64,([^"]+)', html)[1]
    assert ET.fromstring(base64.b64decode(data)) is not None
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS")
    assert figure._repr_mimebundle_()["text/html"] == inline(figure)
    assert "var(--jp-layout-color1" in inline(figure)


def test_forbidden_tokens_are_struck_and_named_forbidden():
    figure = gv.draw_distribution(step(0, b"no", legal=False))
    assert 'text-decoration="line-through"' in figure.svg
    assert "→ forbidden" in figure.svg
    assert "no 0.50 to forbidden" in figure.alt


def test_a_picture_has_no_times_unless_asked_for_so_that_it_is_the_same_at_every_run():
    assert "ms" not in gv.draw_stage(TRACE).svg.replace("ms:", "")
    assert "2.0 ms" in gv.draw_stage(TRACE, costs=True).svg


@pytest.mark.parametrize("source", ["LIVE", "RECORDED", "TOY"])
def test_every_picture_says_where_it_comes_from(source):
    assert source in gv.draw_stage(replace(TRACE, source=source)).svg


def test_bars_show_blanks_at_the_ends_of_a_label():
    assert gv.draw_bars([" two words "], {"p": [1]}).text == "␣two words␣ p 1"
    assert "0.50 → 1" in gv.draw_bars(["a"], {"before": [0.5], "after": [1]}).svg
    assert "2 | 3" in gv.draw_bars(["a"], {"one kind": [2], "two kinds": [3]}).svg, "nothing has become anything"


def contrast(one: str, two: str) -> float:
    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("back", ["page", "card"])
def test_text_can_be_read_on_every_ground(palette, back):
    for name in ("ink", "soft", "blue", "orange", "gold", "green"):
        needed = 4.5 if name in ("ink", "soft", "blue", "green") else 3
        assert contrast(palette[name], palette[back]) >= needed, name
    assert contrast(palette["on"], palette["blue"]) >= 4.5
