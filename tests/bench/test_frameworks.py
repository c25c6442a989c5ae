"""Claims about the record of the frameworks: its schema is the class of the lab, and each difference has a reason."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from guidedviz.bench.frameworks import FRAMEWORKS, HOT, ORDER, PROMPTS, Row, run_one, sampling, show_record
from guidedviz.bench.mask_reasons import Relaxed, compare_masks
from guidedviz.machines.machine import Machine
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.serving.front_end import rewrite
from guidedviz.tokens.guide import guide
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.engines.front_end_table import read_frameworks
from tests.serving.test_front_end import Order

SMALL = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 1, "maximum": 9}, "b": {"type": "string"}},
    "required": ["a", "b"],
}
RELAXED = Relaxed(SMALL)


def test_the_schema_is_the_one_of_the_class():
    plain = rewrite(Order.model_json_schema(), lambda part: {key: part[key] for key in part if key != "title"})
    assert plain == ORDER


@pytest.mark.parametrize(
    ("text", "piece", "reason"),
    [
        (b"{", b"\n", "white space"),
        (b'{"a": ', b"0", "numbers out of bounds"),
        (b'{"', b"b", "keys in another order"),
        (b'{"a": 1, "b": "x"', b',"', "other keys"),
        (b'{"a": 1', b"E", "integers with an exponent"),
        (b'{"a": 1, "b": "', b"\xa1", "not UTF-8"),
        (b'{"a": 1, "b": "', b"\n", "not JSON"),
        (b'{"a": ', b"[", "JSON in another way"),
    ],
)
def test_an_extra_token_has_the_first_relaxation_that_allows_it(text, piece, reason):
    assert not json_schema(SMALL).accepts_prefix(text + piece)
    assert RELAXED.why_extra(text, piece) == reason


@pytest.mark.parametrize(
    ("text", "piece", "allowed", "reason"),
    [
        (b'{"a":', b"1", 2, "white space"),
        (b"", b"{", 1, "forced run: one token"),
        (b'{"a": 1, "b": "', b"\x7f", 2, "the character DEL"),
        (b'{"a": 1, "b": "', b"\xc3", 2, "JSON in fewer ways"),
        (b'{"a": 1, "b": "\xc3', b"\xa9", 2, "parts of characters"),
    ],
)
def test_a_missing_token_has_a_reason(text, piece, allowed, reason):
    assert json_schema(SMALL).accepts_prefix(text + piece)
    assert RELAXED.why_missing(text, piece, allowed) == reason


def test_differences_are_grouped_by_reason_with_their_steps():
    vocabulary = Vocabulary([b'{"a":', b" ", b"1", b"0", b', "b": "x"}', b"\n", b"</s>"], eos={6})
    machine: Machine = json_schema(SMALL)
    ours, tokens = guide(machine, vocabulary), [0, 1, 2, 4, 6]
    masks, state = [], ours.initial
    for token in tokens:
        masks.append(np.array(ours.mask(state)))
        state = ours.advance(state, token)
    assert compare_masks(ours, RELAXED, tokens, masks) == []
    masks[1][[1, 5]], masks[2][3], masks[4][6] = (False, True), True, False
    found = {(each.reason, each.extra): each for each in compare_masks(ours, RELAXED, tokens, masks)}
    assert {key: each.steps for key, each in found.items()} == {
        ("white space", True): (1,),
        ("JSON in fewer ways", False): (1,),
        ("numbers out of bounds", True): (2,),
        ("the end", False): (4,),
    }
    assert found["numbers out of bounds", True].example == "step 2: 0"


def test_a_framework_that_fails_gives_a_row_with_its_error():
    def run(place):
        raise TypeError("no such\ntokenizer")

    row = run_one(SimpleNamespace(), RELAXED, Row("x", "1", "ours"), run, {})
    assert (row.said, row.texts) == ("no such", ())
    shown = show_record({"about": {"date": "2026-11-23", "device": "cpu"}, "ours": {"steps": 5}, "rows": [vars(row)]})
    assert "did not run" in shown


def test_greedy_text_draws_nothing():
    assert sampling(None)["do_sample"] is False
    assert sampling(0)["temperature"] == HOT


def test_the_record_holds_every_framework_and_what_it_says_is_consistent():
    record = read_frameworks()
    assert [row["name"] for row in record["rows"]] == list(FRAMEWORKS)
    assert tuple(record["prompts"]) == PROMPTS
    bounds = {"outlines", "lm-format-enforcer", "outlines-core"}
    for row in record["rows"]:
        assert row["texts"], row["name"]
        assert row["same"] == [text == ours for text, ours in zip(row["texts"], record["ours"]["texts"], strict=True)]
        assert row["same"] == [True, row["name"] not in bounds]
        assert row["differ"] == len({step for each in row["differences"] for step in each["steps"]})
        ignored = any(each["reason"] == "numbers out of bounds" for each in row["differences"])
        assert ignored == (row["name"] in bounds)
    assert record["rows"][0]["differ"] == 0
