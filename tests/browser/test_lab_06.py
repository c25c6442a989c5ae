"""Lab 06 as a student works through it: the stack moves, a wrong grammar is shown, the rules change while it writes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

pytestmark = pytest.mark.browser

TAGS = '''tags = r"""
root   ::= ([a-z ] | bold | italic)*
bold   ::= "<b>" root "</b>"
italic ::= "<i>" {inside} "</i>"
"""
gv.checks.tags(tags)'''
MISSPELT = TAGS.replace("{inside}", "rooot")
SHALLOW = TAGS.replace("{inside}", "[a-z ]*")
SUMS = 'sums = given.replace("root sign item | item", "item{rest}")\ngv.checks.sums(sums)'
LISTS = '''lists = r"""
root   ::= "[" (item ("," item)*)? "]"
item   ::= number | root
number ::= {number}
"""
gv.checks.lists(lists)'''


def step_to_the_end(stage):
    """How deep the stack was before each token and after the last."""
    stage.wait(0)
    depths = [depth_of(stage)]
    while stage.root.get_by_role("button", name="one step on").is_enabled():
        stage.press("one step on")
        stage.wait(len(depths))
        depths.append(depth_of(stage))
    return depths


def depth_of(stage):
    said = stage.root.locator("[data-slot='stack'] .gv-panel-head").inner_text()
    return int(re.search(r"depth (\d+)", said)[1])


def test_the_stack_is_seen_to_push_and_pop(lab_page):
    lab_page.page.emulate_media(reduced_motion="reduce")  # no waiting for frames to slide
    stage = lab_page.stage(0)
    depths = step_to_the_end(stage)
    assert "".join(stage.tokens).startswith('{"piano":')
    assert depths[0] == depths[-1] == 1, "the root"
    assert max(depths) >= 6, "and an object for each box, and what is open in the innermost"
    assert max(before - after for before, after in pairwise(depths)) >= 4, "one token closes a string and four objects"
    stage.press("one step back")
    stage.press("one step back")
    stage.wait(len(depths) - 3)
    lab_page.shot("lab-06-stage", stage.root)
    for name in ("tree", "chart", "depth"):
        stage.root.locator(f"[data-slot='stack'] [data-name='{name}']").click()
        stage.root.locator("[data-slot='stack'] .gv-stack-picture svg").wait_for()
        lab_page.shot(f"lab-06-{name}", stage.root)


def test_the_rules_change_while_it_writes(lab_page):
    stage = lab_page.stage(1)
    stage.run_to_end()
    box = stage.root.get_by_label("text of the constraint")
    box.fill(box.input_value().replace("[a-z]+", "[A-Z]+"))
    back = stage.root.get_by_role("button", name="go back there")
    back.wait_for()
    assert "piano" in stage.root.locator(".gv-edit-rejects").inner_text()
    lab_page.shot("lab-06-edit", stage.root)
    back.click()
    stage.wait(1)
    stage.run_to_end()
    assert re.fullmatch(r'[A-Z":␣{}]+', "".join(stage.tokens[:-1])), "names in capitals"
    box.fill(box.input_value().replace("| string", "| sting"))
    stage.root.locator(".gv-edit-error").wait_for()
    assert 'did you mean "string"?' in stage.root.locator(".gv-edit-error").inner_text()
    lab_page.shot("lab-06-edit-error", stage.root)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    said = lab_page.answer("gv.checks.tags", MISSPELT)
    assert 'did you mean "root"?' in said
    said = lab_page.answer("gv.checks.tags", SHALLOW)
    assert "<i><b></b></i>" in said
    assert "italic, which waits for" in said
    lab_page.shot("lab-06-wrong-tags", lab_page.cell_of("gv.checks.tags"))
    assert "not yet" not in lab_page.answer("gv.checks.tags", TAGS.replace("{inside}", "root"))

    assert "refuses it" in lab_page.answer("gv.checks.sums", SUMS.replace("{rest}", " (sign item)?"))
    lab_page.shot("lab-06-wrong-sums", lab_page.cell_of("gv.checks.sums"))
    assert "begins with itself" in lab_page.answer("gv.checks.sums", SUMS.replace("item{rest}", "(root sign)? item"))
    assert "not yet" not in lab_page.answer("gv.checks.sums", SUMS.replace("{rest}", " (sign item)*"))
    assert "guided '(3 + 4) * 5'" in lab_page.answer("gv.guide(gv.grammar(sums)")

    assert "[00]" in lab_page.answer("gv.checks.lists", LISTS.replace("{number}", "[0-9]+"))
    lab_page.shot("lab-06-wrong-lists", lab_page.cell_of("gv.checks.lists"))
    assert "not yet" not in lab_page.answer("gv.checks.lists", LISTS.replace("{number}", '"0" | [1-9] [0-9]*'))


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
