"""The fraction slider in a real JupyterLab: dragged, moved by keys, left to rest until points appear."""

from __future__ import annotations

import re

import pytest

import guidedviz as gv

pytestmark = pytest.mark.browser

CLERK = "import guidedviz as gv\nmodel = gv.load_model('clerk')"
LIVE = "slider = gv.fraction_slider(model)\nslider"
SLOW = """import time
import guidedviz.widgets.fraction as fraction
begun, stopped = [], []
def time_task(model, task, rows, stop):
    begun.append(task.fraction)
    for _ in range(3000):
        if stop():
            return stopped.append(task.fraction)
        time.sleep(0.01)
fraction.time_task = time_task"""
RECORD = """import guidedviz as gv
from guidedviz.decoding.payoff import PLACES, Cost, Payoff, Timed
HOSTILE = "<img src=x onerror=window.hacked=1>"
def text(share):
    fixed = round(40 * share)
    return ((HOSTILE, True),) + (('"key"', True),) * (fixed - 1) + (('word', False),) * (40 - fixed)
def run(share, rows):
    parts = text(share)
    free = sum(not fixed for _, fixed in parts)
    counts = 40, free, 40 - free, 40
    return Timed(share, 1 - free / len(parts), rows, 100.0, 50.0 - 40 * share, *counts, parts, "same tokens")
runs = tuple(run(share, rows) for share in (0.25, 0.5, 0.75) for rows in (1, 8))
about = "clerk", "cpu", "2026-11-22", "canonical", "RECORDED"
record = Payoff(Cost(2.5, 0.25), runs, tuple(map(text, PLACES)), *about)"""


class SliderPage:
    """The slider as a person finds it on the page."""

    def __init__(self, notebook, place=0):
        self.notebook, self.page = notebook, notebook.page
        self.root = notebook.page.locator(".gv-fraction").nth(place)
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
        here = self.root.locator(".gv-point.gv-here").count()
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


def open_slider(open_notebook, *cells):
    notebook = open_notebook(*cells)
    notebook.run_all()
    assert notebook.failed_cells() == []
    return SliderPage(notebook)


def test_everything_follows_a_drag_and_where_it_rests_a_point_appears(open_notebook):
    slider = open_slider(open_notebook, CLERK, LIVE)
    mouse, seen = slider.page.mouse, {}
    mouse.move(*slider.spot(0.7))
    mouse.down()
    for share in (0.62, 0.5, 0.41, 0.3):
        mouse.move(*slider.spot(share), steps=4)
        slider.wait_place(round(20 * share))
        seen[share] = (slider.line, slider.text, slider.words)
    assert all(len({look[part] for look in seen.values()}) == 4 for part in range(3)), "line, text and words follow"
    slider.wait_runs(1)
    assert slider.points == (1, 0), "the mouse is still down: it rests, that is enough"
    assert "; measured " in slider.words
    for number, share in enumerate((0.1, 0.9), 2):
        mouse.move(*slider.spot(share), steps=6)
        slider.wait_runs(number)
    mouse.up()
    assert slider.points == (3, 0), "the points stay"
    slider.notebook.shot("fraction-dragged", slider.root)
    slider.notebook.run_cell(
        0, "parts = slider.payoff.runs[-1].parts\nprint(len(parts), sum(sure for _, sure in parts))"
    )
    tokens, fixed = map(int, slider.notebook.outputs(0).split())
    assert slider.root.locator(".gv-fraction-text .gv-name").count() == tokens, "it shows what the run wrote"
    assert slider.root.locator(".gv-fraction-text .gv-part-fixed").count() == fixed


def test_keys_go_from_place_to_place_and_from_rows_to_rows(open_notebook):
    slider = open_slider(open_notebook, CLERK, LIVE)
    slider.share.focus()
    for key, place in {"ArrowRight": 15, "ArrowUp": 16, "ArrowLeft": 15, "Home": 0, "End": 19, "PageDown": 17}.items():
        slider.page.keyboard.press(key)
        slider.wait_place(place)
    assert abs(float(slider.share.input_value()) - 0.85) < 1e-9, "it stands on a place, not between two"
    assert slider.share.get_attribute("aria-valuetext") == slider.words
    slider.wait_runs(1)
    slider.rows.focus()
    model = slider.root.locator("[data-part='model']")
    one = model.get_attribute("d")
    for rows in ("2", "4", "8"):
        slider.page.keyboard.press("ArrowRight")
        slider.page.locator(".gv-fraction-rows output", has_text=rows).wait_for()
    assert model.get_attribute("d") != one, "the cost model bends"
    assert slider.rows.get_attribute("aria-valuetext").startswith("8 texts side by side")
    assert slider.points == (0, 1), "with other rows it is hollow"
    slider.wait_runs(2)
    assert slider.points == (1, 1)


