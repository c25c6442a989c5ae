"""The work of a compilation is counted wherever it is done, and a refusal names the part that took most of it."""

import gc
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import PatternError
from guidedviz.machines import limits, work
from guidedviz.machines.pushdown import large_regex
from guidedviz.machines.regular import regex
from guidedviz.machines.work import limited_work

pytestmark = pytest.mark.filterwarnings("ignore::guidedviz.errors.NoTextWarning")  # of random patterns

MOST = 30_000  # steps in these tests, of which all lines are counted
LINES = 10  # of Python per step; ordinary patterns take 4 to 8
FREE = 1_000  # steps for what is done once per pattern


@pytest.fixture(autouse=True)
def _little_work(monkeypatch):
    monkeypatch.setattr(limits, "WORK", MOST)


def measure(text):
    """The lines of Python that run for a regex, the steps of work that are counted, and the error, if it is refused."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        lines += 1
        return trace

    for remembers in (regex.regex, large_regex.counted_regex):
        remembers.cache_clear()
    before = sys.gettrace()
    error = None
    with limited_work():
        try:
            sys.settrace(trace)
            gv.regex(text)
        except PatternError as refused:
            error = refused
        finally:
            sys.settrace(before)
        return lines, work._done.get().steps, error


REFUSED = {
    r"(?<!(?:\B){1000}$)": r"(?<! at position 0",
    r"(?:\B){1000}": "{1000}",
    "".join(f"(?=.*{letter})" for letter in "abcdefghijklm") + ".*": "(?= at position ",
    "(?:(?=a)|(?!b)|(?<=c)|(?<!d)){90}": "(?",
    ".*a.{12}": "{12}",
}


@pytest.mark.parametrize(("text", "part"), REFUSED.items())
def test_no_more_is_done_than_was_promised_before_a_refusal_that_names_the_part(text, part):
    lines, steps, error = measure(text)
    assert lines <= LINES * steps
    assert steps <= 1.2 * MOST  # one part is counted at once
    assert f": {part}" in error.hint
    assert error.hint.endswith("% of the work")


@pytest.mark.parametrize(
    "text",
    ["(?=" * 9 + "a" + ")" * 9 + "a*", r"(?m)(?:^.*$\n){10}", "[a-z]{900}", "(?!.*--)[a-z-]+", "(?:(?:a){300}){300}"],
)
def test_what_is_accepted_has_counted_its_work_too(text):
    lines, steps, error = measure(text)
    assert error is None
    assert lines <= LINES * (steps + FREE)


PARTS = st.sampled_from(["a", "b", ".", "[^a]", r"\w", r"\b", r"\B", "^", "$", "é", "(?m:$)", ".*", "[ab]?"])
AROUND = st.sampled_from(["(?={})", "(?!{})", "(?<={})", "(?<!{})", "(?:{})*", "(?:{}){{300}}", "(?:{}){{3,40}}"])
hostile = st.recursive(
    PARTS,
    lambda inner: (
        st.builds("{}{}".format, inner, inner)
        | st.builds("(?:{}|{})".format, inner, inner)
        | st.builds(str.format, AROUND, inner)
    ),
    max_leaves=12,
)


@given(hostile)
def test_no_pattern_of_assertions_does_more_than_it_counts(text):
    lines, steps, _ = measure(text)
    assert lines <= LINES * (steps + FREE)


def test_a_refused_grammar_names_its_rule():
    text = 'root ::= small large\nsmall ::= "a" | "(" small ")"\nlarge ::= "x" large | ' + "[a-z]? " * 300
    with pytest.raises(PatternError, match="the rule large took"):
        gv.grammar(text)


def test_a_pattern_with_comments_names_no_place_that_may_be_wrong():
    _, _, error = measure("(?x) (?=.*a) (?=.*b) # (?=\n (?=.*c) (?=.*d) (?=.*e) (?=.*f) .*")
    assert ": a lookaround took" in error.hint


def test_a_compilation_collects_no_garbage_and_collects_again_afterwards():
    with limited_work():
        with limited_work():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    with limited_work():
        pass
    assert not gc.isenabled()
    gc.enable()
