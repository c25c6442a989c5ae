"""Searching is said as a pattern for the whole text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.regular.dfa import build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex
from tests.strategies import regexes, texts


def found(pattern, text):
    return re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None


@given(regexes, st.lists(texts, max_size=6))
def test_a_pattern_is_found_where_re_finds_it(pattern, tried):
    machine = build_dfa(build_nfa(parse_regex(pattern, search=True)))
    for text in tried:
        assert machine.accepts(text.encode()) == found(pattern, text)


PATTERNS = ["", "a(b$|1)", *"^ $ ^$ ^a|b (^a|b)1 (?:^|a)b (|a)b ^(a|b)+$ ((^a)) a|^b$ ^a|^b|a$ (^a)b (?i)^B".split()]
PATTERNS += ["a^b", "a$b", "(^a)?b", "(^)a", "(^)(^a|b)", "a($)", r"\b", r"\B", r"\ba|b\b", "(?=a$)", "(?<!a)b", "()^"]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(st.text("ab1\n", max_size=4))
def test_an_anchor_holds_wherever_it_is_in_the_pattern(pattern, text):
    machine = build_dfa(build_nfa(parse_regex(pattern, search=True)))
    assert machine.accepts(text.encode()) == found(pattern, text)


@pytest.mark.parametrize("pattern", ["(?m)^a", "(?m:^a)b", "(?m)b$", "(?m:^)a", "(?m:a$)", r"(?m)a\Z", r"(?m)\Ab$"])
@given(st.text("ab\n", max_size=5))
def test_a_search_in_lines_looks_at_every_line(pattern, text):
    machine = build_dfa(build_nfa(parse_regex(pattern, search=True)))
    assert machine.accepts(text.encode()) == (re.search(pattern, text, re.ASCII) is not None)
