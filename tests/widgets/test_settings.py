"""The settings that a person changes on the page: they hold for the steps that follow, and a wrong one is a note."""

import pytest

import guidedviz as gv
from tests.widgets.toy import Page


def set_by_page(stage, name, value):
    stage.display.hear({"do": "set", "name": name, "value": value})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [("top_k", 1, "top-k 1"), ("top_p", 0.05, "top-p 0.05"), ("repetition_penalty", 1.5, "penalty 1.5")],
)
def test_a_setting_of_the_page_changes_the_steps_that_follow(toy, name, value, said):
    stage = gv.stage(toy.toy_model(), "say ", seed=3, steps=1)
    page = Page(stage)
    set_by_page(stage, name, value)
    assert page.news[name] == value
    stage.take()
    assert [step.changes for step in stage.trace.steps] == ["", said]


@pytest.mark.parametrize(("name", "value"), [("top_k", 1.5), ("top_p", 0), ("repetition_penalty", 0), ("seed", -1)])
def test_a_wrong_setting_changes_nothing_and_says_what_is_expected(toy, name, value):
    stage = gv.stage(toy.toy_model(), "say ", seed=3, steps=1)
    before = stage.player.settings
    set_by_page(stage, name, value)
    assert stage.note.startswith(f"{name}: saw {value}, expected a")
    assert stage.player.settings == before


@pytest.mark.parametrize("value", [-5, 1.5, None])
def test_a_field_that_is_left_by_a_button_still_says_what_was_wrong(toy, value):
    stage = gv.stage(toy.toy_model(), "say ", seed=3, steps=1)
    set_by_page(stage, "seed", value)
    stage.display.hear({"do": "reset"})
    assert stage.note == f"seed: saw {value}, expected a whole number from 0"
    assert stage.player.settings.seed == 3
    stage.display.hear({"do": "step"})
    assert not stage.note


@pytest.mark.parametrize("name", ["max_tokens", "bias", "draft", "__class__"])
def test_a_page_changes_no_other_setting(toy, name):
    stage = gv.stage(toy.toy_model(), "say ", seed=3, steps=1)
    before = stage.player.settings
    set_by_page(stage, name, 1)
    assert stage.player.settings == before
    assert not stage.note


def test_the_page_gets_what_each_stage_of_the_sampler_left(toy):
    stage = gv.stage(toy.toy_model(), "say ", top_k=4, temperature=0.5, repetition_penalty=1.2, steps=1)
    [step] = Page(stage).steps
    assert step["changes"] == "penalty 1.2 · T 0.50 · top-k 4"
    assert len(step["stages"]) == 2
    for shares in step["stages"]:
        assert len(shares) == len(step["rows"]) + 1
        assert sum(shares) == pytest.approx(1, abs=0.01)
    cut = gv.stage(toy.toy_model(), "say ", top_k=4, top_p=0.9, steps=1)
    [shares] = Page(cut).steps[0]["stages"]
    assert shares[-1] == 0, "what rounding leaves is nothing: top-k keeps four, and all are shown"
