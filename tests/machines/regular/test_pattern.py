"""A pattern is the regex that says the same."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import PatternError
from guidedviz.machines.regular.pattern import pattern
from guidedviz.machines.regular.regex import regex

AS_REGEX = {
    "UPPER": "[A-Z]", "LOWER": "[a-z]", "LETTER": "[A-Za-z]", "DIGIT": "[0-9]", "SPACE": "[ ]", "NEWLINE": r"\n",
    "PUNCT": f"[{re.escape(string.punctuation)}]", "ANY": r"[\s\S]",
}  # fmt: skip

wholes = st.sampled_from([*AS_REGEX, "a", ":", "+", "\\", "é", "🙂", "ab", "a.b", "a|b", "true"])
counts = st.sampled_from(["1", "+", "*", "?", "{0}", "{2}", "{1,3}", "{0,2}", "{2,}", "{0,}"])


def regex_of(what, often):
    known = AS_REGEX.get(what) or re.escape(what)
    count = "" if often == "1" else often
    return f"(?:{known}){count}"


@given(st.lists(st.tuples(wholes, counts), max_size=4))
def test_a_pattern_equals_its_regex(parts):
    said = "".join(regex_of(*part) for part in parts)
    assert pattern(parts) == regex(said)


@pytest.mark.parametrize(
    ("parts", "said"),
    [([("a", "1"), ("UPER", "+")], r"part 1, what: saw 'UPER'.*try: \"UPPER\""),
     ([("", "1")], "part 0, what: saw ''"), ([("a", "1"), ("a", "1"), ("a", "**")], r"part 2, how often: saw '\*\*'"),
     ([("a", "{3,2}")], r"how often: saw '\{3,2\}'.*m ≤ n"), 
     ([("a", "{٣}")], "how often"), ([("a", 1)], "a pair of texts"),
     ("UPPER+", "a list of pairs"), ([None], "part 0: saw None")],
)  # fmt: skip
def test_what_is_no_pattern_is_told_with_its_part(parts, said):
    with pytest.raises(PatternError, match=said):
        pattern(parts)
