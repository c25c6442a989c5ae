"""Several schemas of one value: allOf, keywords beside a $ref or beside branches, keys that two patterns match."""

import json

import pytest
from jsonschema import Draft202012Validator

import guidedviz as gv

S, INT, N = {"type": "string"}, {"type": "integer"}, {"type": "null"}
BASE = {"type": "object", "properties": {"id": INT}, "required": ["id"]}
DEFS = {"$defs": {"base": BASE, "small": {"maximum": 9}, "words": {"type": "array", "items": S}}}
CASES = [  # a schema, values that fit, values that do not; written with a blank after each : and ,
    ({"allOf": [{"type": ["integer", "null"]}, {"type": "number"}, {"minimum": 2}, {"minimum": 1}]}, [2],
     [1, None, 2.5]),
    ({"$ref": "#/$defs/small", "minimum": 3, "type": "integer"}, [3, 9], [2, 10, "a"]),
    ({"$ref": "#/$defs/words", "maxItems": 1}, [[], ["a"]], [["a", "b"], [1], "a"]),
    ({"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"name": S}, "required": ["name"]}]}, [{"id": 1, "name": ""}],
     [{"id": 1}, {"name": ""}, {"id": "", "name": ""}]),
    ({"allOf": [{"properties": {"a": INT}}, {"properties": {"a": {"minimum": 3}}}], "type": "object"},
     [{"a": 3}, {}], [{"a": 2}]),
    ({"allOf": [BASE, {"additionalProperties": {"maximum": 5}}]}, [{"id": 5, "x": 1}, {"id": 5, "x": ""}],
     [{"id": 6}, {"id": 5, "x": 6}]),
    ({**BASE, "anyOf": [{"properties": {"a": N}, "required": ["a"]}, {"properties": {"b": N}, "required": ["b"]}]},
     [{"id": 1, "a": None}, {"id": 1, "b": None}], [{"id": 1}, {"a": None}]),
    ({"type": "integer", "oneOf": [{"maximum": 3}, {"minimum": 9}], "anyOf": [{"minimum": 2}, {"maximum": 10}]},
     [1, 2, 9, 11], [4, "a"]),
    ({"allOf": [{"prefixItems": [{"minimum": 3}]}], "items": {"minimum": 5}, "type": "array"}, [[], [5, 6]],
     [[3], [5, 4]]),
    ({"type": "object", "patternProperties": {"^a": INT, "b$": {"minimum": 3}}}, [{"a": 1, "ab": 3, "b": ""}],
     [{"ab": 1}, {"b": 1}]),
    ({"type": "object", "properties": {"ab": {"maximum": 5}}, "patternProperties": {"^a": INT}}, [{"ab": 5}],
     [{"ab": 6}, {"ab": ""}]),
    ({"type": "object", "patternProperties": {"a": S, "b": N}}, [{"a": "", "b": None}], [{"ab": None}, {"ba": ""}]),
    ({"allOf": [True, S, {}, S]}, ["a"], [1]),
    ({"enum": ["a", 1, 20], "$ref": "#/$defs/small"}, ["a", 1], [20, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "good", "bad"), CASES)
def test_all_that_is_asked_of_a_value_holds(schema, good, bad):
    machine, truth = gv.json_schema({**schema, **DEFS}), Draft202012Validator({**schema, **DEFS})
    assert [machine.accepts(json.dumps(value).encode()) for value in (*good, *bad)] == [True] * len(good) + [
        False
    ] * len(bad)
    assert [truth.is_valid(value) for value in (*good, *bad)] == [True] * len(good) + [False] * len(bad)


def test_joined_schemas_may_be_inside_themselves():
    base = {"type": "object", "properties": {"kind": S, "next": {"$ref": "#/$defs/base"}}, "required": ["kind"]}
    leaf = {"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"kind": {"maxLength": 1}, "next": {"$ref": "#"}}}]}
    machine = gv.json_schema({"$defs": {"base": base}, **leaf})
    assert machine.accepts(b'{"kind": "a", "next": {"kind": "b", "next": {"kind": "c"}}}')
    assert not machine.accepts(b'{"kind": "a", "next": {"kind": "b", "next": {"kind": "cd"}}}')
