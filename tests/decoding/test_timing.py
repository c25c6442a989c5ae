"""Runs against the clock, on clerk and on a device whose two constants are known."""

from copy import copy
from functools import partial
from itertools import chain, repeat, takewhile
from operator import eq
from random import Random

import pytest

import guidedviz as gv
from guidedviz.decoding import timing
from guidedviz.decoding.payoff import Cost
from guidedviz.decoding.timing import TASK_PROMPT, TRIES, calibrate, mark_parts, measure_cost, time_task
from tests.common import constant_model, regex_guide

BUSY = Cost(40.0, 0.3, row_ms=0.1, put_ms=0.2)


class Device:
    """clerk on a clock of its own: each pass takes as long as the cost model says, and nothing else takes any time."""

    name, device, source = "clerk", "a clock", "TOY"

    def __init__(self, clerk, cost, monkeypatch):
        self.clerk = clerk
        self.cost = cost
        self.rows = 1
        self.read = ()
        self.clock = {"ms": 0.0, "passes": 0}  # shared by copies
        self.load = iter(())  # how many times as long the next passes take
        self.vocabulary = clerk.vocabulary
        self.encode = clerk.encode
        monkeypatch.setattr(timing, "perf_counter", lambda: self.clock["ms"] / 1e3)

    def side_by_side(self, rows):
        other = copy(self)
        other.rows = rows
        other.read = ()
        return other

    def logits(self, tokens):
        kept = sum(takewhile(bool, map(eq, self.read, tokens)))
        own, each = self.cost.prices(self.rows)
        price = own + each * max(1, len(tokens) - kept)
        self.clock["ms"] += price * next(self.load, 1.0)
        self.clock["passes"] += 1
        self.read = tuple(tokens)
        return self.clerk.logits(tokens)


@pytest.mark.parametrize("rows", [1, 32])
def test_the_constants_of_a_device_are_found(clerk, rows, monkeypatch):
    found = measure_cost(Device(clerk, BUSY, monkeypatch)).prices(rows)
    assert found == pytest.approx(BUSY.prices(rows), rel=0.1)


BUSY_PRICES = pytest.approx(BUSY.prices(1), rel=0.1)


def count_measurements(monkeypatch, *times):
    """The measurements that are made; times are what the clock of the limit shows."""
    counted = []
    clock = chain(times, repeat(0.0))

    def count(model):
        counted.append(measure_cost(model))
        return counted[-1]

    monkeypatch.setattr(timing, "monotonic", lambda: next(clock))
    monkeypatch.setattr(timing, "measure_cost", count)
    return counted


def test_on_a_quiet_device_two_measurements_are_enough(clerk, monkeypatch):
    counted = count_measurements(monkeypatch)
    found, stable = calibrate(Device(clerk, BUSY, monkeypatch))
    assert (len(counted), stable) == (2, True)
    assert found.prices(1) == BUSY_PRICES


def test_a_measurement_that_another_program_disturbed_is_left_out(clerk, monkeypatch):
    counted = count_measurements(monkeypatch)
    device = Device(clerk, BUSY, monkeypatch)
    device.load = iter([9.0] * 15)  # the passes of the first task
    found, stable = calibrate(device)
    assert (len(counted), stable) == (3, True)
    assert found.prices(1) == BUSY_PRICES


@pytest.mark.slow
def test_on_a_busy_device_there_is_a_median_after_a_bounded_number_of_measurements(clerk, monkeypatch):
    counted = count_measurements(monkeypatch)
    device = Device(clerk, BUSY, monkeypatch)
    random = Random(1)
    device.load = iter(lambda: random.choice((1.0, 2.0, 30.0)), None)
    found = calibrate(device)
    assert found is None or not found[1]
    assert len(counted) == TRIES


def test_no_measurement_is_begun_after_the_time_is_up(clerk, monkeypatch):
    counted = count_measurements(monkeypatch, 0.0, 0.1, 9.0)
    assert not calibrate(Device(clerk, BUSY, monkeypatch))[1]
    assert len(counted) == 1


@pytest.mark.parametrize("cost", [Cost(9.0, 0.0), Cost(0.0, 1.0), Cost(2.0, 0.1, row_ms=1.0, put_ms=0.5)])
def test_constants_of_zero_and_a_curve_that_rises_with_the_rows_are_never_used(cost, monkeypatch):
    monkeypatch.setattr(timing, "measure_cost", lambda model: cost)
    assert calibrate(None) is None


@pytest.mark.parametrize(("place", "rows"), [(6, 1), (14, 16), (19, 64)])
@pytest.mark.quick(every=3)
def test_a_run_is_as_much_faster_as_the_cost_model_says_of_its_passes(clerk, tasks, place, rows, monkeypatch):
    cost = Cost(20.0, 0.5)
    run = time_task(Device(clerk, cost, monkeypatch), tasks[place], rows)
    each = cost.token_ms * rows
    plain = run.naive_passes * (cost.pass_ms + each)
    jumped = run.jump_passes * cost.pass_ms + each * (run.jump_passes + run.prefilled)
    assert run.naive_ms / run.jump_ms == pytest.approx(plain / jumped, rel=0.05)
    assert run.speedup == pytest.approx(cost.speedup(run.fraction, rows), rel=0.15)


def test_a_run_tells_what_the_two_decodes_did(clerk, tasks):
    task = tasks[15]
    run = time_task(clerk, task, 2)
    plain, jumped = [
        gv.record(clerk, TASK_PROMPT, task.guide, temperature=0.0, jump_forward=way) for way in (False, True)
    ]
    assert run.asked == task.fraction
    assert run.rows == 2
    assert run.tokens == len(jumped.tokens)
    assert run.naive_passes == plain.passes
    assert run.jump_passes == jumped.passes
    assert run.prefilled == jumped.prefilled
    assert run.fraction == pytest.approx(1 - jumped.passes / len(jumped.tokens), abs=1e-4)
    found = "".join(text for text, _ in run.parts)
    assert found == jumped.text + "<|end|>"


def test_a_part_is_fixed_where_no_byte_of_it_was_chosen_even_if_it_was_cut_anew():
    model = constant_model([b"a", b"b", b"ab", b"c"], [9, 0, 0, 0])
    trace = gv.record(model, "c", regex_guide(model, "abc|c"), temperature=0.0, jump_forward=True)
    found = [(step.token, step.back) for step in trace.steps]
    assert found == [(0, 0), (2, 1), (3, 0)]
    assert mark_parts(trace) == (("ab", False), ("c", True))


@pytest.mark.slow
def test_a_run_that_is_stopped_gives_nothing(clerk, tasks, monkeypatch):
    """However many tokens have been put by then, one pass is all that still runs."""
    device = Device(clerk, Cost(1.0, 0.0), monkeypatch)
    asked = []

    def stop(after):
        asked.append(device.clock["passes"])
        return len(asked) > after

    for after in (0, 1, 7, 70):
        asked.clear()
        assert time_task(device, tasks[8], 4, partial(stop, after)) is None
        assert device.clock["passes"] == asked[-1]
    assert time_task(device, tasks[8], 4, lambda: False) is not None
