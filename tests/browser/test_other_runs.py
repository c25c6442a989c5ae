"""The menu of a live stage: another prompt, another model, other settings, and two runs beside each other."""

import pytest

import guidedviz as gv
from tests.common import regex_guide
from tests.widgets.toy import toy_model

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=window.hacked=1>"


def free(**settings):
    return gv.stage(toy_model(end=False), "say ", seed=3, steps=6, max_tokens=20, **settings)


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.quick("390")
def test_the_prompt_is_edited_in_place_and_the_run_before_it_stands_beside(bare, width):
    page = bare.page
    page.set_viewport_size({"width": width, "height": 844})
    stage = bare.show_stage(free())
    stage.wait(6)
    before = stage.tokens
    # no mouse: on a phone the strip goes back to the token at the cursor, and the press would meet another chip
    stage.root.locator(".gv-prompt[title]").dispatch_event("click")  # it has heard that its prompt can be edited
    field = stage.root.locator(".gv-prompt-field")
    tape = stage.root.locator(".gv-tape").bounding_box()
    assert field.bounding_box()["y"] >= tape["y"], "it is in sight, though the cursor is at a later token"
    field.fill("")
    field.press("Enter")
    stage.root.get_by_text("expected at least one token").wait_for()
    field.fill(f"say{HOSTILE}")
    field.press("Enter")
    field.wait_for(state="detached")
    assert page.evaluate("document.activeElement.dataset.part") == "stage", "the keys step again"
    page.keyboard.press("ArrowRight")
    stage.wait(1)
    stage.root.locator(".gv-compare").click()
    pair = stage.root.locator(".gv-pair")
    pair.wait_for()
    assert pair.locator("mark").count() >= 1
    assert "hacked" in stage.root.locator(".gv-prompt").inner_text()
    assert page.evaluate("window.hacked") is None
    box = pair.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width, "nothing runs out of a phone"
    for theme in ("Light", "Dark"):
        bare.theme(theme)
    pair.get_by_role("button", name="take this run").click()
    stage.wait(6)
    assert stage.tokens == before


@pytest.mark.slow
def test_the_menu_changes_settings_and_the_model(bare):
    clerk = gv.load_model("clerk")
    guide = regex_guide(clerk, "[a-z]{9}")
    stage = bare.show_stage(gv.stage(clerk, "The ", guide, seed=1, steps=1))
    stage.root.locator(".gv-more summary").click()
    for name, value in (("top-k", "3"), ("top-p", "0.9"), ("penalty", "1.5")):
        field = stage.root.get_by_role("spinbutton", name=name)
        field.fill(value)
        field.press("Tab")
    stage.root.locator(".gv-changes", has_text="penalty 1.5 · top-k 3 · top-p 0.9").wait_for()
    stage.root.get_by_role("combobox", name="model").select_option("bard")
    stage.root.locator(".gv-about", has_text="bard").wait_for()
    stage.root.locator(".gv-legal", has_text="26 of 65 legal").wait_for()
    stage.go_on(2)
    stage.root.locator(".gv-branch").click()
    stage.root.locator(".gv-about", has_text="clerk").wait_for()
