"""Lengths and counts of items that ask for too many copies are counted."""

import json
import random

import jsonschema
import pytest

import guidedviz as gv
from guidedviz.machines.pushdown.pda import PDA

STRING = {"type": "string"}
SCHEMAS = {
    "maxLength": {"type": "string", "maxLength": 1024},
    "minLength": {"type": "string", "minLength": 1024},
    "both": {"type": "string", "minLength": 1023, "maxLength": 1025},
    "maxItems": {"type": "array", "items": {"type": "integer"}, "maxItems": 1024},
    "minItems": {"type": "array", "items": {"type": "integer"}, "minItems": 1023, "maxItems": 1024},
    "items with a length": {"type": "array", "items": STRING | {"maxLength": 1024}, "maxItems": 1024},
}


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("count", [0, 128, 1023, 1024, 1025])
def test_the_bounds_hold(name, count):
    schema = SCHEMAS[name]
    machine = gv.json_schema(schema)
    assert isinstance(machine, PDA)
    values = ["é" * count, "a" * count] if schema["type"] == "string" else [[7] * count, ["x"] * count]
    for value in values:
        text = json.dumps(value, ensure_ascii=count % 2 == 0).encode()
        assert machine.accepts(text) == jsonschema.Draft202012Validator(schema).is_valid(value)


def test_many_short_lengths_that_are_too_large_together_are_counted():
    schema = {"type": "object", "properties": {f"key{n}": STRING | {"maxLength": 60 + n} for n in range(60)}}
    machine = gv.json_schema(schema)
    assert isinstance(machine, PDA)
    rng = random.Random(1)
    for more in (0, 0, 1):
        value = {f"key{n}": "x" * (60 + n) for n in range(60) if rng.random() < 0.5 or n == 59}
        value["key59"] += "x" * more
        assert machine.accepts(json.dumps(value).encode()) == (more == 0)
