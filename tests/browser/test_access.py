"""The stage with keys only, with large targets, in forced colours, and with text that can be read in both themes."""

from __future__ import annotations

import pytest

import guidedviz as gv
from tests.browser.test_edit import REJECTS, wait_for, write
from tests.browser.test_edit import show as show_edit
from tests.browser.test_fraction import CONTRAST
from tests.browser.test_machine import show as show_machine
from tests.browser.test_map import PERSON, VOCABULARY, open_chart, person
from tests.browser.test_stack import show as show_stack

pytestmark = pytest.mark.browser
TARGETS = """root => [...root.querySelectorAll("button, input, summary, textarea")]
  .filter(node => node.checkVisibility({ visibilityProperty: true }) && !node.closest("[inert]"))
  .map(node => [node.getAttribute("aria-label") ?? node.textContent, node.getBoundingClientRect()])
  .map(([name, { width, height }]) => [name, width, height])"""
STYLE = "(node, name) => getComputedStyle(node)[name]"


@pytest.fixture
def still(bare):
    bare.page.emulate_media(reduced_motion="reduce")
    bare.page.set_viewport_size({"width": 1366, "height": 768})
    return bare


@pytest.fixture
def forced(still):
    still.page.emulate_media(forced_colors="active", color_scheme="dark", reduced_motion="reduce")
    return still


def held(page):
    """What has the focus, and how its description starts."""
    return page.evaluate("[document.activeElement.dataset.place, document.activeElement.ariaDescription]")


def test_the_tip_of_a_token_is_reached_with_keys_and_follows_the_steps(still):
    stage = still.show_stage(person(steps=6))
    press = still.page.keyboard.press
    tip = stage.root.locator("[role=tooltip]")
    stage.go_back(1)
    stage.root.locator(".gv-keys-help summary").focus()
    press("Tab")
    assert held(still.page) == ["4", "go back to before token 5"], "Tab goes from the header to the current token"
    assert tip.is_visible()
    assert stage.root.locator(".gv-chip:focus").get_attribute("aria-describedby") == tip.get_attribute("id")
    before = tip.inner_text()
    press("ArrowLeft")
    stage.wait(4)
    assert held(still.page)[0] == "3"
    assert tip.is_visible()
    assert tip.inner_text() != before
    press("ArrowRight")
    stage.wait(5)
    assert (held(still.page)[0], tip.inner_text()) == ("4", before)
    still.shot("access-tip", stage.root)
    press("ArrowRight")
    stage.wait(6)
    press("ArrowRight")
    stage.wait(7)
    assert held(still.page)[0] == "6", "also the focus of a new token"
    press("Escape")
    assert not tip.is_visible()
    press("Enter")
    stage.wait(6)
    assert held(still.page)[0] == "5"
    press("Home")
    stage.wait(0)
    assert held(still.page)[0] == "0"
    press("r")
    stage.root.locator(".gv-chip").first.wait_for(state="detached")
    assert stage.root.evaluate("root => root === document.activeElement"), "the keys stay with the stage"
    assert not tip.is_visible()


def test_a_click_on_a_token_gives_the_keys_to_the_stage(still):
    stage = still.show_stage(person(steps=3))
    stage.root.locator(".gv-chip").nth(1).click()
    stage.wait(1)
    assert stage.root.evaluate("root => root === document.activeElement")


def test_sliders_say_their_values_in_words(still):
    stage = still.show_stage(person(steps=1))
    said = [stage.root.get_by_role("slider", name=name) for name in ("speed", "temperature", "step")]
    assert [one.get_attribute("aria-valuetext") for one in said] == ["4 per second", "1.00", "step 1 of 1"]


def test_the_description_of_the_machine_names_the_current_state(still):
    _, stage, slot = show_machine(still)
    stage.go_on(2)
    drawing = slot.locator(".gv-sheets svg").first
    assert f"now in q{stage.lit()[0]}" in drawing.get_attribute("aria-label")


@pytest.mark.parametrize("panel", ["machine", "map"])
def test_every_target_of_the_stage_is_large_enough(still, panel):
    stage = still.show_stage(person(steps=9))
    stage.go_back(2)
    stage.root.locator("button.gv-row:not(.gv-struck, .gv-chosen):visible").first.click()
    stage.root.locator(".gv-branch").wait_for()
    if panel == "map":
        stage.tab("map")
    check_targets(stage, 30)


def test_targets_of_the_stack_and_of_the_box_of_the_constraint_are_large_enough(still):
    _, stage, _ = show_stack(still, steps=4)
    check_targets(stage, 30)
    _, stage, box = show_edit(still)
    write(box, REJECTS)
    wait_for(box, "waits")
    check_targets(stage, 30)


