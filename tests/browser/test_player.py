"""A run in a file, opened in a browser that has no network: it steps, plays, scrubs and says why."""

import re

import pytest

import guidedviz as gv
from tests.browser.access import audit
from tests.browser.bare import SIZE
from tests.browser.test_site import set_theme

pytestmark = pytest.mark.browser
PIECES = [b"<eos>", b"{", b'"a"', b":", b"[", b"1", b",", b"]", b"}", b"oops no", b"x"]
TEXT = (1, 2, 3, 4, 5, 6, 5, 7, 8, 0)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A run of nested JSON whose likeliest forbidden token has a blank."""

    def rule(tokens):
        wanted = TEXT[min(len(tokens) - 1, len(TEXT) - 1)]
        return [9.0 if token == wanted else 7.0 if token == 9 else 0.0 for token in range(len(PIECES))]

    model = gv.ToyModel(PIECES, rule, eos={0})
    path = tmp_path_factory.mktemp("run") / "run.html"
    gv.record(model, "x", gv.guide(gv.json(), model.vocabulary), temperature=0).page(path, 3)
    return path


@pytest.fixture
def show(browser, file):
    """Opens the file; nothing may be loaded and no error may be in the console."""
    said = []
    pages = []

    def open_page(after=""):
        context = browser.browser.new_context(viewport=SIZE, offline=True)
        page = context.new_page()
        pages.append(context)
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
        page.goto(f"file://{file}{after}")
        page.locator(".gv-stage").wait_for()
        return page

    yield open_page
    for context in pages:
        context.close()
    assert said == []


def cursor(page):
    return int(page.locator(".gv-stage").get_attribute("data-cursor"))


def tokens(page):
    return page.locator(".gv-chip:not(.gv-unseen) .gv-name").all_inner_texts()


def test_it_opens_at_its_step_and_hides_the_text_that_comes(show):
    page = show()
    assert cursor(page) == 3
    assert tokens(page) == ["{", '"a"', ":"]
    assert page.locator(".gv-chip.gv-unseen").first.is_hidden()
    assert page.locator(".gv-row.gv-chosen").count() == 1, "the run knows which token comes"
    assert "TOY" in page.locator(".gv-badge").inner_text()
    assert cursor(show("#step=7")) == 7, "a link opens its step"


@pytest.mark.parametrize("width", [390, 650])
@pytest.mark.quick("390")
def test_on_a_narrow_page_the_controls_stand_inside_the_border(show, width):
    page = show()
    page.set_viewport_size({"width": width, "height": 844})
    for name in ("next", "map"):
        page.locator(f".gv-tabs [data-name='{name}']").click()
        page.wait_for_timeout(150)
        stage, controls = (page.locator(f".gv-{part}").bounding_box() for part in ("live-stage", "controls"))
        assert controls["y"] + controls["height"] <= stage["y"] + stage["height"]


def test_keys_step_play_and_scrub_and_the_address_follows(show):
    page = show()
    page.keyboard.press("ArrowRight")
    assert (cursor(page), tokens(page)[-1]) == (4, "[")
    assert page.url.endswith("#step=4")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    page.locator(".gv-stage[data-ended='true']").wait_for(timeout=20000)
    assert cursor(page) == len(TEXT)
    page.locator(".gv-more > summary").click()
    page.locator(".gv-more [aria-label='bars'] [data-name='odds']").click()
    page.locator(".gv-timebars i").nth(2).click(position={"x": 3, "y": 1}, force=True)
    assert cursor(page) == 2
    assert len(tokens(page)) == len(TEXT), "what was seen stays"


def test_a_forbidden_token_says_why_and_the_map_names_its_tokens_without_a_fault(show):
    page = show()
    row = page.locator(".gv-row.gv-struck").first
    assert "oops␣no" in row.locator(".gv-name").inner_text()
    row.click()
    assert re.search("cannot come|expected", page.locator(".gv-why").inner_text())
    page.locator(".gv-tabs [data-name='map']").click()
    page.locator(".gv-map").focus()
    page.keyboard.press("Home")
    assert page.locator(".gv-map-card .gv-name").inner_text() not in ("", "…")
    colours = set()

    def show_in(theme):
        set_theme(page, theme)
        colours.add(page.locator(".gv-stage").evaluate("root => getComputedStyle(root).backgroundColor"))

    assert audit(page, page.locator("html"), show_in) == {}
    assert len(colours) == 2, "it follows the theme of the system"
