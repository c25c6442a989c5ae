"""Claims about front ends: each request is valid, holds the schema, and is what the framework's own types accept."""

from __future__ import annotations

import ast
import json

import pydantic
import pytest

from guidedviz.errors import GuidedVizError
from guidedviz.machines.pushdown.pda import grammar
from guidedviz.machines.regular.regex import regex
from guidedviz.serving.front_end import described_schema, front_ends, lay_out, strict_schema


class Customer(pydantic.BaseModel):
    name: str
    city: str


class Item(pydantic.BaseModel):
    item: str
    count: int = pydantic.Field(ge=1, le=99)


class Order(pydantic.BaseModel):
    order: int
    customer: Customer
    items: list[Item]


class Rich(pydantic.BaseModel):
    """Keywords that the hosted APIs take in different ways."""

    day: str = pydantic.Field(json_schema_extra={"format": "date"})
    code: str | None = pydantic.Field(default=None, description="a code", max_length=3)
    who: Customer = pydantic.Field(description="the buyer")
    tags: list[str] = pydantic.Field(default=[], min_length=1)
    pair: list[int] = pydantic.Field(min_length=2)


SCHEMA = Order.model_json_schema()
RIGHT = b'{"order": 1, "customer": {"name": "A", "city": "B"}, "items": [{"item": "lamp", "count": 99}]}'
ENDS = {end.name: end for end in front_ends(Order)}
BODIES = {request.name: request.body for end in ENDS.values() for request in end.requests if request.body}


def dig(body, path):
    for key in path.split("."):
        body = body[int(key) if key.isdigit() else key]
    return body


def test_there_is_one_record_per_front_end_and_each_says_what_was_read():
    assert len(ENDS) == 11
    for end in ENDS.values():
        assert end.version
        assert end.checked
        assert end.note.endswith(".")
        assert end.link.startswith("https://")
        assert end.requests
        assert end.now in str(end)


def test_json_requests_hold_the_schema_of_the_class():
    assert dig(BODIES, "structured_outputs.structured_outputs.json") == SCHEMA
    assert dig(BODIES, "responseJsonSchema.generationConfig.responseJsonSchema") == SCHEMA
    llama = {request.name: request.body for request in ENDS["llama.cpp"].requests}
    assert llama["json_schema"]["json_schema"] == SCHEMA
    sglang = {request.name: request.body["sampling_params"][request.name] for request in ENDS["SGLang"].requests}
    assert json.loads(sglang["json_schema"]) == SCHEMA
    for machine in (grammar(llama["grammar"]["grammar"]), grammar(sglang["ebnf"]), regex(sglang["regex"])):
        assert machine.accepts(RIGHT)
        assert not machine.accepts(RIGHT.replace(b"99", b"100"))


def test_strict_mode_requires_every_key_and_forbids_others():
    schema = strict_schema(Rich.model_json_schema())
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["who"]["properties"].keys() == {"name", "city"}
    assert dig(BODIES, "response_format.response_format.json_schema.schema") == strict_schema(SCHEMA)


def test_bounds_that_are_not_enforced_become_a_description():
    schema = dig(BODIES, "output_config.output_config.format.schema")
    assert schema == described_schema(SCHEMA) == dig(BODIES, "tools.tools.0.input_schema")
    count = schema["$defs"]["Item"]["properties"]["count"]
    assert count == {"type": "integer", "title": "Count", "description": "{maximum: 99, minimum: 1}"}


def test_python_requests_are_python_and_name_the_class():
    for end in front_ends(Order):
        for request in end.requests:
            if request.to == "Python":
                assert "Order" in {node.id for node in ast.walk(ast.parse(request.text)) if isinstance(node, ast.Name)}


def test_python_requests_for_a_dict_write_the_dict_out():
    found = [request for end in front_ends(SCHEMA) for request in end.requests if request.to == "Python"]
    assert len(found) == 5
    for request in found:
        assert ast.literal_eval(ast.parse(request.text).body[0].value) == SCHEMA


