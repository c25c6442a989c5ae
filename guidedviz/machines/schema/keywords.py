"""The keywords of JSON Schema: which apply schemas to the same value, where schemas stand, which constrain nothing."""

from collections.abc import Iterator

from guidedviz.machines.schema.subschema import Subschema

REFS = ("$ref", "$recursiveRef", "$dynamicRef")
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
APPLIED = (*REFS, "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependentRequired", "dependencies")
# where schemas stand: a keyword has one, a list or an object of them
ONE = "additionalItems additionalProperties contains contentSchema else if items not propertyNames then".split()
ONE += UNEVALUATED
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
MAPS = "$defs definitions dependencies dependentSchemas patternProperties properties".split()
SAYS_NOTHING = frozenset(
    "title description default examples $schema $comment $defs definitions deprecated readOnly writeOnly $anchor $id "
    "id $vocabulary $dynamicAnchor $recursiveAnchor contentEncoding contentMediaType contentSchema then else".split()
)
KNOWN = SAYS_NOTHING.union(APPLIED, ONE, LISTS, MAPS).union(
    "type enum const required minProperties maxProperties minItems maxItems minContains maxContains uniqueItems "
    "minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)


def subschemas(part: Subschema) -> Iterator[Subschema]:
    """The schemas directly inside a schema."""
    for key, found in part.schema.items():
        if key in ONE and isinstance(found, dict):
            yield part.at(found, key)
        elif key in LISTS and isinstance(found, list | tuple):
            yield from (part.at(inner, key, place) for place, inner in enumerate(found))
        elif key in MAPS and isinstance(found, dict):
            yield from (part.at(inner, key, name) for name, inner in found.items() if isinstance(inner, dict))