def test_moving_on_stops_the_run(open_notebook):
    slider = open_slider(open_notebook, CLERK, SLOW + "\n" + LIVE)
    slider.share.focus()
    slider.page.keyboard.press("Home")
    slider.page.wait_for_selector(".gv-fraction[data-timing='true']")
    assert "timing" in slider.root.locator(".gv-fraction-fate").inner_text()
    for _ in range(3):
        slider.page.keyboard.press("ArrowRight")
    slider.page.wait_for_selector(".gv-fraction[data-timing='true'][data-place='3']")
    slider.page.keyboard.press("End")
    slider.page.wait_for_selector(".gv-fraction[data-timing='true'][data-place='19']")
    slider.notebook.run_cell(0, "print(begun, stopped, len(slider.payoff.runs))")
    assert slider.notebook.outputs(0).strip() == "[0.0, 0.15, 0.95] [0.0, 0.15] 0"
    slider.notebook.run_cell(1, "fraction.time_task = None\nslider.close()\n'closed'")
    slider.notebook.run_cell(0, "time.sleep(0.1); print(stopped, fraction.WORKER._work_queue.qsize(), slider._model)")
    assert slider.notebook.outputs(0).strip() == "[0.0, 0.15, 0.95] 0 None"


def test_every_place_is_timed_from_left_to_right_until_a_person_moves(open_notebook):
    slider = open_slider(open_notebook, CLERK, LIVE)
    slider.root.get_by_role("button", name="time every place").click()
    slider.page.wait_for_function("document.querySelectorAll('.gv-point').length >= 3", timeout=60000)
    assert slider.place >= 2
    slider.share.focus()
    slider.page.keyboard.press("End")
    slider.wait_place(19)
    slider.page.wait_for_function("root => root.textContent.includes('; measured ')", arg=slider.root.element_handle())
    assert slider.place == 19, "it went no further by itself"
    slider.notebook.run_cell(0, "print(len(slider.payoff.runs) < 19, slider.payoff.runs[-1].asked)")
    assert slider.notebook.outputs(0).strip() == "True 0.95"


def test_recorded_runs_are_shown_and_none_is_started(open_notebook):
    slider = open_slider(open_notebook, RECORD, "slider = gv.fraction_slider(record, fraction=0.5)\nslider")
    assert slider.root.locator(".gv-badge").inner_text() == "◼ RECORDED"
    assert slider.points == (3, 3)
    assert "measured 3.33×" in slider.words
    assert slider.root.get_by_role("button").count() == 0
    slider.share.focus()
    slider.page.keyboard.press("ArrowRight")
    slider.wait_place(11)
    slider.page.wait_for_timeout(600)
    assert slider.root.get_attribute("data-timing") == "false"
    assert slider.page.evaluate("window.hacked") is None
    slider.notebook.save()
    slider.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    again = SliderPage(open_notebook(name=slider.notebook.name))
    assert again.points == (3, 3)
    assert again.place == 11, "a notebook that is opened again shows where it stood"
    again.share.focus()
    again.page.keyboard.press("Home")
    again.wait_place(0)
    again.page.wait_for_timeout(3000)
    assert again.root.locator(".gv-note").is_hidden(), "it needs no kernel"


def test_a_finger_drags_it(open_notebook):
    slider = open_slider(open_notebook, RECORD, "gv.fraction_slider(record, fraction=0.5)")
    page = slider.page.context.new_cdp_session(slider.page)
    page.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for kind, share in (
        ("touchStart", 0.5),
        ("touchMove", 0.4),
        ("touchMove", 0.3),
        ("touchMove", 0.25),
        ("touchEnd", None),
    ):
        points = [] if share is None else [dict(zip("xy", slider.spot(share), strict=True))]
        page.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    slider.wait_place(5)
    assert "; measured " in slider.words


def test_the_page_says_and_draws_what_the_picture_does(open_notebook):
    slider = open_slider(open_notebook, RECORD, "slider = gv.fraction_slider(record, fraction=0.5)\nslider")
    here = {}
    exec(RECORD, here)
    for share, rows in ((0.25, 1), (0.5, 8), (0.9, 64)):
        slider.notebook.run_cell(0, f"slider.go({share}, rows={rows}); None")
        slider.wait_place(round(20 * share))
        slider.page.locator(".gv-fraction-rows output", has_text=re.compile(f"^{rows}$")).wait_for()
        picture = gv.draw_payoff(here["record"], share, rows)
        assert slider.words == picture.text.splitlines()[1]
        for part in ("model", "handle"):
            drawn = re.search(f'd="([^"]*)"[^>]*data-part="{part}"', picture.svg)[1]
            shown = slider.root.locator(f"[data-part='{part}']").get_attribute("d")
            assert numbers(shown) == pytest.approx(numbers(drawn), abs=0.11)
        assert slider.points == (3 * (rows < 9), 6 - 3 * (rows < 9))
        titles = slider.root.locator(".gv-point title").all_text_contents()
        assert titles == re.findall("<title>([^<]*measured[^<]*)</title>", picture.svg)
        assert f" {slider.passes} pass" in slider.words, "as many boxes as passes"