def test_the_text_of_a_schema_and_a_prompt_with_quotes_stay_whole():
    ends = front_ends(json.dumps(SCHEMA), 'say "hi"\n{}')
    assert ends[0].requests[0].body["messages"][0]["content"] == 'say "hi"\n{}'
    assert all(ast.parse(r.text) for end in ends for r in end.requests if r.to == "Python")


def test_a_schema_that_nests_without_bound_has_no_regex():
    nested = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    sglang = front_ends(nested)[1]
    assert sglang.now == "json_schema, ebnf"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "saw 3, expected the schema of an object"),
        (int, "expected the schema of an object"),
        ({"type": "array"}, "saw type 'array'"),
        ("{", "expected JSON"),
        ({"type": "object", "title": {1}}, "not JSON serializable"),
        ({"type": "object", "properties": 3}, "properties"),
    ],
)
def test_what_is_no_schema_of_an_object_is_refused(given, said):
    with pytest.raises(GuidedVizError) as caught:
        front_ends(given)
    assert said in str(caught.value)


def test_long_parts_are_broken_and_stay_the_same_json():
    for value in (SCHEMA, [list(range(100))], {}, [], {"a" * 120: "b"}):
        assert json.loads(lay_out(value)) == value
    assert max(map(len, lay_out(SCHEMA).splitlines())) <= 120


def is_of(kind, value):
    """The type keeps every key; a key that it does not know would be dropped."""
    assert pydantic.TypeAdapter(kind).validate_python(value) == value


def openai_types():
    from openai.lib._pydantic import to_strict_json_schema
    from openai.types.chat.completion_create_params import ResponseFormat

    is_of(ResponseFormat, BODIES["response_format"]["response_format"])
    for model in (Order, Rich):
        assert strict_schema(model.model_json_schema()) == to_strict_json_schema(model)


def anthropic_types():
    from anthropic import transform_schema
    from anthropic.types import OutputConfigParam, ToolChoiceParam, ToolParam

    is_of(OutputConfigParam, BODIES["output_config"]["output_config"])
    is_of(ToolParam, BODIES["tools"]["tools"][0])
    is_of(ToolChoiceParam, BODIES["tools"]["tool_choice"])
    for model in (Order, Rich):
        assert described_schema(model.model_json_schema()) == transform_schema(model)


def gemini_types():
    from google.genai.types import GenerationConfig

    settings = GenerationConfig.model_validate(BODIES["responseJsonSchema"]["generationConfig"])
    assert settings.response_json_schema == SCHEMA


def outlines_types():
    import outlines

    assert json.loads(outlines.json_schema(SCHEMA).schema) == SCHEMA


def guidance_types():
    import guidance

    assert '"maximum": 99' in guidance.json("reply", schema=Order).ll_grammar()


def enforcer_types():
    from lmformatenforcer import JsonSchemaParser

    assert JsonSchemaParser(SCHEMA).get_allowed_characters().strip() == "{"


def xgrammar_types():
    import xgrammar

    texts = {request.name: request.body["sampling_params"] for request in ENDS["SGLang"].requests}
    xgrammar.Grammar.from_json_schema(texts["json_schema"]["json_schema"])
    xgrammar.Grammar.from_regex(texts["regex"]["regex"])
    xgrammar.Grammar.from_ebnf(texts["ebnf"]["ebnf"])


@pytest.mark.parametrize(
    ("package", "check"),
    [
        ("openai", openai_types),
        ("anthropic", anthropic_types),
        ("google.genai", gemini_types),
        ("outlines", outlines_types),
        ("guidance", guidance_types),
        ("lmformatenforcer", enforcer_types),
        ("xgrammar", xgrammar_types),
    ],
)
def test_the_packages_accept_their_requests(package, check):
    pytest.importorskip(package)
    check()
