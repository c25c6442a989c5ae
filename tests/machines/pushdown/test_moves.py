"""The moves of a deterministic automaton read what the machine with all its stacks reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.machines.pushdown.moves import move_stack, pushdown_moves
from guidedviz.machines.pushdown.pda import JSON_GBNF

GRAMMARS = {
    "nested": 'root ::= "(" root ")" | "x"',
    "two kinds": 'root ::= ("(" root ")" | "[" root "]")*',
    "lists": 'root ::= "[" (item ("," item)*)? "]"\nitem ::= root | "x"',
    "empty rules": 'root ::= blank item blank\nblank ::= " "*\nitem ::= "(" blank item? ")" | "x"',
    "JSON": JSON_GBNF,
    "a tail": 'root ::= item "]"\nitem ::= "x" item?',
}


@given(name=st.sampled_from(sorted(GRAMMARS)), text=st.text('()[]x, {"}:1', max_size=9))
def test_one_stack_reads_what_all_stacks_read(name, text):
    pda = gv.grammar(GRAMMARS[name])
    moves, ends = pushdown_moves(pda)
    stack, state = [0], pda.initial
    for byte in text.encode():
        stack = move_stack(moves, ends, stack, byte)
        state = pda.step(state, byte)
        assert (stack is None) == (state is None)
        if stack is None:
            return
    assert ends.issuperset(stack) == pda.is_accepting(state)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ('root ::= "a" root "a" | [ab]?', "two moves in root on a"),
        ('root ::= number "1"\nnumber ::= [0-9]+', "two moves in number on 1"),
        ('root ::= blank blank\nblank ::= " "?', "two moves in (root|blank) on ␣"),
        ('root ::= "(" item{9000} ")"\nitem ::= "x" | "(" item ")"', "a counted repeat"),
    ],
)
def test_a_choice_is_refused(text, seen):
    with pytest.raises(SettingError, match=seen):
        pushdown_moves(gv.grammar(text))
