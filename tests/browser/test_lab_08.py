"""Lab 08 as a student works through it: the map asks the stack while it writes, and a wrong answer is shown."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser

SORT = """def sort_token(rule, state, piece):
    finished = {finished}
    for byte in piece:
        state = rule.step(state, byte)
        if state is None:
            return "ask" if finished else "no"
        finished = finished or rule.is_accepting(state)
    return "yes"


gv.checks.sort_token(sort_token)"""
MERGE = """def merge(parts):
    yes, ask = (set().union(*column) for column in zip(*parts))
    return yes, {ask}


gv.checks.merge(merge)"""
STORAGE = """def storage(count, size):
    return min((4 * count, "accepted"), (4 * (size - count), "rejected"), ({bits}, "bits"))[::-1]


gv.checks.storage(storage)"""


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
    assert re.search(r"yours: .'yes': 1850, 'no': 2230, 'ask': 15", lab_page.answer("def sort_all", sort_all))

    assert "token 1 is surely legal at one node" in lab_page.answer("gv.checks.merge", MERGE.replace("{ask}", "ask"))
    lab_page.shot("lab-08-wrong-merge", lab_page.cell_of("gv.checks.merge"))
    assert "not yet" not in lab_page.answer("gv.checks.merge", MERGE.replace("{ask}", "ask - yes"))

    said = lab_page.answer("gv.checks.storage", STORAGE.replace("{bits}", "size // 8"))
    assert "20 of 41 tokens" in said
    lab_page.shot("lab-08-wrong-storage", lab_page.cell_of("gv.checks.storage"))
    assert "not yet" not in lab_page.answer("gv.checks.storage", STORAGE.replace("{bits}", "(size + 7) // 8"))


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()


def test_every_picture_is_there(lab_page):
    pictures = {
        "asks": "gv.draw_split(plain", "answered": "gv.draw_split(split", "nodes": "gv.views.draw_split_nodes(full",
        "branches": "gv.views.draw_branches", "costs": "gv.draw_costs", "overlap": "gv.views.draw_overlap",
    }  # fmt: skip
    for name, words in pictures.items():
        assert lab_page.cell_of(words).locator("svg, img").first.is_visible()
        lab_page.shot(f"lab-08-{name}", lab_page.cell_of(words))
