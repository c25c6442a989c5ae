"""What a schema cannot say is told with the path where it stands; nothing is silently left out, and nothing hangs."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.regular.dfa import DFA
from tests.common import in_time, read_cases

S = {"type": "string"}
N = {"type": "null"}


def within(part):
    """The part two levels down."""
    return {"type": "object", "properties": {"a": {"type": "array", "items": part}}}


DEEP = "#/properties/a/items"


@pytest.mark.parametrize(("part", "below", "said"), map(dict.values, read_cases(__file__, "wrong_schemas.json")))
def test_what_is_wrong_is_told_with_its_path(part, below, said):
    with pytest.raises(gv.PatternError) as caught:
        gv.json_schema(within(part))
    path = "#/type" if part == {"$ref": "#/type"} else DEEP + below
    assert str(caught.value).startswith(f"schema, {path}: ")
    assert said in str(caught.value)


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


CYCLIC = {"type": "array"}
CYCLIC["items"] = CYCLIC


@pytest.mark.parametrize(
    ("text", "said"),
    [(CYCLIC, "schema"), ({"const": {1: 2}}, "a text"), ({"not": {"$ref": "#"}}, "schema"),
     ('{"type": "string",}', "line 1"), ('{"maximum": NaN}', "nan"),
     ("[]", "a schema"), 
     ('{"type": "string"} x', "line 1"), ("[" * 100_000, "deep")],
)  # fmt: skip
def test_what_is_no_schema_is_told_so(text, said):
    with pytest.raises(gv.PatternError, match=said):
        gv.json_schema(text)


LARGE = {
    "200 keys, none required": {"type": "object", "properties": {f"field_{i}": S for i in range(200)}},
    "all but 2,000 words": {"type": "string", "not": {"enum": [f"w{i}" for i in range(2000)]}},
}


@pytest.mark.parametrize("schema", LARGE.values(), ids=LARGE)
@pytest.mark.quick(every=2)
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
    try:
        with in_time(4):
            machine = gv.json_schema(schema, blanks)
            shown = gv.machines.to_gbnf(machine)
    except gv.PatternError as error:
        if not str(error).startswith("schema"):
            raise
        return
    assert parse_grammar(shown).root == "root"
    if isinstance(machine, DFA):
        assert gv.regex(gv.machines.schema_regex(schema, whitespace=blanks)) == machine


def test_a_long_way_of_refs_is_refused_where_it_is_too_deep():
    def chain(length):
        parts = {f"d{n}": {"type": "object", "properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}}} for n in range(length)}
        return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{length}": N}}

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
