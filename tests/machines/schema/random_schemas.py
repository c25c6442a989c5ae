"""Random small schemas with every keyword, random values, and texts drawn from a machine by random legal bytes."""

import random
from typing import Any

import guidedviz as gv
from guidedviz.machines.machine import next_bytes

NAMES = ["a", "b", "ab", "x-1", "é"]
PATTERNS = ["^a", "b$", "^x-", "a", "^.{2}$", "[^a]"]
TYPES: list[Any] = ["object", "array", "string", "integer", "number", "null", "boolean"]
TYPES += [["object", "null"], ["array", "string"], ["integer", "string"]]
LEAVES: list[Any] = [True, False, {}]
LEAVES += [{"type": kind} for kind in TYPES]
LEAVES += [{"type": "number", "minimum": 1}, {"type": "string", "maxLength": 1}]
LEAVES += [{"$ref": "#/$defs/d"}, {"multipleOf": 2}, {"pattern": "a"}]
LEAVES += [{"minLength": 2}, {"required": ["a"]}, {"maximum": 3}]
LEAVES += [{"const": 1.0}, {"enum": ["a", 1, None, [1]]}]
LOOKS = [{"maxLength": 1}, {"pattern": "a"}, {"enum": ["a", "b"]}, {"not": {"const": "a"}}]
FEW = [{"enum": [1, "a", None]}, {"type": "boolean"}, {"enum": [1, 1.0, True, [1]]}]
READABLE = frozenset(b'"{}[],:abx-0123456789tfn. ')
DIGITS = frozenset(b"0123456789")
DIGITS_AND_POINT = frozenset(b"0123456789.")
LONGEST = 400  # bytes of a drawn text


def random_value(draw: random.Random, depth: int = 2) -> Any:
    kind = draw.randrange(8 if depth else 6)
    if kind == 0:
        return draw.choice([None, True, False])
    if kind in (1, 2):
        return draw.choice([0, 1, 2, 3, 5, -1, 10, 0.5, 1.5, 2.0, -0.5])
    if kind in (3, 4, 5):
        return draw.choice(["", "a", "b", "ab", "ba", "x-1", "é", "aab"])
    if kind == 6:
        size = draw.randrange(4)
        return [random_value(draw, depth - 1) for _ in range(size)]
    names = draw.sample(NAMES, draw.randrange(4))
    return {name: random_value(draw, depth - 1) for name in names}


def random_schema(draw: random.Random, depth: int) -> Any:
    if depth <= 0 or draw.random() < 0.1:
        return draw.choice(LEAVES)

    def inner() -> Any:
        return random_schema(draw, depth - 1)

    schema: dict[str, Any] = {}
    for _ in range(draw.choice([1, 1, 2, 2, 3])):
        keyword = draw.choice(KEYWORDS)
        schema.update(keyword(draw, inner))
    return schema


def some(draw: random.Random, make: Any, most: int = 3) -> list[Any]:
    count = draw.randrange(1, most + 1)
    return [make() for _ in range(count)]


def by_name(draw: random.Random, make: Any, names: list[str] = NAMES, most: int = 3) -> dict[str, Any]:
    chosen = draw.sample(names, draw.randrange(1, most + 1))
    return {name: make() for name in chosen}


def contains(draw: random.Random, inner: Any) -> dict[str, Any]:
    bounds = {}
    if draw.random() < 0.4:
        bounds["minContains"] = draw.randrange(3)
    if draw.random() < 0.4:
        bounds["maxContains"] = draw.randrange(1, 3)
    return {"contains": inner(), **bounds}


def condition(draw: random.Random, inner: Any) -> dict[str, Any]:
    schema = {}
    if draw.random() < 0.7:
        schema["then"] = inner()
    schema["if"] = inner()
    if draw.random() < 0.5:
        schema["else"] = inner()
    return schema


BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
COUNTS = ["minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"]
KEYWORDS = [
    lambda draw, inner: {"type": draw.choice(TYPES)},
    lambda draw, inner: {"type": draw.choice(["object", "array"])},
    lambda draw, inner: {"enum": some(draw, lambda: random_value(draw))},
    lambda draw, inner: {"const": random_value(draw)},
    lambda draw, inner: {"properties": by_name(draw, inner)},
    lambda draw, inner: {"properties": by_name(draw, inner)},
    lambda draw, inner: {"required": draw.sample(NAMES, draw.randrange(1, 3))},
    lambda draw, inner: {"additionalProperties": inner()},
    lambda draw, inner: {"patternProperties": by_name(draw, inner, PATTERNS, 2)},
    lambda draw, inner: {"propertyNames": draw.choice([*LOOKS, inner()])},
    lambda draw, inner: {draw.choice(COUNTS): draw.randrange(4)},
    lambda draw, inner: {draw.choice(COUNTS): draw.randrange(4)},
    lambda draw, inner: {"dependentRequired": by_name(draw, lambda: draw.sample(NAMES, draw.randrange(1, 3)), most=2)},
    lambda draw, inner: {"dependentSchemas": by_name(draw, inner, most=2)},
    lambda draw, inner: {"items": inner()},
    lambda draw, inner: {"prefixItems": some(draw, inner, 2)},
    contains,
    lambda draw, inner: {"uniqueItems": True, "items": draw.choice([*FEW, inner()])},
    lambda draw, inner: {"pattern": draw.choice(PATTERNS)},
    lambda draw, inner: {draw.choice(BOUNDS): draw.choice([0, 1, 2, 0.5, -1])},
    lambda draw, inner: {"multipleOf": draw.choice([1, 2, 3, 0.5, 1.5])},
    lambda draw, inner: {draw.choice(["anyOf", "oneOf", "allOf"]): some(draw, inner)},
    lambda draw, inner: {"oneOf": some(draw, inner)},
    lambda draw, inner: {"not": inner()},
    condition,
    lambda draw, inner: {"$ref": "#/$defs/d"},
    lambda draw, inner: {"unevaluatedProperties": draw.choice([False, inner()])},
    lambda draw, inner: {"unevaluatedItems": draw.choice([False, inner()])},
]


def random_text(draw: random.Random, machine: Any) -> bytes | None:
    """A text by random legal bytes, which soon takes the shortest way to its end; None if it grows too long."""
    state = machine.initial
    text = bytearray()
    room = draw.choice([5, 20, 60])
    while len(text) < LONGEST:
        legal = bytes(next_bytes(machine, state))
        if text[-1:].isdigit():
            legal = legal.translate(None, b"eE")
        long = len(text) > room
        if machine.is_accepting(state) and (not legal or draw.random() < 0.3 or long):
            return bytes(text)
        if long:
            byte = first_of_the_shortest_way(machine, state, legal)
        else:
            short = [byte for byte in legal if byte in READABLE]
            if long_number(text):
                short = [byte for byte in short if byte not in DIGITS]
            readable = short and draw.random() < 0.9
            byte = draw.choice(short if readable else list(legal))
        text.append(byte)
        state = machine.step(state, byte)
    return None


def first_of_the_shortest_way(machine: Any, state: Any, legal: bytes) -> int:
    left = gv.machines.bytes_to_end(machine, state)
    for byte in legal:
        rest = gv.machines.bytes_to_end(machine, machine.step(state, byte))
        if rest is not None and rest + 1 == left:
            return byte
    raise AssertionError("no byte leads nearer to an end")


def long_number(text: bytearray) -> bool:
    """Whether the text ends in a number whose digits a float might not keep."""
    return len(text) > 6 and set(text[-6:]) <= DIGITS_AND_POINT


def mutated(draw: random.Random, text: bytes) -> bytes:
    """The text with one byte removed, added or changed."""
    place = draw.randrange(len(text) + 1)
    after = text[place:]
    new = b""
    if draw.random() < 0.8:
        new = bytes([draw.choice(sorted(READABLE))])
    return text[:place] + new + after[draw.randrange(2) :]
