"""A regex means what `re.fullmatch` means under re.ASCII, over UTF-8 bytes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.graph import reach
from guidedviz.machines.machine import forced_bytes, read
from guidedviz.machines.regular.algebra import build_machine
from guidedviz.machines.regular.dfa import build_dfa
from guidedviz.machines.regular.nfa import build_nfa, number_in_order
from guidedviz.machines.regular.regex import parse_regex, regex
from tests.common import in_time
from tests.machines.oracle import matches, shortest_completion
from tests.strategies import regexes, texts


@given(regexes, st.lists(texts, min_size=1, max_size=8))
def test_a_machine_accepts_what_re_accepts(pattern, tried):
    machine = regex(pattern)
    for text in tried:
        assert machine.accepts(text.encode()) == matches(pattern, text), text


@given(regexes, texts)
def test_a_prefix_is_accepted_exactly_when_a_text_that_re_accepts_begins_with_it(pattern, text):
    machine = regex(pattern)
    data = text.encode()
    for end in range(len(data) + 1):
        state = read(machine, data[:end])
        rest = None if state is None else shortest_completion(machine, state)
        assert machine.accepts_prefix(data[:end]) == (rest is not None)
        if rest is not None:
            assert matches(pattern, (data[:end] + rest).decode())
        if matches(pattern, text):
            assert rest is not None


@given(regexes)
def test_states_are_counted_before_they_are_built(pattern):
    tree = parse_regex(pattern)
    assert len(build_nfa(tree)) <= tree.weight.states + 2


def targets_of(nfa, state):
    targets = {target for _, _, target in nfa.edges[state]}
    return targets.union(nfa.epsilon[state])


@given(regexes)
def test_states_are_numbered_branch_by_branch_and_the_machine_stays_the_same(pattern):
    nfa = number_in_order(build_nfa(parse_regex(pattern)))
    assert build_dfa(nfa) == build_dfa(build_nfa(parse_regex(pattern)))
    assert nfa.accepting == len(nfa) - 1
    lower = {0}  # states to which an edge leads from one with a lower number
    for state in range(len(nfa)):
        lower |= {target for target in targets_of(nfa, state) if target > state}
    reached = reach([0], lambda state: targets_of(nfa, state))
    assert {*reached} - {nfa.accepting} <= lower


@given(regexes)
def test_shared_states_change_no_machine(pattern):
    assert build_machine(parse_regex(pattern)) == regex(pattern)


def test_equal_ends_of_words_and_of_characters_are_wired_once():
    words = parse_regex("(?:aw|bw|cw|é|[aé])ord|lord")
    assert len(build_nfa(words)) == 13
    assert len(build_nfa(words, share=True)) == 7


@pytest.mark.parametrize(
    ("one", "other"),
    [("a|b", "[ab]"), ("(a|b)*", "(a*b*)*"), ("(?i)k", "[kK]"),
     ("[^a]", r"[\0-`b-\U0010FFFF]"), ("(^a|^b)$", "a|b"),
     ("(?x) a  b # no", "ab"), ("(?s:.)", r"[\s\S]")],
)  # fmt: skip
def test_equal_languages_give_the_very_same_machine(one, other):
    assert regex(one) == regex(other)


def test_a_pattern_without_any_text_gives_a_machine_that_accepts_nothing():
    machine = regex(r"[^\s\S]")
    assert len(machine) == 1
    assert not machine.accepts_prefix(b"")
    assert forced_bytes(machine, 0) == b""


@pytest.mark.parametrize(
    ("pattern", "position", "what"),
    [(r"(a)\1", 3, "backreference"), (r"(?=(a)\1)b", 6, "backreference"),
     ("a{3}b{2}+", 5, "possessive"),
     ("(a)?(?(1)b|c)", 4, "conditional"),
     (r"[(?>\]]a(?>b*)", 8, "atomic"), (r"\\(?>b+)", 2, "atomic")],
)  # fmt: skip
def test_what_is_not_regular_is_refused_with_its_place_and_its_name(pattern, position, what):
    with pytest.raises(PatternError, match=rf"position {position}: .*{what}"):
        regex(pattern)


@pytest.mark.parametrize("pattern", ["(", "a**", "(?u)a", "(?L)a", "(?z)"])
def test_what_re_refuses_is_refused(pattern):
    with pytest.raises((re.error, ValueError)):
        re.compile(pattern, re.ASCII)
    with pytest.raises(PatternError):
        regex(pattern)


@pytest.mark.parametrize("wrong", [b"a", None, 3])
def test_a_pattern_is_a_str(wrong):
    with pytest.raises(SettingError, match="expected a str"):
        regex(wrong)


@pytest.mark.parametrize(
    ("pattern", "named"),
    [("(x{0,300}){0,299}", r"\{0,299\}"), 
     ("(a|b)*a(a|b){15}", r"\{15\}"), (".{0,1000}x.{0,1000}", r"\{0,1000\}"),
     ("(a{0,100}b{0,100}){0,90}", r"\{0,90\}")],
)  # fmt: skip
@pytest.mark.quick(every=4)
def test_a_hostile_pattern_ends_in_time_and_names_the_repeat_to_blame(pattern, named):
    # it took hours
    with in_time(10), pytest.raises(PatternError, match=named):
        regex(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("(x+x+)+y", "x" * 40), (".{0,1000}", "🙂" * 1000), 
     ("|".join(f"word{i}" for i in range(2000)), "word1999")],
)  # fmt: skip
def test_what_is_slow_elsewhere_is_quick_here(pattern, text):
    with in_time(10):
        assert regex(pattern).accepts(text.encode()) == (not pattern.endswith("y"))


def test_deep_nesting_is_a_machine_or_an_error_never_a_crash():
    assert regex("(" * 50 + "a" + "b)" * 50).accepts(b"a" + b"b" * 50)
    with pytest.raises(PatternError, match="nested"):
        regex("(" * 3000 + "a" + "b)" * 3000)
