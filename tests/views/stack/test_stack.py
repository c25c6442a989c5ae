"""The stack as a column, as a table, as a graph and as a curve."""

import pytest

from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import grammar, json
from guidedviz.views.stack.cards import draw_shared_stacks
from guidedviz.views.stack.stack_table import draw_stack_table, say_stack, stack_rows
from tests.common import in_time

CLASSIC = '{"key": {"b": 1}}'


@pytest.mark.parametrize("draw", [draw_stack_table, draw_shared_stacks])
def test_a_stack_of_twenty_thousand_is_drawn_at_once(draw):
    with in_time(5):
        figure = draw(json(), b"[" * 20_000)
    assert len(figure.svg) < 130_000
    assert "20,001" in figure.text or "more" in figure.text


def test_a_deep_column_keeps_its_top_and_its_bottom_and_counts_the_rest():
    *_, more, second, first, _ = say_stack(json(), read(json(), b"[" * 20)).splitlines()
    assert more == "  ⋮ 9 more"
    assert second.split()[:2] == ["2", "array"]
    assert first.split()[:2] == ["1", "root"]
    assert "⋮ 9,991 more" in say_stack(json(), read(json(), b"[" * 10_000))
    assert say_stack(json(), read(json(), b"[1")).startswith("stack: depth 3 · 2 ways to read this so far\n")


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
    assert [row.stack for row in stack_rows(json(), b'["a')] == [("array",)], "no string"
    flat = stack_rows(grammar('root ::= a "x"\na ::= "1"'), b"1x")
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
