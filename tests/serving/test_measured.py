"""Claims about the record of the bench: it is kept whole, damaged files are refused, and it feeds the simulation."""

import json

import pytest

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.serving import Measured, make_requests, simulate

PATH = shipped("traces/serving.json")


def test_the_committed_record_is_complete(tmp_path):
    record = Measured.load(PATH)
    assert {one.engine.split()[0] for one in record.engines} == {"guidedviz", "xgrammar", "llguidance", "outlines-core"}
    assert record.source == "RECORDED"
    assert all(run.requests == 1000 for run in record.cache)
    record.save(tmp_path / "copy.json")
    assert Measured.load(tmp_path / "copy.json") == record
    made = make_requests(5, per_second=10, schemas=record.costs("llguidance"))
    assert all(one.compile_ms > 0 for one in made)
    assert simulate(made, record.server()).tokens_per_second > 0


def test_a_damaged_record_and_an_unknown_engine_are_refused(tmp_path):
    data = json.loads(PATH.read_text())
    data["cache"][0]["hit_rate"] = 2
    (tmp_path / "bad.json").write_text(json.dumps(data))
    with pytest.raises(gv.TraceError, match=r"cache\[0\].hit_rate: saw 2, expected a number from 0 to 1"):
        Measured.load(tmp_path / "bad.json")
    with pytest.raises(gv.TraceError, match="saw 'sglang', expected 'guidedviz' or 'xgrammar'"):
        Measured.load(PATH).costs("sglang")
