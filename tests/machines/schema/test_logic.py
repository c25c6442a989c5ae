"""not, if, oneOf by difference, dependencies, counted keys, contains, multiples, unevaluated keys."""

import pytest
from jsonschema import Draft202012Validator

import guidedviz as gv
from tests.common import assert_reads, read_cases
from tests.machines.schema.deciding import assert_decided, spell

S = {"type": "string"}
INT = {"type": "integer"}
N = {"type": "null"}
AB = {"type": "object", "properties": {"a": S, "b": INT, "c": N}}


@pytest.mark.parametrize("case", read_cases(__file__, "keywords.json"), ids=str)
def test_a_keyword_means_what_the_standard_says(case):
    assert_decided(validator=Draft202012Validator(case["schema"]), **case)


def test_a_closed_object_has_the_keys_of_all_schemas_that_it_must_meet():
    schema = {"allOf": [AB, {"properties": {"d": N}}]}
    schema |= {"if": {"required": ["a"]}, "then": {"properties": {"e": N}}}
    machine = gv.json_schema(schema)
    assert_reads(machine, ['{"a": "", "d": null, "e": null}', '{"d": null}'], ['{"e": null}', '{"f": null}'])


@pytest.mark.slow
def test_a_long_enum_becomes_one_machine():
    numbers = [number * 7919 % 100_003 for number in range(1500)]
    words = [f"word {number}" for number in numbers]
    machine = gv.regex("|".join(f'"{word}"' for word in words))
    titled = [{"const": word, "title": word} for word in words]
    for schema in ({"enum": words}, {"oneOf": titled}):
        assert gv.json_schema(schema) == machine


def test_a_part_of_the_root_is_not_the_root():
    inner = {"type": "array", "anyOf": [{"$ref": "#"}]}
    schema = {"anyOf": [N, {"type": "array", "items": inner}]}
    for whitespace in ("space", "any"):
        machine = gv.json_schema(schema, whitespace)
        assert_reads(machine, ["null", "[[[]]]"], ["[null]", "[[null]]"])


@pytest.mark.parametrize("extra_keys", ["open", "closed"])
def test_a_named_key_is_no_witness_of_the_additional_ones(extra_keys):
    inner = {"properties": {"x": {"required": ["a"]}}, "additionalProperties": {"type": "null"}}
    exclusive = {"oneOf": [{"multipleOf": 0.5}, inner]}
    for schema in ({"type": "object", "not": inner}, exclusive):
        machine = gv.json_schema(schema, extra_keys=extra_keys)
        assert_reads(machine, ['{"x": {}}', '{"y": 1}'], ['{"x": 1}', '{"x": {"a": 1}}', '{"y": null}', "{}"])


UNEVALUATED = [
    {"not": {"anyOf": [True, {"properties": {"a": True}}], "unevaluatedProperties": False}},
    {"oneOf": [{"required": ["b"]}, {"if": {"required": ["a"]}, "then": {"properties": {"b": True}},
                                     "properties": {"a": True}, "unevaluatedProperties": False}]},
    {"not": {"prefixItems": [{"const": 1}], "contains": {"const": 2}, "unevaluatedItems": False}},
    {"not": {"not": {"prefixItems": [True], "unevaluatedItems": False}}, "unevaluatedItems": {"const": 2}},
]  # fmt: skip
VALUES = [{}, {"a": 1}, {"b": 2}, {"a": 1, "b": 2}, {"a": 2}, {"b": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 2, "c": 2}, 1,
          [], [1], [2], [1, 2], [1, 2, 2], [1, 3], [1, 2, 3], [3], [2, 2]]  # fmt: skip


@pytest.mark.parametrize("schema", UNEVALUATED)
def test_unevaluated_keys_and_items_of_what_must_not_hold_are_decided(schema):
    machine = gv.json_schema(schema, extra_keys="open")
    truth = Draft202012Validator(schema)
    for value in VALUES:
        texts = map(str.encode, spell(value))
        assert any(map(machine.accepts, texts)) == truth.is_valid(value), value
