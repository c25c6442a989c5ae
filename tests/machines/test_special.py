"""Special tokens have names that no text can spell: in grammars, in tags, and in what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import GrammarError, PatternError
from guidedviz.machines.names import name_bytes, split_names, without_names
from guidedviz.machines.special import special
from tests.common import assert_reads

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)

pairs = st.tuples(texts.filter(bool), texts)


@given(texts, st.lists(pairs, max_size=3))
def test_names_and_texts_come_apart_again(first, rest):
    data = first.encode()
    parts = [first]
    plain = first
    for name, text in rest:
        data += name_bytes(name) + text.encode()
        parts += [name, text]
        plain += text
    assert split_names(data) == [part.encode() for part in parts]
    assert without_names(data) == plain.encode()


@given(texts)
def test_a_machine_over_text_reads_no_name(text):
    anything = gv.regex(r"[\s\S]*")
    assert anything.accepts(text.encode())
    assert not anything.accepts_prefix(name_bytes("a"))
    assert not gv.json().accepts_prefix(b'"' + name_bytes("a"))


THINK = gv.grammar("root ::= <think> (!</think>)* </think> [0-9]+")
OPEN = name_bytes("<think>")
CLOSE = name_bytes("</think>")


def test_a_grammar_reads_the_token_and_not_its_spelling():
    other = OPEN + b"a" + name_bytes("<other>") + OPEN + CLOSE + b"1"
    good = [OPEN + CLOSE + b"12", OPEN + b"a </think> b" + CLOSE + b"1", other]
    assert_reads(THINK, good, [b"<think>a" + CLOSE + b"1", OPEN + b"a</think>1", OPEN + CLOSE + CLOSE + b"1"])


class Two:
    """Names of ids, as a vocabulary gives them."""

    def special_names(self, first, last):
        return ["<a>", "<b>"][first - 5 : last - 4]


def test_ids_are_the_names_that_a_vocabulary_gives_them():
    a, b, c = map(name_bytes, ("<a>", "<b>", "<c>"))
    sixth = gv.grammar("root ::= <[6]>", vocabulary=Two())
    assert_reads(sixth, [b], [a, c])
    both = gv.grammar("root ::= <[5-6]>", vocabulary=Two())
    assert_reads(both, [a, b], [c])
    all_but_5 = gv.grammar("root ::= !<[5]>", vocabulary=Two())
    assert_reads(all_but_5, [b, c, b"x"], [a])
    with pytest.raises(GrammarError, match="column 10: saw <\\[5\\]>, no vocabulary"):
        gv.grammar("root ::= <[5]>")


@pytest.mark.parametrize("text", ["root ::= <think", "root ::= !x", "root ::= <>", "root ::= <[a]>", "root ::= <a\n>"])
def test_a_special_token_that_is_not_closed_is_refused_at_its_place(text):
    with pytest.raises(GrammarError, match="column 10: an unclosed special token") as caught:
        gv.grammar(text)
    assert "<[128010]>" in str(caught.value)


def test_a_tag_begins_and_ends_at_special_tokens():
    tool = (special("[CALL]"), gv.json(), special("</s>"))
    addition = ("<sum>", gv.regex("[0-9]+"), "</sum>")
    call = gv.tagged([tool, addition])
    begin = name_bytes("[CALL]")
    end = name_bytes("</s>")
    called = b"I call " + begin + b'{"a": 1}' + end + b" and <sum>1</sum>"
    assert_reads(call, [called, b"[CALL]{"], [begin + b"{}</s>", end, begin + b"x" + end])


@pytest.mark.parametrize("name", ["<b>", '"', "\0", "þÿ", "<0xFF>"])
def test_tags_stand_inside_tags(name):
    inner = gv.tagged(begin=special(name), machine=gv.regex("é+"), end=special("</b>"))
    outer = gv.tagged(begin=special("<a>"), machine=inner, end=special("</a>"))
    text = name_bytes("<a>") + b"x" + name_bytes(name) + "éé".encode() + name_bytes("</b>") + name_bytes("</a>")
    unopened = text.replace(name_bytes(name), name_bytes("</b>"))
    assert_reads(outer, [text], [unopened])


@pytest.mark.parametrize("name", ["", "\ud800", "a" * 65_537, 3, None])
def test_what_is_no_name_is_refused(name):
    with pytest.raises((PatternError, gv.SettingError), match="special"):
        gv.special(name)
