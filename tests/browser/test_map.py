"""The vocabulary map on a bare page: a person points, types, zooms, and the picture is the mask."""

from __future__ import annotations

import time
import zlib

import numpy as np
import pytest

import guidedviz as gv
from tests.widgets.toy import WordsGuide, toy_model

pytestmark = pytest.mark.browser

PERSON = r'\{"name": "[A-Za-z ]{1,30}", "age": [0-9]{1,3}, "city": "[A-Za-z]{1,30}"\}'
STRING = r'\{"name": "([^"\\\x00-\x1f]|\\["\\/bfnrt])*", "age": [0-9]+\}'
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PIECES = [bytes([i]) for i in range(256)] + [bytes([a, b]) for a in LETTERS[26:] for b in LETTERS[26:]]
PIECES += [b"%02d" % i for i in range(100)] + [
    b'{"',
    b'": ',
    b'", "',
    b'"}',
    b"name",
    b"city",
    b"Ada",
    b"London",
    b"Grace",
]
VOCABULARY = gv.Vocabulary([*PIECES, b""], eos={len(PIECES)})


def rule(tokens):
    """Logits that look like a model's, with a bent for words."""
    logits = np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(VOCABULARY))
    logits[-10:-1] += 6
    return logits


def person(**settings):
    model = gv.ToyModel(VOCABULARY.pieces, rule, eos=VOCABULARY.eos)
    guide = gv.guide(gv.regex(PERSON), model.vocabulary)
    return gv.stage(model, "say ", guide, seed=7, constraint="a regex", **settings)


class Chart:
    """A map as a person finds it on the page."""

    def __init__(self, bare, root):
        self.bare, self.page, self.root = bare, bare.page, root
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

    def wait_colours(self, hold):
        self.bare.wait(lambda: hold(*self.colours()))


def open_chart(bare, guide, text=""):
    shown = gv.vocabulary_map(guide, text=text) if text else gv.vocabulary_map(guide)
    return Chart(bare, bare.show(shown))


@pytest.fixture
def string():
    return gv.guide(gv.regex(STRING), VOCABULARY)


def test_the_picture_is_the_mask_of_128k_tokens_and_follows_what_is_typed(bare):
    chart = open_chart(bare, gv.guide(gv.regex(STRING), gv.Vocabulary.llama3()))
    assert "legal 2 (" in chart.legend
    assert "EOS illegal" in chart.legend
    sea, land = chart.colours()
    assert sea < 0.01 < 0.9 < land
    text = chart.root.get_by_label("after the text")
    text.fill('{"name": "Ada')
    chart.wait(".gv-map-legend", "legal 123,218 (96%)")
    sea, land = chart.colours()
    assert sea > 0.85
    assert land < 0.1
    bare.shot("map-llama3", chart.root)
    text.fill('{"name": "Ada"x')
    chart.wait(".gv-note", "x cannot come: expected ,")
    text.fill('{"name": "Ada')
    chart.wait(".gv-map-legend", "legal 123,218 (96%)")
    bare.theme("Dark")
    chart.wait_colours(lambda sea, land: sea > 0.85)  # the canvas takes the colours of the theme


def test_pointing_says_the_token_its_bytes_and_why_it_is_illegal(bare, string):
    chart = open_chart(bare, string)
    assert "Press a cell to read about it. Zoom: + and −" in chart.card
    place = chart.root.locator(".gv-map-card").bounding_box()
    chart.page.mouse.move(*chart.at(0.3, 0.5))
    chart.wait(".gv-map-card", "cannot come: expected {")
    assert "bytes " in chart.card
    assert "id " in chart.card
    assert chart.root.locator(".gv-map-card").bounding_box() == place, "the words have a fixed place"
    chart.page.mouse.click(*chart.at(0.3, 0.5))
    first = chart.card
    chart.page.keyboard.press("ArrowRight")
    bare.wait(lambda: chart.card != first and "id " in chart.card)
    chart.page.keyboard.press("Home")
    chart.wait(".gv-map-card", "bytes 00 ")
    chart.page.keyboard.press("End")
    chart.wait(".gv-map-card", "no text")


def test_search_counts_marks_and_goes_from_one_to_the_next(bare, string):
    chart = open_chart(bare, string, '{"name": "Ada')
    find = chart.root.get_by_label("find tokens")
    find.fill("/[0-9]+/")
    chart.wait(".gv-map-find", "found, ")
    count = sum(piece.isdigit() for piece in PIECES)
    chart.wait(".gv-map-find", f"{count:,} found, {count:,} legal")
    find.fill("/London/")
    chart.wait(".gv-map-find", "1 found, 1 legal")
    find.press("Enter")
    chart.wait(".gv-map-card", "London")
    find.fill("/(/")
    chart.wait(".gv-map-find", "regex")
    find.fill("")
    bare.wait(lambda: "regex" not in chart.root.locator(".gv-map-find").last.inner_text())
    assert "found" not in chart.root.locator(".gv-map-find").last.inner_text()


def test_the_wheel_zooms_once_the_map_was_pressed(bare, string):
    chart = open_chart(bare, string, '{"name": "Ada')
    chart.page.mouse.move(*chart.at(0.53, 0.7))
    chart.page.mouse.wheel(0, -300)
    before = chart.colours()
    chart.sheet.scroll_into_view_if_needed()
    chart.page.mouse.click(*chart.at(0.53, 0.7))
    assert chart.colours() == before, "before that it scrolls the page"
    for _ in range(12):
        chart.page.mouse.wheel(0, -120)
    chart.wait_colours(lambda *now: list(now) != before)
    bare.shot("map-zoom", chart.root)
    chart.root.get_by_role("button", name="show all").click()
    chart.wait_colours(lambda *now: list(now) == before)


