"""The map under fingers, wheel and keys: it never keeps the page from scrolling, and all it says is reachable."""

from __future__ import annotations

import pytest

import guidedviz as gv
from tests.browser.test_map import STRING, VOCABULARY, Chart, open_stage

pytestmark = pytest.mark.browser


@pytest.fixture
def chart(bare):
    """A map of 1,042 tokens on a page that is longer than the window."""
    bare.page.evaluate("document.body.append(Object.assign(document.createElement('p'), { style: 'height: 2000px' }))")
    guide = gv.guide(gv.regex(STRING), VOCABULARY)
    root = bare.show(gv.vocabulary_map(guide, text='{"name": "Ada'))
    bare.page.evaluate("document.body.append(Object.assign(document.createElement('p'), { style: 'height: 2000px' }))")
    return Chart(bare, root)


CONTRAST = """node => {
  const pen = document.createElement("canvas").getContext("2d");
  const light = colour => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map(c => c / 255)
      .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const page = node.closest(".gv-stage");
  const [one, two] = [light(getComputedStyle(node).color), light(getComputedStyle(page).backgroundColor)];
  return Math.max(one, two) / Math.min(one, two);
}"""


class Fingers:
    """Fingers on the page, as a touch screen reports them."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)
        self.session.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def move(self, *ways, steps=8):
        """Each finger goes down at the start of its way, along it, and up."""
        for part in range(steps + 1):
            at = [
                {"x": a[0] + (b[0] - a[0]) * part / steps, "y": a[1] + (b[1] - a[1]) * part / steps, "id": n}
                for n, (a, b) in enumerate(ways)
            ]
            self.session.send(
                "Input.dispatchTouchEvent", {"type": "touchMove" if part else "touchStart", "touchPoints": at}
            )
        self.session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def cells(chart):
    """What the map shows: the picture of its cells."""
    return chart.sheet.locator("canvas").first.evaluate("canvas => canvas.toDataURL()")


def test_one_finger_scrolls_the_page_over_the_map(bare, chart):
    top, before = bare.page.evaluate("scrollY"), cells(chart)
    start = chart.at(0.5, 0.5)
    Fingers(bare.page).move((start, (start[0], start[1] - 150)))
    bare.wait(lambda: bare.page.evaluate("scrollY") > top + 60)
    assert cells(chart) == before
    assert "id " not in chart.card, "a scroll is no tap"


def test_one_finger_taps_a_token(bare, chart):
    at = chart.at(0.53, 0.7)
    Fingers(bare.page).move((at, at), steps=1)
    chart.wait(".gv-map-card", "id ")


def test_two_fingers_zoom_and_move_the_map_and_the_page_stays(bare, chart):
    top, before = bare.page.evaluate("scrollY"), cells(chart)
    fingers, (x, y) = Fingers(bare.page), chart.at(0.5, 0.5)
    fingers.move(((x - 20, y), (x - 120, y)), ((x + 20, y), (x + 120, y)))
    bare.wait(lambda: cells(chart) != before)
    zoomed = cells(chart)
    fingers.move(((x - 60, y), (x - 60, y + 80)), ((x + 60, y), (x + 60, y + 80)))
    bare.wait(lambda: cells(chart) != zoomed)
    assert bare.page.evaluate("scrollY") == top
    assert "id " not in chart.card, "two fingers select nothing"
    chart.root.get_by_role("button", name="show all").click()
    bare.wait(lambda: cells(chart) == before)


def test_the_wheel_scrolls_the_page_until_the_map_is_pressed_or_ctrl_held(bare, chart):
    assert "Ctrl + wheel, or two fingers; after a press the wheel alone." in chart.card
    bare.page.mouse.move(*chart.at(0.53, 0.3))
    top, before = bare.page.evaluate("scrollY"), cells(chart)
    bare.page.mouse.wheel(0, 60)
    bare.wait(lambda: bare.page.evaluate("scrollY") > top)
    assert cells(chart) == before
    bare.page.keyboard.down("Control")
    bare.page.mouse.wheel(0, -300)
    bare.page.keyboard.up("Control")
    bare.wait(lambda: cells(chart) != before)


def test_arrows_say_what_the_pointer_says(bare, chart):
    chart.root.get_by_label("after the text").fill("")
    chart.wait(".gv-map-legend", "legal 2 (")
    bare.page.mouse.move(*chart.at(0.3, 0.5))
    chart.wait(".gv-map-card", "cannot come")
    said = chart.card
    bare.page.mouse.click(*chart.at(0.3, 0.5))
    bare.page.keyboard.press("ArrowRight")
    bare.wait(lambda: chart.card != said)
    bare.page.keyboard.press("ArrowLeft")
    bare.wait(lambda: chart.card == said)


def test_on_the_stage_the_card_follows_the_step_under_the_pointer(bare):
    stage, chart = open_stage(bare, steps=5)
    said = set()
    for step in (1, 2, 3, 4):
        stage.root.locator(".gv-chip").nth(step).click()
        stage.wait(step)
        bare.page.mouse.move(*chart.at(0.6, 0.75))
        bare.page.mouse.move(*chart.at(0.61, 0.75))
        chart.wait(".gv-map-card", "legal")
        said.add(chart.root.locator(".gv-map-card b").inner_text())
    assert said == {"✓ legal", "✕ illegal"}


def test_what_is_pressed_is_at_least_24_pixels_wide_and_high(bare, chart):
    chart.sheet.click()
    boxes = chart.root.locator("button, input").evaluate_all(
        "nodes => nodes.map(node => [node.textContent, node.offsetWidth, node.offsetHeight])"
    )
    assert len(boxes) > 5
    assert [box for box in boxes if min(box[1:]) < 24] == []


def test_the_words_on_legal_and_illegal_are_readable_in_both_themes(bare, chart):
    chart.root.get_by_label("after the text").fill("")
    chart.wait(".gv-map-legend", "legal 2 (")
    chart.sheet.click()
    chart.wait(".gv-map-card", "cannot come")  # then the card is complete
    word = chart.root.locator(".gv-map-card .gv-illegal")
    for theme in ("Dark", "Light"):
        bare.theme(theme)
        assert word.evaluate(CONTRAST) >= 4.5


def test_the_legend_and_the_map_keep_their_colours_where_the_system_replaces_all_others(bare):
    _, chart = open_stage(bare, steps=5)
    look = "nodes => nodes.map(node => getComputedStyle(node).backgroundColor)"
    before, picture = chart.root.locator(".gv-map-legend .gv-cell").evaluate_all(look), chart.colours()
    bare.page.emulate_media(forced_colors="active")
    assert chart.root.locator(".gv-map-legend .gv-cell").evaluate_all(look) == before
    assert chart.colours() == picture
    bare.shot("map-forced-colours", chart.root)


def test_the_likely_tokens_are_named_around_the_map_in_both_themes(bare):
    _, chart = open_stage(bare, steps=5)
    room = chart.sheet.locator("canvas").bounding_box()
    sheet = chart.sheet.bounding_box()
    assert room["y"] < sheet["y"] - 20
    assert room["y"] + room["height"] > sheet["y"] + sheet["height"] + 20
    for theme in ("Dark", "Light"):
        bare.theme(theme)
        bare.shot(f"map-callouts-{theme.lower()}", chart.root)
    bare.narrow(420)
    bare.shot("map-callouts-narrow", chart.root)


def test_in_full_screen_the_token_under_the_pointer_is_the_one_that_is_said(bare):
    stage, chart = open_stage(bare, steps=5)
    spots, said = [(0.25, 0.3), (0.6, 0.7), (0.9, 0.5)], []
    for large in (False, True):
        if large:
            stage.root.press("f")
            bare.page.wait_for_function("document.fullscreenElement")
            bare.page.wait_for_timeout(300)
        for spot in spots:
            chart.page.mouse.click(*chart.at(*spot))
            chart.wait(".gv-map-card", "id ")
            said.append(chart.card.split("·")[0])
    assert said[:3] == said[3:]
