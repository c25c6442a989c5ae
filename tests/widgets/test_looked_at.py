"""What the token at the cursor depends on, as the page hears it and as a picture."""

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.widgets.looked_at import READING_AGAIN
from tests.widgets.toy import Page


def open_stage(toy, steps):
    return gv.stage(toy.toy_model(), "say ", seed=3, steps=steps)


def shown_by(page):
    """What the page shows: it keeps what it was told last."""
    return [news["looked"] for news in page.told if "looked" in news][-1]


async def test_the_page_is_told_until_the_cursor_moves(toy, until, in_form):
    stage = open_stage(toy, 2)
    page = Page(stage)
    await until(lambda: stage.player.ahead)
    stage.display.hear({"do": "look"})
    assert in_form(page.news)["looked"] == {"place": 2, "words": [READING_AGAIN], "rows": []}
    await until(lambda: shown_by(page)["rows"])
    looked = in_form(page.news)["looked"]
    assert [label for label, _, _ in looked["rows"]] == ["say", "␣", page.steps[0]["label"]]
    stage.go(1)
    assert shown_by(page) is None
    stage.take()
    assert shown_by(page) == looked, "the same token is at the cursor again"
    await until(lambda: stage.player.ahead)


async def test_a_run_without_a_token_says_so_and_goes_on(toy, until):
    stage = open_stage(toy, 0)
    page = Page(stage)
    stage.display.hear({"do": "look"})
    await until(lambda: any("no token at the cursor" in news["note"] for news in page.told))
    assert shown_by(page) is None
    await until(lambda: stage.player.ahead)


def test_a_script_gets_the_picture_and_a_recording_has_no_model_to_ask(toy):
    stage = open_stage(toy, 2)
    figure = stage.looked_at()
    step = stage.player.current
    tokens = stage.player.point(1).tokens
    found = gv.decoding.leave_out(toy.toy_model(), tokens, step.token)
    assert figure.svg == gv.views.draw_dependence(found).svg
    assert found.probability == pytest.approx(step.raw)
    with pytest.raises(SettingError, match="saw a recording, expected a live stage"):
        gv.stage(stage.trace).looked_at()
