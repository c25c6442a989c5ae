"""The jsonschema package judges texts and values of random schemas with every keyword, in both modes of extra keys."""

import json
from itertools import islice

from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import guidedviz as gv
from guidedviz.machines.regular.dfa import DFA
from tests.machines.schema import random_schemas as drawn
from tests.machines.schema.deciding import spell

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


def build(schema, mode):
    """The machine of a schema; None if it is refused for a known reason."""
    try:
        return gv.json_schema(schema, "space", mode)
    except gv.PatternError as error:
        known = any(words in str(error) for words in LAWFUL)
        if not known and not error.where.startswith("schema, #/"):
            raise


def is_valid(validator, text):
    try:
        return validator.is_valid(json.loads(text))
    except (UnicodeDecodeError, json.JSONDecodeError):
        return False


@given(
    drawn.schemas,
    drawn.schemas,
    st.sampled_from(["open", "closed"]),
    st.randoms(use_true_random=False),
    st.lists(drawn.values, max_size=8),
)
def test_a_validator_agrees_with_the_machine_of_a_random_schema(schema, definition, mode, random, values):
    schema = schema if isinstance(schema, dict) else {"allOf": [schema]}
    schema = {**schema, "$defs": {"d": definition}}
    machine = build(schema, mode)
    assume(machine is not None)
    truth = Draft202012Validator(schema)
    if isinstance(machine, DFA) and len(machine) < 200:
        assert gv.regex(gv.machines.schema_regex(schema, extra_keys=mode)) == machine
    for _ in range(4):
        text = drawn.random_text(random, machine)
        if text is not None:
            assert is_valid(truth, text), text
            changed = drawn.mutated(random, text)
            assert is_valid(truth, changed) or not machine.accepts(changed), changed
    for value in values:
        texts = [text.encode() for text in islice(spell(value), 300)]
        accepted = any(map(machine.accepts, texts))
        if len(texts) < 300 and accepted != truth.is_valid(value):
            assert (mode, accepted) == ("closed", False), value
