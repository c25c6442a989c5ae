"""What lab 03 and its optional page say in prose is what their outputs show."""

import pytest

import guidedviz as gv
from tests.labs.solved import read_solved

LAB = read_solved("03_fsm")
PAGE = read_solved("deeper/what_a_mask_changes")


@pytest.mark.parametrize(
    ("lab", "said", "words", "shown"),
    [
        (LAB, "Oxford and Leontes are persons of the plays", "Five runs with five", "'OXFORD: therefore\\n'"),
        (LAB, "One name above is `FRIARGILE`", "Five runs with five", "FRIARGILE"),
        (LAB, "the first character that cannot come", "draw_verdicts", "illegal at byte 6: expected ␣"),
        (LAB, "the name is `FRIAR PETER`", "gv.guide(several", "FRIAR PETER"),
        (LAB, "such as the 31st of November", "500 hostile runs.", "-11-31"),
        (LAB, "All 500 fit", "500 hostile runs.", "500 fit, 477 exist"),
        (LAB, "23 of 500 dates do not exist", "500 hostile runs.", "500 fit, 477 exist"),
        (LAB, "The machine accepts 36,525 texts", "calendar =", "36,525 texts, 36,525 days"),
        (LAB, "the machines differ on `: ↵`", "shortest text on which", "b': \\n'"),
        (PAGE, "In the target 63% of the months are `07`", "In which of these months", "07 target 0.63 masked 0.08"),
        (
            PAGE,
            "Masked decoding writes `07` in 8%. In 90% it begins",
            "In which of these months",
            "10 target 0.07 masked 0.30",
        ),
        (PAGE, "about 60%, near the target", "1,000 masked draws", "07  drawn 0.076  weighted 0.589  target 0.630"),
        (PAGE, "more than ten million times rarer", "weights =", "'FRIARGILE: goodenesses\\n'   6e-08"),
        (PAGE, "it soon needs no forward pass", "for name, sampler in", "0.01 forward passes per text"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(lab, said, words, shown):
    assert said in lab.prose
    assert shown in lab.output_of(words)


def test_a_decode_that_ends_at_the_first_accepting_state_writes_exactly_one():
    machine = gv.regex("[A-Z]+")
    assert {text for text in ("R", "RO", "ROM") if machine.accepts(text.encode())} == {"R", "RO", "ROM"}
    assert machine.is_accepting(machine.step(machine.initial, ord("R")))


def test_ten_beginnings_have_six_different_rows():
    shown = LAB.output_of("ten rows of ticks").splitlines()
    rows = [line[-58:] for line in shown if "·" in line]
    assert len(rows) == 10
    assert len(set(rows)) == 6
