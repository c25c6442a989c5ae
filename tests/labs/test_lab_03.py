"""What lab 03 says in prose is what its outputs show."""

import pytest

from tests.labs.solved import read_solved

LAB = read_solved("03_fsm")


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Oxford and Leontes are people of the plays", "Five runs with five", "'OXFORD: therefore\\n'"),
        ("Look at `FRIARGILE` above", "Five runs with five", "FRIARGILE"),
        ("the check speaks of six", "gv.checks.several_words", "6 states"),
        ("the friar has a name of his own", "gv.guide(several", "FRIAR PETER"),
        ("24 × 60 = 1,440 minutes", "gv.regex(clock)", "1,440 texts"),
        ("there is no 31st of November", "500 hostile runs.", "-11-31"),
        ("All 500 fit", "500 hostile runs.", "500 fit, 477 exist"),
        (
            "how many texts does the machine accept, and how many days has a century",
            "date(2100",
            "37,200 texts, 36,525 days",
        ),
        ("36,525 different texts of which each is a day", "print(calendar", "36,525 texts"),
        ("All, and not by luck", "And now: how many", "500 of 500 exist"),
        ("0.127 divided by the product", "conditioned =", "chance 0.127"),
        ("63% are `07`", "In which of these months", "07 conditioned 0.63 masked 0.08"),
        (
            "`10` by 0.127 ÷ 0.03, which is four times",
            "In which of these months",
            "10 conditioned 0.07 masked 0.30",
        ),
        ("`07` near 63%", "What decides it?", "07   drawn 0.080   weighed by its Zs 0.620"),
        ("more than ten million times rarer", "products =", "'FRIARGILE: goodenesses\\n'   6e-08"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in LAB.output_of(words)


def test_ten_beginnings_have_six_different_rows():
    shown = LAB.output_of("There are ten rows.").splitlines()
    rows = [line[-58:] for line in shown if "·" in line]
    assert len(rows) == 10
    assert len(set(rows)) == 6
