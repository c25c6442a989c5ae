"""The cases of JSON Schema draft 2020-12 whose keywords are all supported, each instance written in three ways.

They lie beside the repository, not in it; where they are missing the tests say that they were skipped.
"""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

import guidedviz as gv

CASES = Path(__file__).resolve().parents[3] / "shared" / "data" / "json-schema"
BLANKS = {"compact": (",", ":", ""), "space": (", ", ": ", ""), "any": ("\n, ", "\t: ", " \r\n")}
KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"no JSON Schema cases in {CASES}")


def write(value, schema, root, whitespace):
    """An instance as a strict schema would have it written: keys in its order, integers without a fraction."""
    comma, colon, around = BLANKS[whitespace]
    schema = follow(schema, root)
    if isinstance(value, dict):
        known = schema.get("properties", schema.get("const", {}))
        keys = sorted(value, key=lambda key: list(known).index(key) if key in known else len(known))
        parts = schema.get("properties", {})
        pairs = [f"{json.dumps(key)}{colon}{write(value[key], parts.get(key), root, whitespace)}" for key in keys]
        text = "{" + around + comma.join(pairs) + "}"
    elif isinstance(value, list):
        prefix, rest = schema.get("prefixItems", []), schema.get("items")
        parts = [prefix[i] if i < len(prefix) else rest for i in range(len(value))]
        pairs = [write(item, part, root, whitespace) for item, part in zip(value, parts, strict=True)]
        text = "[" + around + comma.join(pairs) + "]"
    elif isinstance(value, float):
        text = str(int(value)) if value == int(value) else format(Decimal(repr(value)), "f")
    else:
        text = json.dumps(value, ensure_ascii=not any(key in schema for key in ("pattern", "const", "enum")))
    return around + text + around


def follow(schema, root):
    while isinstance(schema, dict) and "$ref" in schema:
        part = root
        for step in schema["$ref"].split("/")[1:]:
            step = step.replace("%25", "%").replace("%22", '"').replace("~1", "/").replace("~0", "~")
            part = part[int(step) if isinstance(part, list) else step]
        schema = part
    return schema if isinstance(schema, dict) else {}


def has_more_keys(value, schema, root):
    """Does an object have keys that its schema leaves open and a strict one forbids?"""
    schema = follow(schema, root)
    if "const" in schema or "enum" in schema:
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return any(key not in known or has_more_keys(item, known[key], root) for key, item in value.items())
    return isinstance(value, list) and any(has_more_keys(item, schema.get("items"), root) for item in value)


def all_cases():
    for file in sorted(CASES.glob("*.json")):
        for group in json.loads(file.read_text()):
            for test in group["tests"]:
                yield file.stem, group["schema"], test


def typed(schema, value):
    """What a schema says about this value does not change if it also asks for the type of the value."""
    if not isinstance(schema, dict) or "type" in schema:
        return schema
    return {"type": KINDS.get(type(value), "null"), **schema}


def test_every_case_that_is_supported_is_decided_as_the_standard_says():
    ran, left = Counter(), Counter()
    for name, schema, test in all_cases():
        strict = typed(schema, test["data"])
        try:
            machines = {whitespace: gv.json_schema(strict, whitespace) for whitespace in BLANKS}
        except gv.PatternError as error:
            impossible = "no value meets" in str(error) and schema is not strict
            assert not (impossible and test["valid"]), (name, strict, test)
            (ran if impossible else left)[name] += 1
            continue
        if name in ("format", "vocabulary") or has_more_keys(test["data"], strict, strict):
            left[name] += 1  # a format is no more than a remark there; objects are open there
            continue
        for whitespace, machine in machines.items():
            text = write(test["data"], strict, strict, whitespace)
            assert machine.accepts(text.encode()) == test["valid"], (name, strict, test, text)
        ran[name] += 1
    print(sum(ran.values()), "ran", dict(ran), "left", dict(left))
    assert sum(ran.values()) > 280
