"""Free text with tags, against a plain reading of the definition."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from tests.common import assert_reads, legal_tokens, texts_up_to, with_end

NESTED = gv.grammar('root ::= "(" root ")" | "1"')


def is_nested(text):
    half = len(text) // 2
    return text == "(" * half + "1" + ")" * half


def first_begin(text, tags):
    """Where the first tag is open, and its begin."""
    for place in range(len(text) + 1):
        for begin, _, _ in tags:
            if text[:place].endswith(begin):
                return place, begin
    return None, ""


def reads(text, tags, at_least_one=False, stop_after_first=False, seen=False):
    """Whether the text is a sequence of stretches and tags; a tag is a begin, a predicate of its content and an end."""
    start, opened = first_begin(text, tags)
    if start is None:
        return seen or not at_least_one
    for begin, is_content, close in tags:
        for stop in range(start, len(text) - len(close) + 1):
            content = text[start:stop]
            if begin == opened and is_content(content) and text.startswith(close, stop):
                rest = text[stop + len(close) :]
                if stop_after_first and rest == "":
                    return True
                if not stop_after_first and reads(rest, tags, at_least_one, False, True):
                    return True
    return False


def assert_reads_as(machine, texts, tags, options):
    for text in texts:
        expected = reads(text, tags, **options)
        assert machine.accepts(text.encode()) == expected, text


OPTIONS = [{}, {"at_least_one": True}, {"stop_after_first": True}, {"at_least_one": True, "stop_after_first": True}]
PATTERNS = st.sampled_from(["", "1", "1*", "[ab]{0,2}", "b|bb"])
BEGIN = st.text("ab", min_size=1, max_size=3)
BEGINS = st.lists(BEGIN, min_size=1, max_size=2)
ENDS = st.text("ab1", max_size=2)


@given(st.data(), st.sampled_from(OPTIONS))
def test_a_machine_accepts_the_sequences_of_stretches_and_tags(data, options):
    begins = data.draw(BEGINS)
    patterns = [data.draw(PATTERNS) for _ in begins]
    ends = [data.draw(ENDS) for _ in begins]
    first = begins[0]
    last = begins[-1]
    if first != last and (first in last or last in first):
        return
    contents = map(gv.regex, patterns)
    tags = list(zip(begins, contents, ends, strict=True))
    machine = gv.tagged(tags, **options)
    predicates = [re.compile(pattern).fullmatch for pattern in patterns]
    plain = list(zip(begins, predicates, ends, strict=True))
    assert isinstance(machine, DFA)
    assert_reads_as(machine, texts_up_to("ab1", 6), plain, options)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("begin", ["a", "aba"])
def test_a_tag_may_nest(begin, options):
    machine = gv.tagged(begin=begin, machine=NESTED, end="b", **options)
    assert isinstance(machine, PDA)
    assert_reads_as(machine, texts_up_to("ab1()", 4), [(begin, is_nested, "b")], options)


def test_tags_have_rules_of_their_own():
    ones = gv.regex("1*")
    machine = gv.tagged([("<a>", ones, ";"), ("<b>", NESTED, ";"), ("<c>", NESTED, ".")])
    assert machine.accepts(b"<a>11;<b>(1); <c>1.<d>;")
    assert not machine.accepts_prefix(b"<a>(")
    assert machine.stack(read(machine, b"hi <b>((")) == ("content", "content", "b", "root")


def test_a_content_without_a_machine_ends_at_the_first_end():
    machine = gv.tagged(begin="<t>", end="</t>", stop_after_first=True)
    assert_reads(machine, ("<t></t>", "<t>é<t></</t>", "a"), ("<t></t>b</t>", "<t>", "<t>a"))

    assert gv.tagged(begin="#", end="").accepts(b"a#b#")


@pytest.mark.filterwarnings("ignore::guidedviz.errors.NoTextWarning")
def test_a_content_keeps_its_notes_and_without_a_text_its_tag_never_opens():
    integer = gv.json_schema({"type": "integer", "x-unit": "m"})
    assert gv.tagged(begin="<", machine=integer, end=">").notes
    nothing = gv.regex(r"[^\s\S]")
    assert_reads(gv.tagged(begin="ab", machine=nothing, end=""), ["aaa"], ["aab"])


def test_a_token_may_close_one_tag_and_open_the_next():
    vocabulary = with_end([b"hi <", b"t>1</t><t>", b"2</", b"t>", b"x"])
    machine = gv.tagged(begin="<t>", machine=gv.regex(r"\d"), end="</t>")
    guide = gv.guide(machine, vocabulary)
    state = guide.initial
    everything = [0, 1, 2, 3, 4, 5]
    for token, legal in enumerate([everything, everything, [2], [1, 3]]):  # 1</t> is free text after the end
        assert legal_tokens(guide, state) == legal
        state = guide.advance(state, token)
    assert guide.is_accepting(state)


@pytest.mark.parametrize(("arguments", "said"), [
    ({}, "no tag"), 
    ({"tags": [("", None, "")]}, "not empty"),
    ({"tags": [("a", None, ""), ("ab", None, "")]}, "contains 'a'"),
    ({"begin": "a\ud800"}, "a text"), ({"begin": "a", "end": 3}, "a str"),
    ({"begin": "a" * 4001}, "over 4,000 letters"),
])  # fmt: skip
def test_wrong_arguments_say_what_is_expected(arguments, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        gv.tagged(**arguments)
