"""Figures: whole SVGs in which a hostile vocabulary stays text, with the same said in words."""

import base64
import re
import struct
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.decoding.trace import Candidate, Step, Trace
from guidedviz.errors import SettingError
from guidedviz.views.figure import SHARP, Figure, picture
from guidedviz.views.theme import LIGHT, stand_alone

HOSTILE = [b"<script>alert(1)</script>", b'"onload="x', b"]]>", b"&amp;", b"\x00\x1b\xff", b"", b"\n"]
HOSTILE += ["\u202e\u200b".encode()]


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
    "stage": gv.views.draw_stage(TRACE),
    "stage at a step": gv.views.draw_stage(TRACE, 3),
    "stage at the prompt": gv.views.draw_stage(replace(TRACE, steps=())),
    "strip": gv.draw_strip(TRACE),
    "strip of Z": gv.draw_strip(TRACE, mass=True),
    "distribution": gv.draw_distribution(STEPS[1]),
    "bars": gv.draw_bars([p.decode("latin-1") for p in HOSTILE], {"before": [0.1] * 8, "after": [-2.0] * 8}),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_well_formed_opaque_without_a_page_and_says_the_same_in_words(name):
    figure = FIGURES[name]
    root = ET.fromstring(figure.svg)
    alone = stand_alone(figure.svg)
    tags = {e.tag.split("}")[1] for e in root.iter()}
    assert tags <= {"svg", "g", "rect", "text", "line", "path"}
    names = [key for e in root.iter() for key in e.attrib]
    assert not [name for name in names if name.startswith("on")]
    assert "var(--gv" not in alone
    back = ET.fromstring(alone)[0]
    assert back.get("fill") == LIGHT["page"]
    assert back.get("width") == root.get("width")
    assert figure.text
    assert figure.alt == root.get("aria-label")
    assert "\n" not in figure.text


def test_headless_a_figure_is_a_picture_and_live_it_follows_the_theme(monkeypatch):
    figure = FIGURES["stage"]
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    html = figure._repr_mimebundle_()["text/html"]
    assert html == str(picture(figure))
    data = re.search(r'base64,([^"]+)', html)[1]
    assert ET.fromstring(base64.b64decode(data)) is not None
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS")
    assert "var(--jp-layout-color1" in (live := figure._repr_mimebundle_()["text/html"])
    assert figure.svg in live


def test_forbidden_tokens_are_struck_dashed_and_named_forbidden_and_the_bin_says_what_was_removed():
    figure = gv.draw_distribution(step(0, b"no", legal=False))
    assert 'text-decoration="line-through"' in figure.svg
    assert 'stroke="var(--gv-magenta)" stroke-dasharray="3 2"' in figure.svg
    assert 'data-part="bin"' in figure.svg
    assert "removed 40%" in figure.svg
    assert "× 1/Z = × 1.67" in figure.svg
    assert "no 0.50 to forbidden" in figure.alt


def test_bars_show_blanks_at_the_ends_of_a_label():
    assert gv.draw_bars([" two words "], {"p": [1]}).text == "␣two words␣ p 1"
    bars = gv.draw_bars(["a"], {"before": [0.5], "after": [1]})
    assert "0.50 → 1" in bars.svg
    bars = gv.draw_bars(["a"], {"one kind": [2], "two kinds": [3]})
    assert "2 | 3" in bars.svg, "nothing has become anything"


def test_a_strip_shows_the_z_of_each_step():
    by_step = gv.draw_strip(TRACE, mass=True)
    assert "0.60" in by_step.svg
    assert "Z per step: " in by_step.alt


# --- files ---


SQUARES = Figure(
    '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20" viewBox="0 0 30 20">'
    "<style>.a { --lit: var(--gv-orange); } .a rect { fill: var(--lit); }</style>"
    '<g class="a"><rect width="30" height="20"/></g></svg>',
    "squares",
    "squares",
)


def test_a_png_has_two_pixels_per_unit(tmp_path):
    data = SQUARES.save(tmp_path / "x.PNG").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    size = struct.unpack(">II", data[16:24])
    assert size == (30 * SHARP, 20 * SHARP)


def test_without_its_package_a_png_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(SettingError, match=r"package resvg_py.*pip install .*\[lab\]"):
        SQUARES.save(tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


def test_an_svg_file_stands_alone(tmp_path):
    path = FIGURES["stage"].save(str(tmp_path / "x.svg"))
    saved = path.read_text(encoding="utf-8")
    assert "var(" not in saved
    assert ET.fromstring(saved)[0].get("fill") == LIGHT["page"]


def test_an_html_file_is_one_page_without_links(tmp_path):
    saved = FIGURES["stage"].save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert saved.startswith("<!doctype html>")
    assert "<svg" in saved
    assert not re.search(r'(src|href)="?http', saved)


@pytest.mark.parametrize("path", ["x", "x.pdf", "", None, 3])
def test_other_file_types_are_refused(path):
    with pytest.raises(SettingError, match=r"^Figure.save, path: saw"):
        SQUARES.save(path)


def test_a_picture_that_is_much_wider_than_a_notebook_scrolls_and_keeps_letters_of_ten_pixels():
    large = gv.draw_machine(gv.json())
    small = gv.draw_machine(gv.regex("[0-9]+"))
    width = 0.85 * large.drawing.attributes["width"]
    assert f'style="width:{width:.0f}px;max-width:none"' in str(picture(large))
    assert str(picture(large)).startswith('<div style="overflow-x:auto">')
    assert "style" not in str(picture(small))
    assert "max-width:100%" in small.svg
