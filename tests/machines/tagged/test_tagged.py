"""Free text with tags, against a plain reading of the definition."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA

NESTED = gv.grammar('root ::= "(" root ")" | "1"')


def is_nested(text):
    half = len(text) // 2
    return text == "(" * half + "1" + ")" * half


def reads(text, tags, at_least_one=False, stop_after_first=False, seen=False):
    """Whether the text is a sequence of stretches and tags; a tag is a begin, a predicate of its content and an end."""
    starts = range(len(text) + 1)
    start, opened = next(((at, b) for at in starts for b, _, _ in tags if text[:at].endswith(b)), (None, ""))
    if start is None:
        return seen or not at_least_one
    for begin, is_content, close in tags:
        for stop in range(start, len(text) - len(close) + 1):
            if begin == opened and is_content(text[start:stop]) and text[stop:].startswith(close):
                rest = text[stop + len(close) :]
                if stop_after_first and rest == "":
                    return True
                if not stop_after_first and reads(rest, tags, at_least_one, False, True):
                    return True
    return False


def texts_of(letters, most):
    return ("".join(text) for length in range(most + 1) for text in product(letters, repeat=length))


OPTIONS = [{}, {"at_least_one": True}, {"stop_after_first": True}, {"at_least_one": True, "stop_after_first": True}]
regex_of = {"1": "1", "1*": "1*", "[ab]{0,2}": "[ab]{0,2}", "b|bb": "b|bb", "": ""}


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(OPTIONS))
def test_a_machine_accepts_the_sequences_of_stretches_and_tags(data, options):
    begins = data.draw(st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=2))
    patterns = [data.draw(st.sampled_from(sorted(regex_of))) for _ in begins]
    ends = [data.draw(st.text("ab1", max_size=2)) for _ in begins]
    if any(one != other and one in other for one in begins for other in begins):
        return
    tags = [(begin, gv.regex(p), end) for begin, p, end in zip(begins, patterns, ends, strict=True)]
    machine = gv.tagged(tags, **options)
    plain = [(b, re.compile(p).fullmatch, e) for b, p, e in zip(begins, patterns, ends, strict=True)]
    assert isinstance(machine, DFA)
    for text in texts_of("ab1", 6):
        assert machine.accepts(text.encode()) == reads(text, plain, **options), text


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("begin", ["a", "aab", "aba"])
def test_a_tag_may_nest(begin, options):
    machine = gv.tagged(begin=begin, machine=NESTED, end="b", **options)
    assert isinstance(machine, PDA)
    for text in texts_of("ab1()", 5):
        assert machine.accepts(text.encode()) == reads(text, [(begin, is_nested, "b")], **options), text


def test_tags_have_rules_of_their_own():
    machine = gv.tagged([("<a>", gv.regex("1*"), ";"), ("<b>", NESTED, ";"), ("<c>", NESTED, ".")])
    assert machine.accepts(b"<a>11;<b>(1); <c>1.<d>;")
    assert not machine.accepts_prefix(b"<a>(")
    assert machine.stack(read(machine, b"hi <b>((")) == ("content", "content", "b", "root")


def test_a_content_without_a_machine_ends_at_the_first_end():
    machine = gv.tagged(begin="<t>", end="</t>", stop_after_first=True)
    for text in ("<t></t>", "<t>é<t></</t>", "a"):
        assert machine.accepts(text.encode()), text
    for text in ("<t></t>b</t>", "<t>", "<t>a"):
        assert not machine.accepts(text.encode()), text
    assert gv.tagged(begin="#", end="").accepts(b"a#b#")


def test_a_token_may_close_one_tag_and_open_the_next():
    vocabulary = gv.Vocabulary([b"hi <", b"t>1</t><t>", b"2</", b"t>", b"x", b"</s>"], eos={5})
    guide = gv.guide(gv.tagged(begin="<t>", machine=gv.regex(r"\d"), end="</t>"), vocabulary)
    state = guide.initial
    legal = []
    for token in (0, 1, 2, 3):
        legal.append(np.flatnonzero(guide.mask(state)).tolist())
        state = guide.advance(state, token)
    assert legal == [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [2], [1, 3]]  # 1</t> is free text after the end
    assert guide.is_accepting(state)


def test_an_illegal_token_is_explained_and_the_end_is_forced():
    vocabulary = gv.Vocabulary([b"<t>", b"1", b"x", b"</t>"])
    guide = gv.guide(gv.tagged(begin="<t>", machine=gv.regex("1"), end="</t>"), vocabulary)
    opened = guide.advance(guide.initial, 0)
    assert guide.explain(opened, 2).expected == "1"
    assert guide.forced(opened) == b"1</t>"
    assert guide.forced(guide.initial) == b""


def test_a_tag_whose_content_has_no_text_never_opens():
    machine = gv.tagged(begin="ab", machine=gv.regex(r"[^\s\S]"), end="")
    assert machine.accepts(b"aaa")
    assert not machine.accepts_prefix(b"aab")


def test_notes_of_the_contents_are_kept():
    schema = {"type": "integer", "x-unit": "m"}
    assert gv.tagged(begin="<", machine=gv.json_schema(schema), end=">").notes


@pytest.mark.parametrize(("arguments", "said"), [
    ({}, "no tag"), ({"begin": "<", "machine": "a"}, "a finite or a pushdown machine"),
    ({"tags": [("", None, "")]}, "not empty"),
    ({"tags": ["ab"]}, "tuples"), ({"tags": [("a", None, ""), ("ab", None, "")]}, "contains 'a'"),
    ({"begin": "a\ud800"}, "a text"), ({"begin": 3, "end": ""}, "a str"), ({"begin": "a", "end": 3}, "a str"),
    ({"begin": "a" * 4001}, "over 4,000 letters"),
])  # fmt: skip
def test_wrong_arguments_say_what_is_expected(arguments, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        gv.tagged(**arguments)
