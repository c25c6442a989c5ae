"""The site, opened from a file by a browser without a network."""

from functools import partial

import pytest

from tests.browser.access import audit

pytestmark = pytest.mark.browser


def set_theme(page, name):
    page.emulate_media(color_scheme=name.lower(), reduced_motion="reduce")
    light = "light => document.body.dataset.jpThemeLight === light"  # the page hears of it a frame later
    page.wait_for_function(light, arg=str(name == "Light").lower())


@pytest.mark.slow
def test_it_plays_steps_searches_and_changes_its_theme_and_axe_finds_no_fault(browser, site):
    context = browser.browser.new_context(offline=True, color_scheme="light", viewport={"width": 1366, "height": 768})
    page = context.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    page.goto(f"file://{site}/index.html")
    stage = page.locator(".gv-stage").first
    page.locator(".gv-stage[data-playing='true']").wait_for()
    stage.click(position={"x": 5, "y": 5})
    page.keyboard.press("Home")
    assert audit(page, page.locator("html"), partial(set_theme, page)) == {}
    page.locator(".search input").fill("the loop with masks")
    page.locator(".found a").first.click()
    page.wait_for_url("**/labs/02_static_masks.html#Exercise-2*")
    page.locator(".gv-place").first.scroll_into_view_if_needed()
    stage.click(position={"x": 5, "y": 5})
    opened = int(stage.get_attribute("data-cursor"))
    page.keyboard.press("ArrowRight")
    stage.and_(page.locator(f"[data-cursor='{opened + 1}']")).wait_for()
    assert audit(page, page.locator("html"), partial(set_theme, page)) == {}
    set_theme(page, "Light")
    colour = "root => getComputedStyle(root).backgroundColor"
    light = stage.evaluate(colour)
    page.get_by_role("button", name="dark theme").click()
    assert stage.evaluate(colour) != light
    page.reload()
    assert page.locator("body").get_attribute("data-jp-theme-light") == "false", "the choice is kept"
    context.close()
    assert said == []


PLACES = """() => {
  const parts = [...document.querySelectorAll(".gv-stage, main .text p")].slice(0, 2);
  return parts.map((part) => part.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]);
}"""


@pytest.mark.parametrize("size", [(1366, 768), (1280, 720)])
@pytest.mark.slow
def test_the_first_screen_of_the_front_page_is_the_run_and_one_sentence_below_it(browser, site, size):
    context = browser.browser.new_context(viewport=dict(zip(("width", "height"), size, strict=True)), offline=True)
    page = context.new_page()
    page.goto(f"file://{site}/index.html")
    page.locator(".gv-stage").wait_for()
    (top, bottom), (begin, end) = page.evaluate(PLACES)
    assert top < 130, "nothing but the title is above the run"
    assert bottom - top > 0.65 * size[1]
    assert bottom < begin < end < size[1]
    assert page.locator("main .text p").first.inner_text().count(".") == 1, "one sentence"
    assert page.locator("main table").first.locator("tbody tr").count() == 16, "each lab with its question"
    context.close()


ENDS = """() => {
  const stage = document.querySelector(".gv-stage");
  const parts = [...stage.querySelectorAll("*")].filter((part) => part.checkVisibility());
  const outside = parts.filter((part) => !part.closest(".gv-diagram-box")); // a drawing scrolls in its box
  return [stage, ...outside].map((part) => part.getBoundingClientRect().bottom);
}"""


@pytest.mark.slow
def test_on_a_phone_a_stage_holds_its_controls_and_the_page_is_not_wider(browser, site):
    context = browser.browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
    page = context.new_page()
    for name in ("index.html", "labs/02_static_masks.html"):
        page.goto(f"file://{site}/{name}")
        page.locator(".gv-place").first.scroll_into_view_if_needed()
        page.locator(".gv-stage").first.wait_for()
        end, *ends = page.evaluate(ENDS)
        assert max(ends) <= end
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
