"""A flat schema becomes a machine that reads what a validator would allow, written as the front door says."""

import itertools
import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import guidedviz as gv
from tests.common import assert_reads


def accepts(schema, text, whitespace="space"):
    return gv.json_schema(schema, whitespace).accepts(text.encode())


def object_of_nulls(keys, required):
    properties = {key: {"type": "null"} for key in keys}
    return {"type": "object", "properties": properties, "required": required}


# --- objects and arrays ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("required", [[], ["b"], ["a", "d"]])
def test_optional_keys_may_be_left_out_and_the_commas_are_right(required):
    keys = ["a", "b", "c", "d"]
    machine = gv.json_schema(object_of_nulls(keys, required))
    for size in range(5):
        for chosen in itertools.permutations(keys, size):
            in_order = list(chosen) == sorted(chosen)
            legal = set(required) <= set(chosen) and in_order
            text = json.dumps(dict.fromkeys(chosen))
            assert machine.accepts(text.encode()) == legal
    assert_reads(machine, [], ['{,"a": null}', '{"a": null,}', '{"a": null "d": null}', '{"a": null, "e": null}'])


BOUNDS = {
    "any": {},
    "at most": {"maxItems": 1},
    "both": {"minItems": 1, "maxItems": 3},
    "exactly": {"minItems": 2, "maxItems": 2},
}


@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("prefix", [{}, {"prefixItems": [{"type": "null"}, {"type": "boolean"}]}])
@pytest.mark.parametrize("items", [{"type": "integer"}, False])
@pytest.mark.quick(every=3)
def test_an_array_has_the_items_it_says_in_the_numbers_it_says(bounds, prefix, items):
    schema = {"type": "array", "items": items, **prefix, **bounds}
    validator = Draft202012Validator(schema)
    try:
        machine = gv.json_schema(schema)
    except gv.PatternError as error:
        if "minItems" not in str(error):
            raise
        machine = gv.regex("no")
    for size in range(6):
        for chosen in itertools.product([None, True, 7], repeat=min(size, 3)):
            row = [*chosen, *[7] * (size - 3)]
            assert machine.accepts(json.dumps(row).encode()) == validator.is_valid(row), row


def test_keys_are_written_as_json_writes_them():
    odd = ['"', "\\", "a\nb", "<script>", "é", "🙂", "a/b~c", "", "\u202e", " "]
    schema = object_of_nulls(odd, odd)
    assert accepts(schema, json.dumps(dict.fromkeys(odd), ensure_ascii=False))
    assert gv.regex(gv.machines.schema_regex(schema)) == gv.json_schema(schema)


# --- strings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a\n", "é🙂", r"\u00e9\ud83d\ude42", r"\"\\", r"\u0041\uD7FF"])
def test_two_characters_are_two_however_they_are_written(text):
    written = text.replace("\n", "\\n")
    quoted = f'"{written}"'
    for bounds in ({}, {"minLength": 2, "maxLength": 2}):
        assert accepts({"type": "string", **bounds}, quoted)
    for bounds in ({"minLength": 3}, {"maxLength": 1}):
        assert not accepts({"type": "string", **bounds}, quoted)


@pytest.mark.parametrize("text", ['"a', '"a"b"', '"\\x"', '"\\u12g4"', '"\\"', '"\x1f"'])
def test_what_is_no_json_string_is_refused(text):
    for more in ({}, {"minLength": 1}, {"pattern": ""}):
        assert not accepts({"type": "string", **more}, text)


def test_half_a_pair_of_surrogates_is_not_counted():
    for text in (r'"\ud83d"', r'"\ude42"', r'"\ud83d\u0041"', r'"\ud83dx"'):
        assert accepts({"type": "string"}, text)
        assert not accepts({"type": "string", "minLength": 1}, text)


letters = st.text(st.sampled_from('ab1 "\\\n\x01é🙂-'), max_size=6)
PATTERNS = r"^[a-z]+$ a ^a b$ ^a|b$ ^.{2,3}$ \d ^\S+$ [\"\\] ^[^a]*$ ^(ab?)*$ é ^\w+-\w+$ ^$ [\n\x01] (?i)^A".split()
PATTERNS += r"\ba\b \B1 (?=.*a)b ^(?!.*ab).+$ (?<!a)b a$| (^a|b)1 (?m)^a (?<=\")1\b".split()
patterns = st.sampled_from(["", *PATTERNS])


bounds = st.none() | st.integers(0, 4)
lists_of_texts = st.lists(letters, min_size=1, max_size=6)


@given(patterns, bounds, st.none() | st.integers(0, 5), lists_of_texts)
def test_a_pattern_speaks_of_the_decoded_string_and_lengths_count_its_characters(pattern, low, more, texts):
    schema = {"type": "string", "pattern": pattern}
    least = low or 0
    most = math.inf
    if low is not None:
        schema["minLength"] = low
    if more is not None:
        most = schema["maxLength"] = least + more
    found = re.compile(pattern.replace("$", r"\Z"), re.ASCII).search
    try:
        machine = gv.json_schema(schema)
    except gv.PatternError as error:
        if "no string meets" not in str(error):
            raise
        machine = gv.json_schema(False)
    for text in texts:
        legal = bool(found(text)) and least <= len(text) <= most
        written = json.dumps(text, ensure_ascii=False)
        assert machine.accepts(written.encode()) == legal, (schema, text)


# --- values, branches, references -----------------------------------------------------------------------------------


def test_constants_have_one_spelling():
    values = ["a", 'q"\n', "é", 1, -2.0, 1e-7, True, None, {"b": [1], "a": {}}, []]
    machine = gv.json_schema({"enum": values})
    good = ['"a"', r'"q\"\n"', '"é"', "1", "-2", "0.0000001", "true", "null", '{"b": [1], "a": {}}', "[]"]
    bad = ['"\\u0061"', '"\\u00e9"', "1.0", "-2.0", "1e-7", '{"a": {}, "b": [1]}', "false", '"true"', "[ ]"]
    assert_reads(machine, good, bad)
