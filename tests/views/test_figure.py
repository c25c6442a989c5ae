"""Figures: whole SVGs in which a hostile vocabulary stays text, with the same said in words."""

import base64
import re
import struct
import sys
import xml.etree.ElementTree as ET

import pytest

import guidedviz as gv
from guidedviz.decoding.trace import Candidate, Step, Trace
from guidedviz.errors import SettingError
from guidedviz.views.figure import SHARP, Figure, figure_of, picture, show_figure
from guidedviz.views.theme import LIGHT


def step(piece, legal=True):
    candidates = (
        Candidate(0, piece, 0.5, 0.8 if legal else 0.0, legal, 0.9 if legal else 0.0),
        Candidate(99, b" x", 0.1, 0.2, True, 0.1),
    )
    return Step(0, 0, piece, "sampled", 0.5, 0.8, 0.9, candidates, 2, 0.6, "q1", ("object",), 2.0, 0.003, 0.2)


TRACE = Trace((step(b"a"), step(b"b")), "say <b>\n", "toy", "cpu", "2026-11-20", "<c>", 3, 0.7, 30, "TOY")
STAGE = gv.views.draw_stage(TRACE)


def test_headless_a_figure_is_a_picture_and_live_it_follows_the_theme(monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    html = STAGE._repr_mimebundle_()["text/html"]
    assert html == str(picture(STAGE))
    data = re.search(r'base64,([^"]+)', html)[1]
    ET.fromstring(base64.b64decode(data))
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS")
    live = STAGE._repr_mimebundle_()["text/html"]
    assert "var(--jp-layout-color1" in live
    assert STAGE.svg in live


def test_forbidden_tokens_are_struck_dashed_and_named_forbidden_and_the_bin_says_what_was_removed():
    figure = gv.draw_distribution(step(b"no", legal=False))
    dashed = 'stroke="var(--gv-magenta)" stroke-dasharray="3 2"'
    for part in ('text-decoration="line-through"', dashed, 'data-part="bin"', "removed 40%", "× 1/Z = × 1.67"):
        assert part in figure.svg
    assert "no 0.50 to forbidden" in figure.alt


def test_bars_show_blanks_at_the_ends_of_a_label():
    assert gv.draw_bars([" two words "], {"p": [1]}).text == "␣two words␣ p 1"
    for values, said in ((("before", "after"), "2 → 3"), (("one kind", "two kinds"), "2 | 3")):
        assert said in gv.draw_bars(["a"], dict(zip(values, ([2], [3]), strict=True))).svg


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


def test_a_file_stands_alone(tmp_path):
    drawing = STAGE.save(str(tmp_path / "x.svg")).read_text(encoding="utf-8")
    assert "var(" not in drawing
    assert ET.fromstring(drawing)[0].get("fill") == LIGHT["page"]
    page = STAGE.save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert not re.search(r'(src|href)="?http', page)


@pytest.mark.parametrize("path", ["x", "x.pdf", "", None, 3])
def test_other_file_types_are_refused(path):
    with pytest.raises(SettingError, match=r"^Figure.save, path: saw"):
        SQUARES.save(path)


@pytest.mark.parametrize(("width", "least"), [(200, 170), (920, 700), (1100, 700), (1200, 1020)])
def test_a_picture_scrolls_before_it_is_too_small_but_shrinks_to_the_width_of_a_notebook(width, least):
    figure = figure_of(width, 20, "words")
    assert str(picture(figure)).endswith(f' style="min-width:{least}px"/>')
    assert f"max-width:100%;min-width:{least}px;" in str(show_figure(figure))
