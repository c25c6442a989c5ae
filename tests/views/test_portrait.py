"""A value at the end of a cell shows itself: one line as text, a small picture as HTML."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import guidedviz as gv
from tests.common import constant_model, regex_guide

ADA = "Ada is 36.\nJSON with age:\n"


@pytest.fixture(scope="module")
def guide(clerk):
    return regex_guide(clerk, r'\{"age": [0-9]+\}')


@pytest.fixture(scope="module")
def trace(clerk, guide):
    return gv.record(clerk, ADA, guide, temperature=0)


def test_a_trace_is_one_line_and_a_strip(trace):
    assert repr(trace) == f"Trace('clerk', {len(trace.steps)} steps, '{{\"age\": 36}}', eos)"
    assert trace._repr_html_().count('data-part="token"') == len(trace.steps)
    trace = gv.Trace((), "", "x", "cpu", "2026-01-01", "", 0, 1.0, 5)
    assert repr(trace) == "Trace('x', 0 steps, '')"


def test_machines_guides_and_vocabularies_are_one_line_and_a_picture(clerk, guide):
    bounded = gv.within(guide, 30)
    for value in (guide, guide.machine, clerk.vocabulary, gv.json(), bounded):
        assert "\n" not in repr(value)
        assert len(repr(value)) < 200
        html = value._repr_html_()
        ET.fromstring(html)
        assert len(html) < 200_000
    assert "<svg" in guide._repr_html_()
    assert repr(clerk.vocabulary) in clerk.vocabulary._repr_html_()


def test_a_mask_is_one_line_and_a_map_and_remains_an_array(clerk, guide):
    mask = guide.mask(guide.initial)
    assert repr(mask) == 'mask(2 of 4,096 tokens are legal: { {")'
    ET.fromstring(mask._repr_html_())
    assert str(mask).startswith("[False")
    assert mask.dtype == np.bool_
    assert mask.shape == (4096,)
    assert not mask.flags.writeable
    everything = repr(mask | ~mask)
    assert everything.startswith("mask(4,096 of 4,096 tokens are legal: ")
    assert len(everything) < 120
    for part in (mask[:3], mask.astype(int), mask.reshape(2, -1), np.stack([mask, mask])):
        assert repr(part).startswith("array([")
    numbers = [type(one) for one in (mask.sum(), mask.mean(), mask.any())]
    assert numbers == [np.int64, np.float64, np.bool_]


def test_where_nothing_can_be_drawn_the_line_is_enough():
    v = gv.Vocabulary([b"a", b"b"])
    for value in (gv.earley('root ::= "a"'), gv.static_masks(v, [{0}, {1}]), gv.guide(gv.earley('root ::= "a"'), v)):
        assert value._repr_html_() is None


def test_hostile_texts_are_shown_as_text():
    hostile = b"<img src=x onerror=alert(1)>\x1b[31m"
    toy = constant_model([hostile, b"</s>"], [9, 0], eos={1})
    run = gv.record(toy, hostile.decode(), max_tokens=2)
    for value in (run, toy.vocabulary):
        assert "\x1b" not in repr(value)
        html = value._repr_html_()
        assert "<img" not in html
        assert "\x1b" not in html


def test_rows_of_a_trace_are_the_rows_of_a_table(clerk, guide, trace):
    rows = trace.rows()
    assert len(rows) == len(trace.steps)
    for row in rows:
        assert tuple(row) == tuple(rows[0]), "every row has the same columns"
    texts = [row["text"] for row in rows[:-1]]
    assert "".join(texts) == '{"age":␣36}'
    first = trace.steps[0]
    assert [rows[0][name] for name in ("token", "legal", "p", "Z")] == [first.token, first.legal, first.raw, first.mass]
    cold = gv.record(clerk, ADA, guide, temperature=0, jump_forward=True)
    for step, row in zip(cold.steps, cold.rows(), strict=True):
        assert row["how"] == ("forced" if step.how == "forced" else "likeliest")
        assert ([row["p"], row["Z"], row["legal"]] == [None] * 3) == (step.how == "forced")
    run = gv.record(clerk, ADA, guide, stop=lambda: True)
    (stopped, *_) = run.rows()
    assert (stopped["token"], stopped["end"]) == (None, "stop")
