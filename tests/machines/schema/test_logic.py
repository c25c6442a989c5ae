"""not, if, oneOf by difference, dependencies, counted keys, contains, multiples, unevaluated keys."""

import json
from itertools import permutations

import pytest
from jsonschema import Draft202012Validator

import guidedviz as gv
from tests.machines.schema.deciding import assert_decided

S = {"type": "string"}
INT = {"type": "integer"}
N = {"type": "null"}
AB = {"type": "object", "properties": {"a": S, "b": INT, "c": N}}
BASE = {"type": "object", "properties": {"id": INT}, "required": ["id"]}
WORDS = {"type": "array", "items": S}
DEFS = {"$defs": {"base": BASE, "small": {"maximum": 9}, "words": WORDS}}
CASES = [  # a schema, values that fit, values that do not; keys in the order of the schema
    ({"type": "string", "not": {"enum": ["a", "b"]}}, ["c", ""], ["a", "b", 1]),
    ({"type": "string", "not": {"pattern": "^a"}, "maxLength": 2}, ["", "ba"], ["a", "bab"]),
    ({**AB, "not": {"required": ["a", "b"]}}, [{}, {"a": ""}, {"b": 1, "c": None}], [{"a": "", "b": 1}]),
    ({**AB, "not": {"properties": {"b": {"const": 1}}}}, [{"b": 2}], [{}, {"b": 1}, {"a": ""}]),
    ({"type": "array", "items": INT, "not": {"items": {"minimum": 3}}}, [[1], [5, 2]], [[], [3, 4]]),
    ({**AB, "if": {"properties": {"a": {"const": "x"}}, "required": ["a"]}, "then": {"required": ["b"]},
      "else": {"required": ["c"]}}, [{"a": "x", "b": 1}, {"a": "y", "c": None}, {"c": None}], [{"a": "x"}, {"a": "y"}]),
    ({**AB, "dependentRequired": {"a": ["b", "c"], "c": ["a"]}}, [{}, {"b": 1}, {"a": "", "b": 1, "c": None}],
     [{"a": ""}, {"a": "", "b": 1}, {"c": None}]),
    ({**AB, "minProperties": 2, "maxProperties": 2, "additionalProperties": False}, [{"a": "", "c": None}],
     [{}, {"a": ""}, {"a": "", "b": 1, "c": None}]),
    ({"type": "object", "allOf": [{"patternProperties": {"^x": INT}}, {"patternProperties": {"y$": {"minimum": 3}}}],
      "additionalProperties": False, "patternProperties": {"^x": {}, "y$": {}}}, [{"x": 1}, {"xy": 3}, {"y": 3}],
     [{"x": ""}, {"xy": 1}, {"z": 1}]),
    ({"oneOf": [{"type": "integer", "multipleOf": 3}, {"type": "integer", "multipleOf": 5}]}, [3, 5, 10], [0, 15, 1]),
    ({"oneOf": [{"type": "object", "properties": {"a": S}}, {"type": "object", "properties": {"a": {"maxLength": 1}}}]},
     [{"a": "ab"}, {"a": 1}], [{}, {"a": "a"}]),
    ({"type": "number", "multipleOf": 0.25, "minimum": -1, "maximum": 3}, [0, 0.5, -0.75, 3], [0.3, 3.25, -1.25]),
    ({"type": "array", "items": INT, "contains": {"minimum": 5}, "minContains": 2, "maxContains": 2}, [[5, 1, 5]],
     [[5], [5, 5, 5], [1]]),
    ({"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True}, [[], ["b", "a"], ["a", "b", "c"]],
     [["a", "a"], ["a", "b", "a"]]),
    ({"allOf": [{"properties": {"a": S}}], "unevaluatedProperties": False, "type": "object"}, [{}, {"a": ""}],
     [{"b": 1}, {"a": 1}]),
    ({"anyOf": [{"properties": {"a": S}, "required": ["a"]}, {"properties": {"b": S}, "required": ["b"]}],
      "unevaluatedProperties": False, "type": "object"}, [{"a": ""}, {"b": ""}, {"a": "", "b": ""}],
     [{}, {"a": "", "b": 1}, {"a": "", "c": 1}]),
    ({"prefixItems": [S], "anyOf": [{"prefixItems": [True, INT]}, True], "unevaluatedItems": False, "type": "array"},
     [["a"], ["a", 1]], [["a", "b"], ["a", 1, 2]]),
    ({"enum": [{"a": 1}, {"a": 1, "b": 2}, [1], 3], "minProperties": 2}, [{"a": 1, "b": 2}, [1], 3], [{"a": 1}]),
    ({"type": "object", "propertyNames": {"not": {"const": "b"}, "maxLength": 2}}, [{"a": 1}, {"bb": 1}],
     [{"b": 1}, {"abc": 1}]),
]  # fmt: skip
TOGETHER = [  # several schemas of one value: allOf, keywords beside a $ref or beside branches, keys of two patterns
    ({"$ref": "#/$defs/small", "minimum": 3, "type": "integer"}, [3, 9], [2, 10, "a"]),
    ({"allOf": [BASE, {"additionalProperties": {"maximum": 5}}]}, [{"id": 5, "x": 1}, {"id": 5, "x": ""}],
     [{"id": 6}, {"id": 5, "x": 6}]),
    ({**BASE, "anyOf": [{"properties": {"a": N}, "required": ["a"]}, {"properties": {"b": N}, "required": ["b"]}]},
     [{"id": 1, "a": None}, {"id": 1, "b": None}], [{"id": 1}, {"a": None}]),
    ({"type": "integer", "oneOf": [{"maximum": 3}, {"minimum": 9}], "anyOf": [{"minimum": 2}, {"maximum": 10}]},
     [1, 2, 9, 11], [4, "a"]),
    ({"type": "object", "patternProperties": {"^a": INT, "b$": {"minimum": 3}}}, [{"a": 1, "ab": 3, "b": ""}],
     [{"ab": 1}, {"b": 1}]),
    ({"enum": ["a", 1, 20], "$ref": "#/$defs/small"}, ["a", 1], [20, 2]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "good", "bad"), [*CASES, *((schema | DEFS, good, bad) for schema, good, bad in TOGETHER)]
)
def test_a_keyword_means_what_the_standard_says(schema, good, bad):
    assert_decided(schema, Draft202012Validator(schema), good, bad)


def test_a_closed_object_has_the_keys_of_all_schemas_that_it_must_meet():
    schema = {"allOf": [AB, {"properties": {"d": N}}]}
    schema |= {"if": {"required": ["a"]}, "then": {"properties": {"e": N}}}
    machine = gv.json_schema(schema)
    texts = [b'{"a": "", "d": null, "e": null}', b'{"d": null}', b'{"e": null}', b'{"f": null}', b'{"a": "", "f": 1}']
    accepted = [text for text in texts if machine.accepts(text)]
    assert accepted == texts[:2]


@pytest.mark.slow
def test_a_long_enum_becomes_one_machine():
    numbers = [number * 7919 % 100_003 for number in range(1500)]
    words = [f"word {number}" for number in numbers]
    quoted = [f'"{word}"' for word in words]
    machine = gv.regex("|".join(quoted))
    titled = [{"const": word, "title": word} for word in words]
    for schema in ({"enum": words}, {"oneOf": titled}):
        assert gv.json_schema(schema) == machine
    word = {"enum": [*words, "é\n", 5]}
    nested = gv.json_schema({"type": "object", "properties": {"w": word, "v": {}}})
    for text, legal in (("word 7919", True), ("é\n", True), ("word", False), (5, True)):
        value = json.dumps({"w": text, "v": [1]}, ensure_ascii=False)
        assert nested.accepts(value.encode()) == legal


def test_a_part_of_the_root_is_not_the_root():
    inner = {"type": "array", "anyOf": [{"$ref": "#"}]}
    schema = {"anyOf": [N, {"type": "array", "items": inner}]}
    for whitespace in ("space", "any"):
        machine = gv.json_schema(schema, whitespace)
        texts = (b"null", b"[[[]]]", b"[null]", b"[[null]]")
        accepted = [text for text in texts if machine.accepts(text)]
        assert accepted == [b"null", b"[[[]]]"]


@pytest.mark.parametrize("extra_keys", ["open", "closed"])
def test_a_named_key_is_no_witness_of_the_additional_ones(extra_keys):
    inner = {"properties": {"x": {"required": ["a"]}}, "additionalProperties": {"type": "null"}}
    exclusive = {"oneOf": [{"multipleOf": 0.5}, inner]}
    for schema in ({"type": "object", "not": inner}, exclusive):
        machine = gv.json_schema(schema, extra_keys=extra_keys)
        assert machine.accepts(b'{"x": {}}')
        assert machine.accepts(b'{"y": 1}')
        assert not any(map(machine.accepts, [b'{"x": "ba"}', b'{"x": 1}', b'{"x": {"a": 1}}', b'{"y": null}', b"{}"]))


UNEVALUATED = [
    {"not": {"anyOf": [True, {"properties": {"a": True}}], "unevaluatedProperties": False}},
    {"oneOf": [{"required": ["b"]}, {"if": {"required": ["a"]}, "then": {"properties": {"b": True}},
                                     "properties": {"a": True}, "unevaluatedProperties": False}]},
    {"not": {"prefixItems": [{"const": 1}], "contains": {"const": 2}, "unevaluatedItems": False}},
    {"$defs": {"d": {"$ref": "#/$defs/e", "unevaluatedProperties": False}, "e": {"properties": {"a": True}}},
     "not": {"$ref": "#/$defs/d"}},
    {"not": {"not": {"properties": {"a": True}, "unevaluatedProperties": False}}, "unevaluatedProperties": False},
    {"not": {"properties": {"a": True}, "unevaluatedProperties": False}, "unevaluatedProperties": {"const": 2}},
    {"not": {"not": {"prefixItems": [True], "unevaluatedItems": False}}, "unevaluatedItems": {"const": 2}},
]  # fmt: skip
VALUES = [{}, {"a": 1}, {"b": 2}, {"a": 1, "b": 2}, {"a": 2}, {"b": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 2, "c": 2}, 1,
          [], [1], [2], [1, 2], [1, 2, 2], [1, 3], [1, 2, 3], [3], [2, 2]]  # fmt: skip


@pytest.mark.parametrize("schema", UNEVALUATED)
def test_unevaluated_keys_and_items_of_what_must_not_hold_are_decided(schema):
    machine = gv.json_schema(schema, extra_keys="open")
    truth = Draft202012Validator(schema)
    for value in VALUES:
        orders = [value]
        if isinstance(value, dict):
            orders = [dict(order) for order in permutations(value.items())]
        texts = [json.dumps(order).encode() for order in orders]
        assert any(map(machine.accepts, texts)) == truth.is_valid(value), value
