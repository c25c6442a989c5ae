"""The vocabulary map on a bare page: a person points, types, zooms, and the picture is the mask."""

import zlib

import numpy as np
import pytest

import guidedviz as gv
from tests.common import regex_guide

pytestmark = pytest.mark.browser

PERSON = r'\{"name": "[A-Za-z ]{1,30}", "age": [0-9]{1,3}, "city": "[A-Za-z]{1,30}"\}'
STRING = r'\{"name": "([^"\\\x00-\x1f]|\\["\\/bfnrt])*", "age": [0-9]+\}'
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PIECES = [bytes([i]) for i in range(256)] + [bytes([a, b]) for a in LETTERS[26:] for b in LETTERS[26:]]
PIECES += [b"%02d" % i for i in range(100)]
PIECES += [b'{"', b'": ', b'", "', b'"}', b"name", b"city", b"Ada", b"London", b"Grace"]
VOCABULARY = gv.Vocabulary([*PIECES, b""], eos={len(PIECES)})


def rule(tokens):
    """Logits that look like a model's, with a bent for words."""
    logits = np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(VOCABULARY))
    logits[-10:-1] += 6
    return logits


def person(**settings):
    model = gv.ToyModel(VOCABULARY.pieces, rule, eos=VOCABULARY.eos)
    guide = regex_guide(model, PERSON)
    return gv.stage(model, "say ", guide, seed=7, constraint="a regex", **settings)


# what begins to move stands still, half-way


class Chart:
    """A map as a person finds it on the page."""

    def __init__(self, bare, root):
        self.bare = bare
        self.page = bare.page
        self.root = root
        self.sheet = root.locator(".gv-map")
        root.locator(".gv-map-legend b").first.wait_for()
        self.sheet.scroll_into_view_if_needed()

    @property
    def legend(self):
        return self.root.locator(".gv-map-legend").inner_text()

    @property
    def card(self):
        return self.root.locator(".gv-map-card").inner_text()

    def wait(self, selector, words):
        self.root.locator(f"{selector}:has-text({words!r})").first.wait_for()

    def at(self, x, y):
        """A place on the sheet, as parts of its width and height."""
        box = self.sheet.bounding_box()
        return box["x"] + box["width"] * x, box["y"] + box["height"] * y

    def colours(self):
        """The share of the canvas that has the colour of legal tokens, and of illegal ones."""
        return self.sheet.locator("canvas").first.evaluate(
            """canvas => {
              const style = getComputedStyle(canvas);
              const pen = document.createElement('canvas').getContext('2d');
              const rgb = name => { pen.fillStyle = style.getPropertyValue('--gv-' + name).trim();
                return [1, 3, 5].map(i => parseInt(pen.fillStyle.slice(i, i + 2), 16)).join(); };
              const looks = [rgb('sea'), rgb('land')], counts = [0, 0];
              const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
              for (let i = 0; i < data.length; i += 4) {
                const kind = looks.indexOf([data[i], data[i + 1], data[i + 2]].join());
                if (kind >= 0) counts[kind] += 1;
              }
              return counts.map(n => n / (canvas.width * canvas.height));
            }"""
        )


def open_chart(bare, guide):
    """The map on the stage of a model that likes all tokens alike."""
    vocabulary = guide.vocabulary
    model = gv.ToyModel(vocabulary.pieces, lambda tokens: np.zeros(len(vocabulary)), eos=vocabulary.eos)
    stage = bare.show_stage(gv.stage(model, " ", guide, seed=7))
    stage.tab("map")
    return Chart(bare, stage.root)


def string():
    return gv.guide(gv.regex(STRING), VOCABULARY)


def inside():
    """The same inside the name."""
    return gv.guide(gv.regex(STRING.partition('"name": "')[2]), VOCABULARY)


def test_the_picture_is_the_mask_and_takes_the_colours_of_the_theme(bare):
    chart = open_chart(bare, string())
    assert "legal 2 (" in chart.legend
    assert "EOS illegal" in chart.legend
    sea, land = chart.colours()
    assert sea < 0.05 < 0.7 < land
    chart = open_chart(bare, inside())
    sea, land = chart.colours()
    assert land < 0.3 < 0.7 < sea
    bare.theme("Dark")
    bare.wait(lambda: abs(chart.colours()[0] - sea) < 0.05)  # the canvas takes the colours of the theme


def test_pointing_says_the_token_its_bytes_and_why_it_is_illegal(bare):
    chart = open_chart(bare, string())
    assert "Press a cell to read about it. Zoom: + and −" in chart.card
    card = chart.root.locator(".gv-map-card")
    place = card.bounding_box()
    chart.page.mouse.move(*chart.at(0.3, 0.5))
    chart.wait(".gv-map-card", "cannot come: expected {")
    assert "bytes " in chart.card
    assert card.bounding_box() == place, "the words have a fixed place"
    chart.page.mouse.click(*chart.at(0.3, 0.5))
    first = chart.card
    chart.page.keyboard.press("ArrowRight")
    bare.wait(lambda: chart.card != first and "id " in chart.card)
    for key, said in (("Home", "bytes 00 "), ("End", "no text")):
        chart.page.keyboard.press(key)
        chart.wait(".gv-map-card", said)


