"""The fewest bytes to an end: by rules and stacks as by trying all texts, however deep the stack."""

from types import SimpleNamespace

import pytest

import guidedviz as gv
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.distance import bytes_to_end

GRAMMARS = {
    "nested": 'root ::= "(" root ")" | "[" root "]]" | "x"',
    "left": 'root ::= root "+" item | item\nitem ::= "1" | "(" root ")"',
    "ambiguous": 'root ::= root root | "(" root ")" | "ab" | "c"',
    "empty": 'root ::= a a b?\na ::= ("(" a ")")*\nb ::= "x" b | "y"',
    "palindromes": 'root ::= "" | "(" root "(" | "x" root "x"',
}


def without_rules(machine):
    """The same machine, of which nothing is known but its steps."""
    return SimpleNamespace(step=machine.step, is_accepting=machine.is_accepting, initial=machine.initial)


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("alphabet", [b"([])+1xyabc", b"()[]x1a"])
def test_rules_and_stacks_know_what_trying_finds(name, alphabet):
    machine, letters = gv.grammar(GRAMMARS[name]), frozenset(alphabet)
    level, plain = [machine.initial], without_rules(machine)
    for _ in range(5):
        for state in level:
            known = bytes_to_end(machine, state, letters)
            if known is None or known <= 6:
                assert known == try_all(plain, state, letters, 7)
        level = {after for state in level for byte in b"([])+1xyabc" if (after := machine.step(state, byte))}


def try_all(machine, state, letters, most):
    """By trying every text of up to so many letters."""
    level = {state}
    for length in range(most + 1):
        if any(map(machine.is_accepting, level)):
            return length
        level = {after for state in level for byte in letters if (after := machine.step(state, byte)) is not None}
    return None


def test_a_flat_machine_is_searched():
    date = gv.regex("[0-9]{4}-[0-9]{2}")
    assert [bytes_to_end(date, read(date, text)) for text in (b"", b"2024", b"2024-11")] == [7, 3, 0]
    assert bytes_to_end(date, 0, frozenset(b"0123456789")) is None


@pytest.mark.slow
def test_depth_costs_no_recursion():
    machine = gv.grammar('root ::= "(" root ")" | "x"')
    assert bytes_to_end(machine, read(machine, b"(" * 20_000)) == 20_001


def test_a_shortest_text_too_long_to_be_written_has_a_length():
    rules = "\n".join(f"r{n} ::= r{n + 1} r{n + 1}" for n in range(80))
    machine = gv.grammar(f'root ::= r0\n{rules}\nr80 ::= "a"')
    assert bytes_to_end(machine, machine.initial) == 2**80


def test_it_is_asked_of_a_machine_and_a_state():
    machine = gv.grammar('root ::= "(" root ")" | "x"')
    with pytest.raises(gv.SettingError, match="state: saw bytes, expected a state of"):
        bytes_to_end(machine, b"((")
    with pytest.raises(gv.SettingError, match="bytes_to_end: saw str, expected a machine"):
        bytes_to_end("(x)", 0)
    assert bytes_to_end(machine, machine.step(machine.initial, ord("?"))) is None
