"""Special tokens have names that no text can spell: in grammars, in tags, and in what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import GrammarError, PatternError
from guidedviz.machines.names import name_bytes, split_names, without_names
from guidedviz.machines.special import special

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


@pytest.mark.parametrize(
    ("data", "accepted"),
    [
        (OPEN + CLOSE + b"12", True),
        (OPEN + b"a </think> b" + CLOSE + b"1", True),  # spelled out, it is text
        (OPEN + b"a" + name_bytes("<other>") + OPEN + CLOSE + b"1", True),
        (b"<think>a" + CLOSE + b"1", False),
        (OPEN + b"a</think>1", False),
        (OPEN + CLOSE + CLOSE + b"1", False),
        (OPEN + b"a" + CLOSE[:-1], False),
    ],
)
def test_a_grammar_reads_the_token_and_not_its_spelling(data, accepted):
    assert THINK.accepts(data) == accepted


class Two:
    """Names of ids, as a vocabulary gives them."""

    def special_names(self, first, last):
        return ["<a>", "<b>"][first - 5 : last - 4]


def test_ids_are_the_names_that_a_vocabulary_gives_them():
    one = gv.grammar("root ::= <[6]>", vocabulary=Two())
    both = gv.grammar("root ::= <[5-6]>", vocabulary=Two())
    other = gv.grammar("root ::= !<[5]>", vocabulary=Two())
    names = [name_bytes(name) for name in ("<a>", "<b>", "<c>")]
    assert list(map(one.accepts, names)) == [False, True, False]
    assert list(map(both.accepts, names)) == [True, True, False]
    assert list(map(other.accepts, names)) == [False, True, True]
    assert other.accepts(b"x")
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
    assert call.accepts(b"I call " + begin + b'{"a": 1}' + end + b" and <sum>1</sum>")
    assert call.accepts(b"[CALL]{")  # spelled out, it is text
    assert not call.accepts_prefix(begin + b"x")
    assert not call.accepts_prefix(end)
    assert not call.accepts(begin + b"{}</s>")


def test_a_tag_without_a_machine_is_text_up_to_its_special_token():
    think = gv.tagged(begin=special("<think>"), end=special("</think>"), at_least_one=True, stop_after_first=True)
    assert think.accepts(OPEN + b"</think>" + CLOSE)
    assert not think.accepts_prefix(OPEN + CLOSE + b"x")


def between(name, machine):
    begin = special(f"<{name}>")
    return gv.tagged(begin=begin, machine=machine, end=special(f"</{name}>"))


def test_tags_stand_inside_tags():
    outer = between("a", between("b", gv.regex("é+")))
    inside = name_bytes("<b>") + "éé".encode() + name_bytes("</b>")
    text = name_bytes("<a>") + b"x" + inside + name_bytes("</a>")
    assert outer.accepts(text)
    assert not outer.accepts_prefix(text.replace(name_bytes("<b>"), name_bytes("</b>")))


@pytest.mark.parametrize("name", ["", "\ud800", "a" * 65_537, 3, None])
def test_what_is_no_name_is_refused(name):
    with pytest.raises((PatternError, gv.SettingError), match="special"):
        gv.special(name)


def test_odd_names_are_read_as_they_are():
    for name in ('"', "\0", "þÿ", "<0xFF>", "a" * 1_000):
        machine = gv.tagged(begin=special(name), end=special("e"), at_least_one=True)
        assert machine.accepts(name_bytes(name) + name_bytes("e"))
