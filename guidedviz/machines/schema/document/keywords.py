"""The keywords of JSON Schema, draft 4 to 2020-12, and the notes about what a machine does not enforce.

A keyword outside every vocabulary is an annotation: it is ignored and noted. A standard keyword that could constrain
and is not supported is an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from guidedviz.errors import PatternError, SchemaWarning
from guidedviz.machines.schema.document.choices import Choices
from guidedviz.machines.schema.document.paths import below, nearest, refusal, shown

KINDS = ("object", "array", "string", "integer", "fraction", "boolean", "null")
TYPES = {"number": {"integer", "fraction"}} | {kind: {kind} for kind in KINDS if kind != "fraction"}
ANY = frozenset(KINDS)
REFS = ("$ref", "$recursiveRef", "$dynamicRef")
APPLIED = (*REFS, "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies")  # to the same value
SAYS_NOTHING = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor $id "
    "id $vocabulary $dynamicAnchor $recursiveAnchor contentMediaType contentSchema then else".split()
)
SAYING = frozenset(
    "type enum const properties required additionalProperties patternProperties propertyNames minProperties "
    "maxProperties dependentRequired unevaluatedProperties items prefixItems minItems maxItems additionalItems "
    "contains minContains maxContains uniqueItems unevaluatedItems minLength maxLength pattern format contentEncoding "
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
KNOWN = SAYS_NOTHING.union(APPLIED, SAYING)
NEAR = 0.85  # of difflib's ratio: `propertes` is a near miss of `properties`
OFFER = "approximate=True, which allows more and lists what it does not enforce in machine.notes"


class Notes:
    """What a schema says that the machine does not enforce. Each note begins with the path of its part."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.texts: dict[str, None] = {}
        self.seen: set[tuple[int, str]] = set()  # id of a part, keyword

    def add(self, path: str, text: str) -> None:
        self.texts[f"{path}: {text}"] = None

    def check(self, schema: Mapping[str, Any], path: str) -> None:
        """Note the keywords that are outside JSON Schema."""
        for key in schema:
            if key not in KNOWN and (id(schema), key) not in self.seen:
                self.seen.add((id(schema), key))
                self.ignore(str(key), path)

    def ignore(self, key: str, path: str) -> None:
        """An unknown keyword: a note, and a warning if it looks like a mistake; or an error."""
        near = "" if key[:1] in "_$" or key.startswith("x-") else nearest(key, KNOWN - SAYS_NOTHING, NEAR)
        hint = f"did you mean {near}?" if near else ""
        if self.choices.unknown == "error":
            raise refusal(below(path, key), "a keyword that JSON Schema does not have", "one that it has", hint)
        self.add(below(path, key), "not a keyword of JSON Schema, ignored" + (f"; {hint}" if hint else ""))
        if hint:
            text = f"schema, {below(path, key)}: a keyword that JSON Schema does not have, ignored; {hint}"
            warnings.warn(text, SchemaWarning, stacklevel=2)

    def ignore_format(self, name: str, path: str, near: str) -> None:
        """A format that JSON Schema does not have: a note or an error."""
        hint = f"did you mean {near}?" if near else ""
        if self.choices.unknown == "error":
            raise refusal(path, f"the format {shown(name)}", "a format of JSON Schema", hint)
        self.add(path, f"the format {shown(name)} is unknown, ignored" + (f"; {hint}" if hint else ""))

    def give_up(self, path: str, seen: str, expected: str) -> None:
        """What no machine of this kind can say: a note if the caller accepts that, else an error."""
        if not self.choices.approximate:
            raise refusal(path, seen, expected, OFFER)
        self.add(path, f"{seen}: not enforced")

    def give_up_of(self, error: PatternError, path: str) -> None:
        """The same for a pattern that cannot become a machine."""
        if not self.choices.approximate:
            hint = ", or ".join(filter(None, [error.hint, OFFER]))
            raise PatternError(error.where, seen=error.seen, expected=error.expected, hint=hint) from error
        self.add(path, f"{error.seen}: not enforced")


def take_branches(schema: Mapping[str, Any], shape: str, path: str) -> list[Any]:
    """The schemas of an anyOf, oneOf or allOf."""
    if not isinstance(schema[shape], list | tuple) or not schema[shape]:
        raise refusal(below(path, shape), shown(schema[shape]), "a list of schemas")
    return list(schema[shape])


def take_map(schema: Mapping[str, Any], key: str, path: str, what: str = "schemas") -> dict[str, Any]:
    """The value of a keyword that is an object of schemas; empty if it is missing."""
    found = schema.get(key, {})
    if not isinstance(found, dict):
        raise refusal(below(path, key), shown(found), f"an object of {what}")
    return found


def take_names(names: Any, path: str) -> tuple[str, ...]:
    """A list of keys."""
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise refusal(path, shown(names), "a list of names")
    return tuple(names)


def take_kinds(schema: Mapping[str, Any], path: str) -> frozenset[str]:
    """The kinds of value that `type` allows."""
    if "type" not in schema:
        return ANY
    names = schema["type"] if isinstance(schema["type"], list | tuple) else [schema["type"]]
    for name in names:
        if not isinstance(name, str) or name not in TYPES:
            raise refusal(below(path, "type"), shown(name), ", ".join(sorted(TYPES)))
    if not names:
        raise refusal(below(path, "type"), "[]", "a type")
    return frozenset().union(*(TYPES[name] for name in names))
