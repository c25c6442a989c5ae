"""The fraction slider without a page: what it hears and tells; a run that nobody waits for leaves nothing behind."""

import time
from dataclasses import replace
from weakref import ref

import pytest

import guidedviz as gv
from guidedviz.decoding.payoff import FRACTIONS, Cost, Payoff, Timed
from guidedviz.decoding.timing import SliderTask
from guidedviz.widgets import sliders
from tests.widgets.toy import settled, told

PARTS = (('{"name": "', True), ("Ada", False), ('"}', True))
PREVIEWS = (PARTS,) * len(FRACTIONS)
RECORD = Payoff(Cost(2.5, 0.25), (), PREVIEWS, "clerk", "cpu", "2026-11-22", "canonical", "RECORDED")
WORDS = gv.Vocabulary([b"a", b"<|end|>"], eos={1})
TASKS = tuple(SliderTask(share, PARTS, WORDS) for share in FRACTIONS)


class Clock:
    """Runs that take as long as they are told to, and what became of each."""

    def __init__(self):
        self.slow = 0.0
        self.begun = []
        self.stopped = []
        self.error = None
        self.naive = [30.0]  # of the next runs; the last one stays

    def time_task(self, model, task, rows, stop):
        wish = (task.fraction, rows)
        self.begun.append(wish)
        until = time.monotonic() + self.slow
        while time.monotonic() < until:
            if stop():
                self.stopped.append(wish)
                return None
            time.sleep(0.002)
        if self.error:
            raise self.error
        naive = self.naive.pop(0) if len(self.naive) > 1 else self.naive[0]
        return Timed(task.fraction, 0.5, rows, naive, 10.0, 3, 1, 1, 3, task.text, "same tokens")


class Model:
    """Nothing but a name: the clock does not ask it."""

    name = "clerk"
    device = "cpu"
    source = "LIVE"


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(sliders.timing, "time_task", clock.time_task)
    monkeypatch.setattr(sliders, "ROUNDS", 1)
    return clock


def live(model=None):
    return sliders.FractionSlider(replace(RECORD, source="LIVE"), model or Model(), TASKS)


def rest(slider, place, rows=1):
    slider.display.hear({"do": "rest", "place": place, "rows": rows, "time": True})


async def test_where_the_handles_rest_a_run_is_timed_and_a_place_that_is_timed_again_has_one_point(clock):
    slider = live()
    for place, rows in ((10, 1), (14, 8), (10, 1)):
        rest(slider, place, rows)
        assert told(slider, False)["timing"]
        await settled()
    news = told(slider, False)
    assert [(run["place"], run["rows"], run["speedup"]) for run in news["runs"]] == [(14, 8, 3.0), (10, 1, 3.0)]
    assert news["timing"] is False


async def test_an_error_becomes_a_note_and_the_slider_lives_on(clock):
    slider = live()
    errors = {"no memory": gv.ModelError("model", seen="no memory"), "ValueError: odd": ValueError("odd")}
    for said, error in errors.items():
        clock.error = error
        rest(slider, 10)
        await settled()
        assert said in slider.display.news(False)["note"]
    clock.error = None
    rest(slider, 10)
    await settled()
    assert slider.display.news(False)["note"] == ""
    assert len(slider.payoff.runs) == 1


async def test_moving_on_stops_the_run_and_a_newer_wish_takes_the_place_of_an_older_one(clock, until):
    clock.slow = 30
    slider = live()
    rest(slider, 10)
    await until(lambda: clock.begun)
    slider.display.hear({"do": "move"})
    await settled()
    assert clock.stopped == [(0.5, 1)]
    assert slider.payoff.runs == ()
    assert told(slider, False)["timing"] is False
    for place in (10, 11, 12, 13):
        rest(slider, place)
        await until(lambda: len(clock.begun) == 2)
    clock.slow = 0.0
    await settled()
    assert clock.begun[2:] == [(0.65, 1)], "those between were never begun"
    assert [run.asked for run in slider.payoff.runs] == [0.65]


async def test_a_closed_slider_stops_and_lets_go_of_its_model(clock, until, collect):
    clock.slow = 30
    model = Model()
    gone = ref(model)
    slider = live(model)
    del model
    rest(slider, 10)
    await until(lambda: clock.begun)
    slider.display.close()
    await settled()
    assert clock.stopped == [(0.5, 1)]
    rest(slider, 4)
    assert len(clock.begun) == 1, "a closed slider begins nothing"
    await until(lambda: collect() >= 0 and gone() is None)  # the worker may still be leaving the run


def test_recorded_runs_start_none(clock):
    slider = gv.fraction_slider(RECORD)
    rest(slider, 4)
    assert clock.begun == []
    news = slider.display.news(True)
    head = news["head"]
    assert (head["source"], head["live"]) == ("RECORDED", False)
    assert news["timing"] is False
    assert "2026-11-22" in news["head"]["about"]


def test_a_model_that_is_too_slow_shows_the_record_and_says_why(toy, monkeypatch):
    monkeypatch.setattr(sliders.Payoff, "load", lambda path: RECORD)
    monkeypatch.setattr(sliders, "shipped", lambda name: name)
    slider = gv.fraction_slider(toy.toy_model(slow=0.1))
    assert slider.payoff is RECORD
    assert "A forward pass of toy takes 1" in slider.note
    assert "these are recorded" in slider.note


@pytest.mark.parametrize(
    ("passes", "source", "said"),
    [
        ((0.0,) * 8, "RECORDED", "These runs are recorded"),
        ((0, 0, 0, 0.05, 0.15, 0.35, 0.8, 2.4), "LIVE", "their median"),
    ],
)
def test_a_machine_that_is_too_busy_to_measure_the_constants_is_told(passes, source, said, monkeypatch):
    costs = [Cost(ms, 0.1) for ms in passes]
    monkeypatch.setattr(sliders, "is_still", lambda: False)
    monkeypatch.setattr(sliders.timing, "measure_cost", lambda model: costs.pop())
    slider = gv.fraction_slider(gv.load_model("clerk"))
    assert (slider.payoff.source, costs) == (source, [])
    assert said in slider.note
    assert "agree within 20%: this machine is busy" in slider.note


async def test_a_first_page_starts_a_first_run_and_a_second_page_none(clock):
    slider = live()
    assert slider.display.news(True)["timing"]
    await settled()
    assert clock.begun == [(0.7, 1)]
    assert not slider.display.news(True)["timing"]
    recorded = gv.fraction_slider(RECORD)
    assert not recorded.display.news(True)["timing"]


async def test_a_point_is_the_median_of_its_runs(clock, monkeypatch):
    monkeypatch.setattr(sliders, "ROUNDS", 5)
    clock.naive = [90.0, 30.0, 31.0, 15.0, 32.0]
    slider = live()
    rest(slider, 10)
    await settled()
    (run,) = slider.display.news(True)["runs"]
    assert run["speedup"] == pytest.approx(3.1)
    assert run["spread"] == pytest.approx([1.5, 9.0])
    assert run["title"] == "50% forced, rows 1: measured 3.10×, the median of 5 runs from 1.50× to 9.00×"
    assert "measured 3.10× a token, the median of 5 runs from 1.50× to 9.00×: 10.0 ms for 3 tokens" in run["told"]
