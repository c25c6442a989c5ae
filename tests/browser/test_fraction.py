"""The fraction slider on a bare page: dragged, moved by keys, left to rest until points appear, tokens pressed."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest

import guidedviz as gv
from guidedviz.decoding.jump import FRACTIONS, Cost, Payoff, SliderTask, Timed
from guidedviz.files import shipped
from guidedviz.views.charts.payoff import find_run, say_place
from guidedviz.widgets import fraction
from tests.browser.bare import work_of

pytestmark = pytest.mark.browser

REST = 320  # milliseconds: then the handles rest


def text(share):
    fixed = round(40 * share)
    words = tuple((f"word{place}", False) for place in range(40 - fixed))
    return (('{"', True),) + (('"key"', True),) * (fixed - 1) + words


def run(share, rows, parts=None):
    parts, by_hand = parts or text(share), bool(parts)
    free = sum(not fixed for _, fixed in parts)
    times, passes = (100.0, 50.0 - 40 * share), (40, free, 40 - free, 40)
    return Timed(share, 1 - free / len(parts), rows, *times, *passes, parts, "same tokens", (), by_hand)


ABOUT = ("clerk", "cpu", "2026-11-22", "canonical", "RECORDED")
PREVIEWS = tuple(map(text, FRACTIONS))
RECORD = Payoff(Cost(2.5, 0.25), tuple(run(s, r) for s in (0.25, 0.5, 0.75) for r in (1, 8)), PREVIEWS, *ABOUT)
WORDS = gv.Vocabulary([b"a", b"<|end|>"], eos={1})
TASKS = tuple(SliderTask(at, "", parts, WORDS) for at, parts in zip(FRACTIONS, PREVIEWS, strict=True))


class SliderPage:
    """The slider as a person finds it on the page."""

    def __init__(self, shown, root=None):
        self.page = shown.page
        self.root = root or self.page.locator(".gv-fraction").first
        self.root.wait_for(timeout=30000)
        self.root.scroll_into_view_if_needed()
        self.share, self.rows = self.root.locator(".gv-share"), self.root.locator(".gv-batch")

    @property
    def place(self):
        return int(self.root.get_attribute("data-place"))

    @property
    def words(self):
        return self.root.locator(".gv-fraction-words").inner_text()

    @property
    def text(self):
        return self.root.locator(".gv-fraction-text").inner_text()

    @property
    def line(self):
        return self.root.locator("[data-part='handle']").get_attribute("d")

    @property
    def points(self):
        """How many runs are drawn filled, and how many hollow."""
        count = self.root.locator(".gv-point").count()
        here = self.root.locator(".gv-point.gv-full").count()
        return here, count - here

    @property
    def passes(self):
        """How many boxes the lane of jump-forward has."""
        return self.root.locator(".gv-pass-own").nth(1).get_attribute("d").count("z")

    def spot(self, share):
        """Where on the page the thumb stands at a share."""
        box = self.share.bounding_box()
        return box["x"] + 8 + (box["width"] - 16) * share / 0.95, box["y"] + box["height"] / 2

    def wait_runs(self, count, timeout=60):
        self.page.wait_for_selector(f".gv-fraction[data-runs='{count}'][data-timing='false']", timeout=timeout * 1000)

    def wait_place(self, place):
        self.page.wait_for_selector(f".gv-fraction[data-place='{place}']")


class Clock:
    """Runs that take as long as they are told to, and what became of each."""

    def __init__(self):
        self.slow, self.begun, self.stopped = 0.01, [], []

    def time_task(self, model, task, rows, stop):
        self.begun.append(task.fraction)
        until = time.monotonic() + self.slow
        while time.monotonic() < until:
            if stop():
                self.stopped.append(task.fraction)
                return None
            time.sleep(0.002)
        return run(task.fraction, rows, task.text if task.pattern else None)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(fraction, "time_task", clock.time_task)
    monkeypatch.setattr(fraction, "measure_cost", lambda model: RECORD.cost)
    monkeypatch.setattr(fraction, "ROUNDS", 1)
    return clock


def show_live(bare):
    live = fraction.FractionSlider(replace(RECORD, source="LIVE", runs=()), SimpleNamespace(), TASKS, 0.7, 1)
    return live, SliderPage(bare, bare.show(live))


def show_record(bare, record=RECORD, share=0.5):
    recorded = gv.fraction_slider(record, fraction=share)
    return recorded, SliderPage(bare, bare.show(recorded))


def test_everything_follows_a_drag_and_where_it_rests_a_point_appears(bare, clock):
    live, slider = show_live(bare)
    mouse, seen = slider.page.mouse, {}
    mouse.move(*slider.spot(0.7))
    mouse.down()
    for share in (0.62, 0.5, 0.41, 0.3):
        mouse.move(*slider.spot(share), steps=4)
        slider.wait_place(round(20 * share))
        seen[share] = (slider.line, slider.text, slider.words)
    assert all(len({look[part] for look in seen.values()}) == 4 for part in range(3)), "line, text and words follow"
    bare.wait(lambda: "; measured " in slider.words)  # the mouse is still down: it rests, that is enough
    for share in (0.1, 0.9):
        mouse.move(*slider.spot(share), steps=6)
        bare.wait(lambda share=share: live.payoff.runs[-1].asked == share)
    mouse.up()
    slider.wait_runs(len(live.payoff.runs))
    assert slider.points == (len(live.payoff.runs), 0), "the points stay"
    parts = live.payoff.runs[-1].parts
    assert slider.root.locator(".gv-fraction-text .gv-name").count() == len(parts), "it shows what the run wrote"
    fixed = sum(sure for _, sure in parts)
    assert slider.root.locator(".gv-fraction-text .gv-part-fixed").count() == fixed
    bare.shot("fraction-dragged", slider.root)


def test_keys_go_from_place_to_place_and_from_rows_to_rows(bare, clock):
    live, slider = show_live(bare)
    slider.share.focus()
    for key, place in {"ArrowRight": 15, "ArrowUp": 16, "ArrowLeft": 15, "Home": 0, "End": 19, "PageDown": 17}.items():
        slider.page.keyboard.press(key)
        slider.wait_place(place)
    assert abs(float(slider.share.input_value()) - 0.85) < 1e-9, "it stands on a place, not between two"
    assert slider.share.get_attribute("aria-valuetext") == slider.words
    bare.wait(lambda: live.payoff.runs and live.payoff.runs[-1].asked == 0.85)
    slider.rows.focus()
    model = slider.root.locator("[data-part='model']")
    one = model.get_attribute("d")
    for rows in ("2", "4", "8"):
        slider.page.keyboard.press("ArrowRight")
        slider.page.locator(".gv-fraction-rows output", has_text=rows).wait_for()
    assert model.get_attribute("d") != one, "the cost model bends"
    assert slider.rows.get_attribute("aria-valuetext").startswith("8 texts side by side")
    bare.wait(lambda: live.payoff.runs[-1].rows == 8)
    slider.page.wait_for_function("document.querySelectorAll('.gv-point.gv-full').length === 1")
    assert slider.points[1] == len(live.payoff.runs) - 1, "with other rows it is hollow"


def test_a_first_point_is_measured_without_a_move(bare, clock):
    live, slider = show_live(bare)
    slider.wait_runs(1)
    assert (slider.points, slider.place, clock.begun) == ((1, 0), 14, [0.7])
    assert "; measured " in slider.words
    bare.show(live)
    slider.page.wait_for_timeout(400)
    assert clock.begun == [0.7], "a second page asks for none"


def test_the_curve_is_dragged_and_the_keys_go_on_from_there(bare, clock):
    live, slider = show_live(bare)
    slider.wait_runs(1)
    knob, mouse = slider.root.locator("[data-part='on-model']").bounding_box(), slider.page.mouse
    assert min(knob["width"], knob["height"]) >= 14
    plot, y = slider.root.locator(".gv-fraction-plot").bounding_box(), knob["y"] + knob["height"] / 2
    mouse.move(knob["x"] + knob["width"] / 2, y)
    mouse.down()
    for share in (0.6, 0.43, 0.3):
        mouse.move(slider.spot(share)[0], y, steps=3)
        slider.wait_place(round(20 * share))
        assert float(slider.share.input_value()) == pytest.approx(share, abs=0.01)
    mouse.move(plot["x"] - 60, y)  # far outside
    slider.wait_place(0)
    mouse.move(slider.spot(0.4)[0], y)
    mouse.up()
    slider.wait_place(8)
    slider.page.keyboard.press("ArrowRight")
    slider.wait_place(9)
    bare.wait(lambda: live.payoff.runs[-1].asked == 0.45)


def test_a_pressed_token_is_freed_or_fixed_the_share_follows_and_its_run_is_timed(bare, clock):
    live, slider = show_live(bare)
    slider.wait_runs(1)
    chips = slider.root.locator(".gv-fraction-text button")
    for at in range(1, 5):
        chips.nth(at).click()
        chips.nth(at).and_(slider.root.locator("[aria-pressed=false]")).wait_for()
    slider.wait_place(12)
    assert float(slider.share.input_value()) == pytest.approx(0.6)
    assert slider.words.startswith("60% forced: 40 tokens, 16 passes instead of 40; not measured here")
    bare.wait(lambda: live.payoff.runs[-1].by_hand)
    assert [sure for _, sure in live.payoff.runs[-1].parts[:6]] == [True, False, False, False, False, True]
    slider.wait_runs(2)
    bare.wait(lambda: "; measured " in slider.words)
    assert "forced by hand" in slider.root.locator(".gv-point.gv-full title").nth(1).evaluate(
        "node => node.textContent"
    )
    slider.page.keyboard.press("ArrowLeft")
    slider.page.keyboard.press("Enter")
    bare.wait(lambda: live.payoff.runs[-1].parts[3][1])
    assert chips.nth(3).evaluate("chip => chip === document.activeElement"), "the keyboard stays at its token"
    slider.root.get_by_role("button", name="time the schema's text").click()
    bare.wait(lambda: not live.payoff.runs[-1].by_hand)


def test_tokens_are_pressed_in_a_recording_too(bare):
    _, slider = show_record(bare)
    for at in (-1, -2):
        slider.root.locator(".gv-fraction-text button").nth(at).click()
    bare.wait(lambda: slider.words.startswith("55% forced: 40 tokens, 18 passes instead of 40; not measured here"))
    slider.share.focus()
    slider.page.keyboard.press("End")
    slider.page.keyboard.press("Home")
    slider.wait_place(0)
    assert slider.words.startswith("2% forced: 41 tokens, 40 passes")


def test_each_number_of_the_formula_and_its_boxes_light_each_other(bare):
    _, slider = show_record(bare)
    terms, boxes = slider.root.locator(".gv-term"), slider.root.locator(".gv-lane path:not(.gv-pass-clock)")
    assert terms.all_inner_texts() == ["2.50", "0.25", "0.50 · 2.50", "0.25"]
    assert slider.root.locator(".gv-equals").inner_text() == "= 1.83×"
    assert "the cost model says 1.83×" in slider.words
    for at in range(4):
        colour, fill = (
            terms.nth(at).evaluate("term => getComputedStyle(term).boxShadow"),
            "node => getComputedStyle(node).fill",
        )
        assert boxes.nth(at).evaluate(fill) in colour
        terms.nth(at).focus()
        assert slider.root.locator(".gv-lane .gv-lit").count() == 1
        assert "gv-lit" in boxes.nth(at).get_attribute("class")
    terms.nth(3).blur()
    lane = boxes.nth(2).bounding_box()
    slider.page.mouse.move(lane["x"] + 3, lane["y"] + 3)
    assert "gv-lit" in terms.nth(2).get_attribute("class")


def test_the_result_is_in_sight_at_once_and_all_of_it_on_one_screen(bare):
    _, slider = show_record(bare)
    for width, height in ((1366, 768), (1050, 640)):
        slider.page.set_viewport_size({"width": width, "height": height})
        slider.page.evaluate("document.querySelector('.gv-fraction').scrollIntoView()")
        for part in (".gv-fraction-words", ".gv-fraction-fate"):
            box = slider.root.locator(part).bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= height
        assert slider.root.bounding_box()["height"] <= height
        bare.shot(f"fraction-{width}x{height}")


# Colours as the page paints them, with what is behind a text looked up from the outside in.
CONTRAST = """root => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const bright = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return bright([...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3));
  };
  const found = {};
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (!node.data.trim() || owner.tagName === "title" || !owner.getClientRects().length) continue;
    if (owner.closest(":disabled")) continue;
    const behind = [];
    for (let up = owner; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
    const filled = owner.matches(".gv-times") ? null : owner.closest(".gv-state.gv-lit, .gv-call.gv-open");
    if (filled) behind.push(getComputedStyle(filled.querySelector(".gv-disc, rect.gv-box")).fill);
    const ground = ["white", ...behind], style = getComputedStyle(owner);
    const text = owner.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [low, high] = [over(ground), over([...ground, text])].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found[node.data] = ratio;
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_text_is_readable_and_targets_are_large_enough(bare, clock, theme):
    _, slider = show_live(bare)
    bare.theme(theme)
    if theme == "Dark":
        slider.page.evaluate("document.body.style.cssText = '--jp-layout-color1: #111; --jp-ui-font-color0: #fff'")
    slider.wait_runs(1)
    slider.page.mouse.move(1, 1)
    assert slider.root.evaluate(CONTRAST) == {}
    for target in slider.root.locator("button:visible, input:visible").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 24, target.get_attribute("class")
    bare.shot(f"fraction-{theme.lower()}", slider.root)


def test_everything_is_reached_with_tab(bare, clock):
    _, slider = show_live(bare)
    slider.wait_runs(1)
    slider.root.locator("header button").first.focus()
    seen = []
    for _ in range(9):
        focused = slider.page.evaluate("document.activeElement.className")
        seen.append(re.search(r"gv-(reset|step|share|batch|part|term)", focused)[1])
        slider.page.keyboard.press("Tab")
    assert seen == ["reset", "step", "share", "batch", "part", *["term"] * 4]


def test_fixed_and_free_differ_in_forced_colours(bare):
    _, slider = show_record(bare)
    slider.page.emulate_media(forced_colors="active")
    edges = slider.root.locator(".gv-fraction-text button").evaluate_all(
        "chips => chips.map(chip => [chip.ariaPressed, getComputedStyle(chip).borderBottomWidth])"
    )
    assert {tuple(edge) for edge in edges} == {("true", "1px"), ("false", "3px")}
    bare.shot("fraction-forced", slider.root)


@pytest.mark.parametrize("seed", range(2))
def test_after_a_random_walk_page_and_kernel_stand_at_the_same_place(bare, clock, seed):
    live, slider = show_live(bare)
    dice, page = Random(seed), slider.page
    slider.wait_runs(1)
    for _ in range(12):
        match dice.choice(["token", "token", "key", "rows", "curve", "again", "reload"]):
            case "token":
                chips = slider.root.locator(".gv-fraction-text button")
                chips.nth(dice.randrange(chips.count())).click()
            case "key":
                slider.share.focus()
                page.keyboard.press(dice.choice(["Home", "End", "ArrowLeft", "ArrowRight", "PageUp"]))
            case "rows":
                slider.rows.focus()
                page.keyboard.press(dice.choice(["ArrowLeft", "ArrowRight"]))
            case "curve":
                page.mouse.move(slider.spot(dice.random())[0], slider.spot(0)[1] - 100)
                page.mouse.down()
                page.mouse.move(slider.spot(dice.random())[0], slider.spot(0)[1] - 100, steps=3)
                page.mouse.up()
            case "again" if slider.root.locator("header .gv-reset").is_enabled():
                slider.root.locator("header .gv-reset").click()
            case "reload":
                page.wait_for_timeout(50)  # a page that is gone says nothing more
                slider.root.evaluate("root => root.remove()")
                slider = SliderPage(bare, bare.show(live))
                page.wait_for_selector(".gv-fraction[data-place]")
        page.wait_for_timeout(dice.choice([0, 20, REST]))
    page.wait_for_timeout(REST)
    bare.wait(lambda: "; measured " in slider.words and slider.root.get_attribute("data-timing") == "false")
    run = find_run(live.payoff, live.place, live.rows)
    assert (slider.place, int(slider.rows.get_attribute("aria-valuetext").split()[0])) == (live.place, live.rows)
    assert slider.words == say_place(live.payoff, live.place, live.rows)
    pressed = slider.root.locator(".gv-fraction-text button").evaluate_all(
        "chips => chips.map(chip => chip.ariaPressed)"
    )
    assert pressed == [str(fixed).lower() for _, fixed in run.parts]
    assert slider.root.locator(".gv-point").count() == len(live.payoff.runs)


def test_moving_on_stops_the_run(bare, clock):
    clock.slow = 30
    live, slider = show_live(bare)
    slider.share.focus()
    slider.page.keyboard.press("Home")
    slider.page.wait_for_selector(".gv-fraction[data-timing='true']")
    assert "timing" in slider.root.locator(".gv-fraction-fate").inner_text()
    for _ in range(3):
        slider.page.keyboard.press("ArrowRight")
    slider.page.wait_for_selector(".gv-fraction[data-timing='true'][data-place='3']")
    slider.page.keyboard.press("End")
    slider.page.wait_for_selector(".gv-fraction[data-timing='true'][data-place='19']")
    bare.wait(lambda: clock.begun[-1] == 0.95)
    assert clock.begun[0] == 0.7, "the first run needs no move"
    assert (clock.stopped, live.payoff.runs) == (clock.begun[:-1], ())
    live.display.close()
    bare.wait(lambda: clock.stopped == clock.begun)
    assert live._model is None


def test_every_place_is_timed_from_left_to_right_until_a_person_moves(bare, clock):
    clock.slow = 0.1
    live, slider = show_live(bare)
    slider.root.get_by_role("button", name="time every place").click()
    slider.page.wait_for_function("document.querySelectorAll('.gv-point').length >= 4")
    assert slider.place >= 2
    slider.share.focus()
    slider.page.keyboard.press("End")
    slider.wait_place(19)
    slider.page.wait_for_function("root => root.textContent.includes('; measured ')", arg=slider.root.element_handle())
    assert slider.place == 19, "it went no further by itself"
    assert len(live.payoff.runs) < 19
    assert live.payoff.runs[-1].asked == 0.95


def test_it_says_how_many_places_are_timed(bare, clock):
    clock.slow = 0.1
    _, slider = show_live(bare)
    slider.wait_runs(1)
    slider.root.locator(".gv-fraction-fate").evaluate(
        """fate => {
          window.said = new Set();
          const listen = new MutationObserver(() => window.said.add(fate.textContent.split(":")[0]));
          listen.observe(fate, { childList: true });
        }"""
    )
    slider.root.get_by_role("button", name="time every place").click()
    slider.page.wait_for_function("window.said.has('timing 6 of 20')")
    said = slider.page.evaluate("[...window.said].filter((one) => one.includes(' of '))")
    assert said[:4] == [f"timing {count} of 20" for count in (2, 3, 4, 5)]


PLACES = """root => [root, ...root.querySelectorAll(".gv-fraction-grid, input, .gv-lane, .gv-term, .gv-equals")]
  .map((node) => node.getBoundingClientRect())
  .map(({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" "))"""


@pytest.mark.parametrize(("width", "height"), [(931, 768), (1280, 720), (390, 844)])
def test_nothing_moves_while_a_handle_is_dragged(bare, width, height):
    bare.page.set_viewport_size({"width": width, "height": height})
    _, slider = show_record(bare, Payoff.load(shipped("traces/jump-cpu.json")))
    seen = set()
    for rows in range(8):
        slider.rows.fill(str(rows))
        for place in range(20):
            slider.share.fill(str(place / 20))
            slider.wait_place(place)
            seen.add(tuple(slider.root.evaluate(PLACES)))
    assert len(seen) == 1, [set(one) for one in zip(*seen, strict=True)]


def test_a_run_that_is_slower_than_without_lies_above_the_labels_of_the_axis(bare):
    slow = replace(RECORD, runs=(replace(run(0.5, 1), jump_ms=400.0),))
    _, slider = show_record(bare, slow)
    point = slider.root.locator(".gv-point").bounding_box()
    label = slider.root.locator(".gv-fraction-plot text:text-is('40%')").bounding_box()
    assert point["y"] + point["height"] <= label["y"] + 1


def test_recorded_runs_are_shown_and_none_is_started(bare, clock):
    recorded, slider = show_record(bare)
    assert slider.root.locator(".gv-badge").inner_text() == "◼ RECORDED"
    assert slider.points == (3, 3)
    assert "measured 3.33×" in slider.words
    assert slider.root.locator("header button:visible").count() == 0
    slider.share.focus()
    slider.page.keyboard.press("ArrowRight")
    slider.wait_place(11)
    bare.wait(lambda: recorded.place == 11)
    assert (slider.root.get_attribute("data-timing"), clock.begun) == ("false", [])


def test_what_a_notebook_keeps_needs_no_kernel(bare):
    bare.page.clock.install()
    recorded = gv.fraction_slider(RECORD, fraction=0.55)
    json.dumps(recorded.display.widget.saved)
    slider = SliderPage(bare, bare.reopen(recorded))
    assert (slider.points, slider.place) == ((3, 3), 11), "it shows where it stood"
    slider.share.focus()
    slider.page.keyboard.press("Home")
    slider.wait_place(0)
    bare.page.clock.run_for(2600)  # as long as a kernel may be silent
    assert slider.root.locator(".gv-note").is_hidden()


def test_a_finger_drags_it(bare):
    _, slider = show_record(bare)
    session = slider.page.context.new_cdp_session(slider.page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for kind, share in (
        ("touchStart", 0.5),
        ("touchMove", 0.4),
        ("touchMove", 0.3),
        ("touchMove", 0.25),
        ("touchEnd", 0),
    ):
        points = [dict(zip("xy", slider.spot(share), strict=True))] if share else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    slider.wait_place(5)
    assert "; measured " in slider.words


def numbers(way):
    return [float(number) for number in re.findall(r"[\d.]+", way)]


def test_the_page_says_and_draws_what_the_picture_does(bare):
    recorded, slider = show_record(bare)
    for share, rows in ((0.25, 1), (0.5, 8), (0.9, 64)):
        recorded.go(share, rows=rows)
        slider.wait_place(round(20 * share))
        slider.page.locator(".gv-fraction-rows output", has_text=re.compile(f"^{rows}$")).wait_for()
        picture = gv.views.draw_payoff(RECORD, share, rows)
        assert slider.words == picture.text.splitlines()[1]
        for part in ("model", "handle"):
            drawn = re.search(f'd="([^"]*)"[^>]*data-part="{part}"', picture.svg)[1]
            shown = slider.root.locator(f"[data-part='{part}']").get_attribute("d")
            assert numbers(shown) == pytest.approx(numbers(drawn), abs=0.11)
        assert slider.points == (3 * (rows < 9), 6 - 3 * (rows < 9))


def test_a_run_that_is_all_fixed_and_one_whose_tokens_were_cut_anew(bare):
    parts = (("{}", True),) * 3
    odd = Timed(0.95, 1.0, 1, 40.0, 5.0, 4, 0, 3, 3, parts, "same text, other tokens")
    cut = Timed(0.5, 0.4, 1, 80.0, 30.0, 44, 24, 16, 40, text(0.5), "other text")
    _, slider = show_record(bare, Payoff(Cost(2.5, 0.0), (odd, cut), PREVIEWS, *ABOUT), 0.95)
    fate = slider.root.locator(".gv-fraction-fate")
    assert slider.words.startswith(
        "100% forced: 3 tokens, 0 passes instead of 4; measured 6.00×, the cost model says ∞×"
    )
    assert fate.inner_text().startswith("measured 6.00× a token: 5.0 ms for 3 tokens instead of 40.0 ms for 4; ")
    assert slider.passes == 0
    edge = slider.root.locator(".gv-fraction-plot .gv-point").first
    assert float(edge.get_attribute("cx")) == pytest.approx(numbers(slider.line)[0])
    slider.share.fill("0.5")
    slider.wait_place(10)
    assert slider.passes == 24, "as many boxes as passes"
    assert "24 passes instead of 44" in slider.words


def test_it_fits_in_a_narrow_page(bare):
    _, slider = show_record(bare)
    for width in (1380, 620):
        bare.narrow(width)
        assert slider.root.evaluate("root => root.scrollWidth <= root.clientWidth + 1"), "nothing sticks out"
        bare.shot(f"fraction-{width}", slider.root)


WATCH = """node => {
  const frames = (window.frames = []);
  const look = () => {
    const d = node.getAttribute("d");
    if (frames.at(-1)?.[0] !== d) frames.push([d, performance.now()]);
    if (frames === window.frames) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@pytest.mark.timed
@pytest.mark.parametrize(("handle", "part"), [(".gv-share", "handle"), (".gv-batch", "model")])
def test_it_is_painted_while_it_is_dragged(bare, clock, handle, part, capsys):
    _, slider = show_live(bare)
    box, mouse = slider.root.locator(handle).bounding_box(), slider.page.mouse
    left, wide, y = box["x"] + 8, box["width"] - 16, box["y"] + box["height"] / 2
    session = slider.page.context.new_cdp_session(slider.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # work, not waiting: the same on a busy machine
    mouse.move(left + wide * float(slider.root.locator(handle).input_value()) / (0.95 if part == "handle" else 7), y)
    mouse.down()
    slider.root.locator(f"[data-part='{part}']").evaluate(WATCH)
    before = work_of(session)
    for step in range(120):
        mouse.move(left + wide * abs(1 - step / 60), y)
    painted = slider.page.evaluate("window.frames.map(([, at]) => at)")
    mouse.up()
    rate, work = (
        1000 * (len(painted) - 1) / (painted[-1] - painted[0]),
        1000 * (work_of(session) - before) / len(painted),
    )
    with capsys.disabled():
        print(f"\n  {part}: {len(painted)} of 120 moves painted, {rate:.0f} a second; {work:.1f} ms of work for each")
    assert len(painted) >= 10, "it moves while it is dragged"
