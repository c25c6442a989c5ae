"""Keywords of older drafts, and references by path, by anchor and by URI in one document."""

import pytest
from jsonschema import validators

import guidedviz as gv
from tests.machines.schema.deciding import assert_decided

S = {"type": "string"}
INT = {"type": "integer"}
N = {"type": "null"}


def draft(number):
    return {"$schema": f"http://json-schema.org/draft-0{number}/schema#"}


CASES = [  # a schema, values that fit, values that do not
    ({**draft(4), "type": "integer", "minimum": 2, "exclusiveMinimum": True, "maximum": 5}, [3, 5], [2, 6]),
    ({**draft(4), "minimum": 2, "exclusiveMinimum": False, "type": "integer"}, [2], [1]),
    ({**draft(4), "maximum": 2, "exclusiveMaximum": True, "type": "integer"}, [1], [2]),
    ({**draft(7), "type": "array", "items": [S, INT], "additionalItems": N}, [["a"], ["a", 1, None]],
     [[1], ["a", 1, 2]]),
    ({**draft(7), "type": "array", "items": [S], "additionalItems": False}, [[], ["a"]], [["a", 1]]),
    ({**draft(7), "type": "array", "items": S, "additionalItems": False}, [["a", "b"]], [[1]]),
    ({**draft(7), "type": "object", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
     [{}, {"b": 1}, {"a": 1, "b": 1}, {"c": 1, "d": 1}], [{"a": 1}, {"c": 1}, {"a": 1, "b": 1, "c": 1}]),
    ({**draft(7), "definitions": {"s": S}, "items": {"$ref": "#/definitions/s", "maxLength": 0}, "type": "array"},
     [["abc"]], [[1]]),
    ({"$defs": {"s": S}, "items": {"$ref": "#/$defs/s", "maxLength": 0}, "type": "array"}, [[""]], [["abc"], [1]]),
    ({**draft(4), "id": "http://x.y/root.json", "definitions": {"s": {"id": "#s", **S}, "n": {"id": "n.json", **INT}},
      "type": "array", "items": {"anyOf": [{"$ref": "#s"}, {"$ref": "n.json"}, {"$ref": "http://x.y/n.json#"}]}},
     [["a", 1]], [[None]]),
    ({"$id": "http://x.y/a/", "$defs": {"s": {"$anchor": "word", **S}, "b": {"$id": "b", "$defs": {"s": INT},
      "items": {"$ref": "#/$defs/s"}, "type": "array"}}, "prefixItems": [{"$ref": "#word"}, {"$ref": "b"},
      {"$ref": "/a/b#/$defs/s"}, {"$ref": "http://x.y/a/#/$defs/s"}], "type": "array", "items": False},
     [["a", [1], 2, "b"]], [["a", ["b"]], [1], ["a", [1], "b"]]),
    ({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": True, "type": ["array", "null"],
      "items": {"$recursiveRef": "#"}}, [None, [[], [None]]], [1, [[1]]]),
    ({"$dynamicAnchor": "node", "type": "array", "items": {"$dynamicRef": "#node"}}, [[], [[]]], [1, [1]]),
    ({"$id": "urn:uuid:1", "$defs": {"s": S}, "type": "array", "items": {"$ref": "#/$defs/s"}}, [["a"]], [[1]]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "good", "bad"), CASES)
def test_an_older_schema_is_read_by_its_draft(schema, good, bad):
    truth = validators.validator_for(schema)(schema)
    assert_decided(schema, truth, good, bad)


@pytest.mark.parametrize(
    ("ref", "said"),
    [("other.json", "a path into this schema"), ("#nope", "an .anchor that exists"), ("http://x.y/#", "a path into"),
     ("#wrod", 'try: "word"'), ("#/$defs/a/0x", "has no '0x'"), ("#/$defs/99999999999999999999", "has no")],
)  # fmt: skip
def test_a_reference_to_nothing_is_an_error(ref, said):
    with pytest.raises(gv.PatternError, match=said):
        gv.json_schema({"$ref": ref, "$defs": {"a": [S], "w": {"$anchor": "word"}}})
