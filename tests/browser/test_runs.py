"""The list of runs and the page of a run in Chromium: texts stay text, nothing is wide, no fault is found."""

import pytest

from tests.browser.access import CONTRAST, audit
from tests.host.api.asking import ABOUT, CHAT, SCHEMA, ask_chat
from tests.host.running import hosting

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TALLEST = "Math.max(0, ...[...document.querySelectorAll('#runs tr')].map((row) => row.offsetHeight))"
CUT_SEEDS = """[...document.querySelectorAll('.gv-seed')]
  .filter((field) => field.checkVisibility() && field.scrollWidth > field.clientWidth).map((field) => field.value)"""
HOSTILE = "<img src=x onerror=document.title='hacked'>"


@pytest.fixture
def host(clerk):
    """A host with three runs: a sound one, one in a whitespace loop, and one with hostile texts."""
    with hosting(clerk) as running:
        ask_chat(running, CHAT | {"json_schema": SCHEMA})
        ask_chat(running, CHAT | {"regex": " {200,}z", "max_tokens": 12})
        asked = {"messages": [{"role": "user", "content": HOSTILE}], "structured_outputs": {"choice": [HOSTILE]}}
        ask_chat(running, CHAT | asked | {"user": HOSTILE})
        yield running


@pytest.fixture
def page(browser):
    """A page on which no script fails, and the policy of the host forbids nothing that it does."""
    found = browser.new_page()
    said = []
    found.on("pageerror", lambda error: said.append(str(error)))
    found.on("console", lambda line: "Security Policy" in line.text and said.append(line.text))
    found.set_default_timeout(10_000)
    yield found
    assert (said, "hacked" in found.title()) == ([], False)
    found.close()


def check(page, name):
    """No fault in either theme, every text can be read, and nothing is wider than a phone or a laptop."""

    def set_theme(theme):
        page.emulate_media(color_scheme=theme.lower(), reduced_motion="reduce")
        assert page.locator("body").evaluate(CONTRAST) == {}

    for width, height in ((390, 844), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(TALLEST) < 130, "no column is so narrow that its words come apart"
        assert page.evaluate(CUT_SEEDS) == []
        assert audit(page, page.locator("html"), set_theme) == {}


def test_the_list_of_runs_opens_each_and_reads_a_text_from_elsewhere(host, page):
    page.goto(f"{host.address}/runs")
    page.wait_for_selector("#runs tr:nth-child(3)")
    page.locator("#updates").uncheck()
    assert page.locator("#runs tr:first-child td:last-child").inner_text() == HOSTILE
    assert page.locator("main img").count() == 0
    check(page, "runs")
    page.locator("#verdict").select_option("cut")
    assert page.locator("#runs th").all_inner_texts() == ["✂ cut"]
    page.locator("#constraint").fill('{"type": "integer"}')
    page.locator("#prompt").fill(ABOUT)
    page.locator("#text").fill("36x")
    page.locator("#inspect button").click()
    page.locator("#found:has-text('byte 2')").wait_for()
    page.locator("#inspected").click()
    page.locator("h1:has-text('refused')").wait_for()


def test_two_runs_play_side_by_side_below_their_words(host, page):
    page.goto(f"{host.address}/runs")
    for place in (1, 2):
        page.locator(f"#runs tr:nth-child({place}) input").check()
    page.locator("#beside").click()
    page.wait_for_selector(".gv-beside .gv-live-stage")
    assert page.locator("text=They part after").count() == 1
    assert page.locator("main img").count() == 0
    assert page.locator("ul li").first.inner_text() == "user: no effect here"
    page.locator("text=look at step").first.wait_for()
    check(page, "run")
