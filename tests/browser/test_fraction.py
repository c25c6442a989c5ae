"""The fraction slider on a bare page: dragged, moved by keys, left to rest until points appear."""

import re
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

import guidedviz as gv
from guidedviz.decoding.payoff import FRACTIONS, Cost, Payoff, Timed, nearest_fraction
from guidedviz.decoding.timing import SliderTask
from guidedviz.files import shipped
from guidedviz.views.charts.payoff import DRAWING_HEIGHT, DRAWING_WIDTH, draw_payoff, draw_plot
from guidedviz.views.figure import drawing
from guidedviz.widgets import sliders
from tests.browser.bare import middle

pytestmark = pytest.mark.browser


def text(share):
    fixed = round(40 * share)
    words = tuple((f"word{place}", False) for place in range(40 - fixed))
    return (('{"', True),) + (('"key"', True),) * (fixed - 1) + words


def run(share, rows):
    free = sum(not fixed for _, fixed in text(share))
    times = (100.0, 50.0 - 40 * share)
    passes = (40, free, 40 - free, 40)
    return Timed(share, 1 - free / len(text(share)), rows, *times, *passes, text(share), "same tokens")


ABOUT = ("clerk", "cpu", "2026-11-22", "canonical", "RECORDED")
PREVIEWS = tuple(map(text, FRACTIONS))
RECORD = Payoff(Cost(2.5, 0.25), tuple(run(s, r) for s in (0.25, 0.5, 0.75) for r in (1, 8)), PREVIEWS, *ABOUT)
WORDS = gv.Vocabulary([b"a", b"<|end|>"], eos={1})
TASKS = tuple(SliderTask(at, parts, WORDS) for at, parts in zip(FRACTIONS, PREVIEWS, strict=True))


class SliderPage:
    """The slider as a person finds it on the page."""

    def __init__(self, shown, root=None):
        self.page = shown.page
        self.root = root or self.page.locator(".gv-fraction").first
        self.root.wait_for(timeout=30000)
        self.root.scroll_into_view_if_needed()
        self.share = self.root.locator(".gv-share")
        self.rows = self.root.locator(".gv-batch")

    @property
    def place(self):
        return int(self.root.get_attribute("data-place"))

    @property
    def words(self):
        return self.root.locator(".gv-fraction-words").inner_text()

    @property
    def line(self):
        return self.root.locator("[data-part='handle']").get_attribute("d")

    @property
    def points(self):
        """How many runs are drawn filled, and how many hollow."""
        counts = "points => [points.length, points.filter((point) => point.classList.contains('gv-full')).length]"
        count, here = self.root.locator(".gv-point").evaluate_all(counts)  # in one look, as points come by themselves
        return here, count - here

    def spot(self, share):
        """Where on the page the thumb stands at a share."""
        box = self.share.bounding_box()
        return box["x"] + 8 + (box["width"] - 16) * share / 0.95, box["y"] + box["height"] / 2

    def press(self, key, place):
        """Press a key, and wait for the place to which it leads."""
        self.page.keyboard.press(key)
        self.wait_place(place)

    def wait_runs(self, count):
        self.page.wait_for_selector(f".gv-fraction[data-runs='{count}'][data-timing='false']", timeout=60_000)

    def wait_place(self, place):
        self.page.wait_for_selector(f".gv-fraction[data-place='{place}']")


class Clock:
    """Runs that take as long as they are told to."""

    def __init__(self):
        self.slow = 0.01
        self.begun = []

    def time_task(self, model, task, rows, stop):
        self.begun.append(task.fraction)
        began = time.monotonic()
        while time.monotonic() < began + self.slow:
            if stop():
                return None
            time.sleep(0.002)
        return run(task.fraction, rows)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(sliders.timing, "time_task", clock.time_task)
    monkeypatch.setattr(sliders.timing, "measure_cost", lambda model: RECORD.cost)
    monkeypatch.setattr(sliders, "ROUNDS", 1)
    return clock


def show_live(bare):
    live = sliders.FractionSlider(replace(RECORD, source="LIVE", runs=()), SimpleNamespace(), TASKS)
    return live, SliderPage(bare, bare.show(live))


def show_record(bare, record=RECORD, share=0.5, rows=1):
    recorded = gv.fraction_slider(record)
    recorded.place = nearest_fraction(share)
    recorded.rows = rows
    return recorded, SliderPage(bare, bare.show(recorded))


