"""One schema through the front ends of constrained decoding: the request that each one takes, and what it does with it.

Every request was checked against the version named beside it: its types, its source, or its documentation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pprint import pformat
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.schema.document import load_schema, refusal, shown
from guidedviz.machines.schema.json_schema import Schema, schema_gbnf, schema_regex

PROMPT = "Order 4711: 2 lamps and 12 chairs for Ada Lovelace in London."
MODEL = "your-model"
WIDTH = 100  # characters per line of a request
Parts = dict[str, Any]
SAID = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
KEPT = ("$defs", "$ref", "type", "anyOf", "allOf", "title", "properties", "required", "items", "enum", "const")


@dataclass(frozen=True)
class RequestText:
    """A request as it is sent (JSON) or typed (Python), and the names in it that hold the constraint."""

    name: str
    to: str  # "POST" and a path, or "Python"
    text: str

    @property
    def body(self) -> Any:
        """The JSON that is sent; None for Python."""
        return None if self.to == "Python" else json.loads(self.text)

    def __str__(self) -> str:
        return f"{self.to}\n{self.text}"


@dataclass(frozen=True)
class FrontEnd:
    """A server, a library or a hosted API, and how it takes a schema."""

    name: str
    version: str  # that was read
    old: str  # names that it had before
    checked: str
    note: str  # what it does with keys, white space, order and numbers
    link: str
    requests: tuple[RequestText, ...]

    @property
    def now(self) -> str:
        """The current names."""
        return ", ".join(request.name for request in self.requests)

    def __str__(self) -> str:
        lines = [f"{self.name}, {self.version}: {self.now}", f"before: {self.old or 'none known'}", self.note]
        return "\n".join([*lines, f"checked: {self.checked}", self.link, *map(str, self.requests)])


def front_ends(schema: Schema, prompt: str = PROMPT) -> tuple[FrontEnd, ...]:
    """The requests for a schema (a Pydantic model class, a dict or JSON text) of an object.

    >>> age = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    >>> vllm = gv.serving.front_ends(age, "How old?")[0]
    >>> print(vllm.name, vllm.now, vllm.requests[0].body["structured_outputs"]["json"] == age)
    vLLM structured_outputs True
    """
    parts = read_schema(schema)
    name = re.sub("[^A-Za-z0-9_-]", "_", str(parts.get("title") or "reply"))[:64]
    asked = _Asked(parts, schema, name, prompt)
    return tuple(FrontEnd(*about, tuple(write(asked))) for write, about in FRONT_ENDS.items())


def read_schema(schema: Schema) -> Parts:
    """The schema as a dict; it must describe an object, as the hosted APIs require."""
    found = load_schema(schema)
    if isinstance(schema, str):
        found = json.loads(schema)
    if not isinstance(found, dict) or found.get("type") != "object":
        seen = f"type {shown(found['type'])}" if isinstance(found, dict) and "type" in found else shown(found)
        hint = "put it into an object: a Pydantic model class with one field"
        raise refusal("#", seen, "the schema of an object: a Pydantic model class, a dict or JSON text", hint)
    try:
        json.dumps(found)
    except (TypeError, ValueError) as error:
        raise refusal("#", str(error), "a schema that can be written as JSON") from None
    schema_gbnf(found)  # refuses what our machines cannot say, too
    return found


@dataclass(frozen=True)
class _Asked:
    """The schema, how a person names it in Python, and the prompt."""

    parts: Parts
    given: Schema
    name: str
    prompt: str

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "user", "content": self.prompt}]

    def python(self, name: str, lines: str) -> RequestText:
        """Lines in which CLASS is the class or a dict, and SCHEMA its schema."""
        shape = getattr(self.given, "__name__", "")
        head = "" if shape else f"schema = {pformat(self.parts, width=WIDTH, sort_dicts=False)}\n"
        text = lines.replace("SCHEMA", f"{shape}.model_json_schema()" if shape else "schema")
        return RequestText(name, "Python", head + text.replace("CLASS", shape or "schema"))


def _post(name: str, path: str, body: Parts) -> RequestText:
    return RequestText(name, f"POST {path}", lay_out(body))


def lay_out(value: Any, indent: str = "") -> str:
    """JSON text in which each part that fits is on one line.

    >>> print(lay_out({"a": {"b": [1, 2]}}))
    {"a": {"b": [1, 2]}}
    """
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, list):
        inside = [inner + lay_out(each, inner) for each in value]
    else:
        inside = [f"{inner}{json.dumps(key)}: {lay_out(each, inner)}" for key, each in value.items()]
    signs = "[]" if isinstance(value, list) else "{}"
    return f"{signs[0]}\n" + ",\n".join(inside) + f"\n{indent}{signs[1]}"


def rewrite(part: Any, change: Callable[[Parts], Parts]) -> Any:
    """A schema with a change made to each of its parts, the innermost first."""
    if not isinstance(part, dict):
        return part
    part = dict(part)
    for key in ("$defs", "properties"):
        if key in part:
            part[key] = {name: rewrite(each, change) for name, each in part[key].items()}
    for key in ("anyOf", "allOf", "oneOf"):
        if key in part:
            part[key] = [rewrite(each, change) for each in part[key]]
    if "items" in part:
        part["items"] = rewrite(part["items"], change)
    return change(part)


def strict_schema(schema: Parts) -> Parts:
    """The schema as OpenAI's strict mode takes it: every key is required, other keys are forbidden.

    >>> strict_schema({"type": "object", "properties": {"a": {"type": "null"}}})["required"]
    ['a']
    """

    def change(part: Parts) -> Parts:
        if "$ref" in part and len(part) > 1:  # strict mode takes no keyword beside a $ref
            found = schema["$defs"][part.pop("$ref").rpartition("/")[2]]
            part = rewrite(found, change) | part
        if part.get("type") == "object":
            part = {"additionalProperties": False} | part | {"required": list(part.get("properties", ()))}
        return {key: value for key, value in part.items() if (key, value) != ("default", None)}

    found: Parts = rewrite(schema, change)
    return found


def described_schema(schema: Parts) -> Parts:
    """The schema as Anthropic takes it: bounds and other keywords that it does not enforce become a description.

    >>> described_schema({"type": "integer", "maximum": 9})
    {'type': 'integer', 'description': '{maximum: 9}'}
    """
    found: Parts = rewrite(schema, _describe)
    return found


def _describe(part: Parts) -> Parts:
    if "$ref" in part:
        return {key: part[key] for key in ("$defs", "$ref") if key in part}
    if "oneOf" in part:
        part = {"anyOf": part.pop("oneOf")} | part
    rest = {key: value for key, value in part.items() if key not in (*KEPT, "description")}
    kept = {key: value for key, value in part.items() if key in KEPT}
    if kept.get("type") == "object":
        rest.pop("additionalProperties", None)
        kept = {"properties": {}} | kept | {"additionalProperties": False}
    if rest.get("format") in SAID:
        kept["format"] = rest.pop("format")
    if rest.get("minItems") in (0, 1):
        kept["minItems"] = rest.pop("minItems")
    if "enum" in kept or "const" in kept:
        kept.pop("type", None)
    said = "{" + ", ".join(f"{key}: {value}" for key, value in rest.items()) + "}" if rest else ""
    text = "\n\n".join(filter(None, [part.get("description"), said]))
    return kept | ({"description": text} if text else {})


def _vllm(asked: _Asked) -> Iterator[RequestText]:
    body = {"model": MODEL, "messages": asked.messages, "structured_outputs": {"json": asked.parts}}
    yield _post("structured_outputs", "/v1/chat/completions", body)


def _sglang(asked: _Asked) -> Iterator[RequestText]:
    ways: dict[str, Callable[[Parts], str]] = {"json_schema": json.dumps, "regex": schema_regex, "ebnf": schema_gbnf}
    for name, write in ways.items():
        try:
            settings = {name: write(asked.parts)}
        except PatternError:  # a schema that nests without bound has no regex
            continue
        yield _post(name, "/generate", {"text": asked.prompt, "sampling_params": settings})


def _tensorrt(asked: _Asked) -> Iterator[RequestText]:
    yield asked.python(
        "GuidedDecodingParams(json=)",
        "guided = GuidedDecodingParams(json=SCHEMA)\n"
        f"reply = llm.generate({asked.prompt!r}, SamplingParams(guided_decoding=guided))",
    )


def _llama_cpp(asked: _Asked) -> Iterator[RequestText]:
    for name, value in {"grammar": schema_gbnf(asked.parts), "json_schema": asked.parts}.items():
        yield _post(name, "/completions", {"prompt": asked.prompt, name: value})


def _outlines(asked: _Asked) -> Iterator[RequestText]:
    wanted = "CLASS" if isinstance(asked.given, type) else "outlines.json_schema(CLASS)"
    lines = "model = outlines.from_transformers(network, tokenizer)\n"
    lines += f"text = model({asked.prompt!r}, {wanted}, max_new_tokens=200)"
    yield asked.python("model(prompt, type)", lines)


def _guidance(asked: _Asked) -> Iterator[RequestText]:
    lines = "model = guidance.models.Transformers(network, tokenizer)\n"
    lines += f'model += {asked.prompt!r} + guidance.json("reply", schema=CLASS)\ntext = model["reply"]'
    yield asked.python("guidance.json(schema=)", lines)


def _enforcer(asked: _Asked) -> Iterator[RequestText]:
    lines = "allowed = build_transformers_prefix_allowed_tokens_fn(tokenizer, JsonSchemaParser(SCHEMA))\n"
    lines += "ids = network.generate(**inputs, prefix_allowed_tokens_fn=allowed)"
    yield asked.python("JsonSchemaParser", lines)


def _transformers(asked: _Asked) -> Iterator[RequestText]:
    lines = "guide = gv.guide(gv.json_schema(CLASS), gv.Vocabulary.from_tokenizer(tokenizer))\n"
    lines += "ids = network.generate(**inputs, logits_processor=[gv.LogitsProcessor(guide)])"
    yield asked.python("logits_processor", lines)


def _openai(asked: _Asked) -> Iterator[RequestText]:
    form = {"name": asked.name, "strict": True, "schema": strict_schema(asked.parts)}
    wanted = {"type": "json_schema", "json_schema": form}
    body = {"model": MODEL, "messages": asked.messages, "response_format": wanted}
    yield _post("response_format", "/v1/chat/completions", body)


def _anthropic(asked: _Asked) -> Iterator[RequestText]:
    form, limit = described_schema(asked.parts), {"model": MODEL, "max_tokens": 1024}
    wanted = {"output_config": {"format": {"type": "json_schema", "schema": form}}}
    yield _post("output_config", "/v1/messages", limit | {"messages": asked.messages} | wanted)
    tools = [{"name": asked.name, "strict": True, "input_schema": form}]
    chosen = {"type": "tool", "name": asked.name}
    body = limit | {"messages": asked.messages, "tools": tools, "tool_choice": chosen}
    yield _post("tools", "/v1/messages", body)


def _gemini(asked: _Asked) -> Iterator[RequestText]:
    settings = {"responseMimeType": "application/json", "responseJsonSchema": asked.parts}
    body = {"contents": [{"parts": [{"text": asked.prompt}]}], "generationConfig": settings}
    yield _post("responseJsonSchema", f"/v1beta/models/{MODEL}:generateContent", body)


XGRAMMAR = "XGrammar, its first choice: no other keys, any white space, keys in order, bounds enforced."
ALSO = " It also has regex and ebnf; their texts here are ours."
FRONT_ENDS: dict[Callable[[_Asked], Iterator[RequestText]], tuple[str, str, str, str, str, str]] = {
    _vllm: (
        "vLLM",
        "0.33.0",
        "guided_json, guided_regex, guided_grammar",
        "source of the package",
        XGRAMMAR + " The names before 0.12 are ignored: the reply is not constrained.",
        "https://docs.vllm.ai/en/latest/features/structured_outputs/",
    ),
    _sglang: (
        "SGLang",
        "0.5.23",
        "",
        "source of the package; it pins xgrammar 0.2.7, and 0.2.8 compiled the three texts",
        XGRAMMAR + ALSO,
        "https://docs.sglang.io/advanced_features/structured_outputs.html",
    ),
    _tensorrt: (
        "TensorRT-LLM",
        "commit a98a906",
        "",
        "source and documentation",
        "XGrammar or llguidance, as the server is set. It takes a dict or a text; a class is not converted.",
        "https://nvidia.github.io/TensorRT-LLM/features/guided-decoding.html",
    ),
    _llama_cpp: (
        "llama.cpp",
        "commit 0c1e570",
        "",
        "its parser read our grammar, its converter the schema",
        "From json_schema it writes a grammar of its own: no other keys, keys in order, spaces and line breaks, bounds "
        "enforced, 16 digits.",
        "https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md",
    ),
    _outlines: (
        "Outlines",
        "1.3.3",
        "outlines.generate.json (before 1.0)",
        "ran",
        "outlines-core, its default: no other keys, one optional space, keys in order, bounds ignored.",
        "https://github.com/dottxt-ai/outlines/blob/main/docs/guide/migration.md",
    ),
    _guidance: (
        "guidance",
        "0.3.1",
        "",
        "ran",
        "llguidance: other keys are allowed, exactly one space, keys in order, bounds enforced.",
        "https://github.com/guidance-ai/guidance",
    ),
    _enforcer: (
        "lm-format-enforcer",
        "0.11.3",
        "",
        "its core ran; its transformers integration does not import",
        "No other keys, up to 12 spaces or line breaks, keys in any order, bounds ignored. vLLM removes it in 0.35.",
        "https://github.com/noamgat/lm-format-enforcer",
    ),
    _transformers: (
        "transformers",
        "5.23.0",
        "",
        "ran",
        "Our processor: no other keys, one optional space, keys in order, bounds enforced.",
        "https://huggingface.co/docs/transformers/internal/generation_utils",
    ),
    _openai: (
        "OpenAI",
        "openai 3.54.0",
        "json_object (JSON of any shape)",
        "types and strict function of the package",
        "Strict mode: every key is required, others are forbidden.",
        "https://developers.openai.com/api/docs/guides/structured-outputs",
    ),
    _anthropic: (
        "Anthropic",
        "anthropic 2.12.0",
        "output_format",
        "types and schema function of the package",
        "Other keys are forbidden. The package moves bounds of numbers into a description.",
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
    ),
    _gemini: (
        "Gemini",
        "google-genai 3.4.0",
        "responseSchema (OpenAPI; still there)",
        "types of the package",
        "A list of keywords, minimum and maximum among them; propertyOrdering sets the order of the keys.",
        "https://github.com/googleapis/python-genai",
    ),
}
