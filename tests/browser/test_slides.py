"""A deck in the browser: nothing overflows or is too small, and its keys, its speaker's view and its print work."""

import pytest

from guidedviz.commands.slides import build_deck
from tests.labs.sources import NUMBERED

pytestmark = pytest.mark.browser
OVERFLOWS = """() => {
  const slide = document.querySelector(".slide.now");
  const parts = [slide, ...slide.querySelectorAll(".shown, .shown > div, .gv-place, pre")];
  const over = (part) => part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth + 1;
  const words = [...slide.querySelectorAll(":scope > :is(h1, h2, p), pre, .question .shown p, .shown li")];
  const read = words.filter((part) => part.clientHeight && !part.closest(".gv-stage"));
  const size = (part) => parseFloat(getComputedStyle(part).fontSize);
  return {
    over: parts.filter((part) => part.clientHeight && over(part)).map((part) => part.className || part.tagName),
    small: read.map(size).filter((pixels) => pixels < 19.9),
  };
}"""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
FINE = {"over": [], "small": []}


@pytest.fixture
def open_deck(browser, tmp_path):
    """Opens a deck as a file, in a page in which no error may happen."""
    errors = []
    page = browser.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)

    def open_at(name, address="", play=False):
        file = tmp_path / f"{name}.html"
        file.write_text(build_deck(name, play), encoding="utf-8")
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(file.as_uri() + address)
        return page

    yield open_at
    page.close()
    assert errors == []


def number(page):
    return page.locator("nav output").inner_text()


def look_through(page, sizes=((1280, 720),)):
    """What overflows on each slide, and with the answer of each question; a stage may scroll."""
    found = []
    steps = page.locator(".slide").count() + page.locator(".slide.question").count()
    for step in range(steps):
        for width, height in sizes:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(TWO_FRAMES)  # the page hears of its size a frame later
            if page.locator(".slide.now .gv-place").count():
                page.wait_for_selector(".slide.now .gv-place .gv-stage")
            seen = page.evaluate(OVERFLOWS)
            if seen != FINE:
                found.append((step, number(page), (width, height), seen))
        page.keyboard.press("ArrowRight")
    assert number(page) == f"{page.locator('.slide').count()} / {page.locator('.slide').count()}"
    return found


def test_each_slide_of_a_deck_fits(open_deck):
    assert look_through(open_deck("03_fsm")) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERED)
def test_each_slide_of_every_deck_fits(open_deck, name):
    assert look_through(open_deck(name, play=True), ((1280, 720), (1920, 1080))) == []


def test_keys_move_the_deck_and_a_question_first_gets_its_answer(open_deck):
    page = open_deck("03_fsm", "#2")
    sentence = page.locator(".slide.now > h2")
    seen = [(number(page), sentence.is_visible())]
    for key in ("PageDown", "ArrowRight", "ArrowLeft"):  # going back shows the answer, as it was
        page.keyboard.press(key)
        seen.append((number(page), sentence.is_visible()))
    assert seen == [("2 / 15", False), ("2 / 15", True), ("3 / 15", seen[2][1]), ("2 / 15", True)]
    assert page.evaluate("location.hash") == "#2"
    page.keyboard.press("End")
    assert number(page) == "15 / 15"
    page.keyboard.press("ArrowRight")
    assert page.locator(".slide.now li.true").inner_text() == "most of them"
    light = page.evaluate("document.body.dataset.jpThemeLight")
    page.keyboard.press("d")
    assert page.evaluate("document.body.dataset.jpThemeLight") != light


def test_a_question_has_its_picture_and_its_answer_takes_the_room(open_deck):
    page = open_deck("03_fsm", "#12")
    assert page.locator(".slide.now .before svg, .slide.now .before img").is_visible(), "the machine it asks about"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert number(page) == "10 / 15"
    assert page.locator(".slide.now li:visible").count() == 1, "the picture has the room of the wrong choices"
    page.keyboard.press("ArrowLeft")
    assert page.locator(".slide.now li:visible").count() == 4


def test_the_speakers_view_has_the_notes_and_moves_the_deck(open_deck):
    page = open_deck("03_fsm")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    speaker = opened.value
    speaker.wait_for_selector(".speaker .slide.now .notes")
    assert "Fifty minutes" in speaker.locator(".slide.now .notes").inner_text()
    assert speaker.locator(".slide.next").is_visible()
    speaker.keyboard.press("ArrowRight")
    page.wait_for_url("**#2")
    assert "Six. R and ROM have the same row" in speaker.locator(".slide.now .notes").inner_text(), (
        "the answer, before the class sees it"
    )
    assert not page.locator(".slide.now > h2").is_visible()
    page.keyboard.press("ArrowRight")
    speaker.locator(".slide.now.told").wait_for(state="attached")
    speaker.close()


def test_a_print_has_a_page_per_slide(open_deck):
    page = open_deck("03_fsm")
    pages = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
    assert pages == page.locator(".slide").count()
