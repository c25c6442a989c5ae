"""The menu of a live stage: another prompt, another model, other settings, and two runs beside each other."""

import pytest

import guidedviz as gv
from tests.widgets.toy import toy_model

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=window.hacked=1>"


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.quick("390")
def test_the_prompt_is_edited_in_place_and_the_run_before_it_stands_beside(bare, width):
    bare.resize(width, 844)
    stage = bare.show_stage(gv.stage(toy_model(end=False), "say ", seed=3, steps=6, max_tokens=20))
    before = stage.tokens
    # no mouse: on a phone the strip goes back to the token at the cursor, and the press would meet another chip
    stage.root.locator(".gv-prompt[title]").dispatch_event("click")  # it has heard that its prompt can be edited
    field = stage.root.locator(".gv-prompt-field")
    tape = stage.root.locator(".gv-tape")
    assert field.bounding_box()["y"] >= tape.bounding_box()["y"], "it is in sight, though the cursor is later"
    field.fill("")
    field.press("Enter")
    stage.root.get_by_text("expected at least one token").wait_for()
    field.fill(f"say{HOSTILE}")
    field.press("Enter")
    field.wait_for(state="detached")
    assert bare.page.evaluate("document.activeElement.dataset.part") == "stage", "the keys step again"
    bare.page.keyboard.press("ArrowRight")
    stage.wait(1)
    stage.root.locator(".gv-compare").click()
    pair = stage.root.locator(".gv-pair")
    pair.locator("mark").first.wait_for()
    assert "hacked" in stage.root.locator(".gv-prompt").inner_text()
    assert bare.page.evaluate("window.hacked") is None
    box = pair.bounding_box()
    assert 0 <= box["x"] <= width - box["width"], "nothing runs out of a phone"
    pair.get_by_role("button", name="take this run").click()
    stage.wait(6)
    assert stage.tokens == before
