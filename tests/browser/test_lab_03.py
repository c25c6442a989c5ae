"""Lab 03 as a student works through it: the machine moves, a wrong answer is shown its own machine."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

ANY_STATE = """def advance(transitions, state, token):
    for source, tokens, target in transitions:
        if token in tokens:
            return target
gv.checks.advance(advance)"""
ADVANCE = ANY_STATE.replace("if token", "if source == state and token")

SPACES = """several = gv.GuidedFSM(bard.vocabulary, accepting=5)
rest = [(1, ":", 2), (2, " ", 3), (3, "LOWER", 4), (4, "LOWER", 4), (4, "\\n", 5)]
for ways in [(0, "UPPER", 1), (1, ["UPPER", " "], 1), *rest]:
    several.add_transition(*ways)
gv.checks.several_words(several)"""
WORDS = SPACES.replace('(1, ["UPPER", " "], 1)', '(1, "UPPER", 1), (1, " ", 6), (6, "UPPER", 1)')


def lit(slot):
    return slot.locator(".gv-state.gv-lit").evaluate_all("nodes => nodes.map(n => Number(n.dataset.state))")


def test_a_student_steps_the_machine_is_shown_what_is_wrong_and_answers(lab_page):
    stage = lab_page.stage()
    stage.press("go to the prompt")
    stage.wait(0)
    slot = stage.root.locator("[data-slot='machine']")
    states = [lit(slot)]
    while stage.root.get_by_role("button", name="one step on").is_enabled():
        stage.press("one step on")
        stage.wait(len(states))
        states.append(lit(slot))
    changes = [state for state, before in zip(states, [None, *states], strict=False) if state != before]
    assert changes == [[0], [1], [2], [3], [4], [5]]
    lab_page.shot("lab-03-machine", stage.root)
    for name, wrong, seen, right in (
        ("advance", ANY_STATE, "this is state 1", ADVANCE),
        ("several_words", SPACES, "A : a", WORDS),
    ):
        assert seen in lab_page.answer(f"gv.checks.{name}", wrong)
        assert "agrees on" in lab_page.answer(f"gv.checks.{name}", right)
    lab_page.answer_predictions()
    assert lab_page.failed_cells() == []
