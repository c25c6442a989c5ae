"""What a schema cannot say is told with the path where it stands; nothing is silently left out, and nothing hangs."""

import functools
import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.regular.dfa import DFA
from tests.common import in_time

S = {"type": "string"}
N = {"type": "null"}


def within(part):
    """The part two levels down."""
    return {"type": "object", "properties": {"a": {"type": "array", "items": part}}}


DEEP = "#/properties/a/items"
UNSAYABLE = [  # what no machine of this kind can say, and the path below it
    ({"type": "array", "items": S, "uniqueItems": True}, "/uniqueItems"),
    ({"items": {"enum": [*range(30)]}, "uniqueItems": True}, "/uniqueItems"),
    ({"type": "array", "not": {"items": N, "uniqueItems": True}}, "/not/uniqueItems"),
    ({"type": "object", "minProperties": 3}, "/minProperties"),
    ({"type": "string", "pattern": r"^(a|b)\1$"}, "/pattern"),
    ({"type": "integer", "multipleOf": 9973}, "/multipleOf"),
]


@pytest.mark.parametrize(("part", "below"), UNSAYABLE)
@pytest.mark.quick(every=3)
def test_what_no_machine_can_say_is_an_error_at_its_place(part, below):
    with pytest.raises(gv.PatternError) as caught:
        gv.json_schema(within(part))
    assert str(caught.value).startswith(f"schema, {DEEP}{below}: saw ")


WRONG = [  # the part, the path below it, a word of what is said
    ({"type": "str"}, "/type", "'str'"),
    ({"type": []}, "/type", "a list of types"),
    ({"type": "string", "minLength": 3, "maxLength": 2}, "/minLength", "at most maxLength"),
    ({"type": "string", "pattern": "a("}, "/pattern", "position 1"),
    ({"type": "string", "pattern": "^a{3}$", "maxLength": 2}, "", "no string meets"),
    ({"type": "string", "format": ["date"]}, "/format", "the name of a format"),
    ({"type": "number", "minimum": "1"}, "/minimum", "a number"),
    ({"type": "array", "prefixItems": [S], "items": False, "minItems": 2}, "", "minItems 2"),
    ({"type": "object", "properties": {"b": S}, "required": ["c"]}, "/required", "'c'"),
    ({"type": "object", "properties": {"b": False}, "required": ["b"]}, "/required", "with some value"),
    ({"type": "object", "properties": {"b\ud800": S}}, "/properties", "surrogates"),
    ({"type": "integer", "multipleOf": 0}, "/multipleOf", "above 0"),
    ({"type": "array", "contains": S, "minContains": 10_000}, "", "smaller counts"),
    ({"dependentRequired": {"a": "b"}}, "/dependentRequired/a", "a list of names"),
    ({"const": {1: 2}}, "/const", "a text"),
    ({"const": {"a": {1, 2}}}, "/const/a", "a number"),
    ({"type": "integer", "enum": ["a"]}, "", "no value satisfies"),
    ({"type": "object", "properties": {"<b>\n/~": {"not": 3}}}, "/properties/<b>↵~1~0/not", "a schema"),
    ({"allOf": [{"$ref": "#/properties/a/items"}, S]}, "", "leads back to itself"),
    ({"$ref": "#/$defs/nope"}, "/$ref", "has no '$defs'"),
    ({"$ref": "#/type"}, "", "a schema"),
    ({"type": "array", "items": {"$ref": "#/properties/a/items"}, "minItems": 1}, "", "another such"),
    ({"type": "object", "patternProperties": {"a(": S}}, "/patternProperties/a(", "position 1"),
    ({"type": "object", "properties": {"ab": S}, "patternProperties": {"a": N}, "required": ["ab"]}, "/required",
     "with some value"),
    ({"type": "object", "propertyNames": {"not": []}}, "/propertyNames/not", "a schema"),
    ({"type": "object", "properties": {"b": S}, "required": ["b"], "propertyNames": {"maxLength": 0}}, "/required",
     "with some value"),
    ({"type": "object", "properties": {"b": S}, "minProperties": 2}, "", "from 2 to any number of properties"),
    ({"type": "object", "properties": {"b": S}, "required": ["b"], "maxProperties": 0}, "", "from 0 to 0 properties"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "below", "said"), WRONG)
def test_what_is_wrong_is_told_with_its_path(part, below, said):
    with pytest.raises(gv.PatternError) as caught:
        gv.json_schema(within(part))
    path = "#/type" if part == {"$ref": "#/type"} else DEEP + below
    assert str(caught.value).startswith(f"schema, {path}: ")
    assert said in str(caught.value)
    with pytest.raises(gv.PatternError):
        gv.machines.schema_regex(within(part))


NESTED = [
    ({"type": "array", "prefixItems": [S]}, "/items", "any JSON value"),
    ({"type": "object", "properties": {}, "additionalProperties": True}, "/additionalProperties", "any JSON value"),
    ({"type": "array", "items": {"$ref": "#/properties/a/items"}}, "", "inside itself"),
]


@pytest.mark.parametrize(("part", "below", "said"), NESTED)
def test_what_nests_has_a_machine_and_no_regex(part, below, said):
    assert repr(gv.json_schema(within(part))).startswith("PDA")
    with pytest.raises(gv.PatternError, match=r"nest to any depth, .* pushdown machine") as caught:
        gv.machines.schema_regex(within(part))
    assert str(caught.value).startswith(f"schema, {DEEP}{below}: saw ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "line 1 column 2"), ('{"type": "string",}', "line 1"), ("", "line 1"), ('{"maximum": NaN}', "nan"),
     ("[]", "a schema"), ("3", "a schema"),
     ('{"type": "string"} x', "line 1"), ("[" * 100_000, "deep")],
)  # fmt: skip
def test_a_text_that_is_no_schema_is_told_so(text, said):
    with pytest.raises(gv.PatternError, match=said):
        gv.json_schema(text)


