"""Answers to `schema_to_regex` and `at_most`."""

import json
import re

import guidedviz as gv
from tests.checks.answers import at_most, schema_to_regex


def with_options(**options):
    return lambda schema: schema_to_regex(schema, **options)


def one_level(schema):
    """Does not call itself for an object inside an object."""
    parts = schema.get("properties", {}).items()
    flat = {key: {"type": "integer"} if part.get("type") == "object" else part for key, part in parts}
    return schema_to_regex({**schema, "properties": flat} if parts else schema)


def first_key_only(schema):
    parts = dict(list(schema.get("properties", {}).items())[:1])
    return schema_to_regex({**schema, "properties": parts} if parts else schema)


def empties_it(schema):
    text = schema_to_regex(schema)
    schema.clear()
    return text


def as_values(schema):
    """Values as Python writes them."""
    return schema_to_regex(schema, dumps=lambda value: f'"{value}"')


def by_replace(schema):
    return schema_to_regex(schema, escape=lambda text: re.sub(r"([.+*?()|{}^$\[\]\\\\])", r"\\\1", text))


def lookahead_free(n):
    """Longest numbers first, and each part in parentheses."""
    return "|".join(f"({part})" for part in reversed(at_most(n).split("|")))


WRONG = {
    "schema_to_regex": {
        "types only": (lambda schema: schema_to_regex({"type": "integer"}), "json.dumps writes it"),
        "no parentheses": (with_options(group="{}"), "needs parentheses"),
        "not escaped": (with_options(escape=str), "special in a regex"),
        "no space after a colon": (with_options(colon=":"), 'the key and ": "'),
        "no space after a comma": (with_options(comma=","), "stands between two members"),
        "spaces optional": (with_options(colon=": ?"), "may end in"),
        "a comma after the last member": (
            lambda schema: schema_to_regex(schema).replace(r")\}", r"), \}"),
            "the value and }|no transition",
        ),
        "values without quotes": (with_options(dumps=str), "json.dumps"),
        "every value in quotes": (as_values, "need not be strings"),
        "one level": (one_level, "calls itself"),
        "the first key only": (first_key_only, "stands between two members"),
        "the machine": (lambda schema: gv.json_schema(schema), "a text is expected"),
        "None for objects": (
            lambda schema: None if schema.get("type") == "object" else schema_to_regex(schema),
            "returns None here",
        ),
        "a list of parts": (lambda schema: [schema_to_regex(schema)], "a text is expected"),
        "a broken regex": (lambda schema: schema_to_regex(schema) + "(", "missing \\)"),
        "its input emptied": (empties_it, "work on a copy"),
        "an exception": (lambda schema: schema["enum"], "KeyError|json.dumps|LEAVES"),
    },
    "at_most": {
        "digits as a class": (lambda n: f"[0-{n}]", "no transition leaves"),
        "all numbers": (lambda n: "0|[1-9][0-9]*", "may end in"),
        "as many digits": (lambda n: f"0|[1-9][0-9]{{0,{len(str(n)) - 1}}}", "may end in"),
        "leading zeros": (
            lambda n: f"[0-9]{{1,{len(str(n)) - 1}}}|{at_most(n)}" if n > 9 else at_most(n),
            "may end in",
        ),
        "not the bound itself": (
            lambda n: "|".join(at_most(n).split("|")[:-1]) or "1",
            "no transition|may not end|may end",
        ),
        "not zero": (lambda n: at_most(n).replace("0|[1-9]", "[1-9]") if n > 9 else at_most(n), "no transition"),
        "no shorter numbers": (lambda n: "|".join(at_most(n).split("|")[2 * (n > 9) :]), "no transition"),
        "a list of all numbers": (lambda n: "|".join(map(str, range(n + 1))), "not with n"),
        "the machine": (
            lambda n: gv.json_schema({"type": "integer", "minimum": 0, "maximum": n}),
            "a text is expected",
        ),
        "the numbers": (lambda n: list(range(min(n, 50))), "a text is expected"),
        "a bound on each digit": (lambda n: "".join(f"[0-{digit}]" for digit in str(n)), "no transition|may"),
        "negative numbers": (lambda n: f"-?({at_most(n)})", "may end in"),
        "a sign": (lambda n: f"[+]?({at_most(n)})", "may end in"),
    },
}
RIGHT = {
    "schema_to_regex": {
        "non-capturing groups": with_options(group="(?:{})"),
        "escaped by hand": by_replace,
        "every part in parentheses": lambda schema: f"({schema_to_regex(schema)})",
        "the library's own": lambda schema: gv.machines.schema_regex(schema, whitespace="one"),
        "braces as they are": lambda schema: schema_to_regex(schema).replace(r"\{", "{").replace(r"\}", "}"),
        "anchors": lambda schema: f"^({schema_to_regex(schema)})$",
        "sorted enums": lambda schema: schema_to_regex(
            {"enum": sorted(schema["enum"], key=json.dumps)} if "enum" in schema else schema
        ),
    },
    "at_most": {
        "longest first": lookahead_free,
        "the library's own": lambda n: gv.machines.schema_regex({"type": "integer", "minimum": 0, "maximum": n}),
        "backslash d": lambda n: at_most(n).replace("[0-9]", r"\d"),
        "anchors": lambda n: f"^(?:{at_most(n)})$",
    },
}
