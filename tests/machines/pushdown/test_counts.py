"""Machines that count repeats, against the machines with copies."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.rewrite import count_repeats, is_counted
from guidedviz.machines.machine import next_bytes, read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.compare import compare_machines
from guidedviz.machines.regular.regex import parse_regex


def counting(text, copies=0):
    grammar = Grammar((Rule("root", parse_regex(text), (0, 4)),))
    return PDA(grammar, copies=copies)


AMBIGUOUS = ["a*a{2,3}b", "(a|aa){2,4}", "(aa|aaaaa){1,3}b", "a{0,3}a{0,3}", "(a{1,2}){2,3}", "(a|b)*a(a|b){3}"]
PLAIN = ["a{2,3}", "(ab|a){0,3}b", "a{3,}", "(a{2,3}b){2,3}", "a{0,3}b{1,2}|ab{0,4}", "(b|a{3,4}b){1,2}", "a{4}"]
BODIES = ["(é|x){2,4}", "((ab)*b){2,3}", "(a*b){0,2}a", "((a|b)b?){3,4}"]


@pytest.mark.parametrize("text", PLAIN + AMBIGUOUS + BODIES)
def test_a_machine_that_counts_accepts_the_texts_of_its_copies(text):
    machine, copies = counting(text), gv.regex(text)
    assert any(machine.nodes.counts)
    found = compare_machines(machine, copies)
    assert found.whole, found
    assert found.text is None, found


def count_text(low, more):
    return f"{{{low},{low + more}}}"


def grow(inner):
    repeats = st.builds("(?:{}){}".format, inner, counts)
    sequences = st.builds("{}{}".format, inner, inner)
    choices = st.builds("(?:{}|{})".format, inner, inner)
    return st.one_of(repeats, sequences, choices, inner.map("(?:{})*".format))


small = st.integers(0, 3)
counts = st.builds(count_text, small, small)
letters = st.sampled_from(["a", "b", "[ab]", "ab", "aab"])
regexes = st.recursive(letters, grow, max_leaves=4)


@given(regexes)
def test_random_counted_repeats_accept_the_texts_of_their_copies(text):
    found = compare_machines(counting(text), gv.regex(text), most=3_000)
    assert found.text is None, found


@pytest.mark.parametrize("bounds", [(0, 127), (1, 128), (128, 128), (129, 4095), (0, 4096), (4096, 4097), (4095, None)])
@pytest.mark.quick(every=2)
def test_large_counts_end_at_their_bounds(bounds):
    low, high = bounds
    most = "" if high is None else high
    machine = counting(f'"(?:[a-z]|é){{{low},{most}}}"')
    for count in {0, 1, 127, 128, 129, 4095, 4096, 4097}:
        few = high is None or count <= high
        text = b'"' + "é".encode() * count
        assert machine.accepts(text + b'"') == (few and low <= count)
        assert machine.accepts_prefix(b'"' + b"a" * count) == few


def test_equal_repeats_share_a_rule():
    machine = gv.grammar('root ::= [a-z]{0,5000} "," [a-z]{0,5000} "," x\nx ::= [a-z]{0,5000} x?')
    assert machine.nodes.names == ("root", "root{0,5000}", "x")
    assert machine.accepts(b"," + b"a" * 5000 + b"," + b"a" * 9000)


def test_counted_repeats_of_rules_that_nest():
    machine = gv.grammar('root ::= "[" item{2,3000} "]"\nitem ::= "x" | root')
    assert machine.accepts(b"[" + b"x" * 2999 + b"[xx]]")
    assert not machine.accepts(b"[" + b"x" * 3000 + b"[xx]]")
    assert not machine.accepts(b"[x[x]]")


def test_small_repeats_stay_copies():
    assert gv.regex("[a-z]{0,500}") == gv.regex("[a-z]{0,250}[a-z]{0,250}")
    assert not is_counted(parse_regex("[0-9]{4}-[0-9]{2}"))


@pytest.mark.parametrize("text", ["(a?){0,90000}", "(a*){90000}"])
def test_a_part_that_may_be_empty_is_not_counted(text):
    with pytest.raises(gv.PatternError, match="NFA states"):
        gv.regex(text)


def test_many_repeats_that_are_too_large_together_are_counted():
    repeats = [f"[a-z]{{0,{count}}}" for count in range(970, 992)]
    text = "-".join(repeats)
    assert is_counted(parse_regex(text))
    machine = gv.regex(text)
    assert machine.accepts(b"ab-" * 21 + b"a" * 991)
    assert not machine.accepts(b"ab-" * 21 + b"a" * 992)


def test_a_repeat_cannot_end_inside_a_part_that_comes_back_to_its_start():
    machine = gv.grammar('root ::= "<" (("ab")* "c"){0,5000} ">"')

    def inner(text):
        state = read(machine, text)
        may_end = b">" in next_bytes(machine, state)
        assert may_end == (machine.unfinished(state).rule == "root")
        return machine.frames(state)[0].waits

    assert inner(b"<ab") == inner(b"<abab") == "a or c (0…5000, now 0)"
    assert inner(b"<abc") == "a c or its end (0…5000, now 1)"
    assert inner(b"<abcab") == "a or c (0…5000, now 1)"


def test_the_grammar_itself_keeps_its_repeats():
    grammar = parse_grammar("root ::= [a-z]{0,5000}")
    assert PDA(grammar).grammar == grammar
    assert count_repeats(grammar)[1] == {"root{0,5000}": (0, 5000)}


@pytest.mark.parametrize("text", ["a{2,30}", "b(ab?){7,9}a", "(a{2,9}b){2,13}", "(a|aa){5,9}", "a{5,}b"])
def test_the_way_to_the_end_counts_what_is_missing(text):
    machine = counting(text)
    copies = gv.regex(text)
    rng = random.Random(text)
    state = machine.initial
    copy = copies.initial
    for _ in range(40):
        assert gv.machines.bytes_to_end(machine, state) == gv.machines.bytes_to_end(copies, copy)
        ways = [byte for byte in b"ab" if machine.step(state, byte) is not None]
        if not ways:
            break
        byte = rng.choice(ways)
        state = machine.step(state, byte)
        copy = copies.step(copy, byte)
