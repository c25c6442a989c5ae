"""What lab 11 and its optional page say in prose is what their outputs and the committed record show."""

import json

import pytest

import guidedviz as gv
from guidedviz.decoding.distribution import share_of
from guidedviz.files import shipped
from tests.labs.solved import read_solved

LAB = read_solved("11_what_masks_change")
PAGE = read_solved("deeper/samplers")
RECORD = json.loads(shipped("traces/format-tax.json").read_text())
THREE = "For which of the three prompts"


@pytest.mark.parametrize(
    ("lab", "said", "words", "shown"),
    [
        (LAB, "the likeliest token that fits, here ` Roy`", "The limit is now 8", '8 characters: {"title": "The Roy"'),
        (LAB, "With 30 characters the limit changes nothing", "The limit is now 8", "Lantern and the Harbor"),
        (LAB, "63% of the months are `07`", "masked decoding write most", "07 0.63"),
        (LAB, "Masked decoding writes `07` in 8%", "masked decoding write most", "07 0.08, 10 0.30"),
        (LAB, "total variation 0.69", "samplers.total_variation(target", "exact 0.69, from 500 draws 0.68"),
        (LAB, "only 30% of the free texts are legal", THREE, "greeted    legal without a mask 0.30"),
        (LAB, "became part of a name", THREE, "Hope this helps!"),
        (LAB, "85 of 100 are right, with the prompt alone 71", "How many of 100", "asked no mask 0.71 (0.66 to 0.75)"),
        (LAB, "85 of 100 are right", "How many of 100", "mask 0.85 (0.81 to 0.88)"),
        (LAB, "42% right", "How many of 100", "mask 0.42"),
        (LAB, "With the line all 13 are right", "A mask for dates", "date asked 1.00 (0.77 to 1.00) not asked 0.00"),
        (LAB, "The intervals overlap", "say it all", "free 0.88 (0.84 to 0.91), masked 0.86 (0.83 to 0.90)"),
        (LAB, "With the right thought it is always right", "Of 200 sums", "200 of 200  right thought given"),
        (LAB, "Without a thought the model is wrong", "Of 200 sums", "0 of 200  no thought, mask on the answer"),
        (LAB, "with and without a mask", "Of 200 sums", "3 of 200  no thought, no mask"),
        (LAB, "The model goes on until", "demands a window", "False True True"),
        (PAGE, "about 60%, near the target", "1,000 masked draws", "weighted 0.59, target 0.63"),
        (PAGE, "needs no pass at all", "13% of the free texts", "0.01 forward passes per text"),
        (PAGE, "about 8 tries of two passes", "13% of the free texts", "16.65 forward passes per text"),
        (PAGE, "One question for the legal token", "How many tokens does", "2.1 tokens per token, P(legal) 0.31"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(lab, said, words, shown):
    assert said in lab.prose
    assert shown in lab.output_of(words)


def total(kind, temperature=1.0, **ways):
    rows = [row for row in RECORD["formats"] if row["temperature"] == temperature]
    rows = [row for row in rows if all(row[way] == value for way, value in ways.items())]
    return sum(row[kind] for row in rows)


def test_the_record_has_400_prompts_of_14_kinds_in_each_way():
    for asked in (False, True):
        for masked in (False, True):
            assert total("prompts", asked=asked, masked=masked) == 400
    assert len({row["family"] for row in RECORD["formats"]}) == 14


def test_every_masked_output_parses_and_36_of_37_tool_calls_are_right_though_not_asked():
    assert total("parses", masked=True) == 800
    way = {"asked": False, "masked": True, "family": "tool"}
    assert (total("right", **way), total("prompts", **way)) == (36, 37)


def test_with_the_prompt_the_mask_gains_more_than_chance_allows():
    free, masked = (share_of(total("right", asked=True, masked=masked), 400) for masked in (False, True))
    assert free.high < masked.low


def test_the_small_model_gains_as_much_from_a_mask():
    assert "52% of its outputs are right without and 66% with it" in LAB.prose
    card = json.loads(shipped("models/clerk-small/figures.json").read_text())
    shares = [card[f"sampled, {way}"]["answers_exact"] for way in ("free", "constrained")]
    assert [round(100 * share) for share in shares] == [52, 66]


def test_the_stage_shows_the_step_at_which_the_title_is_cut():
    clerk = gv.load_model("clerk")
    fields = {"title": {"type": "string", "maxLength": 20}, "pages": {"type": "integer"}}
    machine = gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})
    news = '"The Lantern and the Harbor" was written by Ada Lovelace and has 320 pages.\nJSON with title, pages:\n'
    steps = gv.record(clerk, news, gv.guide(machine, clerk.vocabulary), temperature=0).steps
    assert "1 in 11,000" in LAB.prose
    assert round(1 / steps[8].mass, -3) == 11_000
    assert steps[8].piece == b"7"


def test_the_rest_that_a_window_allows_is_ten_digits():
    assert "only the ten digits are legal" in LAB.prose
    clerk = gv.load_model("clerk")
    guide = gv.guide(gv.regex("0|[1-9][0-9]{0,2}"), clerk.vocabulary)
    assert int(guide.mask(guide.initial).sum()) == 10
