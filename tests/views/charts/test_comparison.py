"""Engines along one text: every dot is what the record says, by colour, by sign and in words."""

import xml.etree.ElementTree as ET

import guidedviz as gv
from guidedviz.tokens.compare import EXTRA_REASONS, MISSING_REASONS, NO_REASON, ComparedStep, Comparison, Disagreement
from guidedviz.views.charts.comparison import DIFFERENCE_SIGNS, MOST_COMPARED_STEPS

PIECES = [b"a", b"b", b"c", b"\xff", "\u202e".encode(), b"</s>"]
V = gv.Vocabulary(PIECES, eos={5})
ENGINES = (("one", "1.2.3"), ("two", "4.5.6"))


def step(position, token=0, *differences, refused=(), stopped=False):
    return ComparedStep(position, token, 2, differences, refused, stopped)


def drawn(*steps, engines=ENGINES, unable=(), constraint="a|b"):
    return gv.draw_comparison(Comparison(constraint, V, engines, unable, steps))


def found(engine="two", kind="known fault", missing=(), extra=(), name="why"):
    return Disagreement(engine, kind, name, missing, extra)


def texts(figure, tag="text"):
    root = ET.fromstring(figure.svg)
    return [each.text for each in root.findall(f".//{{*}}{tag}")]


def test_every_engine_has_a_dot_at_every_step_and_says_agree_or_differ():
    difference = found(missing=(0,), extra=(1, 4))
    wrong = step(1, 1, difference)
    figure = drawn(step(0), wrong, step(2, None))
    assert texts(figure, "title") == [
        *(f"one, before {name}, 2 legal\nagrees" for name in ("a", "b", "the end")),
        *(f"two, before {name}, 2 legal\nagrees" for name in ("a", "the end")),
        "two, before b, 2 legal\ntwo: known fault, why (1 missing, 2 extra): a b <U+202E>",
    ]
    labels = {"one 1.2.3", "two 4.5.6", "a", "b", "the end", "! −1 +2", "! known fault"}
    assert labels <= set(texts(figure))


def test_each_kind_has_a_mark_and_a_colour_of_its_own():
    reasons = (*EXTRA_REASONS, *MISSING_REASONS, NO_REASON, ("ours",))
    assert {*DIFFERENCE_SIGNS} == {kind for kind, *_ in reasons}
    columns = zip(*DIFFERENCE_SIGNS.values(), strict=True)
    for parts in columns:
        assert len(set(parts)) == len(DIFFERENCE_SIGNS)
    kinds = [found(kind=kind, missing=(0, 1)) for kind in DIFFERENCE_SIGNS]
    words = texts(drawn(step(0, 0, *kinds)))
    assert all({mark, f"{mark} {kind}"} <= set(words) for kind, (mark, _) in DIFFERENCE_SIGNS.items())


def test_an_engine_that_stops_is_asked_no_more_and_one_that_is_unable_says_why():
    steps = step(0, 0, found(missing=(0,)), refused=("two",)), step(1, 1), step(2, 2, stopped=True)
    figure = drawn(*steps, unable=(("three", "a grammar\u202e"),))
    titles = texts(figure, "title")
    assert sum(title.startswith("two, before") for title in titles) == 1
    assert "two refuses a" in texts(figure, "title")
    assert {
        "two refuses a at 0, and is not asked again",
        "three cannot take the constraint: a grammar<U+202E>",
        "the text ends here: the constraint does not allow c",
    } <= set(texts(figure))


def test_what_does_not_fit_is_counted_and_without_an_engine_the_steps_are_still_there():
    difference = found(missing=(0,))
    steps = [step(n, 0, difference) for n in range(600)]
    figure = drawn(*steps)
    rest = 600 - MOST_COMPARED_STEPS
    assert f"{rest} more steps are not drawn; {rest} have a difference" in texts(figure)
    assert float(ET.fromstring(figure.svg).get("width")) < 1000
    steps = step(0), step(1, None)
    alone = drawn(*steps, engines=(), unable=(("one", "no package"),))
    assert {"a", "the end", "one cannot take the constraint: no package"} <= set(texts(alone))
