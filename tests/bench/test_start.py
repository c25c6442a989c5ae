"""The start bench: figures of fresh processes, and of kernels with an open stage."""

from __future__ import annotations

import json
import sys

import pytest

from bench import __main__ as command
from bench import start
from guidedviz.models.load import load_model


def test_a_start_is_timed_in_a_process_of_its_own_without_torch(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(start, "has_torch", lambda: False)
    kept = tmp_path / "start.json"
    assert command.main(["start", "--rounds", "1", "--json", str(kept)]) == 0
    found = json.loads(kept.read_text())["figures"]
    assert found.keys() == {"numpy"}
    assert 0 < found["numpy"]["seconds"] < found["numpy"]["first start, s"]
    assert found["numpy"]["resident, MB"] < 120 or sys.platform != "linux"
    assert "reading the weights once from memory" in capsys.readouterr().out


def test_the_matrix_that_is_read_once_is_as_large_as_the_weights():
    assert load_model("clerk").network.weights == pytest.approx(start.WEIGHTS, rel=1e-3)


@pytest.mark.skipif(sys.platform != "linux", reason="memory per process is read from /proc")
def test_a_kernel_with_an_open_stage_is_measured():
    found = start.measure_kernels(1)
    assert found["kernels"] == 1
    assert 20 < found["kernels, MB"] < 400