def test_everything_follows_a_drag_and_where_it_rests_a_point_appears(bare, clock):
    live, slider = show_live(bare)
    text = slider.root.locator(".gv-fraction-text")
    slider.wait_runs(1)
    assert (slider.points, slider.place, clock.begun) == ((1, 0), 14, [0.7]), "a first one without a move"
    clock.slow = 30  # where a slow machine rests on the way, the next move stops the run
    mouse = slider.page.mouse
    seen = set()
    mouse.move(*slider.spot(0.7))
    mouse.down()
    for share in (0.62, 0.5, 0.41, 0.3):
        mouse.move(*slider.spot(share), steps=4)
        slider.wait_place(round(20 * share))
        seen.add((slider.line, text.inner_text(), slider.words))
    assert [len(set(part)) for part in zip(*seen, strict=True)] == [4] * 3, "line, text and words follow"
    bare.wait(lambda: clock.begun[-1] == 0.3)
    clock.slow = 0
    bare.wait(lambda: "; measured " in slider.words)  # the mouse is still down: it rests, that is enough
    mouse.up()
    slider.wait_runs(2)
    fixed = [sure for _, sure in live.payoff.runs[-1].parts]
    shown = [text.locator(part).count() for part in (".gv-name", ".gv-part-fixed")]
    assert shown == [len(fixed), sum(fixed)], "it shows what the run wrote"


def test_keys_go_from_place_to_place_and_from_rows_to_rows(bare, clock):
    live, slider = show_live(bare)
    slider.share.focus()
    for key, place in {"ArrowRight": 15, "ArrowUp": 16, "ArrowLeft": 15, "Home": 0, "End": 19, "PageDown": 17}.items():
        slider.press(key, place)
    assert float(slider.share.input_value()) == pytest.approx(0.85), "it stands on a place, not between two"
    assert slider.share.get_attribute("aria-valuetext") == slider.words
    bare.wait(lambda: live.payoff.runs and live.payoff.runs[-1].asked == 0.85)
    slider.rows.focus()
    model = slider.root.locator("[data-part='model']")
    one = model.get_attribute("d")
    for _ in range(3):
        slider.page.keyboard.press("ArrowRight")
    bare.wait(lambda: live.payoff.runs[-1].rows == 8)
    assert model.get_attribute("d") != one, "the cost model bends"
    assert slider.rows.get_attribute("aria-valuetext").startswith("8 texts side by side")
    bare.wait(lambda: slider.points == (1, len(live.payoff.runs) - 1))  # with other rows it is hollow


def test_the_curve_is_dragged_and_the_keys_go_on_from_there(bare):
    _, slider = show_record(bare, share=0.7)
    knob = slider.root.locator("[data-part='on-model']")
    mouse = slider.page.mouse
    assert min(knob.bounding_box()["width"], knob.bounding_box()["height"]) >= 14
    x, y = middle(knob)
    mouse.move(x, y)
    mouse.down()
    for to, place in ((slider.spot(0.43)[0], 9), (0, 0), (slider.spot(0.4)[0], 8)):  # also far outside
        mouse.move(to, y, steps=3)
        slider.wait_place(place)
    mouse.up()
    slider.press("ArrowRight", 9)