def test_a_run_that_is_all_fixed_and_one_whose_tokens_were_cut_anew(open_notebook):
    runs = """parts = (("{}", True),) * 3
odd = Timed(0.95, 1.0, 1, 40.0, 5.0, 4, 0, 3, 3, parts, "same text, other tokens")
cut = Timed(0.5, 0.4, 1, 80.0, 30.0, 44, 24, 16, 40, text(0.5), "other text")
record = Payoff(Cost(2.5, 0.0), (odd, cut), tuple(map(text, PLACES)), *about)"""
    slider = open_slider(open_notebook, f"{RECORD}\n{runs}", "gv.fraction_slider(record, fraction=0.95)")
    fate = slider.root.locator(".gv-fraction-fate")
    assert slider.words.startswith(
        "100% fixed: 3 tokens, 0 passes instead of 4; measured 6.00×, the cost model says ∞×"
    )
    assert fate.inner_text().startswith("measured 6.00× a token: 5.0 ms for 3 tokens instead of 40.0 ms for 4; ")
    assert slider.passes == 0
    edge, line = (
        slider.root.locator(f".gv-fraction-plot {part}") for part in (".gv-point >> nth=0", "[data-part=handle]")
    )
    assert float(edge.get_attribute("cx")) == pytest.approx(numbers(line.get_attribute("d"))[0])
    slider.share.fill("0.5")
    slider.wait_place(10)
    assert slider.passes == 24, "as many boxes as passes"
    assert "24 passes instead of 44" in slider.words


def numbers(way):
    return [float(number) for number in re.findall(r"[\d.]+", way)]


def test_light_dark_and_narrow(open_notebook):
    slider = open_slider(open_notebook, CLERK, LIVE)
    for number, (name, share, rows) in enumerate((("text", 0.1, 1), ("half", 0.7, 1), ("keys", 0.9, 32)), 1):
        slider.notebook.run_cell(0, f"slider.go({share}, rows={rows}); None")
        slider.wait_place(round(20 * share))
        slider.root.get_by_role("button", name="time this place").click()
        slider.wait_runs(number)
        for theme in ("Dark", "Light"):
            slider.notebook.theme(f"JupyterLab {theme}")
            slider.notebook.shot(f"fraction-{name}-{theme.lower()}", slider.root)
    slider.page.set_viewport_size({"width": 620, "height": 1000})
    slider.page.wait_for_timeout(300)
    slider.notebook.shot("fraction-narrow", slider.root)


WATCH = """node => {
  const frames = (window.frames = []);
  const look = () => {
    const d = node.getAttribute("d");
    if (frames.at(-1)?.[0] !== d) frames.push([d, performance.now()]);
    if (frames === window.frames) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def work_of(page):
    """Seconds that the page's main thread has worked."""
    return next(m["value"] for m in page.send("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")


@pytest.mark.timed
@pytest.mark.parametrize(("handle", "part"), [(".gv-share", "handle"), (".gv-batch", "model")])
def test_thirty_frames_a_second_while_it_is_dragged(open_notebook, handle, part, capsys):
    slider = open_slider(open_notebook, CLERK, LIVE)
    box, mouse = slider.root.locator(handle).bounding_box(), slider.page.mouse
    left, wide, y = box["x"] + 8, box["width"] - 16, box["y"] + box["height"] / 2
    page = slider.page.context.new_cdp_session(slider.page)
    page.send("Performance.enable", {"timeDomain": "threadTicks"})  # work, not waiting: the same on a busy machine
    mouse.move(left + wide * float(slider.root.locator(handle).input_value()) / (0.95 if part == "handle" else 7), y)
    mouse.down()
    slider.root.locator(f"[data-part='{part}']").evaluate(WATCH)
    before = work_of(page)
    for step in range(240):
        mouse.move(left + wide * abs(1 - step / 120), y)
    painted = slider.page.evaluate("window.frames.map(([, at]) => at)")
    mouse.up()
    rate, work = 1000 * (len(painted) - 1) / (painted[-1] - painted[0]), 1000 * (work_of(page) - before) / len(painted)
    with capsys.disabled():
        print(f"\n  {part}: {len(painted)} of 240 moves painted, {rate:.0f} a second; {work:.1f} ms of work for each")
    assert len(painted) >= 200, "nearly every move is a picture of its own"
    assert rate >= 30
