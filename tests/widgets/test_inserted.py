"""What a person inserts on the stage: a text comes next, or a note says why it does not."""

import asyncio

import guidedviz as gv
from tests.widgets.toy import Page


def open_stage(toy):
    model = toy.toy_model()
    return gv.stage(model, "say ", toy.WordsGuide(model.vocabulary), seed=3)


async def rest(until, stage):
    await until(lambda: stage.player.ahead is not None)
    await asyncio.sleep(0)


async def test_the_page_inserts_a_text_and_hears_why_one_is_refused(toy, until):
    stage = open_stage(toy)
    page = Page(stage)
    stage.display.hear({"do": "insert", "text": '{"name": "Bob"'})
    await until(lambda: stage.player.cursor > 0)
    assert stage.text == '{"name": "Bob"'
    assert {step["how"] for step in page.steps} == {"inserted"}
    cursor = stage.player.cursor
    stage.display.hear({"do": "insert", "text": "Sure"})
    assert page.news["note"].startswith("the inserted text, token 1 of")
    assert stage.player.cursor == cursor
    await rest(until, stage)


def test_a_script_inserts_a_text_too(toy):
    stage = open_stage(toy)
    assert stage.insert('{"name"').text == '{"name"'
    assert "token 1 of" in stage.insert("}").note
    assert stage.text == '{"name"'
