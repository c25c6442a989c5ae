"""Anchors, word boundaries and lookarounds anywhere in a pattern: `re` is the oracle."""

import re
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guidedviz.errors import PatternError
from guidedviz.machines.regular.algebra import difference, intersection
from guidedviz.machines.regular.dfa import build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex, regex
from tests.common import in_time, texts_up_to
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


def assert_finds(pattern, multiline):
    """A search accepts what that of `re` finds; there, a plain $ also holds before a line break at the end."""
    compiled = re.compile(pattern if multiline else pattern.replace("$", r"\Z"), re.ASCII)
    machine = build_dfa(build_nfa(parse_regex(pattern, search=True)))
    assert accepted(machine) == set(filter(compiled.search, TEXTS))


@given(asserted)
def test_a_search_finds_what_re_finds(pattern):
    compile_pattern(pattern)
    assume(pattern.count("?m") == pattern.startswith("(?m)"))
    assert_finds(pattern, multiline="?m" in pattern)


ENDS = ["", "a(b$|1)", *"^ $ ^$ ^a|b (^a|b)1 (?:^|a)b (|a)b ^(a|b)+$ ((^a)) a|^b$ ^a|^b|a$ (^a)b (?i)^B".split()]
ENDS += ["a^b", "a$b", "(^a)?b", "(^)a", "(^)(^a|b)", "a($)", r"\b", r"\ba|b\b", "(?=a$)", "(?<!a)b", "()^"]
LINES = ["(?m)^a", "(?m:^a)b", "(?m)b$", "(?m:^)a", "(?m:a$)", r"(?m)a\Z", r"(?m)\Ab$"]


@pytest.mark.parametrize("pattern", ENDS + LINES)
def test_an_anchor_holds_wherever_it_is_in_a_search(pattern):
    assert_finds(pattern, multiline=pattern in LINES)


PARTS = ["a", "b", r"\n", "a*", "(?:a|b)", "^", "$", r"\b", r"\B", "(?=a)", "(?!b)", "(?<=a)", r"(?<!\w)", "(?m:$)"]


@pytest.mark.parametrize("first", PARTS)
@pytest.mark.quick(every=14)
def test_every_short_pattern_accepts_what_re_accepts(first):
    for rest in product(PARTS, repeat=2):
        pattern = "".join((first, *rest))
        compiled = re.compile(pattern, re.ASCII)
        assert accepted(regex(pattern)) == set(filter(compiled.fullmatch, TEXTS)), pattern


@pytest.mark.parametrize(
    ("pattern", "text", "other"),
    [(r"\bfoo\b.*", "foo-bar", "foobar"), (r"^(?=.*\bfoo\b)(?=.*\bbar\b).*$", "bar, foo", "barfoo"),
     (r"(?=.*[A-Z])(?=.*\d)[A-Za-z\d]{8,}", "passWord1", "password1"), ("((?!END).)*END", "a END", "END END"),
     (r"(?!.*--)[a-z0-9-]{1,63}(?<!-)", "a-b", "a-"), (r"(?!(?:con|aux)$)[a-z]+", "cons", "con"),
     (r"\d+(?:\.\d+)?(?<!00)", "0.10", "100"), ("(?m)^a$\n^b$", "a\nb", "a b"), ("a$\n", "a\n", "a"),
     (r"(?<=\bré)?é(?=☃$)☃", "é☃", "é"), (r"[^é]\bé?", "aé", "é")],
)  # fmt: skip
def test_patterns_from_practice(pattern, text, other):
    machine = regex(pattern)
    for tried in (text, other):
        assert machine.accepts(tried.encode()) == matches(pattern, tried)
    assert machine.accepts(text.encode())
    assert not machine.accepts(other.encode())


@pytest.mark.parametrize("one", ["a*b?", "(?:ab)*", "[ab]{2,3}"])
@pytest.mark.parametrize("other", ["b*a", "a+|b+", ".b."])
def test_a_lookahead_for_the_whole_text_is_an_intersection_or_a_difference(one, other):
    first = regex(one)
    second = regex(other)
    both = regex(f"(?=(?:{one})\\Z)(?:{other})")
    only_second = regex(f"(?!(?:{one})\\Z)(?:{other})")
    assert both == intersection(second, first)
    assert only_second == difference(second, first)


@pytest.mark.parametrize("pattern", ["(?=.{20}a).*", ".*(?<=a.{8})b", "(?:a(?=.{6}b)|b)*", r"(?:\b\w+\b ?){1,30}"])
@pytest.mark.quick(every=4)
def test_long_lookarounds_fit(pattern):
    machine = regex(pattern)
    compiled = re.compile(pattern, re.ASCII)
    for text in ("a" * 21, "ba" + "b" * 30, "ab" * 11, "abababab b", "a" * 9 + "b" + "a" * 20):
        assert machine.accepts(text.encode()) == (compiled.fullmatch(text) is not None)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [
    ".*(?<=a.{20})b", "(?:a(?=.{20}b)|b)*", "(?=(?:a?){500}b)(?:.(?<!a.{30})){900}", r"(?:\b.{0,900}){90}",
])  # fmt: skip
def test_lookarounds_that_are_too_large_are_refused_in_time(pattern):
    with in_time(10), pytest.raises(PatternError, match=r"more than|too deep"):
        regex(pattern)
