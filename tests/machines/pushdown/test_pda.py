"""The pushdown machine, against Python's own JSON reader, against listed sentences, and against the flat machines."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown import automaton
from guidedviz.machines.pushdown.pda import JSON_GBNF, PDA
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.syntax import Call, Chars, concat, literal, optional
from tests.common import in_time
from tests.strategies import apply_edits, edits, regexes

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


@given(json_values, st.booleans(), st.sampled_from([None, 1, "\t"]), edits(["", *'{}[]:,"0 .-eE\\/tn\n\x01é']))
def test_json_agrees_with_python_on_its_texts_and_on_texts_that_are_nearly_right(value, ascii_only, indent, changes):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert JSON.accepts(text.encode())
    assert JSON.accepts_prefix(text.encode()[: len(text) // 2])
    changed = apply_edits(text, changes).encode()
    assert JSON.accepts(changed) == is_json(changed)


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
    with in_time(10):
        assert JSON.accepts(b"[" * 30_000 + b"]" * 30_000)
        assert not JSON.accepts(b"[" * 30_000 + b"]" * 29_999)


def test_the_stack_pushes_and_pops():
    text = b'{"key": {"b": 1}}'
    member = ("member", "object", "root")
    stacks = {
        0: ("root",),
        1: ("object", "root"),
        2: ("string", *member),
        7: member,
        16: ("object", "root"),
        17: ("root",),
    }
    for size, stack in stacks.items():
        assert JSON.stack(read(JSON, text[:size])) == stack, size


def test_states_are_values_and_met_once():
    flat = pda('root ::= "a" root | "b"')
    assert read(flat, b"a") is read(flat, b"a" * 1000), "a list that ends in itself"
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
