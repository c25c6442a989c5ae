"""Every message from kernel to page has a form, and the types of the page are made from these forms."""

from dataclasses import replace

import pytest

import guidedviz as gv
from tests.common import constant_model, regex_guide

NESTED = 'root ::= "(" root ")" | "x"'
MODEL = constant_model([b"(", b")", b"x", b"((", b"y"], [0.3, 0.2, 0.1, 0.0, 0.4])


def test_the_types_of_the_page_are_what_the_script_writes(messages):
    assert messages.PAGE.read_text(encoding="utf-8") == messages.write_messages(), "run: python assets/messages.py"


def stages():
    guide = gv.guide(gv.grammar(NESTED), MODEL.vocabulary)
    finite = regex_guide(MODEL, "[(x]+y?")
    trace = gv.record(MODEL, "x", finite, max_tokens=4, bias={2: 3.0})
    return {
        "without a constraint": gv.stage(MODEL, "x", max_tokens=6, temperature=0.5, bias={2: 3.0}),
        "a finite machine": gv.stage(MODEL, "x", finite, max_tokens=6),
        "a stack, its map and a box": gv.stage(MODEL, "x", guide, max_tokens=6, stack=True, edit=NESTED),
        "a trace": gv.stage(trace),
        "a trace with its guide": gv.stage(trace, guide=finite),
        "a trace without its guide": gv.stage(replace(trace, guide=None)),
    }


@pytest.mark.parametrize("name", stages())
async def test_what_a_stage_tells_has_the_form_of_its_message(name, in_form):
    stage = stages()[name]
    in_form(stage.display.news(True))
    stage.take(3)
    first, *_ = in_form(stage.display.news(True))["add"]
    for token, _, _, _, legal, *_ in first["rows"]:
        if not legal:
            stage.display.hear({"do": "choose", "token": token, "cursor": 0})
            in_form(stage.display.news(False))
    stage.display.hear({"do": "go", "cursor": 1, "turn": 1})
    for ask, of in (("texts", 0), ("find", "x"), ("find", "/(/"), ("why", 1)):
        stage.display.hear({"do": "map", "ask": ask, "of": of})
    in_form(stage.display.news(False))
    if "box" in name:
        for text in ('root ::= "(" root ")" | "y"', 'root ::= "y"', "root ::="):
            stage.edit(text, "grammar")
            in_form(stage.display.news(False))
    in_form(stage.display.news(True))
