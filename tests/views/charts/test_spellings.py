"""The picture of spellings: what it draws is what the record holds."""

from xml.etree import ElementTree

import pytest

import guidedviz as gv
from guidedviz.views.charts.spellings import LIKELIEST
from tests.common import constant_model, regex_guide

PIECES = [b"n", b"a", b"m", b"e", b"na", b"am", b"me", b"nam", b"name", b"es", b":"]


def spell(regex="name:", pieces=PIECES, odds=None, **settings):
    logits = odds or [0.0] * len(pieces)
    toy = gv.ToyModel(pieces, lambda tokens: logits)
    guide = regex_guide(toy, regex)
    return gv.spellings(toy, pieces[-1].decode(), guide, **settings)


def test_a_token_that_goes_beyond_the_run_is_dashed():
    record = spell("n(am|a)e", [b"n", b"a", b"m", b"e", b"ame", b"am", b":"])
    assert record.run == b"na"
    figure = gv.views.draw_spellings(record)
    lines = figure.text.splitlines()[1:]
    ways = [line[:5].strip() for line in lines]
    assert ways == ["n a", "n ame", "n am"]
    assert figure.svg.count("stroke-dasharray") == 1 + 2  # the box after the run, and two tokens


def test_the_canonical_one_has_a_frame_of_its_own():
    figure = gv.views.draw_spellings(spell())
    rows = figure.text.splitlines()[1:]
    assert rows[0] == "name :    0.250  1.39 nats  canonical, longest"
    assert figure.svg.count('stroke-width="1.8"') == 2  # around its two tokens


def test_no_more_than_four_have_a_row_and_the_others_are_counted():
    pieces = [b"a", b"aa", b"b", b"bb", b"c", b"cc", b"!"]
    for text, more in (("aabb!", []), ("aabbcc!", ["and 4 more: 0.500"])):
        lines = gv.views.draw_spellings(spell(text, pieces)).text.splitlines()
        assert lines[1 + LIKELIEST :] == more


def test_a_name_keeps_its_row_however_unlikely_it_is():
    odds = [0.0] * 8 + [-20.0, 0.0, 0.0]
    record = spell("nameesnam:", odds=odds)
    assert record.canonical.probability < 1e-8
    lines = gv.views.draw_spellings(record).text.splitlines()
    rows = lines[1 : 1 + LIKELIEST]
    assert "canonical" in rows[-1]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (spell(limit=2), "not looked at: 0."),
        (spell("axzq", [b"a", b"x", b"\n"]), "dead ends, after which no token is legal: 1"),
    ],
)
def test_what_has_no_row_is_said(record, said):
    assert said in gv.views.draw_spellings(record).text
    begin = said.partition(":")[0]
    assert begin not in gv.views.draw_spellings(spell()).text


def test_of_a_long_run_the_beginning_is_drawn():
    record = spell("a{200}!", [b"a", b"aaaa", b"!"], limit=300)
    svg = gv.views.draw_spellings(record).svg
    ElementTree.fromstring(svg)
    assert "+153 bytes" in svg
    assert svg.count(">a<") == 48


TOY = constant_model([b"n", b"o", b"no", b"t", b"!", b"x" * 40], [5, 4, 3, 2, 1, 0])


def test_a_long_text_is_shown_from_a_token_near_the_change():
    guide = regex_guide(TOY, f"{'x' * 80}(n|x)o[t!]")
    run = gv.record(TOY, "t", guide, temperature=0, jump_forward=True)
    figure = gv.views.draw_rollback(run)
    one_jump = "retokenisation: 1 jump takes tokens back"
    assert figure.text.splitlines() == [one_jump, f"before: {'x' * 40} [n]", f"after: {'x' * 40} {{no}}"]
    assert figure.svg.count("line-through") == 1
