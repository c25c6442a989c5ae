"""The keywords of JSON Schema: which apply schemas to the same value, where schemas stand, which constrain nothing."""

from collections.abc import Iterator

from guidedviz.machines.schema.subschema import Subschema

REFERENCES = ("$ref", "$recursiveRef", "$dynamicRef")
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
DEPENDENT = ("dependentSchemas", "dependentRequired", "dependencies")
APPLIED = (*REFERENCES, "allOf", "anyOf", "oneOf", "not", "if", *DEPENDENT)  # schemas for the same value
HOLD_ONE = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then".split()
).union(UNEVALUATED)
HOLD_LIST = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
HOLD_MAP = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())
ANNOTATIONS = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor $id "
    "id $vocabulary $dynamicAnchor $recursiveAnchor contentEncoding contentMediaType contentSchema then else".split()
)
KEYWORDS = ANNOTATIONS.union(APPLIED, HOLD_ONE, HOLD_LIST, HOLD_MAP).union(
    "type enum const required minProperties maxProperties minItems maxItems minContains maxContains uniqueItems "
    "minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)


def subschemas(part: Subschema) -> Iterator[Subschema]:
    """The schemas directly inside a schema."""
    for key, found in part.schema.items():
        if isinstance(found, dict):
            if key in HOLD_ONE:
                yield part.at(found, key)
            elif key in HOLD_MAP:
                yield from (part.at(inner, key, name) for name, inner in found.items() if isinstance(inner, dict))
        elif isinstance(found, list | tuple) and key in HOLD_LIST:
            yield from (part.at(inner, key, place) for place, inner in enumerate(found))