@pytest.mark.slow
def test_a_finger_drags_it(bare):
    _, slider = show_record(bare)
    session = slider.page.context.new_cdp_session(slider.page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for kind, share in (("touchStart", 0.5), ("touchMove", 0.4), ("touchMove", 0.25), ("touchEnd", 0)):
        points = [dict(zip("xy", slider.spot(share), strict=True))] if share else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    slider.wait_place(5)
    assert "; measured " in slider.words


def test_each_number_of_the_formula_and_its_boxes_light_each_other(bare):
    _, slider = show_record(bare)
    terms = slider.root.locator(".gv-term")
    boxes = slider.root.locator(".gv-lane path:not(.gv-pass-clock)")
    assert terms.all_inner_texts() == ["2.50", "0.25", "0.50 · 2.50", "0.25"]
    fill, shadow = (f"node => getComputedStyle(node).{name}" for name in ("fill", "boxShadow"))
    for at in range(4):
        assert boxes.nth(at).evaluate(fill) in terms.nth(at).evaluate(shadow)
        terms.nth(at).focus()
        assert slider.root.locator(".gv-lane .gv-lit").count() == 1
        assert "gv-lit" in boxes.nth(at).get_attribute("class")
    terms.nth(3).blur()
    lane = boxes.nth(2).bounding_box()
    slider.page.mouse.move(lane["x"] + 3, lane["y"] + 3)
    assert "gv-lit" in terms.nth(2).get_attribute("class")


@pytest.mark.slow
def test_every_place_is_timed_from_left_to_right_until_a_person_moves(bare, clock):
    clock.slow = 0.1
    live, slider = show_live(bare)
    slider.wait_runs(1)
    slider.root.get_by_role("button", name="time every place").click()
    slider.root.locator(".gv-fraction-fate").get_by_text(re.compile(r"timing \d+ of 20")).wait_for()
    bare.wait(lambda: sum(slider.points) >= 4)
    assert clock.begun[1:4] == list(FRACTIONS[:3])
    slider.share.focus()
    slider.page.keyboard.press("End")
    bare.wait(lambda: "; measured " in slider.words)
    assert slider.place == 19, "it went no further by itself"
    assert len(live.payoff.runs) < 19


PLACES = """root => [root, ...root.querySelectorAll(".gv-fraction-grid, input, .gv-lane, .gv-term, .gv-equals")]
  .map((node) => node.getBoundingClientRect())
  .map(({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" "))"""


@pytest.mark.parametrize(("width", "height"), [(931, 768), (1280, 720), (390, 844)])
@pytest.mark.slow
def test_nothing_moves_while_a_handle_is_dragged(bare, width, height):
    bare.resize(width, height)
    _, slider = show_record(bare, Payoff.load(shipped("traces/jump-cpu.json")))
    seen = set()
    for rows in (0, 3, 7):
        slider.rows.fill(str(rows))
        for place in range(0, 20, 2):
            slider.share.fill(str(place / 20))
            slider.wait_place(place)
            seen.add(tuple(slider.root.evaluate(PLACES)))
    assert len(seen) == 1, [set(one) for one in zip(*seen, strict=True)]
    assert slider.root.evaluate("root => root.scrollWidth <= root.clientWidth + 1"), "nothing sticks out"


def test_what_a_notebook_keeps_needs_no_kernel(bare):
    bare.page.clock.install()
    recorded = gv.fraction_slider(RECORD)
    recorded.place = nearest_fraction(0.55)
    slider = SliderPage(bare, bare.reopen(recorded))
    assert (slider.points, slider.place) == ((3, 3), 11), "it shows where it stood"
    assert slider.root.locator(".gv-badge").inner_text() == "◼ RECORDED"
    assert slider.root.locator("header button:visible").count() == 0, "nothing is timed"
    slider.share.focus()
    slider.press("Home", 0)
    bare.page.clock.run_for(2600)  # as long as a kernel may be silent
    assert slider.root.locator(".gv-note").is_hidden()


def numbers(way):
    return [float(number) for number in re.findall(r"[\d.]+", way)]


@pytest.mark.slow
def test_the_page_says_and_draws_what_the_picture_does(bare):
    for share, rows in ((0.25, 1), (0.5, 8), (0.9, 64)):
        _, slider = show_record(bare, share=share, rows=rows)
        slider.wait_place(round(20 * share))
        slider.page.locator(".gv-fraction-rows output", has_text=re.compile(f"^{rows}$")).wait_for()
        assert slider.words == draw_payoff(RECORD, share, rows).text.splitlines()[1]
        plot = str(drawing(DRAWING_WIDTH, DRAWING_HEIGHT, *draw_plot(RECORD, share, rows), alt="plot"))
        for part in ("model", "handle"):
            drawn = re.search(f'd="([^"]*)"[^>]*data-part="{part}"', plot)[1]
            shown = slider.root.locator(f"[data-part='{part}']").get_attribute("d")
            assert numbers(shown) == pytest.approx(numbers(drawn), abs=0.11)
        assert slider.points == ((3, 3) if rows < 9 else (0, 6))


def test_a_run_that_is_slower_than_without_lies_above_the_labels_of_the_axis(bare):
    slow = replace(run(0.5, 1), jump_ms=400.0)
    _, slider = show_record(bare, replace(RECORD, runs=(slow,)))
    label = slider.root.locator(".gv-fraction-plot text:text-is('40%')").bounding_box()
    assert middle(slider.root.locator(".gv-point"))[1] < label["y"]
