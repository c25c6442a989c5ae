"""Lab 03 as a student works through it: the machine moves, a wrong answer is shown its own machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

LAB = Path(__file__).resolve().parents[2] / "labs" / "03_fsm.ipynb"
CELLS = json.loads(LAB.read_text(encoding="utf-8"))["cells"]

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

TWENTY_FOUR = 'clock = r"[0-2]\\d:[0-5]\\d"\ngv.checks.clock(clock)'
CLOCK = 'clock = r"[01]\\d:[0-5]\\d|2[0-3]:[0-5]\\d"\ngv.checks.clock(clock)'


def cell_with(words):
    return next(source for cell in CELLS if words in (source := "".join(cell["source"])))


def lit(slot):
    return slot.locator(".gv-state.gv-lit").evaluate_all("nodes => nodes.map(n => Number(n.dataset.state))")


def test_the_machine_goes_through_its_six_states_and_back(open_notebook):
    words = ("import guidedviz", "gv.load_model", "transitions = [", "fsm = gv.Guided", "gv.stage(bard")
    notebook = open_notebook(*map(cell_with, words))
    notebook.run_all(timeout=200)
    stage = notebook.stage()
    slot = stage.root.locator("[data-slot='machine']")
    states = [lit(slot)]
    while stage.root.get_by_role("button", name="one step on").is_enabled():
        stage.press("one step on")
        stage.wait(len(states))
        states.append(lit(slot))
    changes = [state for state, before in zip(states, [None, *states], strict=False) if state != before]
    assert changes == [[0], [1], [2], [3], [4], [5]]
    notebook.shot("lab-03-machine", stage.root)
    stage.press("one step back")
    stage.wait(len(states) - 2)
    assert lit(slot) == [4]


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(open_notebook):
    setting = [cell_with("import guidedviz"), cell_with("gv.load_model")]
    exercises = [cell_with(f"gv.checks.{name}") for name in ("advance", "several_words", "clock")]
    notebook = open_notebook(*setting, *exercises)
    notebook.run_all(timeout=200)
    for place in (2, 3, 4):
        assert "not done yet" in notebook.outputs(place)
    for place, wrong, seen in ((2, ANY_STATE, "this is state 1"), (3, SPACES, "A : a"), (4, TWENTY_FOUR, "24:00")):
        notebook.run_cell(place, wrong)
        assert "not yet right" in notebook.outputs(place)
        assert seen in notebook.outputs(place)
    for place in (3, 4):
        cell = notebook.page.locator(".jp-Cell").nth(place)
        assert cell.locator(".jp-OutputArea svg .gv-state").count() >= 6, "the student's own machine"
        assert cell.locator(".jp-OutputArea svg .gv-state.gv-lit").count() == 1, "and where the text went"
    for place, right in ((2, ADVANCE), (3, WORDS), (4, CLOCK)):
        notebook.run_cell(place, right)
        assert "agrees on" in notebook.outputs(place)
    assert notebook.failed_cells() == []


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