def cyclic():
    schema = {"type": "array"}
    schema["items"] = schema
    return schema


def cyclic_constant():
    value = []
    value.append(value)
    return {"const": value}


def nested(depth, low=0):
    schema = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema, "minItems": low, "maxItems": 2}
    return schema


HOSTILE = {
    "a dict inside itself": cyclic(),
    "a constant inside itself": cyclic_constant(),
    "nested 3,000 times": nested(3000),
    "words of 3 letters behind anything": {"type": "string", "pattern": "a.{20}$"},
    "300 optional keys": {"type": "object", "properties": {f"a key {number}": N for number in range(300)}},
    "40,000 keys": {"type": "object", "properties": {f"k{number}": N for number in range(40_000)}},
    "5,000 references in a row": {
        "$ref": "#/$defs/d0",
        "$defs": {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5000)},
    },
    "2 to the 12 combinations": {
        "allOf": [{"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]} for n in range(12)]
    },
    "the negation of itself": {"not": {"$ref": "#"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("schema", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_schema_ends_in_an_error_and_soon(schema):
    with in_time(4):
        with pytest.raises(gv.PatternError) as caught:
            gv.json_schema(schema)
        assert str(caught.value).startswith("schema")


def condition(kind):
    needed = {"properties": {kind: S}, "required": [kind]}
    return {"if": {"properties": {"k": {"const": kind}}}, "then": needed}


def conditions(kinds):
    properties = {"k": {"enum": list(kinds)}}
    branches = list(map(condition, kinds))
    return {"type": "object", "properties": properties, "required": ["k"], "allOf": branches}


FIELDS = [f"field_{i}" for i in range(200)]
LARGE = {
    "200 keys, none required": {"type": "object", "properties": dict.fromkeys(FIELDS, S)},
    "40 levels": {"const": json.loads("[" * 40 + "]" * 40)},
    "20 conditions": conditions("abcdefghijlmnopqrstu"),
    "100 negations": functools.reduce(lambda schema, _: {"not": schema}, range(100), S),
    "all but 2,000 words": {"type": "string", "not": {"enum": [f"w{i}" for i in range(2000)]}},
    "a description of 10 MB": {**S, "description": "x" * 10_000_000},
}


@pytest.mark.parametrize("schema", LARGE.values(), ids=LARGE.keys())
@pytest.mark.quick(every=6)
def test_a_large_schema_is_no_hostile_one(schema):
    with in_time(8):
        machine = gv.json_schema(schema)
    assert machine.initial is not None


KEYWORDS = """
type enum const properties required additionalProperties patternProperties propertyNames minProperties maxProperties
items prefixItems minItems maxItems minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum
$ref anyOf oneOf allOf $defs title $id not
""".split()
scraps = [None, True, False, 0, 1, -1, 2.5, math.nan, 1e300, 10**500, "", "a", "#", "#/properties", "#/properties/a"]
scraps += ["#/$defs/a", "^a", "date", "\ud800"]
scraps += ["null", "string", "integer", "array", "object", {1: 2}, b"a", (), {}, ["a"], {"$ref": "#"}]
names = st.sampled_from([*KEYWORDS, "a"])


def grow(inner):
    return st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4)


junk = st.recursive(st.sampled_from(scraps), grow, max_leaves=12)
rubbish = st.dictionaries(st.sampled_from(KEYWORDS), junk, max_size=5)


@given(rubbish, st.sampled_from("space one compact any".split()))
def test_rubbish_meets_no_other_error_than_ours_and_soon(schema, blanks):
    start = time.process_time()
    try:
        machine = gv.json_schema(schema, blanks)
        shown = gv.machines.to_gbnf(machine)
    except gv.PatternError as error:
        if not str(error).startswith("schema"):
            raise
        return
    finally:
        assert time.process_time() - start < 4
    assert parse_grammar(shown).root == "root"
    if isinstance(machine, DFA):
        assert gv.regex(gv.machines.schema_regex(schema, whitespace=blanks)) == machine


def test_a_long_way_of_refs_is_refused_where_it_is_too_deep():
    def chain(length):
        parts = {}
        for n in range(length):
            below = {"$ref": f"#/$defs/d{n + 1}"}
            parts[f"d{n}"] = {"type": "object", "properties": {"x": below}}
        parts[f"d{length}"] = N
        return {"$ref": "#/$defs/d0", "$defs": parts}

    text = b'{"x":' * 40 + b"null" + b"}" * 40
    assert gv.json_schema(chain(40)).accepts(text)
    with pytest.raises(gv.PatternError, match=r"schema, #/\$defs/d\d+.*: saw parts nested too deeply") as caught:
        gv.json_schema(chain(400))
    assert caught.value.hint == "at most about fifty levels"


@pytest.mark.slow
def test_a_pattern_too_large_for_a_machine_is_named_by_its_path():
    """Its own size is told, also beside one that fits."""
    parts = {"a": {"type": "string", "pattern": "^[ab]{30}$"}, "b": {"type": "string", "pattern": "(a|b)*a(a|b){30}$"}}
    with pytest.raises(gv.PatternError) as caught:
        gv.json_schema({"type": "object", "properties": parts})
    assert caught.value.where == "schema, #/properties/b/pattern"
    assert "more than" in caught.value.seen
    assert "{30} costs most" in str(caught.value)
