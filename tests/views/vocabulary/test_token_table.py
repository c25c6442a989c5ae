"""State x token: every cell against the guide itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

import guidedviz as gv
from guidedviz.views.vocabulary.table import COLUMNS, ROWS, find_tokens, token_table

TOY = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>", b"<script>", b"\n", b"4.2", b""], eos={5})
NUMBER = r"[0-9]+(\.[0-9]+)?"


@pytest.fixture(scope="module")
def clerk():
    file = Path(__file__).parents[3] / "assets" / "models" / "clerk" / "tokenizer.json"
    return gv.Vocabulary.from_tokenizer(Tokenizer.from_file(str(file)), eos=[0])


def check_cells(guide, made):
    for row in range(len(made.states)):
        mask = guide.mask(row)
        assert made.legal[row] == mask.sum()
        for column, group in enumerate(made.groups):
            after = {guide.advance(row, int(t)) if mask[t] else -1 for t in group}
            assert after == {made.leads[row, column]}


def test_few_tokens_have_a_column_each():
    guide = gv.guide(gv.regex(NUMBER), TOY)
    made = token_table(guide)
    assert [len(group) for group in made.groups] == [1] * 10
    assert sorted(int(group[0]) for group in made.groups) == list(range(10))
    check_cells(guide, made)
    assert made.accepting == (False, True, False, True)


def test_of_many_those_that_lead_alike_share_a_column(clerk):
    guide = gv.guide(gv.regex(NUMBER), clerk)
    made = token_table(guide)
    assert made.count == len(clerk)
    assert len(made.groups) == 4, "no number, digit, dot, end"
    check_cells(guide, made)


def test_of_too_many_kinds_the_largest_have_a_column(clerk):
    guide = gv.guide(gv.regex(r'\{"name": "[A-Za-z ]{1,30}", "age": [0-9]{1,3}\}'), clerk)
    made = token_table(guide)
    assert len(made.groups) == COLUMNS
    assert made.count + made.left_out[1] == len(clerk)
    assert "more tokens no column" in gv.views.draw_token_table(guide).svg
    check_cells(guide, made)


def test_a_search_or_a_list_chooses_the_columns(clerk):
    guide = gv.guide(gv.regex(NUMBER), clerk)
    assert set(token_table(guide, "/[0-9]/").names) == set("0123456789")
    assert token_table(guide, [clerk.ids(b"7")[0]]).names == ("7",)
    with pytest.raises(gv.SettingError, match="no such token"):
        token_table(guide, "no token has this text")


def test_only_so_many_states_have_a_row_and_the_rest_is_said(clerk):
    guide = gv.guide(gv.regex("[a-z]{100}"), clerk)
    made = token_table(guide, "#5")
    assert (len(made.states), made.left_out) == (ROWS, (101 - ROWS, 0))
    assert f"{101 - ROWS} more states have no row" in gv.views.draw_token_table(guide, "#5").svg


def test_a_guide_without_a_finite_machine_is_refused():
    with pytest.raises(gv.SettingError, match="finite machine"):
        gv.views.draw_token_table(gv.static_masks(TOY, [{0}]))


@pytest.mark.parametrize(
    ("query", "found"), [("4", {3, 8}), ("↵", {7}), ("/[0-9.]+/", {0, 1, 2, 3, 8}), ("0x3432", {3})]
)
def test_a_search_finds_by_text_signs_regex_and_bytes(query, found):
    assert set(np.flatnonzero(find_tokens(TOY, query)).tolist()) == found


@pytest.mark.parametrize("query", ["/(/", "0xZZ", "0x4"])
def test_a_search_that_makes_no_sense_says_so(query):
    with pytest.raises(gv.GuidedVizError):
        find_tokens(TOY, query)
