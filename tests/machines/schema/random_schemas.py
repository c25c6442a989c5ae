"""Random small schemas with every keyword, random values, and texts drawn from a machine by random legal bytes."""

import random
from typing import Any

from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.machine import next_bytes

Schemas = st.SearchStrategy[Any]

names = st.sampled_from(["a", "b", "ab", "x-1", "é"])
patterns = st.sampled_from(["^a", "b$", "^x-", "a", "^.{2}$", "[^a]"])
types = st.sampled_from("object array string integer number null boolean".split())
several_types = st.sampled_from([["object", "null"], ["array", "string"], ["integer", "string"]])
numbers = st.sampled_from([0, 1, 2, 3, 5, -1, 10, 0.5, 1.5, 2.0, -0.5])
scalars = (
    st.sampled_from([None, True, False]) | numbers | st.sampled_from(["", "a", "b", "ab", "ba", "x-1", "é", "aab"])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)
counts = st.integers(0, 3)
bounds = st.sampled_from([0, 1, 2, 0.5, -1])
some_names = st.lists(names, min_size=1, max_size=2, unique=True)
few = st.sampled_from([{"enum": [1, "a", None]}, {"type": "boolean"}, {"enum": [1, 1.0, True, [1]]}])
looks = st.sampled_from([{"maxLength": 1}, {"pattern": "a"}, {"enum": ["a", "b"]}, {"not": {"const": "a"}}])


def having(value: Schemas, keywords: str) -> Schemas:
    """One of the keywords with a value."""
    return st.builds(lambda keyword, value: {keyword: value}, st.sampled_from(keywords.split()), value)


def merge(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {keyword: value for part in parts for keyword, value in part.items()}


leaves = having(types, "type") | st.sampled_from([
    True, False, {}, {"$ref": "#/$defs/d"}, {"type": "number", "minimum": 1}, {"type": "string", "maxLength": 1},
    {"multipleOf": 2}, {"pattern": "a"}, {"const": 1.0}, {"enum": ["a", 1, None, [1]]},
])  # fmt: skip


def grow(inner: Schemas) -> Schemas:
    by_name = st.dictionaries(names, inner, min_size=1, max_size=3)
    keywords = st.one_of(
        having(types | several_types, "type"),
        having(st.lists(values, min_size=1, max_size=3), "enum"),
        having(values, "const"),
        having(by_name, "properties dependentSchemas"),
        having(some_names, "required"),
        having(st.dictionaries(names, some_names, min_size=1, max_size=2), "dependentRequired"),
        having(st.dictionaries(patterns, inner, min_size=1, max_size=2), "patternProperties"),
        having(looks | inner, "propertyNames"),
        having(inner, "additionalProperties items not unevaluatedProperties unevaluatedItems"),
        having(st.just(False), "unevaluatedProperties unevaluatedItems"),
        having(counts, "minProperties maxProperties minItems maxItems minLength maxLength"),
        having(st.lists(inner, min_size=1, max_size=3), "prefixItems anyOf oneOf allOf"),
        having(patterns, "pattern"),
        having(bounds, "minimum maximum exclusiveMinimum exclusiveMaximum"),
        having(st.sampled_from([1, 2, 3, 0.5, 1.5]), "multipleOf"),
        having(st.just("#/$defs/d"), "$ref"),
        st.fixed_dictionaries({"uniqueItems": st.just(True), "items": few | inner}),
        st.fixed_dictionaries({"contains": inner}, optional={"minContains": counts, "maxContains": st.integers(1, 2)}),
        st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner}),
    )
    return st.lists(keywords, min_size=1, max_size=3).map(merge)


schemas = st.recursive(leaves, grow, max_leaves=6)

READABLE = frozenset(b'"{}[],:abx-0123456789tfn. ')
DIGITS = frozenset(b"0123456789")
EXPONENTS = frozenset(b"eE")
LONGEST = 400  # bytes of a drawn text


def random_text(draw: random.Random, machine: Any) -> bytes | None:
    """A text by random legal bytes, which soon takes the shortest way to its end; None if it grows too long."""
    state = machine.initial
    text = bytearray()
    room = draw.choice([5, 20, 60])
    while len(text) < LONGEST:
        legal = set(next_bytes(machine, state))
        long = len(text) > room
        if machine.is_accepting(state) and (not legal or long or draw.random() < 0.3):
            return bytes(text)
        if text[-1:].isdigit():
            legal -= EXPONENTS
        if len(text) > 6 and set(text[-6:]) <= DIGITS | {ord(".")}:  # a float might not keep more
            legal = legal - DIGITS or legal
        if long:
            byte = min(legal, key=lambda byte: gv.machines.bytes_to_end(machine, machine.step(state, byte)))
        else:
            readable = draw.random() < 0.9
            byte = draw.choice(sorted(legal & READABLE if readable else legal) or sorted(legal))
        text.append(byte)
        state = machine.step(state, byte)
    return None


def mutated(draw: random.Random, text: bytes) -> bytes:
    """The text with one byte removed, added or changed."""
    place = draw.randrange(len(text) + 1)
    new = draw.choice([b"", bytes([draw.choice(sorted(READABLE))])])
    return text[:place] + new + text[place + draw.randrange(2) :]
