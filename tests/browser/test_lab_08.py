"""Lab 08 as a student works through it: wrong answers are shown, right ones fill the masks, and the pictures stand."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser

SORT = """def sort_token(rule, state, piece):
    finished = {finished}
    for byte in piece:
        state = rule.step(state, byte)
        if state is None:
            return "dependent" if finished else "rejected"
        finished = finished or rule.is_accepting(state)
    return "accepted"


gv.checks.sort_token(sort_token)"""
FILL = """def fill_mask(parts, on_stack):
    accepted, dependent = (set().union(*column) for column in zip(*parts))
    return accepted | {token for token in {asked} if on_stack(token)}


gv.checks.fill_mask(fill_mask)"""


def test_the_stage_plays_and_one_may_go_back(lab_page):
    stage = lab_page.stage(0)
    stage.run_to_end()
    assert "".join(stage.tokens).startswith('{"piano":')
    stage.press("one step back")
    lab_page.shot("lab-08-stage", stage.root)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    said = lab_page.answer("gv.checks.sort_token", SORT.replace("{finished}", "False"))
    assert "before the piece the rule is finished and } is left over" in said
    lab_page.shot("lab-08-wrong-token", lab_page.cell_of("gv.checks.sort_token"))
    assert "not yet" not in lab_page.answer(
        "gv.checks.sort_token", SORT.replace("{finished}", "rule.is_accepting(state)")
    )
    sort_all = lab_page.sources[lab_page.place_of("def sort_all")] + "\n\nsort_all()"
    assert re.search(r"'accepted': 1850, 'rejected': 2230, 'dependent': 15", lab_page.answer("def sort_all", sort_all))

    said = lab_page.answer("gv.checks.fill_mask", FILL.replace("{asked}", "dependent"))
    assert "the verdict of this token is known without the stack" in said
    lab_page.shot("lab-08-wrong-mask", lab_page.cell_of("gv.checks.fill_mask"))
    assert "not yet" not in lab_page.answer("gv.checks.fill_mask", FILL.replace("{asked}", "dependent - accepted"))
    masks = lab_page.answer("def my_mask", lab_page.sources[lab_page.place_of("def my_mask")])
    assert masks.count("yours True") == 8


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()


def test_the_cut_token_is_drawn(lab_page):
    cell = lab_page.cell_of("gv.views.draw_cut")
    assert cell.locator("svg, img").first.is_visible()
    lab_page.shot("lab-08-cut", cell)
