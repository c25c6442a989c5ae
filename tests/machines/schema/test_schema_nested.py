"""Any schema that nests: values that fit are read, and of those changed a little none that a validator rejects."""

import json

from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import guidedviz as gv

S, INT, N = {"type": "string"}, {"type": "integer"}, {"type": "null"}

leaves = st.sampled_from(
    [
        S,
        INT,
        N,
        {},
        True,
        {"type": "boolean"},
        {"type": "object"},
        {"type": "array"},
        {"enum": ["a", 1, None, [1, {"k": 2}]]},
    ]
    + [{"type": ["string", "array"], "minLength": 1, "minItems": 1}, {"type": "number", "maximum": 3}]
    + [{"$ref": f"#{path}"} for path in ("", "/$defs/a", "/$defs/b", "/$defs/a", "/$defs/b")]
)
names = st.sampled_from(["a", "b", "ab", "x-1", 'k"', "é"])


@st.composite
def objects(draw, inner):
    looks = draw(st.booleans())
    properties = draw(st.dictionaries(names.filter(lambda name: not (looks and name == "x-1")), inner, max_size=3))
    schema = {"type": "object", "properties": properties}
    schema["required"] = draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(inner | st.booleans())
    if looks:
        schema["patternProperties"] = {"^x-": draw(inner)}
    return schema


def grow(inner):
    arrays = st.builds(lambda items, low: {"type": "array", "items": items, "minItems": low}, inner, st.integers(0, 1))
    tuples = st.builds(lambda parts, items: {"type": "array", "prefixItems": parts, "items": items},
                       st.lists(inner, min_size=1, max_size=2), inner | st.booleans())  # fmt: skip
    some = st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts})
    one = inner.map(lambda part: {"oneOf": [part, N]})
    return objects(inner) | arrays | tuples | some | one


parts = st.recursive(leaves, grow, max_leaves=4)


SPARE = [None, True, 0, -2, 2.5, 7, "", "a", "ab", 'é"', [], [1], {}, {"a": 1}, {"ab": "", "x-1": None}]
spare = st.sampled_from(SPARE)


def follow(schema, root):
    while isinstance(schema, dict) and "$ref" in schema:
        part = root
        for step in schema["$ref"].split("/")[1:]:
            part = part[step]
        schema = part
    return schema


@st.composite
def fitting(draw, schema, root, depth=0):
    """A value that the schema allows, its keys in order; deep ones are soon short."""
    schema = follow(schema, root)
    if schema is True or not schema.keys() - {"$defs"}:
        return draw(spare)
    for shape in ("anyOf", "oneOf"):
        if shape in schema:
            branches = sorted(
                schema[shape], key=lambda part: "null" in str(part) or "$ref" not in str(part), reverse=True
            )
            return draw(fitting(branches[0] if depth > 3 else draw(st.sampled_from(branches)), root, depth + 1))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    kind = schema["type"] if isinstance(schema["type"], str) else draw(st.sampled_from(schema["type"]))
    if kind == "array":
        return draw(fitting_array(schema, root, depth + 1))
    if kind == "object":
        return draw(fitting_object(schema, root, depth + 1))
    few = {"string": ["ab", 'é"\n'], "integer": [0, 3, -12], "number": [2.5, -1], "boolean": [True], "null": [None]}
    return draw(st.sampled_from(few[kind]))


@st.composite
def fitting_array(draw, schema, root, depth):
    first, rest = schema.get("prefixItems", []), schema.get("items", True)
    most = len(first) if rest is False else len(first) + 2
    size = draw(st.integers(schema.get("minItems", 0), most if depth < 4 else schema.get("minItems", 0)))
    return [draw(fitting([*first, rest, rest][place], root, depth)) for place in range(size)]


@st.composite
def fitting_object(draw, schema, root, depth):
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    chosen = [key for key in named if key in schema.get("required", []) or (depth < 4 and draw(st.booleans()))]
    found = {key: draw(fitting(named[key], root, depth)) for key in chosen}
    more = schema.get("additionalProperties", not ("properties" in schema or patterns))
    for key in draw(st.lists(names, max_size=2, unique=True)) if depth < 4 else ():
        look = next((part for pattern, part in patterns.items() if key.startswith(pattern[1:])), more)
        if key not in named and look is not False:
            found[key] = draw(fitting(look, root, depth))
    return found


def places(value, way=()):
    """The ways to all parts of a value."""
    yield way
    for step, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*way, step))


def put(value, way, new):
    """The value with another part in this place."""
    if not way:
        return new
    changed = value.copy()
    changed[way[0]] = put(value[way[0]], way[1:], new)
    return changed


def close(schema):
    """The schema as we read it: who names keys or patterns allows no others."""
    if not isinstance(schema, dict) or "enum" in schema:
        return schema
    inner = {key: {name: close(part) for name, part in schema[key].items()} for key in MAPS if key in schema}
    inner |= {key: list(map(close, schema[key])) for key in LISTS if key in schema}
    inner |= {key: close(schema[key]) for key in ("items", "additionalProperties") if key in schema}
    named = "properties" in schema or "patternProperties" in schema
    return {**schema, **({"additionalProperties": False} if named else {}), **inner}


MAPS, LISTS = ("properties", "patternProperties", "$defs"), ("prefixItems", "anyOf", "oneOf")
SAID = (
    "another such value",
    "leads back to itself",
    "oneOf: saw branches",
    "says something too",
    "no value",
    "minItems",
)


@given(st.data(), parts, parts, parts)
def test_a_machine_reads_what_fits_and_nothing_that_does_not(data, root, some, other):
    schema = {**(root if isinstance(root, dict) else {"anyOf": [root]}), "$defs": {"a": some, "b": other}}
    try:
        machines = [gv.json_schema(schema, blanks) for blanks in ("space", "any")]
    except gv.PatternError as error:
        if not any(words in str(error) for words in SAID):
            raise
        assume(False)
    truth = Draft202012Validator(close(schema))
    for _ in range(3):
        value = data.draw(fitting(schema, schema))
        if not truth.is_valid(value):
            assert "oneOf" in str(schema), "the test draws a value that does not fit"
            continue
        assert [machine.accepts(json.dumps(value, ensure_ascii=False).encode()) for machine in machines] == [
            True,
            True,
        ], value
        way = data.draw(st.sampled_from(list(places(value))))
        changed = put(value, way, data.draw(spare))
        if not truth.is_valid(changed):
            text = json.dumps(changed, ensure_ascii=False).encode()
            assert [machine.accepts(text) for machine in machines] == [False, False], changed
