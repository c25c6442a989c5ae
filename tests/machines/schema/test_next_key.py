"""Many optional keys: found letter by letter, the next key is the one that a choice of all later keys finds."""

import itertools
import random
import time

import pytest

import guidedviz as gv
from guidedviz.machines.compare import compare_machines

VALUES = [{"type": "null"}, {"enum": [1, "a"]}, {"type": "boolean"}, {"type": "array", "items": {"$ref": "#"}}]


@pytest.mark.parametrize("seed", range(6))
def test_keys_letter_by_letter_are_the_choice_of_all_later_keys(seed):
    """The grammar that is shown has a choice of all later keys behind each key."""
    draw = random.Random(seed)
    names = draw.sample(["".join(letters) for letters in itertools.product('ab"é', repeat=3)], 42)
    schema = {"type": "object", "properties": {name: draw.choice(VALUES) for name in names}}
    schema |= {"required": draw.sample(names, draw.randrange(2))} if draw.random() < 0.6 else {}
    schema |= {"additionalProperties": draw.choice([False, {"type": "null"}])} if draw.random() < 0.5 else {}
    schema |= {"minProperties": 1} if draw.random() < 0.3 else {}
    whitespace = draw.choice(["space", "compact"])
    shown = gv.grammar(gv.machines.schema_gbnf(schema, whitespace))
    assert compare_machines(gv.json_schema(schema, whitespace), shown, most=1_500).text is None, schema


VALUES_OF_MANY = {
    "nullable": {"type": ["string", "null"]},
    "bounded": {"type": "string", "maxLength": 100},
    "counted": {"type": "string", "maxLength": 5000},
    "anyOf": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "object": {"type": "object", "properties": {"a": {"type": "string"}}},
}


@pytest.mark.parametrize(
    ("name", "extra_keys"),
    [("nullable", "open"), ("bounded", "closed"), ("counted", "closed"), ("anyOf", "open"), ("object", "closed")],
)
def test_300_optional_keys_compile_soon(name, extra_keys):
    value = VALUES_OF_MANY[name]
    start = time.process_time()
    properties = {f"key_{number}": value for number in range(300)}
    machine = gv.json_schema({"type": "object", "properties": properties}, extra_keys=extra_keys)
    assert time.process_time() - start < 8
    text = b'{"a": "x"}' if value.get("type") == "object" else b'"x"' if "type" in value else b"null"
    assert machine.accepts(b'{"key_7": ' + text + b', "key_299":' + text + b"}")
    assert machine.accepts(b'{"key_71": ' + text + b', "other": 1}') == (extra_keys == "open")
    for wrong in (b'{"key_7": T, "key_6": T}', b'{"key_7": T, "key_7": T}', b'{"key_7": [0]}', b'{"key_7": T,}'):
        assert not machine.accepts(wrong.replace(b"T", text))
    assert machine.accepts(b"{}")


def test_counted_keys_that_are_too_many_are_told_with_their_path():
    properties = {f"k{number}": {"type": "null"} for number in range(300)}
    inner = {"type": "object", "properties": properties, "minProperties": 20}
    with pytest.raises(gv.PatternError, match="schema, #/items: saw too many counts of properties"):
        gv.json_schema({"type": "array", "items": inner})


def test_too_many_letters_of_keys_are_told_soon():
    start = time.process_time()
    properties = {f"a rather long name of a key {number}": {"type": "null"} for number in range(5000)}
    with pytest.raises(gv.PatternError, match="schema, #: saw 5,000 properties, of which 5,000 are optional"):
        gv.json_schema({"type": "object", "properties": properties})
    assert time.process_time() - start < 2