def check_targets(stage, count):
    found = stage.root.evaluate(TARGETS)
    assert len(found) > count
    assert [one for one in found if min(one[1:]) < 24] == []


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_all_text_of_the_stage_can_be_read(still, theme):
    """Text in drawings and on tinted tokens too, which axe-core leaves out."""
    still.theme(theme)
    stage = still.show_stage(person(steps=12))
    stage.go_back(3)
    stage.root.locator("button.gv-row.gv-struck:visible").first.click()
    stage.root.locator(".gv-why").wait_for()
    assert stage.root.evaluate(CONTRAST) == {}
    stage.root.locator("button.gv-row:not(.gv-struck, .gv-chosen):visible").first.click()
    stage.root.locator(".gv-how-inserted").wait_for()
    stage.look("colour", "how")
    stage.tab("map")
    assert stage.root.evaluate(CONTRAST) == {}
    _, stage, _ = show_stack(still, steps=9)
    stage.go_back(2)
    assert stage.root.evaluate(CONTRAST) == {}
    still.shot(f"access-stack-{theme.lower()}", stage.root)


def colour(node, name="backgroundColor"):
    return node.evaluate(STYLE, name)


def test_forced_colours_keep_bars_meters_and_their_legend(forced):
    stage = forced.show_stage(person(steps=9))
    stage.go_back(2)
    canvas = colour(stage.root)
    stage.look("bars", "odds")
    root = stage.root
    for part in (".gv-rest .gv-after", ".gv-legend .gv-after", ".gv-fill", ".gv-timebars i:nth-child(3)"):
        assert colour(root.locator(part).first) not in (canvas, "rgba(0, 0, 0, 0)"), part
    for part in (".gv-rest .gv-before", ".gv-legend .gv-before", ".gv-track"):
        assert colour(root.locator(part).first, "borderTopColor") != canvas, part
    assert colour(root.locator(".gv-track").first) == canvas, "a full meter differs from an empty one"
    past, now = (colour(root.locator(f".gv-timebars i{kind}").first) for kind in (":nth-child(3)", ".gv-now"))
    assert past != now
    forced.shot("access-forced", root)


def test_forced_colours_keep_the_three_parts_of_a_steps_time(forced):
    stage = forced.show_stage(person(steps=3))
    stage.look("bars", "cost")
    forward, mask, sample = (stage.root.locator(f".gv-cost .gv-part-{part}") for part in ("forward", "mask", "sample"))
    assert colour(forward) != colour(stage.root)
    assert "gradient" in colour(mask, "backgroundImage")
    assert colour(sample, "borderTopWidth") == "1px"
    forced.shot("access-forced-time", stage.root)


def test_forced_colours_tell_the_tokens_apart(forced):
    stage = forced.show_stage(person(steps=6))
    stage.go_back(3)
    chips = stage.root.locator(".gv-chip")
    past, now, ahead = (chips.nth(place) for place in (1, 2, 4))
    assert [colour(chip, "outlineStyle") for chip in (past, now, ahead)] == ["none", "solid", "none"]
    assert colour(past, "borderTopColor") != colour(ahead, "borderTopColor")
    rows = stage.root.locator("button.gv-row:visible")
    canvas = colour(stage.root)
    edges = rows.evaluate_all("rows => rows.map(row => getComputedStyle(row).borderTopColor)")
    chosen = rows.evaluate_all("rows => rows.map(row => row.classList.contains('gv-chosen'))")
    assert [edge != canvas for edge in edges] == chosen, "only the drawn token has a frame"


def test_forced_colours_leave_the_words_of_a_filled_button(forced):
    _, _, box = show_edit(forced)
    write(box, REJECTS)
    wait_for(box, "waits")
    back = box.locator(".gv-edit-back")
    assert back.evaluate(STYLE, "forcedColorAdjust") == "none", "no box of the page's colour behind the words"
    assert colour(back) != colour(back, "color")


def test_forced_colours_leave_the_map_its_own_colours(forced):
    chart = open_chart(forced, gv.guide(gv.regex(PERSON), VOCABULARY), '{"name": "Ada')
    sea, land = chart.colours()
    assert min(sea, land) > 0.05
    look = "node => ['ink', 'land', 'page'].map(name => getComputedStyle(node).getPropertyValue('--gv-' + name))"
    assert chart.sheet.evaluate(look) == [gv.views.theme.LIGHT[name] for name in ("ink", "land", "page")]
    legal, illegal = (chart.root.locator(f".gv-cell-{kind}").first for kind in ("legal", "illegal"))
    assert colour(legal) != colour(illegal)
    forced.shot("access-forced-map", chart.root)


def test_forced_colours_keep_the_filled_cells_of_the_table(forced):
    root = forced.show(gv.token_table(gv.guide(gv.regex("[0-9]+"), VOCABULARY)))
    filled, empty = root.locator("td.gv-filled").first, root.locator("td[data-column]:not(.gv-filled)").first
    assert colour(filled) != colour(empty)
