"""The card of a finding shows its step, and the tokens that were wanted and taken, as boxes and one fact per line."""

import re

import pytest

import guidedviz as gv
from guidedviz.decoding.finding_card import REFUSED, TAKEN
from guidedviz.files import shipped
from guidedviz.widgets.clean import clean
from tests.common import regex_guide

PROMPT = "The umbrella is red and costs $12.50.\nJSON with product, price:\n"


@pytest.fixture(scope="module")
def pear():
    clerk = gv.load_model("clerk")
    guide = regex_guide(clerk, r'\{"product": "[a-z]{1,6}", "price": [0-9]+\}')
    return gv.diagnose(gv.record(clerk, PROMPT, guide, temperature=0))


def boxes_of(html, look):
    """The texts of the boxes that look like this."""
    return re.findall(f'<span style="{re.escape(look)}">(.*?)</span>', html)


def test_the_step_is_marked_and_wanted_stands_beside_taken(pear):
    html = pear._repr_html_()
    assert boxes_of(html, REFUSED) == ["umbrella"]
    assert boxes_of(html, TAKEN) == ["pear", "pear"]  # once in its place, once beside what was wanted
    assert re.search(r"wanted <span[^>]*>umbrella</span> &gt;0.99, refused · taken <span[^>]*>pear</span>", html)


def test_each_fact_is_a_line_and_none_is_a_row_of_a_table(pear):
    html = pear._repr_html_()
    lines = re.sub("<span.*?</span>", "", html)
    assert "<table" not in html
    for fact in ("Z is 1 in ", "after umbrel, l cannot come", "expected &quot;", "Z is below 0.1 at 2 of 14 steps"):
        (line,) = re.findall(rf"<div[^>]*>([^<]*{fact}[^<]*)</div>", lines)
        assert ";" not in line.replace("&quot;", "")


def test_a_refusal_at_another_step_names_its_step():
    refusal = gv.decoding.looks.WantedToken(7, 0.01, b"a", 0.9, b"b", 0.01, "")
    finding = gv.decoding.looks.Finding("whitespace loop", 5, ("blanks",), refusal)
    assert finding.seen.startswith("at step 8 Z is 0.01: the model wanted")
    assert finding._replace(step=7).seen.startswith("Z is 0.01: the model wanted")


def test_refused_whitespace_alone_is_not_shown_as_a_fault(pear):
    kept = gv.diagnose(gv.Trace.load(shipped("traces/smollm2/person-asked.trace.json")))
    assert kept.result == "1 finding, harmless if the values are right"
    assert "? 1 finding" in kept._repr_html_()
    assert "! 1 finding" in pear._repr_html_()


def test_the_saved_page_keeps_the_looks_of_the_boxes(pear):
    cleaned = clean(pear._repr_html_())
    for part in ("dashed", "#0072b22a", "monospace"):
        assert part in cleaned
