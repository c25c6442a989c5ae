"""The jsonschema package judges texts and values of random schemas with every keyword, in both modes of extra keys."""

import json
import random
from itertools import islice, permutations, product

import pytest
from jsonschema import Draft202012Validator

import guidedviz as gv
from guidedviz.machines.regular.dfa import DFA
from tests.machines.schema import random_schemas as drawn

LAWFUL = (  # reasons to refuse a schema
    "no value satisfies",
    "minProperties",
    "uniqueItems",
    "leads back to itself",
    "unnamed keys that must exist",
    "no value fits",
    "combinations of branches",
    "too many keys",
)


def build(draw):
    """A random schema with its machine; no machine if the schema is refused for a known reason."""
    schema = drawn.random_schema(draw, draw.choice([1, 2, 2, 3]))
    schema = dict(schema) if isinstance(schema, dict) else {"allOf": [schema]}
    schema["$defs"] = {"d": drawn.random_schema(draw, 1)}
    mode = draw.choice(["open", "closed"])
    try:
        return schema, mode, gv.json_schema(schema, "space", mode)
    except gv.PatternError as error:
        known = any(words in str(error) for words in LAWFUL)
        if not known and not error.where.startswith("schema, #/"):
            raise
        return schema, mode, None


def is_valid(validator, text):
    try:
        return validator.is_valid(json.loads(text))
    except (UnicodeDecodeError, json.JSONDecodeError):
        return False


def spellings(value):
    """A value with its keys in every order."""
    if isinstance(value, dict):
        for keys in permutations(value):
            for items in product(*(few_spellings(value[key]) for key in keys)):
                heads = (json.dumps(key, ensure_ascii=False) for key in keys)
                members = map("{}: {}".format, heads, items)
                yield "{" + ", ".join(members) + "}"
    elif isinstance(value, list):
        for items in product(*map(few_spellings, value)):
            yield "[" + ", ".join(items) + "]"
    else:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        yield json.dumps(value, ensure_ascii=False)


def few_spellings(value):
    return list(islice(spellings(value), 30))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.quick(every=5)
def test_a_validator_agrees_with_the_machine_of_a_random_schema(seed):
    draw = random.Random(seed)
    for _ in range(6):
        schema, mode, machine = build(draw)
        if machine is None:
            continue
        truth = Draft202012Validator(schema)
        if isinstance(machine, DFA) and len(machine) < 200:
            assert gv.regex(gv.machines.schema_regex(schema, extra_keys=mode)) == machine
        for _ in range(4):
            text = drawn.random_text(draw, machine)
            if text is not None:
                assert is_valid(truth, text), (mode, schema, text)
                changed = drawn.mutated(draw, text)
                assert is_valid(truth, changed) or not machine.accepts(changed), (mode, schema, changed)
        for _ in range(10):
            value = drawn.random_value(draw, 3)
            texts = [text.encode() for text in islice(spellings(value), 300)]
            accepted = any(map(machine.accepts, texts))
            if len(texts) < 300 and accepted != truth.is_valid(value):
                assert mode == "closed", (schema, value)
                assert not accepted, (schema, value)
