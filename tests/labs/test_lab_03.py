"""What lab 03 says in prose is what its outputs show."""

import pytest

import guidedviz as gv
from tests.labs.solved import read_solved

LAB = read_solved("03_fsm")


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Oxford and Leontes are persons of the plays", "Five runs with five", "'OXFORD: therefore\\n'"),
        ("One of the five names is `FRIARGILE`", "Five runs with five", "FRIARGILE"),
        ("the first character that cannot come", "draw_verdicts", "illegal at byte 6: expected ␣"),
        ("only 1 part in 800", "legal mass at each letter", "5: G Z 1 in 800"),
        ("the third name is `FRIAR PETER`", "gv.guide(several", "FRIAR PETER"),
        ("such as the 31st of November", "500 hostile runs.", "-11-31"),
        ("All 500 fit", "500 hostile runs.", "500 fit, 477 exist"),
        ("37,200 texts fit; a century has 36,525 days", "calendar =", "37,200 texts, 36,525 days"),
        ("36,525 wrong texts have the same count", "calendar =", "36,525 texts, 36,525 days"),
        ("`3` is accepted, and so is `3.1`", "cannot be a complete decimal", "3: True   3.: False   3.1: True"),
        ("That is `*`: the two machines differ", "shortest text on which", "b': \\n'"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in LAB.output_of(words)


def test_after_f_the_model_wants_a_small_letter_and_after_friar_a_space():
    bard = gv.load_model("bard", device="cpu")
    steps = gv.record(bard, "\n", gv.guide(gv.regex("[A-Z]+: [a-z]+\n"), bard.vocabulary), seed=2, max_tokens=6).steps
    assert sum(c.raw for c in steps[1].candidates if c.piece.islower()) > 0.8
    assert max(steps[5].candidates, key=lambda candidate: candidate.raw).piece == b" "


def test_a_decode_that_ends_at_the_first_accepting_state_writes_exactly_one():
    machine = gv.regex("[A-Z]+")
    assert {text for text in ("R", "RO", "ROM") if machine.accepts(text.encode())} == {"R", "RO", "ROM"}
    assert machine.is_accepting(machine.step(machine.initial, ord("R")))


def test_ten_beginnings_have_six_different_rows():
    shown = LAB.output_of("ten rows of ticks").splitlines()
    rows = [line[-58:] for line in shown if "·" in line]
    assert len(rows) == 10
    assert len(set(rows)) == 6
