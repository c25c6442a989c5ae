"""The fewest bytes to an end: by rules and stacks as by trying all texts, however deep the stack."""

from types import SimpleNamespace

import pytest

import guidedviz as gv
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.distance import bytes_to_end

GRAMMARS = {
    "nested": 'root ::= "(" root ")" | "[" root "]]" | "x"',
    "empty": 'root ::= a a b?\na ::= ("(" a ")")*\nb ::= "x" b | "y"',
    "palindromes": 'root ::= "" | "(" root "(" | "x" root "x"',
}


def without_rules(machine):
    """The same machine, of which nothing is known but its steps."""
    return SimpleNamespace(step=machine.step, is_accepting=machine.is_accepting, initial=machine.initial)


def after_one_byte(machine, states, letters):
    reached = {machine.step(state, byte) for state in states for byte in letters}
    return reached - {None}


@pytest.mark.parametrize("name", GRAMMARS)
def test_rules_and_stacks_know_what_trying_finds(name):
    machine = gv.grammar(GRAMMARS[name])
    letters = frozenset(b"()[]x1ay")
    plain = without_rules(machine)
    level = {machine.initial}
    for _ in range(5):
        for state in level:
            known = bytes_to_end(machine, state, letters)
            if known is None or known <= 6:
                assert known == try_all(plain, state, letters, 7)
        level = after_one_byte(machine, level, b"([])+1xyabc")


def try_all(machine, state, letters, most):
    """By trying every text of up to so many letters."""
    level = {state}
    for length in range(most + 1):
        if any(map(machine.is_accepting, level)):
            return length
        level = after_one_byte(machine, level, letters)
    return None


def test_a_flat_machine_is_searched():
    date = gv.regex("[0-9]{4}-[0-9]{2}")
    for text, left in ((b"", 7), (b"2024", 3), (b"2024-11", 0)):
        assert bytes_to_end(date, read(date, text)) == left
    assert bytes_to_end(date, 0, frozenset(b"0123456789")) is None


def test_a_shortest_text_too_long_to_be_written_has_a_length():
    doubled = ["r{0} ::= r{1} r{1}".format(n, n + 1) for n in range(80)]
    rules = "\n".join(doubled)
    machine = gv.grammar(f'root ::= r0\n{rules}\nr80 ::= "a"')
    assert bytes_to_end(machine, machine.initial) == 2**80


def test_it_is_asked_of_a_machine_and_a_state():
    machine = gv.grammar('root ::= "(" root ")" | "x"')
    with pytest.raises(gv.SettingError, match="state: saw bytes, expected a state of"):
        bytes_to_end(machine, b"((")
    with pytest.raises(gv.SettingError, match="bytes_to_end: saw str, expected a machine"):
        bytes_to_end("(x)", 0)
    assert bytes_to_end(machine, machine.step(machine.initial, ord("?"))) is None
