"""Tools as schemas: a Python function, a Pydantic class, or a dict as an API takes it, each with name and arguments."""

import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from guidedviz.errors import PatternError, expect, quoted
from guidedviz.machines.lark import lark
from guidedviz.machines.pushdown.large_regex import regex
from guidedviz.machines.schema.document import text_or_empty

TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    list: "array",
    dict: "object",
}
INPUT = "input"
A_TOOL = "a function, a Pydantic class, or a dict with a name and parameters"


class Tool(NamedTuple):
    """What a model may call, and the JSON Schema of its arguments."""

    name: str
    schema: Any
    about: str = ""
    function: Callable[..., Any] | None = None  # what runs a call
    takes: Any = None  # the machine of the only text that a custom tool takes, as its parameter INPUT


def read_tools(tools: Iterable[Any], where: str = "turn, tools") -> list[Tool]:
    """Tools, each with another name.

    >>> def add(a: int, b: int = 0) -> int:
    ...     "The sum."
    >>> tool = read_tools([add])[0]
    >>> tool.name, tool.schema["properties"], tool.schema["required"], tool.about
    ('add', {'a': {'type': 'integer'}, 'b': {'type': 'integer'}}, ['a'], 'The sum.')
    """
    if isinstance(tools, str | dict) or callable(tools):
        tools = [tools]
    expect(tools, Iterable, where, "a list of tools", "tools=[add]")
    found: dict[str, Tool] = {}
    for number, given in enumerate(tools):
        place = f"{where}[{number}]"
        tool = read_tool(given, place)
        if tool.name in found:
            seen = f"a second {quoted(tool.name)}"
            raise PatternError(place, seen=seen, expected="other names")
        found[tool.name] = tool
    return list(found.values())


def read_tool(given: Any, where: str) -> Tool:
    if isinstance(given, Tool):
        return given
    if isinstance(given, dict):
        return _read_dict(given, where)
    if hasattr(given, "model_json_schema"):
        return Tool(given.__name__, given.model_json_schema(), inspect.getdoc(given) or "", given)
    if callable(given) and hasattr(given, "__name__"):
        return Tool(given.__name__, function_schema(given, where), inspect.getdoc(given) or "", given)
    raise PatternError(where, seen=quoted(given), expected=A_TOOL)


def _read_dict(given: dict[Any, Any], where: str) -> Tool:
    """The dict of a request to OpenAI (both of its forms) or Anthropic."""
    if given.get("type") == "custom":
        return _read_custom(given.get("custom", given), where)
    inside = given.get("function", given)
    name = inside.get("name") if isinstance(inside, dict) else None
    if not isinstance(name, str) or not name:
        hint = '{"name": "add", "parameters": {...}}'
        raise PatternError(where, seen=quoted(given), expected=A_TOOL, hint=hint)
    schema = inside.get("parameters", inside.get("input_schema"))
    if schema is None:
        schema = {"type": "object"}
    return Tool(name, schema, text_or_empty(inside.get("description")))


def _read_custom(given: Any, where: str) -> Tool:
    """A custom tool of OpenAI: it takes one text, which a regex or a grammar of Lark may describe."""
    if not isinstance(given, dict) or not isinstance(given.get("name"), str) or not given["name"]:
        raise PatternError(where, seen=quoted(given), expected="a custom tool with a name")
    text = {"type": "string"}
    takes = None
    form = given.get("format") or {"type": "text"}
    if form != {"type": "text"}:
        syntax, definition = _read_input(form, f"{where}, format")
        takes = NOTATIONS_OF_INPUT[syntax](definition)
        text["description"] = f"{syntax}: {definition}"
    schema = {"type": "object", "properties": {INPUT: text}, "required": [INPUT], "additionalProperties": False}
    return Tool(given["name"], schema, text_or_empty(given.get("description")), None, takes)


def _read_input(form: Any, where: str) -> tuple[Any, Any]:
    """The notation and the text of what a custom tool takes."""
    said = form.get("grammar", form) if isinstance(form, dict) else {}
    syntax = said.get("syntax") if isinstance(said, dict) else None
    if syntax not in NOTATIONS_OF_INPUT or not isinstance(said.get("definition"), str):
        expected = "a text, or a grammar with the syntax lark or regex and a definition"
        raise PatternError(where, seen=quoted(form), expected=expected)
    return syntax, said["definition"]


NOTATIONS_OF_INPUT: dict[Any, Callable[[str], Any]] = {"lark": lark, "regex": regex}


def function_schema(function: Callable[..., Any], where: str) -> dict[str, Any]:
    """The schema of a function's parameters, by their annotations; those without a default are required."""
    try:
        hints = get_type_hints(function)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError) as error:
        raise PatternError(where, seen=str(error), expected="a function whose parameters are known") from error
    properties: dict[str, Any] = {}
    required = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            expected = "parameters that can be given by name"
            raise PatternError(where, seen=f"{function.__name__}({parameter})", expected=expected)
        name = parameter.name
        properties[name] = type_schema(hints.get(name, Any), f"{where}, {name}")
        if parameter.default is parameter.empty:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def type_schema(kind: Any, where: str) -> dict[str, Any]:
    """The schema of an annotation.

    >>> type_schema(list[int] | None, ""), type_schema(Literal["C", "F"], "")
    ({'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}, {'enum': ['C', 'F']})
    """
    origin = get_origin(kind)
    inner = get_args(kind)
    if kind is Any:
        return {}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [type_schema(one, where) for one in inner]}
    if origin is list:
        return {"type": "array", "items": type_schema(inner[0], where)}
    if origin is dict:
        return {"type": "object", "additionalProperties": type_schema(inner[1], where)}
    if hasattr(kind, "model_json_schema"):
        schema: dict[str, Any] = kind.model_json_schema()
        return schema
    if kind in TYPES:
        return {"type": TYPES[kind]}
    hint = "str, int, float, bool, list[...], dict[str, ...], Literal[...], None or a Pydantic class"
    raise PatternError(where, seen=f"the type {quoted(kind)}", expected="a type that JSON has", hint=hint)
