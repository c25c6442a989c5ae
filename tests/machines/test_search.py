"""Searching is said as a pattern for the whole text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guidedviz.errors import PatternError
from guidedviz.machines.dfa import build_dfa
from guidedviz.machines.nfa import build_nfa
from guidedviz.machines.regex import parse_regex
from tests.strategies import regexes, texts


def found(pattern, text):
    return re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None


@settings(deadline=None, max_examples=200)
@given(regexes, st.lists(texts, max_size=6))
def test_a_pattern_is_found_where_re_finds_it(pattern, tried):
    machine = build_dfa(build_nfa(parse_regex(pattern, search=True)))
    for text in tried:
        assert machine.accepts(text.encode()) == found(pattern, text)


PATTERNS = ["", "a(b$|1)", *"^ $ ^$ ^a|b (^a|b)1 (?:^|a)b (|a)b ^(a|b)+$ ((^a)) a|^b$ ^a|^b|a$ (^a)b (?i)^B".split()]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(deadline=None, max_examples=60)
@given(st.text("ab1\n", max_size=4))
def test_anchors_hold_an_end_shut_in_their_own_branch_only(pattern, text):
    machine = build_dfa(build_nfa(parse_regex(pattern, search=True)))
    assert machine.accepts(text.encode()) == found(pattern, text)


@pytest.mark.parametrize("pattern", ["a^b", "a$b", "(?m)^a", "(?m:^a)", "(^a)?b"])
def test_an_anchor_in_the_middle_is_refused(pattern):
    with pytest.raises(PatternError, match="anchor"):
        parse_regex(pattern, search=True)