def test_two_states_are_compared(bare, string):
    chart = open_chart(bare, string, '{"name": "Ada')
    chart.root.get_by_role("button", name="⊕ compare").click()
    chart.root.get_by_label("after the text").fill('{"name": "Ada", "age": ')
    chart.wait(".gv-map-legend", "neither")
    bare.shot("map-xor", chart.root)
    chart.root.get_by_role("button", name="⊕ xor").click()
    chart.wait(".gv-map-legend", "legal")


def test_small_vocabularies_show_their_tokens_and_hostile_ones_stay_text(bare):
    chart = open_chart(bare, WordsGuide(toy_model().vocabulary))
    find = chart.root.get_by_label("find tokens")
    find.fill("script")
    chart.wait(".gv-map-find", "1 found, 0 legal")
    find.press("Enter")
    chart.wait(".gv-map-card", "<script>")
    assert bare.page.evaluate("window.hacked") is None


def open_stage(bare, **settings):
    stage = bare.show_stage(person(**settings))
    stage.tab("map")
    return stage, Chart(bare, stage.root)


def test_on_the_stage_the_map_moves_with_every_step(bare):
    stage, chart = open_stage(bare)
    chart.wait(".gv-map-legend", "legal 2 (")  # before the first step: what may come first
    seen = []
    for _ in range(6):
        stage.go_on(1)
        stage.wait_ready()  # the map of a step comes with its distribution
        seen.append((chart.legend, chart.colours()[0]))
    assert len({legend for legend, _ in seen}) > 3
    assert max(sea for _, sea in seen) > 0.5 > 0.01 > min(sea for _, sea in seen)
    bare.shot("map-stage", stage.root)
    xor = chart.root.get_by_role("button", name="⊕ xor")
    xor.click()
    chart.wait(".gv-map-legend", "neither")
    xor.click()
    bare.wait(lambda: chart.legend == seen[-1][0])


def test_on_the_stage_any_legal_token_of_the_map_can_be_put_in(bare):
    stage, chart = open_stage(bare, steps=5)
    find = chart.root.get_by_label("find tokens")
    find.fill("/Grace/")
    chart.wait(".gv-map-find", "1 found, 1 legal")
    find.press("Enter")
    chart.root.get_by_role("button", name="put it in").click()
    stage.wait_words("put in by you")
    assert stage.tokens[-1] == "Grace"


@pytest.mark.timed
def test_a_map_of_128k_tokens_keeps_up_with_the_steps(bare, capsys):
    llama3 = gv.Vocabulary.llama3()
    noise = [np.random.default_rng(seed).normal(0, 2, len(llama3)).astype(np.float32) for seed in range(8)]
    taken, told = [], []

    def timed_rule(tokens):
        taken.append(time.time())
        return noise[len(tokens) % 8]

    model = gv.ToyModel(llama3.pieces, timed_rule, eos=llama3.eos)
    lines = gv.regex(r'(\{"name": "[a-zA-Z ]{1,12}", "age": [0-9]{1,3}\}\n|\[("[^"]{1,9}",){1,3}\]\n)+')
    live = gv.stage(model, "say ", gv.guide(lines, model.vocabulary), max_tokens=80)
    feed = live._panels.map
    news = feed.news

    def timed(*given):
        start = time.perf_counter()
        packed = news(*given)
        told.append((1000 * (time.perf_counter() - start), sum(map(len, packed["bits"].values()))))
        return packed

    feed.news = timed
    stage = bare.show_stage(live)
    stage.root.get_by_role("slider", name="speed").fill("5")
    stage.watch()
    stage.press("play")
    stage.wait_end(90)
    seen = bare.page.evaluate("window.seen")
    costs, sent = sorted(ms for ms, _ in told[1:]), sum(size for _, size in told)
    painted = 1000 * (len(seen) - 1) / (seen[-1][1] - seen[0][1])
    late = seen[-1][1] - 1000 * taken[-1]
    with capsys.disabled():
        print(f"\n  {painted:.0f} steps/s painted, the last {late:.0f} ms late")
        print(
            f"  map in Python {costs[len(costs) // 2]:.2f} ms, at most {costs[-1]:.1f}; {sent / 1000:.0f} kB of masks"
        )
    assert [step for step, *_ in seen] == sorted(step for step, *_ in seen)


def test_the_token_table_is_searched_and_says_why(bare):
    root = bare.show(gv.token_table(gv.guide(gv.regex("[0-9]+"), VOCABULARY)))
    assert f"2 states × {len(VOCABULARY):,} tokens" in root.inner_text()
    assert root.locator("td.gv-filled").count() == 3
    root.locator("td[data-column]").first.click()
    root.locator(".gv-map-card:has-text('cannot come')").wait_for()
    root.get_by_label("only these tokens").fill("/[0-3]/")
    root.locator("td.gv-filled").nth(7).wait_for()
    assert root.locator("td.gv-filled").count() == 8
    root.locator("td[data-column]").first.click()
    bare.page.keyboard.press("ArrowDown")
    assert root.locator("tr[data-row='1'] td.gv-now").count() == 1
    bare.shot("table", root)
