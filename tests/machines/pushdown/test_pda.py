"""The pushdown machine, against Python's own JSON reader, against listed sentences, and against the flat machines."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown import automaton
from guidedviz.machines.pushdown.pda import JSON_GBNF, PDA
from guidedviz.machines.regular.regex import parse_regex, regex
from guidedviz.machines.syntax import Call, Chars, concat, literal, optional
from tests.common import in_time
from tests.strategies import regexes

ROOT = Path(__file__).resolve().parents[4]
FILES = ROOT / "shared" / "data" / "json-parsing"


def pda(text):
    return PDA(parse_grammar(text))


def pda_of_rules(root, *others):
    return PDA(Grammar((Rule("root", root), *others)))


JSON = pda(JSON_GBNF)


def is_json(data):
    try:
        json.loads(data.decode(), parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        return False
    return True


numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain_values = st.none() | st.booleans() | numbers | st.text(max_size=5)


def grow(inner):
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)


json_values = st.recursive(plain_values, grow, max_leaves=8)


@given(json_values, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_json_takes_every_value_that_python_writes(value, ascii_only, indent):
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert JSON.accepts(data)
    assert JSON.accepts_prefix(data[: len(data) // 2])


@given(json_values, st.data())
def test_json_agrees_with_python_on_texts_that_are_nearly_right(value, data):
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(st.sampled_from(["", *'{}[]:,"0 .-eE\\/tn\n\x01é']))
    after = at + data.draw(st.integers(0, 2))
    changed = text[:at] + put + text[after:]
    mutant = changed.encode()
    assert JSON.accepts(mutant) == is_json(mutant)


@pytest.mark.skipif(not FILES.is_dir(), reason=f"no JSON files in {FILES}")
def test_the_files_of_the_json_parsing_suite():
    files = sorted(FILES.glob("[yn]_*"))
    with in_time(30):  # none is slow, 100,000 open brackets included
        for file in files:
            expected = file.name.startswith("y_")
            assert JSON.accepts(file.read_bytes()) == expected, file.name
        assert len(files) == 283


@pytest.mark.slow
def test_depth_neither_recurses_nor_slows():
    took = []
    for depth in (3_000, 30_000):
        machine = pda(JSON_GBNF)
        begin = time.process_time()
        assert machine.accepts(b"[" * depth + b"]" * depth)
        took.append(time.process_time() - begin)
    assert took[1] < 40 * took[0], "ten times the depth takes about ten times as long"
    state = read(machine, b"[" * depth)
    *shown, rest = machine.stack(state)
    assert shown == ["array"] * 40
    assert rest == f"… {depth - 39:,} more"
    assert machine.depth(state) == depth + 1
    assert not machine.accepts(b"[" * depth + b"]" * (depth - 1))


def test_the_stack_pushes_and_pops():
    text = b'{"key": {"b": 1}}'
    member = ("member", "object", "root")
    stacks = {
        0: ("root",), 1: ("object", "root"), 2: ("string", *member), 7: member, 9: ("object", "object", "root"),
        13: ("member", "object", "object", "root"), 15: ("number", "object", "object", "root"),
        16: ("object", "root"), 17: ("root",),
    }  # fmt: skip
    for size, stack in stacks.items():
        assert JSON.stack(read(JSON, text[:size])) == stack, size


def test_a_list_that_ends_in_itself_stays_flat():
    machine = pda('root ::= "a" root | "b"')
    assert machine.stack(read(machine, b"a" * 1000)) == ("root",)
    assert read(machine, b"a") is read(machine, b"a" * 1000)


def test_states_are_values_and_met_once():
    state = read(JSON, b'{"a":[')
    left = JSON.step(state, ord("]"))
    right = JSON.step(state, ord("1"))
    assert left is not right
    assert JSON.step(state, ord("]")) is left
    assert read(JSON, b'{"b":[') is state
    assert JSON.step(state, ord("}")) is None
    assert repr(state) == f"n{JSON.places(state)[0]}"


def test_two_to_the_two_thousandth_stacks_share_their_places():
    machine = pda('root ::= "a" root "b" | u | ""\nu ::= "a" root "c"')
    closed = b"bc" * 1000
    assert machine.accepts(b"a" * 2000 + closed)
    assert not machine.accepts(b"a" * 1999 + closed)


PAIRS = [
    ('root ::= "-"? digit+ ("." digit+)?\ndigit ::= [0-9]', r"-?[0-9]+(\.[0-9]+)?"),
    ('root ::= word (", " word)*\nword ::= [a-z] | "é" word', r"é*[a-z](, é*[a-z])*"),
    ('root ::= a | a b\na ::= "x" b?\nb ::= "yy" | ""', r"x(yy){0,2}"),
]


@given(st.sampled_from(PAIRS), st.text(st.sampled_from("-0.1a, éxy"), max_size=8))
def test_a_grammar_without_recursion_is_a_regex(pair, text):
    grammar, pattern = pair
    machine = pda(grammar)
    flat = regex(pattern)
    data = text.encode()
    matched = bool(re.fullmatch(pattern, text))
    assert machine.accepts(data) == matched
    assert flat.accepts(data) == matched
    assert machine.accepts_prefix(data) == flat.accepts_prefix(data)


def test_a_rule_that_an_earlier_grammar_had_is_the_same_rule():
    schemas = ({"type": "object"}, {"type": "array", "items": {"type": "object"}}, {"properties": {"a": {}}})
    found = [gv.json_schema(schema).nodes for schema in schemas]
    for schema, nodes in zip(schemas, found, strict=True):
        automaton.build_small_rule.cache_clear()
        assert gv.json_schema(schema).nodes == nodes


def test_a_rule_that_another_grammar_has_is_built_once():
    """Its call has another number there, because x is called first."""
    call = Call("x")
    x = Rule("x", literal("x"))
    twice = Rule("twice", concat(literal("<"), call, literal(","), call, literal(">")))
    machine = pda_of_rules(concat(call, Call("twice")), x, twice)
    assert machine.accepts(b"x<x,x>")
    built = automaton.build_small_rule.cache_info().misses
    assert pda_of_rules(Call("twice"), x, twice).accepts(b"<x,x>")
    assert automaton.build_small_rule.cache_info().misses == built + 1  # the root


ROWS = [
    literal("a"),
    literal("b"),
    literal("é"),
    Chars(((97, 99),)),
    optional(literal(" ")),
    Call("x"),
    optional(Call("x")),
]


@given(st.lists(st.sampled_from(ROWS), max_size=6), regexes)
def test_a_rule_that_begins_with_a_row_is_written_down_as_the_automaton_of_its_tree(row, pattern):
    rule = Rule("root", concat(*row, parse_regex(pattern)))
    assert automaton.build_rule(rule, rule.calls) == automaton.build_letters(rule.tree, rule.calls)
