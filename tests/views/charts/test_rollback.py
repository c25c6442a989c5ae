"""Tokens that a jump takes back are struck in the row before it, and their bytes stand in the row after it."""

import pytest

import guidedviz as gv
from guidedviz.views import draw_rollback

TOY = gv.ToyModel([b"n", b"o", b"no", b"t", b"!", b"x" * 40], lambda tokens: [5, 4, 3, 2, 1, 0])


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("t!", ["retokenisation: 0 jumps take tokens back"]),
        ("(n|x)o[t!]", ["retokenisation: 1 jump takes tokens back", "before: [n]", "after: {no}"]),
        (f"{'x' * 80}(n|x)o[t!]", [  # a long text is shown from a token near the change
            "retokenisation: 1 jump takes tokens back", f"before: {'x' * 40} [n]", f"after: {'x' * 40} {{no}}",
        ]),
    ],
)  # fmt: skip
def test_both_rows_have_the_same_bytes_up_to_the_new_run(pattern, lines):
    guide = gv.guide(gv.regex(pattern), TOY.vocabulary)
    figure = draw_rollback(gv.record(TOY, "t", guide, temperature=0, jump_forward=True))
    assert figure.text.splitlines() == lines
    assert figure.svg.count("line-through") == sum("[" in line for line in lines)
