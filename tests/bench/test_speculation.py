"""The bench of drafts: same texts, fewer passes, figures that follow from its runs."""

import json

import pytest

from guidedviz.bench import __main__ as command
from guidedviz.bench.decoding import speculation
from guidedviz.bench.decoding.speculation import Run, make_row


def test_it_times_every_way_on_every_task(monkeypatch, tmp_path, capsys):
    tasks = speculation.build_tasks
    monkeypatch.setattr(speculation, "build_tasks", lambda model: tasks(model)[:2])
    command.main(["speculation", "--rounds", "1", "--only", "small, 4", "--json", str(tmp_path / "figures.json")])
    cases = json.loads((tmp_path / "figures.json").read_text())["cases"]
    greedy = next(table for title, table in cases.items() if title.endswith("greedy"))
    assert set(greedy) == {"no draft", "small, 4", "small, 4, not masked"}
    assert greedy["no draft"]["tokens"] == greedy["no draft"]["speed-up"] == 1
    assert greedy["small, 4"]["tokens"] > 2
    assert "accepted" in capsys.readouterr().out


def test_the_speed_up_is_per_token_and_has_an_interval():
    rounds = [(Run(2.0, 10, 10, 0, 0), Run(seconds, 20, 5, 15, 20)) for seconds in (1.0, 2.0, 4.0)]
    row = make_row(rounds)
    assert (row["accepted"], row["tokens"], row["speed-up"]) == pytest.approx((0.75, 4, 2))
    assert row["from"] < row["speed-up"] < row["to"]
