"""Claims about the rows of states that a counted repeat becomes."""

import pytest

import guidedviz as gv
from guidedviz.machines.machine import read
from guidedviz.machines.regular.repeats import RepeatRows

CASES = {
    "all of them": ("[a-z]{2,5}!", b"abcde", (5, 5)),
    "an exact number": ("[0-9]{4}-[0-9]{2}", b"2024", (4, 4)),
    "a limit from below": ("[a-z]{3,}!", b"abc", None),
    "too few to count": ("[a-z]{2}!", b"ab", None),
    "a row that two texts lead to": ("(a|bb)[0-9]{4}!", b"bb12", (2, 4)),
}


@pytest.mark.parametrize(("pattern", "text", "counted"), CASES.values(), ids=CASES)
def test_a_state_in_a_counted_repeat_says_how_many_were_read(pattern, text, counted):
    machine = gv.regex(pattern)
    assert RepeatRows(machine).count(read(machine, text)) == counted


def test_a_string_with_a_longest_length_counts_its_characters_whatever_bytes_they_have():
    machine = gv.json_schema({"type": "string", "maxLength": 6})
    rows = RepeatRows(machine)
    for text in (b'"ab', '"aé'.encode(), b'"a\\n'):
        assert rows.count(read(machine, text)) == (2, 6)
    assert rows.count(read(machine, b'"abcdef')) == (6, 6)
