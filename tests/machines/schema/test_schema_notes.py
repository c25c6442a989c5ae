"""Keywords that JSON Schema does not have, keys that a schema does not name, and schemas given as Pydantic models."""

import pytest

import guidedviz as gv
from guidedviz.errors import SchemaWarning

NAMED = {"type": "object", "properties": {"a": {"type": "null"}}}
FOREIGN = ["x-kubernetes-kind", "nullable"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("keyword", FOREIGN)
def test_a_keyword_that_json_schema_does_not_have_is_ignored_and_noted(keyword):
    part = {"type": "null", keyword: [1]}
    machine = gv.json_schema({"type": "object", "properties": {"a": part}})
    assert machine == gv.json_schema(NAMED)
    [note] = machine.notes
    assert note.startswith(f"#/properties/a/{keyword}: ")
    with pytest.raises(gv.PatternError, match=rf"#/{keyword}: saw a keyword that JSON Schema does not have"):
        gv.json_schema({keyword: 1}, unknown="error")


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [("propertes", "properties"), ("minlength", "minLength")],
)
def test_a_near_miss_of_a_keyword_warns(keyword, meant):
    with pytest.warns(SchemaWarning, match=f'#/{keyword}: .* did you mean "{meant}"'):
        machine = gv.json_schema({"type": "null", keyword: {}})
    assert f'did you mean "{meant}"?' in machine.notes[0]


def test_a_format_that_json_schema_does_not_have_is_noted():
    machine = gv.json_schema({"type": "string", "format": "color", "maxLength": 1})
    assert machine == gv.json_schema({"type": "string", "maxLength": 1})
    assert machine.notes == ("#/format: not a format of JSON Schema, ignored",)


def test_extra_keys_are_allowed_where_the_caller_says_so():
    for extra_keys, legal in (("closed", False), ("open", True)):
        machine = gv.json_schema(NAMED, extra_keys=extra_keys)
        assert machine.accepts(b'{"a": null}')
        assert machine.accepts(b'{"a": null, "b": 1}') == legal
        for said in (False, True):
            machine = gv.json_schema({**NAMED, "additionalProperties": said}, extra_keys=extra_keys)
            assert machine.accepts(b'{"a": null, "b": 1}') == said


@pytest.mark.parametrize(("name", "value"), [("extra_keys", "some"), ("unknown", None)])
def test_a_setting_out_of_its_range_is_an_error(name, value):
    with pytest.raises(gv.PatternError, match=f"schema, {name}: saw .*, expected "):
        gv.json_schema({}, **{name: value})


def test_a_pydantic_model_is_a_schema():
    pydantic = pytest.importorskip("pydantic")

    class Person(pydantic.BaseModel):
        name: str
        age: int | None = None

    machine = gv.json_schema(Person)
    assert machine == gv.json_schema(Person.model_json_schema())
    assert machine.accepts(b'{"name": "Ada", "age": null}')
    assert not machine.accepts(b'{"age": 3}')


def test_the_regex_of_a_schema_takes_the_same_settings():
    with pytest.raises(gv.PatternError, match="does not have"):
        gv.machines.schema_regex({"type": "null", "x": 1}, unknown="error")
    flat = {**NAMED, "properties": {"a": {"type": "null", "x": 1}}}
    assert gv.machines.schema_regex(flat) == gv.machines.schema_regex(NAMED)
