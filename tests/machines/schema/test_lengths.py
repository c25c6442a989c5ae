"""A length beside a pattern is counted: the machine has the texts, masks and ways to the end of its copies."""

import json
import random

import jsonschema
import numpy as np
import pytest

import guidedviz as gv
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.compare import compare_machines
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.schema import text_sets as texts
from tests.common import BYTES, with_end

PATTERNS = r"a ^a+b$ ^(ab)*$ ^a(b|é)*ab$ ^(abb|😀)$|^a*c$ ^[ab]*(a|bbbb)$ ^(a|bc)*(c\n)+$ ^(aaa)*$|^b".split()
PATTERNS += [r'^(\\a|"b)*$']
PIECES = [*b"a b c ab aaa ba aaaaaa abab".split(), *rb'" b" a", \ \n \u \u000 \\ \" {"s":'.split(), b', "k": 1}']
PIECES += [b"\xc3\xa9", b"\xc3", b"\xa9", "😀".encode()]
VOCABULARY = with_end([*BYTES, *PIECES])


def strings(pattern, high, low=0):
    text = {"type": "string", "pattern": pattern, "minLength": low, "maxLength": high}
    properties = {"s": text, "k": {"const": 1}}
    return {"type": "object", "properties": properties, "required": ["s"]}


def both(monkeypatch, schema):
    """A machine that counts, and the machine of its copies; None where no text is short enough."""
    found = []
    for copies in (0, 1e9):
        monkeypatch.setattr(texts, "MOST_COPIED_STATES", copies)
        monkeypatch.setattr(texts, "MOST_COPIED_STATES_OF_LONG", copies)
        try:
            found.append(gv.json_schema(schema))
        except gv.PatternError:
            found.append(None)
    return tuple(found)


@pytest.mark.parametrize("high", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.quick(every=4)
def test_a_counted_length_has_the_texts_of_its_copies(pattern, high, monkeypatch):
    for low in (0, min(3, high)):
        machines = both(monkeypatch, strings(pattern, high, low))
        if None not in machines:
            found = compare_machines(*machines, most=20_000)
            assert found.text is None, found
        else:
            assert machines == (None, None)


@pytest.mark.parametrize("engine", ["split", "trie", "index"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.quick(every=4)
def test_every_mask_near_a_counted_length_is_the_mask_of_its_copies(pattern, engine, monkeypatch):
    draw = random.Random(pattern)
    for high in (3, 11, 40):
        machine, copies = both(monkeypatch, strings(pattern, high))
        assert isinstance(copies, DFA)
        guide = gv.guide(machine, VOCABULARY, engine)
        oracle = gv.guide(copies, VOCABULARY)
        for _ in range(3):
            state = machine.initial
            copy = copies.initial
            for _ in range(40):
                mask = guide.mask(state)
                assert np.array_equal(mask, oracle.mask(copy)), (pattern, high)
                assert guide.forced(state) == oracle.forced(copy)
                assert gv.machines.bytes_to_end(machine, state) == gv.machines.bytes_to_end(copies, copy)
                legal = mask[:-1].nonzero()[0]
                if not legal.size:
                    break
                long = legal[legal > 255]
                token = int(draw.choice([*legal, *long]))
                state = guide.advance(state, token)
                copy = oracle.advance(copy, token)


@pytest.mark.parametrize("high", [255, 2083, 16_383])
@pytest.mark.quick("255")
def test_a_uri_of_any_length_compiles_and_is_counted(high):
    machine = gv.json_schema({"type": "string", "format": "uri", "minLength": 1, "maxLength": high})
    start = b'"http://a.b/'
    room = high - len(start) + 1
    assert machine.accepts(start + b"x" * room + b'"')
    assert machine.accepts(start + b"%41" * (room // 3) + b'"')
    assert not machine.accepts_prefix(start + b"x" * (room + 1))
    assert not machine.accepts_prefix(start + b"x" * (room - 2) + b"%")
    assert machine.accepts_prefix(start + b"x" * (room - 3) + b"%")


def test_a_length_that_no_text_exceeds_is_dropped():
    for part in ({"format": "date"}, {"pattern": "^[ab]{2,5}$"}, {"format": "uuid"}):
        schema = {"type": "string", **part}
        assert gv.json_schema(schema | {"maxLength": 65_535}) == gv.json_schema(schema)


@pytest.mark.slow
def test_a_text_cannot_count():
    schema = {"type": "string", "format": "uri", "maxLength": 5000}

    def write_gbnf(schema):
        return gv.machines.to_gbnf(gv.json_schema(schema))

    for write in (gv.machines.schema_regex, write_gbnf):
        with pytest.raises(gv.PatternError, match="saw a length of at most 5,000 beside a pattern"):
            write(schema)


# --- counts of characters and items without a pattern -----------------------------------------------------------------

STRING = {"type": "string"}
SCHEMAS = {
    "maxLength": {"type": "string", "maxLength": 1024},
    "minLength": {"type": "string", "minLength": 1024},
    "both": {"type": "string", "minLength": 1023, "maxLength": 1025},
    "maxItems": {"type": "array", "items": {"type": "integer"}, "maxItems": 1024},
    "minItems": {"type": "array", "items": {"type": "integer"}, "minItems": 1023, "maxItems": 1024},
    "items with a length": {"type": "array", "items": STRING | {"maxLength": 1024}, "maxItems": 1024},
}


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("count", [0, 128, 1023, 1024, 1025])
@pytest.mark.quick(every=4)
def test_the_bounds_hold(name, count):
    schema = SCHEMAS[name]
    machine = gv.json_schema(schema)
    assert isinstance(machine, PDA)
    words = ["é" * count, "a" * count]
    rows = [[7] * count, ["x"] * count]
    values = words if schema["type"] == "string" else rows
    for value in values:
        text = json.dumps(value, ensure_ascii=count % 2 == 0).encode()
        assert machine.accepts(text) == jsonschema.Draft202012Validator(schema).is_valid(value)


def test_many_short_lengths_that_are_too_large_together_are_counted():
    properties = {}
    for n in range(60):
        properties[f"key{n}"] = {**STRING, "maxLength": 60 + n}
    schema = {"type": "object", "properties": properties}
    machine = gv.json_schema(schema)
    assert isinstance(machine, PDA)
    rng = random.Random(1)
    for more in (0, 0, 1):
        value = {}
        for n in range(60):
            if rng.random() < 0.5 or n == 59:
                value[f"key{n}"] = "x" * (60 + n)
        value["key59"] += "x" * more
        assert machine.accepts(json.dumps(value).encode()) == (more == 0)
