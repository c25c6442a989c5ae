"""Lab 06 as a student works through it: a film of the stack, a step that pushes and pops, JSON on the stage."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

pytestmark = pytest.mark.browser

STEP = """def step(moves, ends, stack, byte):
    stack = list(stack)
    while stack:
        node = stack.pop()
        move = moves.get((node, byte))
        if move is None and node not in ends:
            return None
        if move and move[0] == "read":
            return [*stack, move[1]]
        if move:
            stack += {pushed}


gv.checks.stack_step(step)"""


def depth_of(stage):
    said = stage.root.locator("[data-slot='stack'] .gv-panel-head").inner_text()
    return int(re.search(r"depth (\d+)", said)[1])


def test_a_student_watches_the_stack_builds_the_step_and_lets_json_guide(lab_page):
    film = lab_page.cell_of("gv.film(frames, title").locator(".gv-film")
    for _ in range(2):
        film.get_by_role("button", name="one frame on", exact=True).click()
    assert "push n2" in film.locator(".gv-film-words").inner_text()
    assert film.locator("[data-arrow='top 1 7']").first.is_visible()
    assert film.locator("[data-arrow='top 0 0']").first.is_hidden()
    lab_page.shot("lab-06-film", film)

    said = lab_page.answer("gv.checks.stack_step", STEP.replace("{pushed}", "[move[1]]"))
    assert "push both nodes" in said
    lab_page.shot("lab-06-wrong-step", lab_page.cell_of("gv.checks.stack_step"))
    assert "not yet" not in lab_page.answer("gv.checks.stack_step", STEP.replace("{pushed}", "[move[2], move[1]]"))

    stage = lab_page.stage(0)
    stage.press("go to the prompt")
    stage.wait(0)
    depths = [depth_of(stage)]
    while stage.root.get_by_role("button", name="one step on").is_enabled():
        stage.press("one step on")
        stage.wait(len(depths))
        depths.append(depth_of(stage))
    assert depths[0] == depths[-1] == 1, "the root"
    assert max(before - after for before, after in pairwise(depths)) >= 4, "one token closes a string and four objects"


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
