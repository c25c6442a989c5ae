"""Claims about forced runs: every text goes on with them, as long as can be, and hold whole characters."""

from itertools import islice

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.machine import forced_bytes, read
from tests.strategies import grammars


@given(grammars, st.lists(st.integers(0, 255), max_size=4))
@example('root ::= "a" [à-ê]', [])
@example('root ::= "🙂" | "🙃"', [0])
def test_they_are_the_characters_that_must_come_next(text, turns):
    """Brute force, from wherever a text may be, also inside a character: as long as only one character may come."""
    try:
        machine = gv.grammar(text)
    except gv.GuidedVizError:
        return
    state = machine.initial
    for turn in [*turns, 0]:
        run, after = by_characters(machine, state)
        assert forced_bytes(machine, state) == run
        ways = ways_on(machine, after)
        if not ways:
            break
        state = machine.step(after, ways[turn % len(ways)])


def by_characters(machine, state):
    run = b""
    while not machine.is_accepting(state):
        following = list(islice(characters(machine, state), 2))
        if len(following) != 1:
            break
        [only] = following
        run += only
        state = read(machine, only, state)
    return run, state


def characters(machine, state):
    """Every character that may come next, or every end of the one that has begun."""
    for byte in ways_on(machine, state):
        after = machine.step(state, byte)
        ways = ways_on(machine, after)
        inside = any(0x80 <= next_one < 0xC0 for next_one in ways)
        for rest in characters(machine, after) if inside else [b""]:
            yield bytes([byte]) + rest


def ways_on(machine, state):
    return [byte for byte in range(256) if machine.step(state, byte) is not None]


@pytest.mark.parametrize(
    ("text", "read_so_far", "run"),
    [('root ::= "name: " [a-z]+', b"", b"name: "), ('root ::= "é" | "è"', b"", b""),
     ('root ::= "aé" | "aè"', b"", b"a"), ('root ::= "é"', b"\xc3", b"\xa9"),
     ('root ::= "☃" | "☄"', b"\xe2", b""), ('root ::= "(" root ")" | "x"', b"(x", b")")],
)  # fmt: skip
def test_they_end_at_a_choice_at_an_end_and_before_half_a_character(text, read_so_far, run):
    machine = gv.grammar(text)
    assert forced_bytes(machine, read(machine, read_so_far)) == run
