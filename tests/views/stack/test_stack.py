"""The stack as a column, as a table, as a graph and as a curve."""

import time
import xml.etree.ElementTree as ET

import pytest

from guidedviz.errors import SettingError
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import grammar, json
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.stack.cards import draw_shared_stacks
from guidedviz.views.stack.derivation import draw_derivation
from guidedviz.views.stack.stack_table import draw_stack_table, say_stack, stack_rows

CLASSIC = '{"key": {"b": 1}}'
HOSTILE = '{"<script>\u202e\x7f é日": ["</text>'
BOTH = 'root ::= "<" (a | b) ">"\na ::= "(" x ")"\nb ::= "(" x "]"\nx ::= "1"+ "."'
PICTURES = [draw_stack_table, draw_shared_stacks]


def words_of(figure):
    return "".join(ET.fromstring(figure.svg).itertext())


@pytest.mark.parametrize("draw", [*PICTURES, draw_derivation])
@pytest.mark.parametrize("text", ["", CLASSIC, HOSTILE, b'{"\xe2\x82', b'"\xf0\x9f'])
def test_every_picture_is_well_formed_and_says_the_same_in_words(draw, text):
    figure = draw(json(), text)
    tree = ET.fromstring(figure.svg)
    words = tree.get("aria-label").split()
    assert figure.text.split() == figure.alt.split() == words
    tags = [node.tag for node in tree.iter()]
    assert not any(tag.endswith("script") for tag in tags)
    assert not set(words_of(figure) + figure.text) & {"\u202e", "\x7f"}
    sizes = [float(tree.get(side)) for side in ("width", "height")]
    assert all(0 < size < 1400 for size in sizes)


@pytest.mark.parametrize("draw", PICTURES)
def test_a_stack_of_twenty_thousand_is_drawn_at_once(draw):
    pda = json()
    text = b"[" * 20_000
    state = read(pda, text)
    started = time.perf_counter()
    figure = draw(pda, text if draw is draw_stack_table else state)
    assert time.perf_counter() - started < 5
    assert len(figure.svg) < 130_000
    assert "20,001" in figure.text or "more" in figure.text


@pytest.mark.parametrize("draw", PICTURES)
def test_what_cannot_be_read_is_refused_with_its_place(draw):
    with pytest.raises(SettingError, match=r"text, byte 1: saw \}"):
        draw(json(), "[}")


def test_the_column_says_where_each_rule_goes_on():
    lines = say_stack(json(), read(json(), b'{"key": {"b": [1')).splitlines()
    assert lines[0] == "stack: depth 5 · 2 ways to read this so far"
    words = [line.split()[:3] for line in lines[1:3]]
    assert words == [["▸", "5", "number"], ["4", "array", "then"]]
    assert lines[3] == "  3 object  then , or }"
    assert lines[-1] == "⏚ bottom"
    assert say_stack(json(), read(json(), b"[]")).endswith("⏚ bottom · the text may end")


def test_a_deep_column_keeps_its_top_and_its_bottom_and_counts_the_rest():
    lines = say_stack(json(), read(json(), b"[" * 20)).splitlines()
    *_, more, second, first, _ = lines
    assert more == "  ⋮ 9 more"
    assert second.split()[:2] == ["2", "array"]
    assert first.split()[:2] == ["1", "root"]
    assert "⋮ 9,991 more" in say_stack(json(), read(json(), b"[" * 10_000))


def test_the_classic_table_has_seven_steps():
    figure = draw_stack_table(json(), CLASSIC)
    rows = [line.split("  ") for line in figure.text.splitlines()]
    table = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert table[1:] == [
        ["1", "{", "push object", "object"],
        ["2", '"key":␣', "push member", "object member"],
        ["3", "{", "object in place of member", "object object"],
        ["4", '"b":␣1', "push member", "object object member"],
        ["5", "}", "pop member object", "object"],
        ["6", "}", "pop object", "empty"],
        ["end", "accept: finished, and the stack is empty"],
    ]


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("text", [CLASSIC, '[[1,{"a":[]}],"x",{}]', "  [ ]  ", "-1.5e3", "[[["])
def test_pushes_and_pops_add_up_to_the_stack(every, text):
    rows = stack_rows(json(), text.encode(), every)
    assert b"".join(row.read for row in rows) == text.encode()
    stack = ["root"] if every else []
    for row in rows:
        for part in row.action.replace("—", "").split(", "):
            verb, *names = part.split() or [""]
            if verb == "pop":
                assert stack[: len(names)] == names
                stack = stack[len(names) :]
            elif "in place of" in part:
                assert stack[0] == names[-1]
                stack[0] = verb
            elif verb == "push":
                stack = [*names[::-1], *stack]
        assert stack == list(row.stack)


def test_only_rules_that_can_stand_inside_themselves_need_a_stack():
    stacks = [row.stack for row in stack_rows(json(), b'["a')]
    assert stacks == [("array",)], "no string"
    flat = stack_rows(grammar("root ::= a 'x'\na ::= '1'".replace("'", '"')), b"1x")
    assert [row.stack for row in flat] == [("root",), ()], "all rules, because none is recursive"


def test_a_table_says_that_there_are_several_stacks_and_which_was_not_meant():
    tags = grammar('root ::= (bold | italic)*\nbold ::= "<b>" root "</b>"\nitalic ::= "<i>" root "</i>"')
    lines = draw_stack_table(tags, "<i>", every=True).text.splitlines()
    assert lines[1].endswith("push bold              root bold · 2 ways to read this so far")
    assert lines[2].endswith("not bold, push italic  root italic")
    assert "not" not in draw_stack_table(tags, "<b>", every=True).text.replace("not finished", "")
    digits = draw_stack_table(json(), "[12]", every=True).text
    assert "pop number array" in digits, "the number has ended, so its rule is popped"
    assert "14 more … array array array array array array" in draw_stack_table(json(), "[" * 20).text


@pytest.mark.parametrize(
    ("text", "unread", "said"),
    [
        ("[1,", b"", "not finished: array waits for"),
        ("[]", b"]", "not read: ]"),
        ("[" * 100, b"", "⋮     60 more rows"),
        ("[" * 100_000, b"", "99,700 more bytes are not in it"),
    ],
)
def test_a_table_says_what_it_does_not_accept_or_show(text, unread, said):
    figure = draw_stack_table(json(), text, unread=unread)
    assert said in figure.text
    assert "accept" not in figure.text


def test_a_rule_that_begins_with_itself_is_drawn_with_its_loop():
    grown = grammar('root ::= root "+" root | "(" root ")" | "1"')
    assert "▸" in draw_shared_stacks(grown, "1+(1+1").text
    assert draw_stack_table(grown, "1+(1+1").text


def test_a_state_of_another_machine_is_refused():
    other = grammar('root ::= "(" root ")" | "x"').initial
    for draw in (lambda: draw_machine(json(), other), lambda: draw_shared_stacks(json(), other)):
        with pytest.raises(SettingError, match="state: saw a state of another machine, expected a state of PDA"):
            draw()
