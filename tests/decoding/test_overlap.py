"""The record of forward and mask: who waits for whom, and what a file may hold."""

import json

import pytest

import guidedviz as gv
from guidedviz.decoding.overlap import EngineRun, Turn
from guidedviz.errors import TraceError
from guidedviz.files import shipped

PATH = shipped("traces/overlap-cpu.json")


def test_the_recorded_masks_wait_less_beside_the_forward_pass():
    record = gv.decoding.Overlap.load(PATH)
    one_by_one, side_by_side = record.pair("trie")
    assert record.source == "RECORDED"
    turns = (Turn((0, 5), (1, 2), 5.1), Turn((0, 5), (5, 7), 7.1))
    assert EngineRun("trie", True, turns).overhead == 1
    for turn in one_by_one.turns:
        assert turn.forward[1] <= turn.mask[1]
    assert one_by_one.overhead > side_by_side.overhead
    assert one_by_one.per_token > side_by_side.per_token
    with pytest.raises(TraceError, match="overlap, engine: saw 'magic', expected 'trie' or 'split'"):
        record.pair("magic")


def test_a_record_without_runs_or_tokens_is_refused(tmp_path):
    found = json.loads(PATH.read_text())
    for runs in ([], [found["runs"][0] | {"turns": []}]):
        (tmp_path / "overlap.json").write_text(json.dumps(found | {"runs": runs}))
        with pytest.raises(TraceError, match="runs: saw no tokens"):
            gv.decoding.Overlap.load(tmp_path / "overlap.json")
