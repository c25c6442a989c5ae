"""A lab as a student works through it in JupyterLab: every kind of widget is live, a check and all predictions answer.

Lab 11 has them all. Its other claims, and those of the other labs, are held without a browser: `tests/labs` runs every
notebook and reads what it says, `tests/checks` tries right and wrong answers.
"""

import pytest

from guidedviz.commands.exercises import read_exercises
from tests.browser.test_fraction import SliderPage

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXERCISE = "gv.checks.forced(forced)"
SOLVED = next(one.solved for one in read_exercises("11_jump_forward") if one.name == "forced")


@pytest.fixture(scope="module")
def lab(open_lab):
    return open_lab("11")


def test_the_stage_steps_goes_back_and_takes_another_token(lab):
    stage = lab.stage()
    stage.run_to_end()
    assert stage.root.locator(".gv-chip.gv-how-forced").count() == 8
    stage.root.locator(".gv-chip").nth(5).click()
    stage.wait(5)
    assert not stage.root.locator("[data-slot='next'] .gv-rows").is_visible(), "nothing was drawn there"
    stage.press("one step on")
    stage.wait_past(6)  # a forced text is passed in one go
    assert "the model was not asked" in stage.words
    other = stage.root.locator("button.gv-row:not(.gv-struck):not(.gv-chosen):visible").first
    while not other.count():
        last = stage.cursor
        stage.press("one step on")
        stage.wait_past(last + 1)
        stage.wait_ready()
    cursor = stage.cursor
    name = other.locator(".gv-name").inner_text()
    other.click()
    stage.wait_words("put in by you")
    assert name in stage.root.locator(".gv-chip.gv-now").inner_text()
    assert len(stage.tokens) == cursor + 1, "what came after is cut"


def test_a_chain_unfolds(lab):
    root = lab.cell_of("gv.folded(person)").locator(".gv-folded")
    before = root.locator(".gv-state").count()
    root.get_by_role("button", name='{"name"').locator(".gv-label").click()
    arg = [root.element_handle(), before + 9]
    lab.page.wait_for_function("([root, n]) => root.querySelectorAll('.gv-state').length === n", arg=arg)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab):
    wrong = SOLVED.replace("not machine.is_accepting(state)", "True")
    assert wrong != SOLVED
    assert "may end" in lab.answer(EXERCISE, f"{wrong}\n{EXERCISE}")
    assert lab.cell_of(EXERCISE).locator(".jp-OutputArea svg .gv-lit").count()
    assert "not yet" not in lab.answer(EXERCISE, f"{SOLVED}\n{EXERCISE}")


def test_the_slider_builds_its_curve(lab):
    quiet = "from guidedviz.decoding import payoff, timing"
    quiet += "\ntiming.calibrate = lambda model: (payoff.Cost(2.2, 0.06), True)"
    before = lab.page.locator(".gv-fraction").element_handle()
    lab.answer("gv.fraction_slider(clerk)", f"{quiet}\ngv.fraction_slider(clerk)")  # other tests run beside it
    lab.page.wait_for_function("before => !before.isConnected", arg=before)  # it has runs of its own
    slider = SliderPage(lab)
    slider.wait_runs(1)  # without a move
    slider.share.focus()
    slider.page.keyboard.press("End")
    slider.wait_runs(2)
    assert slider.points == (2, 0)


def test_every_prediction_is_answered_and_counted(lab):
    lab.answer_predictions()
    assert lab.failed_cells() == []
