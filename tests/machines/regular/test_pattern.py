"""A pattern is the regex that says the same."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import PatternError
from guidedviz.machines.regular.pattern import CLASSES, pattern
from guidedviz.machines.regular.regex import regex
from tests.common import in_time

AS_REGEX = {
    "UPPER": "[A-Z]", "LOWER": "[a-z]", "LETTER": "[A-Za-z]", "DIGIT": "[0-9]", "SPACE": "[ ]", "NEWLINE": r"\n",
    "PUNCT": f"[{re.escape(string.punctuation)}]", "ANY": r"[\s\S]",
}  # fmt: skip
SPEAKER = [("UPPER", "+"), (":", "1"), (" ", "1"), ("LOWER", "+"), ("\n", "1")]

wholes = st.sampled_from([*AS_REGEX, "a", ":", "+", "\\", "é", "🙂", "ab", "a.b", "a|b", "true"])
counts = st.sampled_from(["1", "+", "*", "?", "{0}", "{2}", "{1,3}", "{0,2}", "{2,}", "{0,}"])


def regex_of(what, often):
    known = AS_REGEX.get(what) or re.escape(what)
    count = "" if often == "1" else often
    return f"(?:{known}){count}"


def test_the_speaker_has_six_states_and_seven_transitions():
    machine = pattern(SPEAKER)
    assert len(machine) == 6
    assert sum(map(len, machine.edges)) == 7
    assert machine == regex("[A-Z]+: [a-z]+\n")


@given(st.lists(st.tuples(wholes, counts), max_size=4))
def test_a_pattern_equals_its_regex(parts):
    said = "".join(regex_of(*part) for part in parts)
    assert pattern(parts) == regex(said)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_known_by_its_name_alone(name):
    assert pattern([[name, "1"]]) == regex(AS_REGEX[name])


@pytest.mark.parametrize(
    ("parts", "said"),
    [([("a", "1"), ("UPER", "+")], r"part 1, what: saw 'UPER'.*try: \"UPPER\""),
     ([("lower", "+")], r"part 0, what: saw 'lower'.*\"LOWER\""), ([("VOWEL", "1")], "part 0, what: saw 'VOWEL'"),
     ([("", "1")], "part 0, what: saw ''"), ([("a", "1"), ("a", "1"), ("a", "**")], r"part 2, how often: saw '\*\*'"),
     ([("a", "{3,2}")], r"how often: saw '\{3,2\}'.*m ≤ n"), ([("a", "{,2}")], "how often"), ([("a", "")], "how often"),
     ([("a", "2")], "how often"), ([("a", "{٣}")], "how often"), ([("a", 1)], "a pair of texts"),
     ([("a",)], "a pair of texts"), ([("a", "1", "1")], "a pair of texts"), (["a+"], "a pair of texts"),
     ("UPPER+", "a list of pairs"), (None, "a list of pairs"), ([None], "part 0: saw None")],
)  # fmt: skip
def test_what_is_no_pattern_is_told_with_its_part(parts, said):
    with pytest.raises(PatternError, match=said):
        pattern(parts)


@pytest.mark.parametrize("often", ["{1000000}", "{0,999999999}", "{99999,}"])
def test_a_hostile_count_ends_in_time_and_is_named(often):
    with in_time(10), pytest.raises(PatternError, match=re.escape(often) + " at position 1"):
        pattern([("a", "1"), ("ANY", often)])
