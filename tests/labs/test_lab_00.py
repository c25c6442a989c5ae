"""The true answers of the predictions of lab 00 are what its outputs show."""

import json

import pytest

import guidedviz as gv
from tests.labs.solved import read_solved

LAB = read_solved("00_start_here")


def test_two_of_ten_outputs_parse_after_the_greeting_and_nineteen_of_twenty_without_it():
    assert LAB.output_of("print([parses(text)").count("True") == 2
    assert LAB.output_of("print([parses(gv.record(").count("True") == 19
    assert LAB.output_of("Of these ten outputs").startswith("2\n")
    assert LAB.output_of("And the plain prompt").startswith("19\n")


def test_read_prints_an_error_for_the_output_with_the_greeting():
    assert "json.loads: Expecting value" in LAB.output_of("What does `read` print")


def test_the_only_doubt_of_the_plain_run_is_where_the_surname_begins():
    prompt = "Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\nJSON with name, age, city, job:\n"
    steps = gv.record(gv.load_model("clerk"), prompt).steps
    assert [(step.piece, round(step.raw, 2)) for step in steps if step.raw < 0.9] == [(b" O", 0.36)]
    assert min(step.raw for step in steps if step.raw > 0.9) > 0.965
    assert "with 0.36" in LAB.prose


def test_the_ten_outputs_hold_every_kind_of_mistake_that_the_list_names():
    shown = LAB.output_of("Of these ten outputs")
    for kind in ("Sure, here is the JSON", "```json", '"town"', '"full_name"', "Tamsin Wintero", "Hope this helps!"):
        assert kind in shown
    assert """"job": "baker"'""" in shown, "one brace is missing"


def test_cutting_gives_nine_objects_six_with_the_keys_and_four_with_the_name():
    shown = LAB.output_of("Cut out of the ten outputs")
    assert shown.startswith("4\n")
    assert shown.count("{") == 9
    assert shown.count("{'name': ") - shown.count("'town'") == 6
    assert shown.count("{'name': 'Tamsin Okoro'") - shown.count("'Tamsin Okoro', 'age': 42, 'town'") == 4
    assert "Nine give an object, six have the keys, and four of these have the right name" in LAB.prose


@pytest.mark.parametrize("text", ["NaN", '{"a": 1, "a": 2}', "Infinity", "[-Infinity]"])
def test_json_loads_takes_more_than_json(text):
    json.loads(text)
    assert json.loads('{"a": 1, "a": 2}') == {"a": 2}
