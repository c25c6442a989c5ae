"""A length beside a pattern is counted: the machine has the texts, masks and ways to the end of its copies."""

import json
from itertools import accumulate
from random import Random

import jsonschema
import pytest

import guidedviz as gv
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.compare import compare_machines
from guidedviz.machines.schema import text_sets as texts
from tests.common import BYTES, assert_alike, assert_reads, choose_tokens, with_end

PATTERNS = r"a ^a+b$ ^(ab)*$ ^a(b|é)*ab$ ^(abb|😀)$|^a*c$ ^[ab]*(a|bbbb)$ ^(a|bc)*(c\n)+$ ^(aaa)*$|^b".split()
PATTERNS += [r'^(\\a|"b)*$']


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


@pytest.mark.parametrize("high", [1, 3, 7])
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


PIECES = [*b"a b c ab aaa ba aaaaaa abab".split(), *rb'" b" a", \ \n \u \u000 \\ \" {"s":'.split(), b', "k": 1}']
VOCABULARY = with_end([*BYTES, *PIECES, *map(str.encode, "é😀"), b"\xc3", b"\xa9"])


@pytest.mark.parametrize("engine", ["split", "trie", "index"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.quick(every=5)
def test_every_mask_near_a_counted_length_is_the_mask_of_its_copies(pattern, engine, monkeypatch):
    draw = Random(pattern)
    for high in (3, 11, 40):
        machine, copies = both(monkeypatch, strings(pattern, high))
        guide = gv.guide(machine, VOCABULARY, engine)
        oracle = gv.guide(copies, VOCABULARY)
        for _ in range(3):
            tokens = choose_tokens(oracle, draw, 40, drawn=2)
            assert_alike(guide, oracle, tokens)
            states = accumulate(tokens, guide.advance, initial=guide.initial)
            of_copies = accumulate(tokens, oracle.advance, initial=oracle.initial)
            for state, copy in zip(states, of_copies, strict=True):
                assert gv.machines.bytes_to_end(machine, state) == gv.machines.bytes_to_end(copies, copy)


@pytest.mark.parametrize("high", [255, 2083, 16_383])
@pytest.mark.quick("255")
def test_a_uri_of_any_length_compiles_and_is_counted(high):
    machine = gv.json_schema({"type": "string", "format": "uri", "minLength": 1, "maxLength": high})
    start = '"http://a.b/'
    room = high - len(start) + 1
    assert_reads(
        machine, [start + "x" * room + '"', start + "%41" * (room // 3) + '"'], [start + "x" * (room + 1) + '"']
    )
    read_so_far = (start + "x" * (room - 3)).encode()
    assert machine.accepts_prefix(read_so_far + b"%")
    assert not machine.accepts_prefix(read_so_far + b"x%")


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
    "both": {"type": "string", "minLength": 1023, "maxLength": 1025},
    "minItems": {"type": "array", "items": {"type": "integer"}, "minItems": 1023, "maxItems": 1024},
    "items with a length": {"type": "array", "items": STRING | {"maxLength": 1024}, "maxItems": 1024},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_the_bounds_hold(schema):
    machine = gv.json_schema(schema)
    assert isinstance(machine, PDA)
    for count in (0, 1024, 1025):
        for value in ("é" * count, ["x"] * count, [7] * count):
            text = json.dumps(value, ensure_ascii=count % 2 == 0).encode()
            assert machine.accepts(text) == jsonschema.Draft202012Validator(schema).is_valid(value)
