"""A trace goes to a file and back, and a damaged file says what is wrong with it."""

from __future__ import annotations

import json

import pytest

import guidedviz as gv


@pytest.fixture
def trace():
    toy = gv.ToyModel([b"a", b"\xff\x00", b"<script>"], lambda t: [0.0, 1.0, 2.0])
    return gv.record(toy, "a", max_tokens=5, seed=3)


def test_a_trace_survives_the_file(trace, tmp_path):
    trace.save(tmp_path / "t.json")
    assert gv.Trace.load(tmp_path / "t.json") == trace


def test_a_live_trace_comes_back_as_recorded(trace, tmp_path):
    from dataclasses import replace

    replace(trace, source="LIVE").save(tmp_path / "t.json")
    assert gv.Trace.load(tmp_path / "t.json").source == "RECORDED"


def test_the_output_leaves_eos_out():
    toy = gv.ToyModel([b"a", b"<eos>"], lambda t: [0.0, 9.0 if len(t) > 2 else -9.0], eos=[1])
    assert gv.record(toy, "a", temperature=0).text == "aa"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda d: d | {"guidedviz_trace": 99}, "version 99"),
        (lambda d: {k: v for k, v in d.items() if k != "guidedviz_trace"}, "version None"),
        (lambda d: {k: v for k, v in d.items() if k != "prompt"}, "damaged"),
        (lambda d: d | {"steps": [{}]}, "damaged"),
        (lambda d: d | {"steps": [d["steps"][0] | {"extra": 1}]}, "damaged"),
        (lambda d: d | {"steps": 3}, "damaged"),
        (lambda d: [d], "version None"),
    ],
)
def test_a_damaged_file_is_a_clear_error(trace, tmp_path, damage, said):
    path = tmp_path / "t.json"
    trace.save(path)
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    with pytest.raises(gv.TraceError, match=said):
        gv.Trace.load(path)


@pytest.mark.parametrize("text", ["", "{", "\x00", "[1, 2"])
def test_no_json_at_all_is_a_clear_error(tmp_path, text):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(gv.TraceError, match="no JSON"):
        gv.Trace.load(path)


def test_a_missing_file_is_a_clear_error(tmp_path):
    with pytest.raises(gv.TraceError, match="No such file"):
        gv.Trace.load(tmp_path / "none.json")
