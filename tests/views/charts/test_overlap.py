"""The timeline of forward and mask: what it draws is what the record holds."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import guidedviz as gv
from guidedviz.decoding.overlap import EngineRun, Overlap, Turn
from guidedviz.errors import SettingError, TraceError

ONE = tuple(Turn((10.0 * n, 10.0 * n + 5), (10.0 * n + 5, 10.0 * n + 9), 10.0 * n + 10) for n in range(12))
TWO = tuple(Turn((6.0 * n, 6.0 * n + 5), (6.0 * n, 6.0 * n + 4), 6.0 * n + 6) for n in range(12))
RECORD = Overlap(
    (EngineRun("trie", False, ONE), EngineRun("trie", True, TWO)), "small", "cpu", "2026-11-21", "JSON", 5, "RECORDED"
)


def test_every_token_has_a_forward_and_a_mask_in_both_runs():
    found = gv.views.draw_overlap(RECORD, tokens=4).svg
    titles = re.findall(r"<title>((?:token|mask) \d+): ([\d.]+) ms</title>", found)
    assert len(titles) == 2 * 2 * 4
    assert titles.count(("token 0", "5.00")) == titles.count(("mask 3", "4.00")) == 2


def test_only_where_logits_wait_is_a_wait_drawn():
    found = gv.views.draw_overlap(RECORD, tokens=4).svg
    waits = [title for title in re.findall(r"<title>(wait \d+): 4.00 ms</title>", found)]
    assert waits == ["wait 0", "wait 1", "wait 2", "wait 3"], "none in the run side by side"


def test_it_begins_where_it_is_told_to():
    found = gv.views.draw_overlap(RECORD, first=10, tokens=5)
    assert "token 11" in found.svg
    assert "token 9" not in found.svg
    assert found.text.startswith("trie, 2 of 12 tokens, RECORDED: small; cpu")


def test_the_words_have_all_figures():
    assert gv.views.draw_overlap(RECORD).text.splitlines()[1:] == [
        "one by one: forward 5.00 ms, mask 4.00 ms, the logits wait 4.00 ms, in all 10.00 ms a token",
        "side by side: forward 5.00 ms, mask 4.00 ms, the logits wait 0.00 ms, in all 6.00 ms a token",
    ]


def test_a_record_says_where_it_comes_from():
    assert "RECORDED, 2026-11-21 · small · cpu" in gv.views.draw_overlap(RECORD).svg
    assert ">live · small · cpu<" in gv.views.draw_overlap(replace(RECORD, source="LIVE")).svg


def test_hostile_names_stay_text():
    hostile = replace(RECORD, model="<script>alert(1)</script>", device='"><svg onload=x>')
    svg = gv.views.draw_overlap(hostile).svg
    assert "<script" not in svg
    ElementTree.fromstring(svg)


def test_what_is_not_there_cannot_be_drawn():
    with pytest.raises(SettingError, match="expected some of 12 tokens"):
        gv.views.draw_overlap(RECORD, first=12)
    with pytest.raises(SettingError, match="saw 0 tokens"):
        gv.views.draw_overlap(RECORD, tokens=0)
    with pytest.raises(TraceError, match="expected 'trie'"):
        gv.views.draw_overlap(RECORD, "split")
    for wrong in (None, "overlap"):
        with pytest.raises(SettingError, match=r"^draw_overlap: saw .*, expected a record"):
            gv.views.draw_overlap(wrong)
    for name in ("first", "tokens"):
        with pytest.raises(SettingError, match=f"^draw_overlap, {name}: saw None, expected a whole number"):
            gv.views.draw_overlap(RECORD, **{name: None})
