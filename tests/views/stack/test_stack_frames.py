"""The film of a pushdown automaton says what the machine says."""

from itertools import pairwise

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.views.stack.stack_film import stack_frames

NESTED = gv.grammar('root ::= "(" item ")"\nitem ::= "x" | root')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("((x))", "the stack is empty: the text is complete."),
        ("((x)", "root cannot end at n2. The text is not complete."),
        ("(x)x", "The stack is empty, and x is left. The text is refused."),
        ("(]", "n1 cannot read ], and root cannot end there. The text is refused."),
    ],
)
def test_the_last_frame_gives_the_verdict(text, words):
    last = stack_frames(NESTED, text)[-1]
    assert last.words.endswith(words)
    assert words.endswith("is complete.") == NESTED.accepts(text.encode())


def test_a_frame_reads_one_byte_or_moves_one_node():
    for before, after in pairwise(stack_frames(NESTED, "((x))")):
        grown, read = len(after.stack) - len(before.stack), after.read - before.read
        assert (after.move, grown, read) in {("call", 1, 0), ("read", 0, 1), ("return", -1, 0)}


def test_a_film_that_nobody_could_follow_is_refused():
    with pytest.raises(SettingError, match="a shorter text"):
        stack_frames(NESTED, "(" * 200)