def test_search_counts_marks_and_goes_from_one_to_the_next(bare):
    chart = open_chart(bare, inside())
    find = chart.root.get_by_label("find tokens")
    count = sum(piece.isdigit() for piece in PIECES)
    for text, said in (("/[0-9]+/", f"{count:,} found, {count:,} legal"), ("/(/", "regex"), ("/London/", "1 found")):
        find.fill(text)
        chart.wait(".gv-map-find", said)
    find.press("Enter")
    chart.wait(".gv-map-card", "London")
    find.fill("")
    bare.wait(lambda: "found" not in chart.root.locator(".gv-map-find").last.inner_text())


def open_stage(bare, **settings):
    stage = bare.show_stage(person(**settings))
    stage.tab("map")
    return stage, Chart(bare, stage.root)


def test_on_the_stage_any_legal_token_of_the_map_can_be_put_in(bare):
    stage, chart = open_stage(bare, steps=5)
    find = chart.root.get_by_label("find tokens")
    find.fill("/Grace/")
    chart.wait(".gv-map-find", "1 found, 1 legal")
    find.press("Enter")
    chart.root.get_by_role("button", name="put it in").click()
    stage.wait_words("put in by you")
    assert stage.tokens[-1] == "Grace"


# --- under fingers, wheel and keys: the map never keeps the page from scrolling ---


@pytest.fixture
def long_page(bare):
    """A map of 1,042 tokens on a page that is longer than the window."""
    space = "document.body.append(Object.assign(document.createElement('p'), { style: 'height: 2000px' }))"
    bare.page.evaluate(space)
    chart = open_chart(bare, inside())
    bare.page.evaluate(space)
    return chart


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
            kind = "touchMove" if part else "touchStart"
            self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
        self.session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def cells(chart):
    """What the map shows: the picture of its cells."""
    return chart.sheet.locator("canvas").first.evaluate("canvas => canvas.toDataURL()")


@pytest.mark.slow
def test_two_fingers_zoom_and_move_the_map_and_one_taps_a_token_or_scrolls_the_page(bare, long_page):
    chart = long_page
    fingers = Fingers(bare.page)
    top = bare.page.evaluate("scrollY")
    (x, y) = chart.at(0.5, 0.5)
    zoom = ((x - 20, y), (x - 120, y)), ((x + 20, y), (x + 120, y))
    pan = ((x - 60, y), (x - 60, y + 80)), ((x + 60, y), (x + 60, y + 80))
    for ways in (zoom, pan):
        before = cells(chart)
        fingers.move(*ways)
        bare.wait(lambda before=before: cells(chart) != before)
    assert "id " not in chart.card, "two fingers select nothing"
    assert bare.page.evaluate("scrollY") == top
    zoomed = cells(chart)
    fingers.move(((x, y), (x, y - 150)))
    bare.wait(lambda: bare.page.evaluate("scrollY") > top + 60)
    assert cells(chart) == zoomed
    assert "id " not in chart.card, "a scroll is no tap"
    at = chart.at(0.53, 0.7)
    fingers.move((at, at), steps=1)
    chart.wait(".gv-map-card", "id ")


def test_the_wheel_scrolls_the_page_until_the_map_is_pressed_or_ctrl_held(bare, long_page):
    chart = long_page
    mouse = bare.page.mouse
    mouse.move(*chart.at(0.53, 0.3))
    top = bare.page.evaluate("scrollY")
    before = cells(chart)
    mouse.wheel(0, 60)
    bare.wait(lambda: bare.page.evaluate("scrollY") > top)
    assert cells(chart) == before
    bare.page.keyboard.down("Control")
    mouse.wheel(0, -300)
    bare.page.keyboard.up("Control")
    bare.wait(lambda: cells(chart) != before)
    mouse.click(*chart.at(0.53, 0.7))
    chart.wait(".gv-map-card", "id ")
    zoomed = cells(chart)
    mouse.wheel(0, 200)
    bare.wait(lambda: cells(chart) != zoomed)


@pytest.mark.slow
def test_on_the_stage_the_card_follows_the_step_under_the_pointer_also_in_full_screen(bare):
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

    def name(spot):
        chart.page.mouse.click(*chart.at(*spot))
        chart.wait(".gv-map-card", "id ")
        return chart.card.split("·")[0]

    spots = ((0.25, 0.3), (0.6, 0.7), (0.9, 0.5))
    named = [name(spot) for spot in spots]
    stage.root.press("f")
    bare.page.wait_for_function("document.fullscreenElement")
    bare.page.wait_for_timeout(300)
    assert [name(spot) for spot in spots] == named
