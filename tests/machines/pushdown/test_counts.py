"""Machines that count repeats, against the machines with copies."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.rewrite import is_counted
from guidedviz.machines.machine import next_bytes, read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.compare import compare_machines
from guidedviz.machines.regular.regex import parse_regex


def counting(text, copies=0):
    grammar = Grammar((Rule("root", parse_regex(text), (0, 4)),))
    return PDA(grammar, copies=copies)


def count_text(low, more):
    return f"{{{low},{low + more}}}"


def grow(inner):
    repeats = st.builds("(?:{}){}".format, inner, counts)
    sequences = st.builds("{}{}".format, inner, inner)
    choices = st.builds("(?:{}|{})".format, inner, inner)
    return st.one_of(repeats, sequences, choices, inner.map("(?:{})*".format))


small = st.integers(0, 3)
counts = st.builds(count_text, small, small)
letters = st.sampled_from(["a", "b", "[ab]", "ab", "aab", "[éb]"])
regexes = st.recursive(letters, grow, max_leaves=4)


@given(regexes)
@example("((ab)*b){2,3}")
@example("a{3,}b?")
@example("a{0,3}a{0,3}")
@example("(b|a{3,4}b){1,2}")
def test_random_counted_repeats_accept_the_texts_of_their_copies(text):
    machine = counting(text)
    assert not is_counted(parse_regex(text)) or any(machine.nodes.counts)
    found = compare_machines(machine, gv.regex(text), most=3_000)
    assert found.text is None, found


@pytest.mark.parametrize("bounds", [(128, 128), (0, 4096), (1, 127), (4095, None)])
@pytest.mark.quick(every=2)
def test_large_counts_end_at_their_bounds(bounds):
    low, high = bounds
    most = "" if high is None else high
    machine = counting(f'"(?:[a-z]|é){{{low},{most}}}"')
    for count in (0, 127, 128, 129, 4095, 4096, 4097):
        few = high is None or count <= high
        assert machine.accepts(f'"{"é" * count}"'.encode()) == (few and low <= count)
        assert machine.accepts_prefix(b'"' + b"a" * count) == few


def test_equal_repeats_share_a_rule():
    machine = gv.grammar('root ::= [a-z]{0,5000} "," [a-z]{0,5000} "," x\nx ::= [a-z]{0,5000} x?')
    assert machine.nodes.names == ("root", "root{0,5000}", "x")
    assert machine.accepts(b"," + b"a" * 5000 + b"," + b"a" * 9000)
    exact = gv.grammar('root ::= "<" [a-z]{5000} ">"')
    assert exact.frames(read(exact, b"<abc"))[0].waits == "a-z (5000, now 3)"
    names = gv.grammar('root ::= [a-z]{5000} "," [a-z]{5000,}').nodes.names
    assert names == ("root", "root{5000}", "root{5000,}")


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


@pytest.mark.parametrize("text", ["a{2,30}", "(a{2,9}b){2,13}", "(a|aa){5,9}"])
def test_the_way_to_the_end_counts_what_is_missing(text):
    machine = counting(text)
    copies = gv.regex(text)
    rng = random.Random(text)
    state = machine.initial
    copy = copies.initial
    while ways := list(next_bytes(copies, copy)):
        assert gv.machines.bytes_to_end(machine, state) == gv.machines.bytes_to_end(copies, copy)
        byte = rng.choice(ways)
        state = machine.step(state, byte)
        copy = copies.step(copy, byte)
