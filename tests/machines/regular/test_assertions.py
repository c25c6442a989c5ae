"""Anchors, word boundaries and lookarounds anywhere in a pattern: `re` is the oracle."""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex, regex
from tests.common import assert_reads, in_time, texts_up_to
from tests.machines.oracle import count_classes, matches

TEXTS = list(texts_up_to("ab \n", 4))
ATOMS = ["a", "b", ".", r"\n", "[^a]", r"\w", r"\W", r"\b", r"\B", "^", "$", r"\A", r"\Z", "", "é"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{0,2}", "*?", "+?", "??"]
GROUPS = ["", "?:", "?i:", "?s:", "?m:", "?=", "?!", "?<=", "?<!"]


def grow(inner):
    sequences = st.builds("{}{}".format, inner, inner)
    choices = st.builds("(?:{}|{})".format, inner, inner)
    repeats = st.builds("(?:{}){}".format, inner, st.sampled_from(QUANTIFIERS))
    groups = st.builds("({}{})".format, st.sampled_from(GROUPS), inner)
    return sequences | choices | repeats | groups


flags = st.sampled_from(["", "", "(?m)", "(?s)"])
bodies = st.recursive(st.sampled_from(ATOMS), grow, max_leaves=8)
asserted = st.builds("{}{}".format, flags, bodies)


def accepted(machine):
    """Which of the texts a machine accepts; each goes on from the state of the text before its last character."""
    states = {"": machine.initial}
    for text in TEXTS[1:]:
        before = states[text[:-1]]
        states[text] = machine.step(before, ord(text[-1]))
    return {text for text, state in states.items() if machine.is_accepting(state)}


def compile_pattern(pattern):
    try:
        return re.compile(pattern, re.ASCII)
    except re.error:
        assume(False)


@given(asserted)
def test_a_machine_accepts_what_re_accepts(pattern):
    compiled = compile_pattern(pattern)
    machine = regex(pattern)
    assert accepted(machine) == set(filter(compiled.fullmatch, TEXTS))
    assert count_classes(machine) == (len(machine) if machine.accepting else 0)


@given(asserted)
@example("(?m)^a")
@example(r"(?m)a\Z")
@example("a|^b$")
@example("(^)(^a|b)")
@example("(^a)?b")
@example("a($)")
def test_a_search_finds_what_re_finds(pattern):
    """Without the flag m a $ holds at the end only, and not before a line break there."""
    compile_pattern(pattern)
    assume(pattern.count("?m") == pattern.startswith("(?m)"))
    compiled = re.compile(pattern if "?m" in pattern else pattern.replace("$", r"\Z"), re.ASCII)
    machine = build_dfa(build_nfa(parse_regex(pattern, search=True)))
    assert accepted(machine) == set(filter(compiled.search, TEXTS))


@pytest.mark.parametrize(
    ("pattern", "text", "other"),
    [(r"\bfoo\b.*", "foo-bar", "foobar"), (r"^(?=.*\bfoo\b)(?=.*\bbar\b).*$", "bar, foo", "barfoo"),
     (r"\d+(?:\.\d+)?(?<!00)", "0.10", "100"), ("(?m)^a$\n^b$", "a\nb", "a b"), 
     (r"(?<=\bré)?é(?=☃$)☃", "é☃", "é")],
)  # fmt: skip
def test_patterns_from_practice(pattern, text, other):
    assert_reads(regex(pattern), [text], [other])


@pytest.mark.parametrize("pattern", ["(?=.{20}a).*", ".*(?<=a.{8})b", "(?:a(?=.{6}b)|b)*", r"(?:\b\w+\b ?){1,30}"])
@pytest.mark.quick(every=4)
def test_long_lookarounds_fit(pattern):
    machine = regex(pattern)
    for text in ("a" * 21, "ba" + "b" * 30, "ab" * 11, "abababab b", "a" * 9 + "b" + "a" * 20):
        assert machine.accepts(text.encode()) == matches(pattern, text)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [
    ".*(?<=a.{20})b", "(?:a(?=.{20}b)|b)*", "(?=(?:a?){500}b)(?:.(?<!a.{30})){900}", r"(?:\b.{0,900}){90}",
])  # fmt: skip
def test_lookarounds_that_are_too_large_are_refused_in_time(pattern):
    with in_time(10), pytest.raises(PatternError, match=r"more than|too deep"):
        regex(pattern)
