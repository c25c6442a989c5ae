"""What lab 03 says in prose is what its outputs show."""

import pytest

from tests.labs.solved import read_solved

LAB = read_solved("03_fsm")


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Oxford and Leontes are people of the plays", "runs = [", "'OXFORD: therefore\\n'"),
        ("Look at `FRIARGILE` above", "runs = [", "FRIARGILE"),
        ("the check speaks of six", "gv.checks.several_words", "6 states"),
        ("the friar has a name of his own", "gv.guide(several", "FRIAR PETER"),
        ("24 × 60 = 1,440 minutes", "gv.regex(clock)", "1,440 texts"),
        ("there is no 31st of November", "texts = hostile", "-11-31"),
        ("All 500 fit", "texts = hostile", "500 fit, 477 exist"),
        ("the machine accepts 37,200 texts, a century has 36,525 days", "date(2100", "37,200 texts, 36,525 days"),
        ("36,525 different texts of which each is a day", "print(calendar", "36,525 texts"),
        ("All, and not by luck", "hostile_runs(calendar)", "500 of 500 exist"),
        ("By 0.127 divided by", "conditioned =", "chance 0.127"),
        ("63% are `07`", "chance of each month", "07 conditioned 0.63 masked 0.08"),
        (
            "`10` by 0.127 ÷ 0.03, which is four times",
            "chance of each month",
            "10 conditioned 0.07 masked 0.30",
        ),
        ("`07` near 63%", "draws = [", "07   drawn 0.080   weighed by its Zs 0.620"),
        ("more than ten million times rarer", "products =", "'FRIARGILE: goodenesses\\n'   6e-08"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in LAB.output_of(words)


def test_ten_beginnings_have_six_different_rows():
    rows = [line[-58:] for line in LAB.output_of("rows = {").splitlines()[1:]]
    assert len(rows) == 10
    assert len(set(rows)) == 6
