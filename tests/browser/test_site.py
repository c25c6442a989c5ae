"""The site, opened from a file by a browser without a network."""

from functools import partial

import pytest

from tests.browser.access import audit

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("axe")]


def set_theme(page, name):
    page.emulate_media(color_scheme=name.lower(), reduced_motion="reduce")


def test_it_plays_steps_searches_and_changes_its_theme_and_axe_finds_no_fault(browser, site):
    context = browser.browser.new_context(offline=True, color_scheme="light", viewport={"width": 1366, "height": 768})
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    page.goto(f"file://{site}/index.html")
    page.locator(".gv-stage[data-playing='true']").wait_for()
    page.locator(".gv-stage").click(position={"x": 5, "y": 5})
    page.keyboard.press("Home")
    assert audit(page, page.locator("html"), partial(set_theme, page)) == {}
    page.keyboard.press("ArrowRight")
    page.locator(".gv-stage[data-cursor='1']").wait_for()
    page.locator(".search input").fill("yes or no")
    page.locator(".found a").first.click()
    page.wait_for_url("**/labs/01_logit_bias.html#Exercise-3*")
    page.locator(".gv-place").first.scroll_into_view_if_needed()
    stage = page.locator(".gv-stage").first
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
