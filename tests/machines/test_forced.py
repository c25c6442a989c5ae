"""Claims about forced runs: every text goes on with them, as long as can be, and hold whole characters."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.forced import forced_bytes
from guidedviz.machines.machine import next_bytes, read
from tests.strategies import grammars, regexes

SIGNS = "abA1é☃"
TEXTS = ["".join(signs) for length in range(5) for signs in product(SIGNS, repeat=length)]


@settings(deadline=None, max_examples=100)
@given(regexes)
def test_every_text_that_re_takes_begins_with_them(pattern):
    run = forced_bytes(gv.regex(pattern), 0)
    compiled = re.compile(pattern, re.ASCII)
    assert all(text.encode().startswith(run) for text in TEXTS if compiled.fullmatch(text))


@settings(deadline=None, max_examples=100)
@given(grammars, st.data())
def test_behind_them_is_a_choice_or_an_end_and_they_are_whole_characters(text, data):
    try:
        machine = gv.grammar(text)
    except gv.GuidedVizError:
        return
    state = machine.initial
    for _ in range(data.draw(st.integers(0, 4))):
        run = forced_bytes(machine, state)
        after = read(machine, run, state)
        ways = next_bytes(machine, after)
        inside = any(byte in range(0x80, 0xC0) for byte in ways[:1])
        if inside:  # it stopped before bytes that one character shares with another, or inside the one it began in
            assert run == b"" or ways == b""
        elif not machine.is_accepting(after) and len(ways) == 1:
            partial = run + ways
            while len(ways := next_bytes(machine, after := machine.step(after, ways[0]))) == 1:
                partial += ways
            assert not is_utf8(partial)
        if not next_bytes(machine, after):
            break
        state = machine.step(after, data.draw(st.sampled_from(list(next_bytes(machine, after)))))


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "read_so_far", "run"),
    [('root ::= "name: " [a-z]+', b"", b"name: "), ('root ::= "a" | "ab"', b"", b"a"), ('root ::= "é" | "è"', b"", b""),
     ('root ::= "aé" | "aè"', b"", b"a"), ('root ::= "☃" | "☄"', b"", b""), ('root ::= "é"', b"\xc3", b"\xa9"),
     ('root ::= "☃" | "☄"', b"\xe2", b""), ('root ::= "(" root ")" | "x"', b"(x", b")"),
     ('root ::= "[" ("a" | "b") "]" "!"?', b"[a", b"]")],
)  # fmt: skip
def test_they_end_at_a_choice_at_an_end_and_before_half_a_character(text, read_so_far, run):
    machine = gv.grammar(text)
    assert forced_bytes(machine, read(machine, read_so_far)) == run


def test_a_rule_that_never_finishes_does_not_hang():
    with pytest.raises(gv.GrammarError):
        gv.grammar('root ::= "a" root')
    machine = gv.grammar('root ::= "a" | "b" s\ns ::= "c" s')
    assert forced_bytes(machine, machine.initial) == b"a"


def test_a_very_long_run_is_cut():
    assert forced_bytes(gv.regex("(abc){100}"), 0) == b"abc" * 100
    assert forced_bytes(gv.regex("(abc){100}"), 0, limit=10) == b"abcabcabca"
