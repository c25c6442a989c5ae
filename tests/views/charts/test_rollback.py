"""Tokens that a jump takes back are struck in the row before it, and their bytes stand in the row after it."""

import guidedviz as gv
from guidedviz.views.charts.rollback import SHOWN, draw_rollback, find_rollbacks

TOY = gv.ToyModel([b"n", b"o", b"no", b"t", b"!", b"x" * 40], lambda tokens: [5, 4, 3, 2, 1, 0])


def jumped(pattern):
    return gv.record(TOY, "t", gv.guide(gv.regex(pattern), TOY.vocabulary), temperature=0, jump_forward=True)


def test_both_rows_have_the_same_bytes_up_to_the_new_run():
    (jump,) = find_rollbacks(jumped("(n|x)o[t!]").steps)
    assert (jump.before, jump.after, jump.kept) == ((b"n",), (b"no",), 0)
    assert b"".join(jump.after).startswith(b"".join(jump.before))


def test_a_decode_that_takes_nothing_back_has_no_rows():
    assert draw_rollback(jumped("t!")).text == "retokenisation: 0 jumps take tokens back"


def test_a_long_text_is_shown_from_a_token_near_the_change():
    drawn = draw_rollback(jumped(f"{'x' * 80}(n|x)o[t!]"))
    assert drawn.text.splitlines()[1:] == [f"before: {'x' * 40} [n]", f"after: {'x' * 40} {{no}}"]
    assert SHOWN < 80
