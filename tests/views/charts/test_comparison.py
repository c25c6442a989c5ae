"""Engines along one text as a grid: every cell is what the record says, by shape, by sign and in words."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.tokens.compare import KINDS, ComparedStep, Comparison, Disagreement
from guidedviz.views.charts.comparison import SIGNS

V = gv.Vocabulary([b"a", b"b", b"<script>alert(1)</script>", b"\xff", "\u202e".encode(), b"</s>"], eos={5})
ENGINES = (("one", "1.2.3"), ("two", "4.5.6"))


def step(position, token=0, *differences, refused=(), stopped=False):
    return ComparedStep(position, token, 2, differences, refused, stopped)


def record(*steps, engines=ENGINES, unable=(), constraint="a|b"):
    return Comparison(constraint, V, engines, unable, steps)


def found(engine="two", kind="known fault", missing=(), extra=(), name="why"):
    return Disagreement(engine, kind, name, missing, extra)


def words_of(figure):
    return [each.text for each in ET.fromstring(figure.svg).findall(".//{*}text")]


def titles_of(figure):
    return [each.text for each in ET.fromstring(figure.svg).findall(".//{*}title")]


def test_every_engine_has_a_cell_at_every_step_and_says_agree_or_differ():
    figure = gv.draw_comparison(record(step(0), step(1, 1, found(missing=(0,), extra=(1, 4))), step(2, None)))
    assert titles_of(figure) == [
        "one, before a, 2 legal\nagrees",
        "two, before a, 2 legal\nagrees",
        "one, before b, 2 legal\nagrees",
        "two, before b, 2 legal\nknown fault: why\n  1 missing: a\n  2 extra: b <U+202E>",
        "one, before the end, 2 legal\nagrees",
        "two, before the end, 2 legal\nagrees",
    ]
    assert words_of(figure).count("=") == 5
    assert "−1 +2" in words_of(figure)
    assert {"one", "1.2.3", "two", "4.5.6", "a", "b", "the end"} <= set(words_of(figure))


def test_each_kind_has_a_mark_a_colour_and_a_shape_of_its_own():
    assert tuple(SIGNS) == KINDS
    for parts in zip(*SIGNS.values(), strict=True):
        assert len(set(parts)) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_shows_its_sign_and_its_name_and_others_do_not(kind):
    words = words_of(gv.draw_comparison(record(step(0, 0, found(kind=kind, extra=(3,))))))
    assert words.count(SIGNS[kind][0]) == 2, "in the cell and in the legend"
    assert [each for each in KINDS if each in words] == [kind]


def test_several_kinds_in_one_cell_stand_side_by_side():
    figure = gv.draw_comparison(record(step(0, 0, *(found(kind=kind, missing=(0, 1)) for kind in KINDS))))
    assert all(words_of(figure).count(SIGNS[kind][0]) == 2 for kind in KINDS)
    assert "−10" in words_of(figure)


def test_an_engine_that_stops_is_asked_no_more_and_one_that_is_unable_says_why():
    steps = step(0, 0, found(missing=(0,)), refused=("two",)), step(1, 1), step(2, None)
    figure = gv.draw_comparison(record(*steps, unable=(("three", "a grammar\u202e"),)))
    two = [title for title in titles_of(figure) if title.startswith("two")]
    assert two[0].endswith("stops: it refuses a")
    assert all(title.endswith("not asked: it stopped before") for title in two[1:])
    assert "two: differs in 1 of 1" in figure.text
    assert "one: agrees in 3" in figure.text
    assert "two stops: it refuses a at 0, and is not asked again" in figure.text
    assert "three cannot take the constraint: a grammar<U+202E>" in figure.text
    assert "cannot take the constraint: a grammar<U+202E>" in words_of(figure)


def test_a_text_that_the_constraint_does_not_allow_is_not_called_its_end():
    said = gv.draw_comparison(record(step(0, 2, stopped=True))).text
    assert f"the text ends here: the constraint does not allow {V.display(2)}" in said


def test_steps_in_which_all_agree_are_folded_and_what_does_not_fit_is_counted():
    calm = gv.draw_comparison(record(*map(step, range(400))))
    assert {"= in all 400", "0–399"} <= set(words_of(calm))
    figure = gv.draw_comparison(record(*(step(n, 0, found(missing=(0,))) for n in range(600))))
    (said,) = [words for words in words_of(figure) if "more steps" in words]
    assert said == f"{600 - len(titles_of(figure)) // 2:,} more steps"
    assert "known fault, why: in 600, first before a (1 missing)" in figure.text
    for each in (calm, figure):
        assert float(ET.fromstring(each.svg).get("width")) < 1000
        assert float(ET.fromstring(each.svg).get("height")) < 800


def test_the_words_name_no_version():
    figure = gv.draw_comparison(record(step(0), step(1, None)))
    assert figure.text == figure.alt
    assert figure.text.split() == ET.fromstring(figure.svg).get("aria-label").split()
    assert "1.2.3" not in figure.text


def test_hostile_tokens_engines_and_constraints_stay_text():
    hostile = (("<script>", "</g>"),)
    steps = step(0, 2, found("<script>", extra=(2, 4), name="<b>&\u202e"[:4])), step(1, 4), step(2, 3)
    figure = gv.draw_comparison(record(*steps, engines=hostile, constraint="<script>\n\u202e"))
    tags = {each.tag.split("}")[1] for each in ET.fromstring(figure.svg).iter()}
    assert tags == {"svg", "g", "rect", "text", "path", "title"}
    assert "\u202e" not in figure.svg + figure.text


def test_without_an_engine_the_steps_are_still_there():
    figure = gv.draw_comparison(record(step(0), step(1, None), engines=(), unable=(("one", "no package"),)))
    assert figure.text.split("\n") == ["compare a|b: 0 engines, 2 steps", "one cannot take the constraint: no package"]


def test_what_is_no_comparison_is_refused():
    with pytest.raises(SettingError, match="draw_comparison: saw str, expected a comparison"):
        gv.draw_comparison("a|b")
