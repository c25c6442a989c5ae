"""One engine against ours at one step: the colours of the map and the list are the two masks, token by token."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.tokens.compare.differences import ComparedStep, Comparison, Disagreement
from guidedviz.views.engines.disagreement import MOST_LISTED
from tests.views.vocabulary.test_split_map import stencils

PIECES = [b"a", b"b", b"ab", b"ba", b"abc", b"<script>\xe2", b"c", b"", b"</s>"]
V = gv.Vocabulary(PIECES, eos={8})
OURS = {0, 2, 4}


def record(*differences, vocabulary=V, refused=()):
    ours = np.isin(np.arange(len(vocabulary)), list(OURS))
    first = ComparedStep(0, 0, len(OURS), differences, refused, np.packbits(ours, bitorder="little").tobytes())
    last = ComparedStep(1, None, len(OURS), (), (), first.bits)
    return Comparison("a[^b]*", vocabulary, (("one", "1"), ("two", "2")), (("three", "no stack"),), (first, last))


FAULT = Disagreement("one", "known fault", "a fault", (2, 4), (5,))
CHOICE = Disagreement("one", "lawful choice", "a choice", (), (6,))
OTHER = Disagreement("two", "not known", "another's", (0,), (1,))


def test_the_four_colours_are_the_two_masks():
    found = record(FAULT, CHOICE, OTHER)
    assert stencils(found, gv.views.draw_disagreement(found, 0, "one")) == [{0}, {2, 4}, {5, 6}, {1, 3, 7, 8}]
    assert stencils(found, gv.views.draw_disagreement(found, 0, "two")) == [{2, 4}, {0}, {1}, {3, 5, 6, 7, 8}]
    assert stencils(found, gv.views.draw_disagreement(found, 1, "one")) == [OURS, set(), set(), set(range(9)) - OURS]


def test_a_line_goes_around_what_differs_and_its_dashes_say_which():
    svg = gv.views.draw_disagreement(record(FAULT), 0, "one").svg
    assert svg.count('stroke-dasharray="3 2"') == 1, "missing, in the legend"
    assert len(re.findall('gv-outline"[^>]*stroke-dasharray', svg)) == 1, "and on the map"
    assert "missing: the engine omits it 2" in svg
    assert "extra: the engine adds it 1" in svg


def test_the_list_has_id_text_bytes_and_why():
    figure = gv.views.draw_disagreement(record(FAULT, CHOICE, OTHER), 0, "one")
    assert figure.text.split("\n") == [
        "one against ours before a, step 0: of 9 tokens 1 legal in both, 2 missing, 2 extra, 4 illegal in both",
        "known fault: a fault (2 missing, 1 extra)",
        "  − 2 ab 61 62",
        "  − 4 abc 61 62 63",
        "  + 5 <script><0xE2> 3c 73 63 72 69 70 74 …",
        "lawful choice: a choice (1 extra)",
        "  + 6 c 63",
    ]
    words = [each.text for each in ET.fromstring(figure.svg).findall(".//{*}text")]
    assert {"known fault: a fault (2 missing, 1 extra)", "61 62 63", "<script><0xE2>", "−", "+"} <= set(words)


def test_long_lists_are_cut_and_the_rest_counted():
    many = gv.Vocabulary([b"%d" % n for n in range(500)])
    wrong = Disagreement("one", "ours", "wrong", tuple(sorted(OURS)), tuple(range(100, 400)))
    figure = gv.views.draw_disagreement(record(wrong, vocabulary=many), 0, "one")
    assert figure.text.count("\n  + ") == MOST_LISTED
    assert figure.text.endswith(f"\n  ⋮ {300 - MOST_LISTED:,} more extra")
    assert float(ET.fromstring(figure.svg).get("height")) < 900


def test_where_the_masks_agree_it_says_so():
    assert "the masks are the same" in gv.views.draw_disagreement(record(), 0, "two").svg


def test_who_was_not_asked_there_is_refused():
    stopped = record(FAULT, refused=("one",))
    for args, said in (
        ((0, "three"), "saw three: no stack, expected an engine that takes the constraint"),
        ((0, "four"), "saw 'four', expected 'one', 'two'"),
        ((2, "one"), "saw step 2, expected 0 to 1"),
        ((-1, "one"), "saw step -1, expected 0 to 1"),
    ):
        with pytest.raises(SettingError, match=re.escape(f"draw_disagreement: {said}")):
            gv.views.draw_disagreement(record(FAULT), *args)
    with pytest.raises(SettingError, match="expected 0 to 0; try: one is not asked after step 0"):
        gv.views.draw_disagreement(stopped, 1, "one")
    gv.views.draw_disagreement(stopped, 1, "two")


def test_hostile_names_stay_text():
    figure = gv.views.draw_disagreement(record(Disagreement("one", "ours", "<script>\u202e", (0,), (5,))), 0, "one")
    assert not any(each.tag.endswith("script") for each in ET.fromstring(figure.svg).iter())
    assert "\u202e" not in figure.svg + figure.text


def test_our_mask_in_the_record_is_what_the_regex_allows():
    """Brute force: every text that may come is the start of one long text."""
    v, long = gv.Vocabulary([*PIECES[:4], b"</s>"], eos={4}), b"ab" * 9
    for at, step in enumerate(gv.compare_engines("(ab)+", v, [2, 2], []).steps):
        text = b"ab" * at
        legal = {token for token in range(4) if long.startswith(text + PIECES[token])} | ({4} if text else set())
        assert set(np.flatnonzero(step.mask).tolist()) == legal
        assert step.legal == len(legal)


def test_a_real_engine_is_drawn_with_the_mask_it_gave():
    pytest.importorskip("outlines_core")
    v = gv.Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    found = gv.compare_engines("a|ab", v, "ab", ["outlines-core"])
    both, missing, extra, neither = stencils(found, gv.views.draw_disagreement(found, 0, "outlines-core"))
    assert (both, missing, extra, neither) == ({0}, {2}, set(), {1, 3})
