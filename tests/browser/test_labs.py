"""Every lab as a student finds it: run all, use each stage on the page, answer each prediction."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

LABS = Path(__file__).resolve().parents[2] / "labs"
OWN = {path.stem[-2:] for path in Path(__file__).parent.glob("test_lab_[0-9]*.py")}  # those are run there
NAMES = [path.stem for path in sorted(LABS.glob("[0-9]*.ipynb")) if path.name[:2] not in OWN]


@pytest.mark.parametrize("lab_page", NAMES, indirect=True)
def test_a_lab_runs_and_its_stages_step(lab_page):
    for place in range(lab_page.stages.count()):
        use_stage(lab_page.stage(place))
        choose_and_warm(lab_page.stage(place))
    lab_page.answer_predictions()


def use_stage(stage):
    """Step on if there is a step, then back; the page must follow."""
    if stage.root.get_by_role("button", name="one step on").is_enabled():
        cursor = stage.cursor
        stage.press("one step on")
        stage.wait_past(cursor + 1, 30)
    cursor = stage.cursor
    assert cursor > 0
    assert stage.words.startswith(f"step {cursor} of ")
    stage.press("one step back")
    stage.wait(cursor - 1)
    assert len(stage.tokens) >= cursor, "going back forgets nothing"


def choose_and_warm(stage):
    """Put another token in by its bar, then drag the temperature and step on: the page must follow."""
    other = stage.root.locator("button.gv-row:not(.gv-struck):not(.gv-chosen):visible").first
    if stage.cursor:  # it opens where the lab's text stands
        stage.press("go to the prompt")
        stage.wait(0)
    cursor = 0
    while not (cursor and other.count()):  # where a token is forced, on to the first step with a choice
        cursor = stage.cursor
        stage.press("one step on")
        stage.wait_past(cursor + 1, 30)
        cursor = stage.cursor
        stage.wait_ready()
    name = other.locator(".gv-name").inner_text()
    other.click()
    stage.root.locator(".gv-words:has-text('put in by you')").wait_for(timeout=20000)
    assert name in stage.root.locator(".gv-chip.gv-now").inner_text()
    assert len(stage.tokens) == cursor + 1, "what came after is cut"
    heat = stage.root.get_by_label("temperature")
    heat.focus()
    heat.press("End")
    stage.root.get_by_text("2.00").first.wait_for()
    if stage.root.get_by_role("button", name="one step on").is_enabled():
        stage.press("one step on")
        stage.wait_past(cursor + 1, 30)
