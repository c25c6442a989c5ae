"""axe-core finds no fault in any widget, in light and in dark."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import guidedviz as gv
from tests.browser.test_edit import NAME, REJECTS, wait_for, write
from tests.browser.test_edit import show as show_edit
from tests.browser.test_fraction import show_record
from tests.browser.test_map import PERSON, VOCABULARY, open_chart, person
from tests.browser.test_player import file, show
from tests.browser.test_stack import show as show_stack

__all__ = ["file", "show"]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("axe")]  # one worker installs axe-core
PAGE = Path(gv.__file__).parent / "widgets" / "page"
AXE = PAGE / "node_modules" / "axe-core" / "axe.min.js"
# "region" asks that the whole page stands in landmarks; around a widget the page is the notebook's.
AUDIT = """async root => {
  const rules = { region: { enabled: false } };
  const { violations } = await axe.run(root, { preload: false, resultTypes: ["violations"], rules });
  return violations.flatMap(({ id, nodes }) => nodes.map(node => [id, node.html.slice(0, 140), node.failureSummary]));
}"""


@pytest.fixture(scope="module")
def axe():
    """axe-core as the page's checks install it."""
    if not AXE.exists():
        if not shutil.which("npm"):
            assert not os.environ.get("CI"), "no npm"
            pytest.skip("axe-core needs npm")
        subprocess.run(["npm", "ci", "--silent"], cwd=PAGE, check=True, timeout=300)
    return AXE.read_text(encoding="utf-8")


def audit(axe, page, root, set_theme):
    """The faults of one widget in both themes."""
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(axe)
    found = {}
    for theme in ("Light", "Dark"):
        set_theme(theme)
        found[theme] = page.evaluate(AUDIT, root.element_handle())
    return {theme: faults for theme, faults in found.items() if faults}


def test_a_stage_with_a_dfa_its_map_and_a_run_that_was_left(axe, bare):
    stage = bare.show_stage(person(steps=12))
    other = stage.root.locator("button.gv-row:not(.gv-struck, .gv-chosen):visible")
    stage.go_back(1)
    while not other.count():
        stage.go_back(1)
    other.first.click()
    stage.root.locator(".gv-branch").wait_for()
    stage.go_on(3)
    stage.go_back(2)
    stage.tab("map")
    stage.root.locator("button.gv-row.gv-struck:visible").first.click()
    stage.root.locator(".gv-why").wait_for()
    assert audit(axe, bare.page, stage.root, bare.theme) == {}


def test_a_stage_with_a_stack_and_the_keys_shown(axe, bare):
    _, stage, _ = show_stack(bare, steps=9)
    stage.go_back(3)
    stage.root.locator(".gv-keys-help summary").click()
    assert audit(axe, bare.page, stage.root, bare.theme) == {}


def test_a_stage_that_asks_and_its_tour(axe, bare):
    _, stage, _ = show_stack(bare, steps=9)
    stage.go_back(3)
    stage.root.locator(".gv-keys-help summary").click()
    stage.press("take the tour")
    stage.press("ask before each step")
    assert stage.root.locator(".gv-choice").count() >= 2
    assert stage.root.get_attribute("data-here") == "step"
    assert audit(axe, bare.page, stage.root, bare.theme) == {}


@pytest.mark.parametrize(("text", "fate"), [(NAME[:-6], "wrong"), (REJECTS, "waits")])
def test_a_stage_with_the_box_of_the_constraint(axe, bare, text, fate):
    _, stage, box = show_edit(bare)
    write(box, text)
    wait_for(box, fate)
    assert audit(axe, bare.page, stage.root, bare.theme) == {}


def test_a_fraction_slider(axe, bare):
    _, slider = show_record(bare)
    assert audit(axe, bare.page, slider.root, bare.theme) == {}


def test_a_film(axe, bare):
    root = bare.show(gv.film(gv.views.minimal_frames("(ab|cb)d?")))
    root.get_by_role("button", name="to the last frame").click()
    assert audit(axe, bare.page, root, bare.theme) == {}


def test_a_vocabulary_map(axe, bare):
    chart = open_chart(bare, gv.guide(gv.regex(PERSON), VOCABULARY), '{"name": "Ada')
    bare.page.mouse.click(*chart.at(0.3, 0.5))
    chart.wait(".gv-map-card", "id ")
    assert audit(axe, bare.page, chart.root, bare.theme) == {}


def test_a_token_table(axe, bare):
    root = bare.show(gv.token_table(gv.guide(gv.regex("[0-9]+"), VOCABULARY)))
    root.locator("td[data-column]").first.click()
    root.locator(".gv-map-card:has-text('cannot come')").wait_for()
    assert audit(axe, bare.page, root, bare.theme) == {}


def test_a_folded_machine(axe, bare):
    root = bare.show(gv.folded(gv.regex('"name": "[a-z]+"')))
    root.locator(".gv-turns").first.wait_for()
    assert audit(axe, bare.page, root, bare.theme) == {}


def test_the_page_of_a_recording(axe, show):
    page = show()
    page.locator(".gv-row.gv-struck").first.click()

    def set_theme(name):
        page.emulate_media(color_scheme=name.lower(), reduced_motion="reduce")

    assert audit(axe, page, page.locator("html"), set_theme) == {}


def test_widgets_that_share_a_page_repeat_no_landmark_and_no_id(axe, bare):
    for _ in range(2):
        bare.show_stage(person(steps=2))
        bare.show(gv.film(gv.views.minimal_frames("ab")))
    bare.page.evaluate(axe)
    rules = ["landmark-unique", "landmark-no-duplicate-banner", "landmark-banner-is-top-level", "duplicate-id-aria"]
    found = bare.page.evaluate("async rules => (await axe.run({ runOnly: rules })).violations.map(v => v.id)", rules)
    assert found == []
