"""What lab 03 says in prose is what its outputs show."""

import pytest

import guidedviz as gv
from tests.labs.solved import read_solved

LAB = read_solved("03_fsm")


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Oxford and Leontes are persons of the plays", "Five runs with five", "'OXFORD: therefore\\n'"),
        ("One name above is `FRIARGILE`", "Five runs with five", "FRIARGILE"),
        ("the first character that cannot come", "draw_verdicts", "illegal at byte 6: expected ␣"),
        ("the name is `FRIAR PETER`", "gv.guide(several", "FRIAR PETER"),
        ("such as the 31st of November", "500 hostile runs.", "-11-31"),
        ("All 500 fit", "500 hostile runs.", "500 fit, 477 exist"),
        ("23 of 500 dates do not exist", "500 hostile runs.", "500 fit, 477 exist"),
        ("The machine accepts 36,525 texts", "calendar =", "36,525 texts, 36,525 days"),
        ("the machines differ on `: ↵`", "shortest text on which", "b': \\n'"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in LAB.output_of(words)


def test_a_decode_that_ends_at_the_first_accepting_state_writes_exactly_one():
    machine = gv.regex("[A-Z]+")
    assert {text for text in ("R", "RO", "ROM") if machine.accepts(text.encode())} == {"R", "RO", "ROM"}
    assert machine.is_accepting(machine.step(machine.initial, ord("R")))


def test_ten_beginnings_have_six_different_rows():
    shown = LAB.output_of("ten rows of ticks").splitlines()
    rows = [line[-58:] for line in shown if "·" in line]
    assert len(rows) == 10
    assert len(set(rows)) == 6
