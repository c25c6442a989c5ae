"""The host bench: students compare each row, faults are counted, and the plan follows from the costs."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from guidedviz.bench.host import faults, followers, gpus, simulation, table
from guidedviz.bench.host.run import compare_draws, count_passes
from guidedviz.bench.host.students import Asked, Run, Students, build_runs, is_right, summarize
from guidedviz.host.limits import Limits
from guidedviz.models.remote import Connection, read_address
from tests.host.running import hosting

TOKEN = "a-token-of-a-student"


@pytest.fixture(scope="module")
def runs(clerk):
    return build_runs(clerk, 3)


def test_a_run_holds_the_logits_of_each_of_its_steps(clerk, runs):
    for run in runs:
        assert len(run.logits) == len(run.tokens) - run.prompt + 1
        assert run.logits[0] == pytest.approx(clerk.logits(run.tokens[: run.prompt]), abs=1e-3)


def test_students_ask_for_the_steps_of_their_runs_and_find_wrong_rows(clerk, runs):
    broken = Run(runs[0].tokens, runs[0].prompt, runs[0].logits + 1)
    assert is_right(runs[0].logits[0], runs[0].logits[0])
    assert not is_right(runs[0].logits[0], broken.logits[0])
    with hosting(clerk, {"Ada": TOKEN}) as host:
        for known, ends in (([runs[0]], {""}), ([broken], {"wrong"})):
            students = Students(host.address, [TOKEN] * 3, known, rate=50)
            students.warm_up()
            students.study(0.2)
            assert len(students.asked) > 5
            assert {asked.end for asked in students.asked} == ends


def test_steps_are_summed_up_by_when_they_were_due():
    asked = [Asked(1.0, 0.01), Asked(2.0, 0.02, "lost"), Asked(3.0, 0.03, "wrong"), Asked(9.0, 9.0)]
    found = summarize(asked, 1.5, 5.0)
    assert (found["steps"], found["lost"], found["wrong"], found["max, ms"]) == (2, 1, 1, 30.0)


def test_followers_get_each_step_in_its_place_also_those_who_come_later(clerk, monkeypatch):
    for name, value in (("JOIN", 0.05), ("LEAVE", 0.1), ("STEPS", 8), ("PROMPTS", followers.PROMPTS[:2])):
        monkeypatch.setattr(followers, name, value)
    with hosting(clerk, {"Ada": TOKEN, "teacher": TOKEN + "-teacher"}) as host:
        lesson = followers.Lesson(host.address, TOKEN + "-teacher", [TOKEN] * 4, clerk, rate=50)
        row = lesson.study(0.4)
    assert (row["lost"], row["wrong"]) == (0, 0)
    assert 20 <= row["shown"] <= 21
    assert 50 < row["steps"] < 80, "some come later"
    assert len({one.run for one in lesson.shown}) > 1


@pytest.mark.parametrize("act", [faults.cancel, faults.garble, faults.flood])
def test_a_fault_does_what_it_says_and_the_host_goes_on(clerk, act):
    with hosting(clerk, {"Mallory": TOKEN}, Limits(rate=50, burst=5)) as host:
        attacker = faults.Attacker(host.port, TOKEN, act, 2)
        attacker.start()
        time.sleep(0.25)
        attacker.stop()
        time.sleep(0.1)
        assert sum(attacker.sent.values()) > 3
        if act is faults.flood:
            assert attacker.sent["status 200"] > 3
        wire = Connection(read_address(host.address, TOKEN))
        assert wire.ask("GET", "/v1/health")


def test_few_draws_differ_by_the_rounding(runs):
    found = compare_draws(runs, seeds=5)
    assert found["draws"] == 5 * sum(len(run.logits) for run in runs)
    assert found["other draws"] <= found["draws"] / 50


def test_passes_are_counted_between_two_readings(clerk):
    with hosting(clerk) as host:
        reader = host.service.engine.reader
        model = host.model()
        before = reader.counts()
        for end in range(1, 6):
            model.logits([7] * end)
        found = count_passes(before, reader.counts())
    assert found["passes"] == 5
    assert found["texts per pass"] == 1
    assert found["tokens read per step"] == 1
    assert found["found"] == pytest.approx(10 / 15, abs=1e-3)


def test_more_students_wait_longer_and_more_replicas_help(clerk):
    costs = {1: 1.0, 2: 2.0, 4: 3.0, 8: 4.0, 16: 6.0, 32: 10.0}
    one, many = (simulation.simulate(students, 1, costs, 0.5)["p95, ms"] for students in (10, 100))
    assert one < many
    assert simulation.simulate(100, 4, costs, 0.5)["p95, ms"] < many
    needed = simulation.fewest(300, costs, 1.0)
    assert needed >= 300 * 5 * (1.0 + 10 / 32) / 1000
    assert simulation.simulate(300, needed, costs, 1.0)["p95, ms"] <= 60
    assert np.isclose(simulation.cost_of(costs, 24), 8.0)
    assert simulation.fewest(10, {1: 500.0, 32: 900.0}, 1.0) == 10, "no number reaches the goal"


def test_a_faster_gpu_has_shorter_passes_and_serves_a_class_with_no_more_of_them():
    slow, fast = gpus.GPUS[0], gpus.GPUS[-1]
    assert slow.pass_ms(gpus.SHAPE, 32) > fast.pass_ms(gpus.SHAPE, 32)
    assert slow.pass_ms(gpus.SHAPE, 1) == pytest.approx(2 * 0.473e9 / 300e9 * 1e3, rel=0.02), "the weights, read once"
    few, many = (gpus.plan_gpu(gpu, 1.5)["300"] for gpu in (fast, slow))
    assert few["GPUs"] <= many["GPUs"]
    assert few["network, Mbit/s"] == many["network, Mbit/s"] > 3_000, "257 kB per step"
    assert few["USD per hour"] == round(fast.price * few["GPUs"], 2)


def test_the_page_of_the_host_shows_the_figures_of_the_last_run():
    assert table.PAGE.read_text(encoding="utf-8") == table.update(), "python -m guidedviz.bench.host.table"
    runs = json.loads(table.FIGURES.read_text(encoding="utf-8"))["runs"]
    assert {kind.partition(", ")[0] for kind in runs} == {"plain", "ray"}
    assert all(row["lost"] == row["wrong"] == 0 for row in runs.values())
