"""What the page on drafts says in prose is what its outputs and the bench show."""

import json
from pathlib import Path

import pytest

import guidedviz as gv
from tests.labs.solved import read_solved

PAGE = read_solved("deeper/drafts")
BENCH = Path(__file__).resolve().parents[2] / "assets" / "bench"
THREE = "Three drafts: look-up"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("The small model finds both", THREE, "small    21 tokens,  5 passes, 17 of 17"),
        ("Look-up finds the names and numbers", THREE, "look-up  21 tokens, 18 passes,  3 of  9"),
        ("Forced finds the keys", THREE, "forced   21 tokens, 14 passes,  8 of  8"),
        ("and the residual repairs the rest", "Only the model is masked", "difference from p: 0.00; accepted 0.30"),
        ("saves rejections", "Only the model is masked", "with a masked draft 0.53"),
        ("the distribution of the model", "Only the draft is masked", "x 0.50"),
        ("legal tokens only, but not p", "Which distribution does this give", "x p 0 cut and drawn again 0"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in PAGE.prose
    assert shown in PAGE.output_of(words)


def test_the_small_model_is_right_where_clerk_is_wrong():
    assert "guessed `9.`, for 19, and `clerk` wrote `1`" in PAGE.prose
    clerk, small = gv.load_model("clerk"), gv.load_model("clerk-small")
    sums = "Ada has 14 books and buys 5 more. How many books are there now?\nThink, then answer:\n"
    thought = gv.guide(gv.regex("[^:]{1,80}: [0-9]{1,3}"), clerk.vocabulary)
    step = gv.record(clerk, sums, thought, temperature=0, draft=small).steps[17]
    assert (step.piece, step.dropped) == (b"1", (b"9", b"."))


def test_the_bench_that_is_told_is_the_one_that_is_kept():
    numpy, torch = (
        [case["small, 4"] | {"forced": case["forced"]["from"]} for case in json.loads(kept)["cases"].values()]
        for kept in ((BENCH / f"{name}.json").read_text() for name in ("speculation", "speculation-torch"))
    )
    assert "the small model makes it 1.5 to 1.7 times as fast" in PAGE.prose
    assert all(1.45 < case["speed-up"] < 1.75 for case in torch)
    assert all(case["to"] < 1 < case["forced"] for case in numpy)
