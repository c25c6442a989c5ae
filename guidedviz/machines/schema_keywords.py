"""The keywords that are known, and which kind of value each of them is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guidedviz.machines.schema_source import below, nearest, refusal, shown

KINDS = ("object", "array", "string", "integer", "fraction", "boolean", "null")
TYPES = {"number": {"integer", "fraction"}} | {kind: {kind} for kind in KINDS if kind != "fraction"}
ANY = frozenset(KINDS)
SHAPES = ("$ref", "anyOf", "oneOf", "allOf")  # what leads to other schemas of the same value
SAYS_NOTHING = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor "
    "discriminator".split()
)
WORDS = {
    "object": "properties required additionalProperties patternProperties propertyNames minProperties maxProperties",
    "array": "items prefixItems minItems maxItems",
    "string": "minLength maxLength pattern format",
    "integer": "minimum maximum exclusiveMinimum exclusiveMaximum",
}
ASKS = {kind: frozenset(words.split()) for kind, words in WORDS.items()}
KNOWN = SAYS_NOTHING.union(("type", "enum", "const"), SHAPES, *ASKS.values())


def check_keywords(schema: Mapping[str, Any], path: str) -> None:
    """Refuses what is not known here: nothing of a schema is silently left out."""
    for key in schema:
        if key == "$id" and path == "#":
            continue
        if key not in KNOWN:
            known = nearest(str(key), KNOWN)
            hint = f"did you mean {known}?" if known else ""
            raise refusal(below(path, key), "a keyword that is not supported", "one that is", hint)


def take_branches(schema: Mapping[str, Any], shape: str, path: str) -> list[Any]:
    """The schemas of an anyOf, oneOf or allOf."""
    if not isinstance(schema[shape], list | tuple) or not schema[shape]:
        raise refusal(below(path, shape), shown(schema[shape]), "a list of schemas")
    return list(schema[shape])
