"""What can be read and pressed in each widget where it is used: beside a file browser, on a projector, on a phone."""

from __future__ import annotations

import pytest

from tests.browser.test_map import open_stage

pytestmark = pytest.mark.browser
SIZES = {"cell": (931, 768), "hall": (1280, 720), "phone": (390, 844)}
# letters of less than 12 pixels as they are painted, what is cut or scrolls, and what is too small to be pressed
MEASURE = """root => {
  const seen = [...root.querySelectorAll("*")].filter((node) => node.checkVisibility({ visibilityProperty: true }));
  const own = (node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
  const letters = (node) => parseFloat(getComputedStyle(node).fontSize) * (node.getScreenCTM?.()?.a ?? 1);
  const say = (node) => node.textContent.trim().slice(0, 30) || String(node.getAttribute("class"));
  const boxes = seen.filter((node) => node instanceof HTMLElement && getComputedStyle(node).overflow !== "visible");
  const beyond = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
    scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
  const least = innerWidth < 640 ? 44 : 24;
  const pressed = seen.filter((node) => node.matches("button, input, summary, td[data-column]"));
  const tiny = ({ width, height }) => Math.min(width, height) < least - 0.5;
  return {
    small: seen.filter((node) => own(node) && letters(node) < 11.9).map(say),
    cut: boxes.filter((node) => beyond(node) && !node.matches(".gv-diagram, .gv-table-box")).map(say),
    tiny: pressed.filter((node) => tiny(node.getBoundingClientRect())).map(say),
    wide: document.documentElement.scrollWidth > innerWidth,
  };
}"""
FINE = {"small": [], "cut": [], "tiny": [], "wide": False}


def resize(bare, size):
    width, height = SIZES[size]
    bare.page.set_viewport_size({"width": width, "height": height})


@pytest.mark.parametrize(("size", "least"), [("cell", 0.4), ("hall", 0.3), ("phone", 0.35)])
def test_the_map_fills_its_panel_on_the_stage_and_says_that_it_can_be_pressed_and_zoomed(bare, size, least):
    resize(bare, size)
    _, chart = open_stage(bare, steps=5)
    panel, sheet = chart.root.locator("[data-slot=map]"), chart.sheet.bounding_box()
    room = panel.bounding_box()
    assert sheet["width"] * (sheet["height"] + 64) >= least * room["width"] * room["height"], "with its labels"
    assert sheet["width"] >= 300
    assert "Press a cell to read about it. Zoom: + and −" in chart.card
    assert panel.evaluate(MEASURE) == FINE
    chart.sheet.click(position={"x": 40, "y": 40})
    chart.wait(".gv-map-card", "id ")
    assert panel.evaluate(MEASURE) == FINE, "what is said of a token has its place"
    assert chart.sheet.bounding_box() == sheet
    bare.shot(f"map-panel-{size}", chart.root)
