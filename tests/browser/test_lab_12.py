"""Lab 12 as a student works through it: a stage ends with an empty mask, wrong repairs are shown."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

EMPTIED = """def who_emptied(rules):
    for size in {sizes}:
        for group in combinations(rules, size):
            if not set.intersection(*(rules[name] for name in group)):
                return set(group)
    return set()
gv.checks.who_emptied(who_emptied)"""
WIDER = """wider = service | {{"properties": {{"product": {{"type": "string", {limit}}},
                                  "price": {{"type": "number", "minimum": 0}}}}}}
gv.checks.wider(wider)"""


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    said = lab_page.answer("gv.checks.who_emptied", EMPTIED.format(sizes="(len(rules),)"))
    assert "a smaller group is enough" in said or "allows none" in said
    lab_page.shot("lab-12-wrong-emptied", lab_page.cell_of("gv.checks.who_emptied"))
    right = EMPTIED.format(sizes="range(1, len(rules) + 1)")
    assert "not yet" not in lab_page.answer("gv.checks.who_emptied", right)
    blank = 'gv.checks.one_blank(NAMED.replace("n]*", "n]{}"))'
    assert "must not come" in lab_page.answer("gv.checks.one_blank", blank.format("{0,2}"))
    assert "not yet" not in lab_page.answer("gv.checks.one_blank", blank.format("?"))
    assert "at most 30 characters" in lab_page.answer("gv.checks.wider", WIDER.format(limit='"minLength": 1'))
    assert "not yet" not in lab_page.answer("gv.checks.wider", WIDER.format(limit='"maxLength": 30'))


def test_the_empty_mask_is_seen_on_the_stage_and_named(lab_page):
    stage = lab_page.stage(0)
    stage.run_to_end()
    assert "no token is legal" in stage.words
    lab_page.shot("lab-12-stage", stage.root)
    assert "empty mask" in lab_page.cell_of("gv.diagnose(gv.record(bard").inner_text()
    lab_page.shot("lab-12-diagnosis", lab_page.cell_of("gv.diagnose(loop)"))


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
