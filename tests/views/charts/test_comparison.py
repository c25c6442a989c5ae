"""Engines along one text as a grid: every cell is what the record says, by shape, by sign and in words."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import guidedviz as gv
from guidedviz.tokens.compare import KINDS, ComparedStep, Comparison, Disagreement
from guidedviz.views.charts.comparison import SIGNS

V = gv.Vocabulary([b"a", b"b", b"<script>alert(1)</script>", b"\xff", "\u202e".encode(), b"</s>"], eos={5})
ENGINES = (("one", "1.2.3"), ("two", "4.5.6"))


def step(position, token=0, *differences, refused=(), stopped=False):
    return ComparedStep(position, token, 2, differences, refused, stopped)


def drawn(*steps, engines=ENGINES, unable=(), constraint="a|b"):
    return gv.draw_comparison(Comparison(constraint, V, engines, unable, steps))


def found(engine="two", kind="known fault", missing=(), extra=(), name="why"):
    return Disagreement(engine, kind, name, missing, extra)


def texts(figure, tag="text"):
    return [each.text for each in ET.fromstring(figure.svg).findall(f".//{{*}}{tag}")]


def test_every_engine_has_a_cell_at_every_step_and_says_agree_or_differ():
    figure = drawn(step(0), step(1, 1, found(missing=(0,), extra=(1, 4))), step(2, None))
    assert texts(figure, "title") == [
        "one, before a, 2 legal\nagrees",
        "two, before a, 2 legal\nagrees",
        "one, before b, 2 legal\nagrees",
        "two, before b, 2 legal\ntwo: known fault, why (1 missing, 2 extra): a b <U+202E>",
        "one, before the end, 2 legal\nagrees",
        "two, before the end, 2 legal\nagrees",
    ]
    assert texts(figure).count("=") == 5
    assert {"one", "1.2.3", "two", "4.5.6", "a", "b", "the end", "−1 +2"} <= set(texts(figure))


def test_each_kind_has_a_mark_a_colour_and_a_shape_of_its_own_in_its_cell_and_in_the_legend():
    assert tuple(SIGNS) == KINDS
    assert all(len(set(parts)) == len(KINDS) for parts in zip(*SIGNS.values(), strict=True))
    words = texts(drawn(step(0, 0, *(found(kind=kind, missing=(0, 1)) for kind in KINDS))))
    assert all(words.count(SIGNS[kind][0]) == 2 for kind in KINDS)
    assert "−10" in words
    one = texts(drawn(step(0, 0, found(kind="lawful choice", extra=(3,)))))
    assert [kind for kind in KINDS if kind in one] == ["lawful choice"]


def test_an_engine_that_stops_is_asked_no_more_and_one_that_is_unable_says_why():
    steps = step(0, 0, found(missing=(0,)), refused=("two",)), step(1, 1), step(2, 2, stopped=True)
    figure = drawn(*steps, unable=(("three", "a grammar\u202e"),))
    two = [title for title in texts(figure, "title") if title.startswith("two")]
    assert two[0].endswith("stops: it refuses a")
    assert all(title.endswith("not asked: it stopped before") for title in two[1:])
    assert {
        "stops: it refuses a at 0, and is not asked again",
        "cannot take the constraint: a grammar<U+202E>",
        f"ends here: the constraint does not allow {V.display(2)}",
    } <= set(texts(figure))


def test_steps_in_which_all_agree_are_folded_and_what_does_not_fit_is_counted():
    calm = drawn(*map(step, range(400)))
    assert {"= in all 400", "0–399"} <= set(texts(calm))
    figure = drawn(*(step(n, 0, found(missing=(0,))) for n in range(600)))
    (said,) = [words for words in texts(figure) if "more steps" in words]
    assert said == f"{600 - len(texts(figure, 'title')) // 2:,} more steps"
    for each in (calm, figure):
        assert float(ET.fromstring(each.svg).get("width")) < 1000
        assert float(ET.fromstring(each.svg).get("height")) < 800


def test_without_an_engine_the_steps_are_still_there():
    figure = drawn(step(0), step(1, None), engines=(), unable=(("one", "no package"),))
    assert {"0", "1", "cannot take the constraint: no package"} <= set(texts(figure))
