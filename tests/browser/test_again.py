"""The page of a run in Chromium: the host decodes what a person changes, and the run of before stands beside it."""

import re

import pytest

from tests.browser.test_runs import check, page  # noqa: F401
from tests.host.api.asking import CHAT, PERSON, ask_chat
from tests.host.running import hosting

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WARM = CHAT | {"temperature": 1, "seed": 7, "max_tokens": 40, "response_format": PERSON}
TOKEN = "class-0123456789abcdef"


@pytest.fixture
def host(clerk):
    """A host with a run that was drawn at temperature 1."""
    with hosting(clerk) as running:
        yield running


def open_run(page, host, **more):  # noqa: F811
    """The page of an answer's run, and the name of the run."""
    said = ask_chat(host, WARM, **more)
    page.goto(said["guidedviz"]["run"])
    page.wait_for_selector(".gv-live-stage[data-cursor]")
    return said["guidedviz"]["run"].rpartition("/")[2]


def wait_beside(page, name):  # noqa: F811
    """Wait for the page of another run beside this one, and give the name of the other."""
    page.wait_for_url(re.compile(rf"/runs/[\w-]+/{name}"))
    page.wait_for_selector("[data-part=beside]")
    return re.search(r"/runs/([\w-]+)/", page.url)[1]


def test_the_temperature_and_top_k_of_a_run_are_changed_on_its_page(host, page):  # noqa: F811
    name = open_run(page, host)
    page.locator(".gv-more summary").click()
    page.get_by_label("top-k").fill("2")
    page.get_by_label("top-k").press("Enter")
    page.get_by_label("temperature").fill("0.3")
    other = wait_beside(page, name)
    settings = host.service.runs.find(other).request.settings
    assert (settings.top_k, settings.temperature, settings.seed) == (2, 0.3, 7)
    assert page.locator("main > p").inner_text().startswith(("They part after", "Both runs have"))
    assert page.get_by_label("temperature").first.input_value() == "0.3"
    assert page.locator(".gv-live-stage").first.bounding_box()["y"] < 300, "the new run is in sight"
    page.locator(".gv-more summary").first.click()
    page.get_by_text("what the model looked at").first.click()
    page.wait_for_selector(".gv-looked-part")
    check(page, "again")


def test_a_host_with_a_token_asks_for_it_once(clerk, page):  # noqa: F811
    with hosting(clerk, {"": TOKEN}) as host:
        name = open_run(page, host, token=TOKEN)
        page.get_by_label("temperature").fill("0.3")
        page.get_by_label("your token").wait_for()
        check(page, "token")
        page.get_by_label("your token").fill(TOKEN)
        page.get_by_text("Run again").click()
        other = wait_beside(page, name)
        assert page.evaluate("sessionStorage.length") == 0
        page.get_by_label("temperature").first.fill("0")
        wait_beside(page, other)
