"""The benchmark of 200 schemas: its sample, and its figures."""

import json

import jsonschema
import pytest

import guidedviz as gv
from bench.schemas.run import best_of, pack, say, share, summarise
from bench.schemas.sample import build_sample

CASES = build_sample()


def test_every_text_is_a_value_of_its_schema():
    assert len({case.name for case in CASES}) == 200
    for case in CASES:
        jsonschema.Draft202012Validator(case.schema).validate(json.loads(case.texts[0]))


@pytest.mark.parametrize("case", CASES[::17], ids=lambda case: case.name)
def test_our_machine_reads_the_text_and_refuses_another_key(case):
    machine = gv.json_schema(case.schema)
    assert machine.accepts(case.texts[0].encode())
    assert not machine.accepts(json.dumps(json.loads(case.texts[0]) | {"another": 1}).encode())


def test_the_figures_of_a_run():
    timed = {"compile": 0.002, "masks": [0.001, 0.003], "nbytes": 5}
    slower = {"compile": 0.004, "masks": [0.002, 0.006], "nbytes": None}
    refused = {"said": "no answer within 10 s", "after": 10.0}
    assert best_of([slower, timed]) is timed
    assert best_of([timed, refused]) is refused
    assert say(timed) == "6 ms"
    rows = {"a": {"ours": timed, "theirs": slower}, "b": {"ours": timed, "theirs": refused}}
    ours, theirs = (summarise(title, ["ours", "theirs"], rows) for title in ("ours", "theirs"))
    assert ours["x whole of fastest"] == "0.50, 0.50"
    assert theirs["schemas"] == "1 of 2"
    assert theirs["refused"] == {"no answer within 10 s": 1}
    assert theirs["x compile median, p95"] == "0.50, 0.50"
    assert pack(rows["b"])["theirs"] == {"said": "no answer within 10 s"}
    assert share([1.0, 2.0], 1.0) == 2.0
