"""What is timed: regexes, two grammars and a schema with realistic texts, and a fixed sample of 200 schemas.

The sample is in the style of schemas in use: objects of Kubernetes, events, forms and deep unions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import guidedviz as gv

STRING = r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "email": {"type": "string"},
        "member": {"type": "boolean"},
    },
    "required": ["name", "age", "email", "member"],
    "additionalProperties": False,
}
PERSON_REGEX = rf'\{{"name": {STRING}, "age": -?(0|[1-9][0-9]*), "email": {STRING}, "member": (true|false)\}}'
PEOPLE = (
    '{"name": "Ada Lovelace", "age": 36, "email": "ada@engine.org", "member": true}',
    '{"name": "Zoë \\"Z\\" O\'Neill", "age": 7, "email": "zoe.oneill@example.com", "member": false}',
    '{"name": "李小龍", "age": 32, "email": "", "member": true}',
)


@dataclass(frozen=True)
class Case:
    """A regex, a grammar in GBNF, or a schema that each engine compiles itself, and texts of its language."""

    name: str
    texts: tuple[str, ...]
    regex: str = ""
    schema: dict[str, Any] | None = field(default=None, hash=False)
    is_open: bool = False  # objects of the schema are open unless it says otherwise, as in the standard
    grammar: str = ""
    lark: str = ""  # the same grammar with lexemes, for llguidance


JSON_TEXTS = (
    '{"name": "Ada Lovelace", "born": 1815, "notes": ["A", "G"], "alive": false, "spouse": null}',
    '[{"x": -1.5e3, "y": [0, [1, [2, []]]]}, {"k\\u00e9y": "tab\\t, na\u00efve \\"caf\u00e9\\""}, {}]',
    '{\n  "users": [\n    {"id": 1, "tags": ["a", "b"], "home": {"city": "Z\u00fcrich", "zip": "8001"}},\n'
    '    {"id": 2, "tags": [], "home": null}\n  ],\n  "next": "https://example.com/users?page=2"\n}',
)

CODE_GBNF = r"""root      ::= (function | line)+
function  ::= "def " name "(" (name (", " name)*)? "):\n" inner+
inner     ::= "    " (simple "\n" | "if " expr ":\n" deep+ ("    else:\n" deep+)? | "for " name " in " expr ":\n" deep+)
deep      ::= "        " simple "\n"
line      ::= simple? "\n"
simple    ::= "return " expr | "pass" | target (" = " | " += ") expr | expr
target    ::= name ("." name | "[" expr "]")*
expr      ::= compare ((" and " | " or ") compare)*
compare   ::= sum ((" == " | " != " | " < " | " > " | " in ") sum)?
sum       ::= product ((" + " | " - ") product)*
product   ::= unary ((" * " | " / " | " % ") unary)*
unary     ::= ("-" | "not ")? atom ("." name | "(" items? ")" | "[" expr "]")*
atom      ::= name | number | string | "(" expr ")" | "[" items? "]" | "{" (pair (", " pair)*)? "}"
items     ::= expr (", " expr)*
pair      ::= expr ": " expr
name      ::= [a-zA-Z_] [a-zA-Z0-9_]*
number    ::= [0-9]+ ("." [0-9]+)?
string    ::= "\"" ([^"\\\n] | "\\" [\\nt"])* "\""
"""
CODE_TEXTS = (
    "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n",
    "def count(words):\n    seen = {}\n    for word in words:\n        seen[word] = seen.get(word, 0) + 1\n"
    "    return seen\n",
    'total = sum([price * (1 + rate), 3.5])\nprint("total:\\t", -total / len(items[0].prices))\n',
)

CASES = (
    Case("date", ("2026-11-20", "1999-12-31", "0001-01-01"), r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    Case("decimal", ("3.14159265358979", "42", "1000000.5"), r"[0-9]+(\.[0-9]+)?"),
    Case(
        "email",
        ("ada.lovelace@engine.org", "info@example.com", "a_very_long_name.1815@maths4all.net"),
        r"[a-z0-9._]{1,32}@[a-z0-9]{1,24}\.(com|org|net)",
    ),
    Case("dialogue", ("ROMEO: wherefore\n", "NURSE: ay\n"), r"[A-Z]+: [a-z]+\n"),
    Case("JSON string", ('"The quick brown fox, 12 dogs"', '"tab\\t, naïve café \\u00e9"', '"日本語 🙂"'), STRING),
    Case("four fields, one regex", PEOPLE, PERSON_REGEX),
    Case("four fields, a schema", PEOPLE, schema=PERSON),
    Case("JSON", JSON_TEXTS, grammar=gv.json().grammar.text),
    Case("code", CODE_TEXTS, grammar=CODE_GBNF),
)

# A turn with tools: thoughts between two special tokens of Llama 3, then calls of four tools between two others.
# Each engine gets what it is fast with: recursive strings for xgrammar, lexemes for llguidance.
TURN_GBNF = r"""root    ::= think call+
think   ::= <|reserved_special_token_0|> (!<|reserved_special_token_1|>)* <|reserved_special_token_1|>
call    ::= <|python_tag|> (weather | search | mail | sum) <|reserved_special_token_2|>
weather ::= "{\"name\": \"get_weather\", \"arguments\": {\"city\": " string ", \"unit\": " ("\"C\"" | "\"F\"") "}}"
search  ::= "{\"name\": \"search\", \"arguments\": {\"query\": " string ", \"limit\": " integer "}}"
mail    ::= "{\"name\": \"send_mail\", \"arguments\": {\"to\": " strings ", \"text\": " string "}}"
sum     ::= "{\"name\": \"sum\", \"arguments\": {\"numbers\": [" (number (", " number)*)? "]}}"
strings ::= "[" (string (", " string)*)? "]"
string  ::= "\"" chars
chars   ::= "\"" | [^"\\\x00-\x1F] chars | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}) chars
number  ::= integer ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?
integer ::= "-"? ("0" | [1-9] [0-9]*)
"""
TURN_LARK = r"""start: think call+
think: <|reserved_special_token_0|> (TEXT | <[128000-128002,128004-128255]>)* <|reserved_special_token_1|>
call: <|python_tag|> (weather | search | mail | sum) <|reserved_special_token_2|>
weather: "{\"name\": \"get_weather\", \"arguments\": {\"city\": " STRING ", \"unit\": " ("\"C\"" | "\"F\"") "}}"
search: "{\"name\": \"search\", \"arguments\": {\"query\": " STRING ", \"limit\": " INTEGER "}}"
mail: "{\"name\": \"send_mail\", \"arguments\": {\"to\": [" (STRING (", " STRING)*)? "], \"text\": " STRING "}}"
sum: "{\"name\": \"sum\", \"arguments\": {\"numbers\": [" (NUMBER (", " NUMBER)*)? "]}}"
TEXT: /(?s:.)+/
STRING: /"([^"\\\x00-\x1F]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+\-]?[0-9]+)?/
INTEGER: /-?(0|[1-9][0-9]*)/
"""
THOUGHT = "<|reserved_special_token_0|>The user asks for the weather <now>; I call a tool.<|reserved_special_token_1|>"
WEATHER_CALL = '<|python_tag|>{"name": "get_weather", "arguments": {"city": "Zürich", "unit": "C"}}'
SUM_CALL = '<|python_tag|>{"name": "sum", "arguments": {"numbers": [1, -2.5e3]}}'
CALL_ENDS = "<|reserved_special_token_2|>"
TURN_TEXT = THOUGHT + WEATHER_CALL + CALL_ENDS + SUM_CALL + CALL_ENDS
TURN = Case("turn, four tools", (TURN_TEXT,), grammar=TURN_GBNF, lark=TURN_LARK)

EACH = 50  # schemas of every kind
Part = tuple[dict[str, Any], Any]  # a schema and a value that fits
WORDS = (
    "time name order user status city price note label batch cloud event queue index token frame point group".split()
)


def build_sample(seed: int = 15) -> list[Case]:
    """200 schemas with one text each.

    >>> cases = build_sample()
    >>> len(cases), cases == build_sample(), [case.name for case in cases[:3]]
    (200, True, ['kubernetes 0', 'kubernetes 1', 'kubernetes 2'])
    """
    rng = Random(seed)
    kinds: dict[str, Callable[[Random], Part]] = {"kubernetes": resource, "event": event, "form": form, "union": union}
    cases = []
    for kind, make in kinds.items():
        for number in range(EACH):
            schema, value = make(rng)
            cases.append(Case(f"{kind} {number}", (json.dumps(value, ensure_ascii=False),), schema=schema))
    return cases


def record(parts: dict[str, Part], optional: frozenset[str] = frozenset()) -> Part:
    """An object of these members; those in `optional` may be absent."""
    schema = {
        "type": "object",
        "properties": {name: part for name, (part, _) in parts.items()},
        "required": [name for name in parts if name not in optional],
        "additionalProperties": False,
    }
    return schema, {name: value for name, (_, value) in parts.items()}


def some(rng: Random, parts: dict[str, Part]) -> Part:
    """An object whose members are optional, except one; the value lacks a few of them."""
    free = frozenset(rng.sample(sorted(parts), len(parts) - 1))
    schema, value = record(parts, free)
    return schema, {name: item for name, item in value.items() if name not in free or rng.random() < 0.7}


def rows(rng: Random, make: Callable[[], Part], **bounds: int) -> Part:
    """A list of equal parts."""
    schema, value = make()
    values = [value] * rng.randint(1, 3)
    return {"type": "array", "items": schema, **bounds}, values


def words(rng: Random, most: int = 6) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, most)))


def text(rng: Random, **bounds: int) -> Part:
    return {"type": "string", **bounds}, words(rng)[: bounds.get("maxLength", 80)]


def number(rng: Random, low: int, high: int) -> Part:
    return {"type": "integer", "minimum": low, "maximum": high}, rng.randint(low, high)


def one_of(rng: Random, *values: str) -> Part:
    return {"type": "string", "enum": list(values)}, rng.choice(values)


def resource(rng: Random) -> Part:
    """An object of the kind that Kubernetes reads."""
    name: Part = (
        {"type": "string", "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$"},
        f"{rng.choice(WORDS)}-{rng.randint(1, 99)}",
    )
    quantity: Part = ({"type": "string", "pattern": "^[0-9]+(m|Ki|Mi|Gi)?$"}, f"{rng.randint(1, 900)}m")
    labels: Part = (
        {"type": "object", "additionalProperties": {"type": "string", "maxLength": 63}},
        {rng.choice(WORDS): words(rng, 2) for _ in range(rng.randint(1, 3))},
    )

    def port() -> Part:
        return some(rng, {"containerPort": number(rng, 1, 65535), "name": name, "protocol": one_of(rng, "TCP", "UDP")})

    def variable() -> Part:
        return record({"name": text(rng, maxLength=253), "value": text(rng, maxLength=4096)})

    def container() -> Part:
        parts = {
            "name": name,
            "image": text(rng, minLength=1, maxLength=rng.choice([255, 500])),
            "command": rows(rng, lambda: text(rng), maxItems=32),
            "ports": rows(rng, port, maxItems=rng.choice([8, 16])),
            "env": rows(rng, variable),
            "resources": some(rng, {"limits": some(rng, {"cpu": quantity, "memory": quantity})}),
        }
        return some(rng, parts)

    spec = {"replicas": number(rng, 0, 1000), "paused": ({"type": "boolean"}, True), "containers": rows(rng, container)}
    return record(
        {
            "apiVersion": one_of(rng, "v1", "apps/v1"),
            "kind": one_of(rng, "Deployment", "StatefulSet", "Job"),
            "metadata": some(rng, {"name": name, "namespace": name, "labels": labels, "annotations": labels}),
            "spec": some(rng, dict(rng.sample(sorted(spec.items()), rng.randint(1, 3)))),
        }
    )


def event(rng: Random) -> Part:
    """An event with a payload of one of several kinds."""
    uuid = {"type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"}
    time = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}
    names = rng.sample(WORDS, rng.randint(2, 6))
    kinds = [
        record({"kind": ({"const": name}, name)} | {key: leaf(rng) for key in rng.sample(WORDS, rng.randint(1, 5))})
        for name in names
    ]
    payload = {"anyOf": [schema for schema, _ in kinds]}, rng.choice(kinds)[1]
    return record(
        {
            "id": (uuid, "01234567-89ab-cdef-0123-456789abcdef"),
            "time": (time, "2026-11-22T08:30:00Z"),
            "source": text(rng, maxLength=rng.choice([64, 256, 2048])),
            "level": one_of(rng, "debug", "info", "warning", "error"),
            "payload": payload,
            "tags": rows(rng, lambda: text(rng, maxLength=32), maxItems=10),
        },
        frozenset({"source", "tags"}),
    )


def leaf(rng: Random) -> Part:
    """A value of a simple type."""
    values: list[Part] = [
        text(rng),
        text(rng, maxLength=rng.choice([20, 40, 100, 1000])),
        number(rng, 0, 10 ** rng.randint(1, 6)),
        ({"type": "number"}, rng.randint(0, 9999) / 100),
        ({"type": "boolean"}, rng.random() < 0.5),
        ({"type": ["string", "null"]}, None),
        one_of(rng, *rng.sample(WORDS, rng.randint(2, 8))),
        rows(rng, lambda: number(rng, 0, 99)),
    ]
    return rng.choice(values)


def form(rng: Random) -> Part:
    """The fields of a form."""
    email = {"type": "string", "pattern": "^[a-z0-9._]{1,32}@[a-z0-9]{1,24}\\.(com|org|net)$"}
    fields: dict[str, Part] = {
        "first_name": text(rng, minLength=1, maxLength=rng.choice([40, 50, 100])),
        "last_name": text(rng, minLength=1, maxLength=rng.choice([40, 50, 100])),
        "age": number(rng, 0, 150),
        "email": (email, "ada.lovelace@engine.org"),
        "zip": ({"type": "string", "pattern": "^[0-9]{5}(-[0-9]{4})?$"}, "12345-6789"),
        "phone": ({"type": "string", "pattern": "^\\+?[0-9 ]{6,20}$"}, "+44 20 7946"),
        "member": ({"type": "boolean"}, True),
        "country": one_of(rng, "France", "Ghana", "Japan", "Peru", "Norway"),
        "remarks": text(rng, maxLength=rng.choice([500, 1000, 4096])),
        "interests": rows(rng, lambda: one_of(rng, *WORDS[:8]), maxItems=rng.choice([5, 20])),
    }
    fields |= {f"{word}_{n}": leaf(rng) for n, word in enumerate(rng.sample(WORDS, rng.randint(0, 8)))}
    chosen = dict(rng.sample(sorted(fields.items()), rng.randint(4, len(fields))))
    return some(rng, chosen) if rng.random() < 0.5 else record(chosen)


def union(rng: Random) -> Part:
    """A tree of nodes, each of one of several kinds."""
    names = rng.sample(WORDS, rng.randint(2, 7))
    branches, leaves = [], []
    for name in names:
        schema, value = record({"kind": ({"const": name}, name), "value": leaf(rng)})
        schema["properties"]["inner"] = {"$ref": "#/$defs/node"}
        schema["properties"]["others"] = {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 4}
        branches.append(schema)
        leaves.append(value)

    def grow(depth: int) -> Any:
        value = dict(rng.choice(leaves))
        if depth:
            value["inner"] = grow(depth - 1)
            value["others"] = [grow(0) for _ in range(rng.randint(0, 2))]
        return value

    schema = {
        "$defs": {"node": {"anyOf": branches}},
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
    }
    return schema | {"required": ["root"], "additionalProperties": False}, {"root": grow(rng.randint(0, 5))}
