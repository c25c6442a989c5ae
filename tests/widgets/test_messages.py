"""Every message from kernel to page has a form, and the types of the page are made from these forms."""

import json
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import guidedviz as gv
from guidedviz.decoding.records import read_value
from tests.common import constant_model, regex_guide

ROOT = Path(__file__).resolve().parents[2]
NESTED = 'root ::= "(" root ")" | "x"'
MODEL = constant_model([b"(", b")", b"x", b"((", b"y"], [0.3, 0.2, 0.1, 0.0, 0.4])


@pytest.fixture
def messages(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "assets"))
    monkeypatch.delitem(sys.modules, "messages", raising=False)
    return import_module("messages")


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
async def test_what_a_stage_tells_has_the_form_of_its_message(name, messages):
    stage = stages()[name]

    def told(everything=False):
        news = json.loads(json.dumps(stage.display.news(everything)))
        read_value(messages.PackedNews, news, "news")
        return news

    told(everything=True)
    stage.take(3)
    (first, *_) = told(everything=True)["add"]
    for token, _, _, _, legal, *_ in first["rows"]:
        if not legal:
            stage.display.hear({"do": "choose", "token": token, "cursor": 0})
            told()
    stage.display.hear({"do": "go", "cursor": 1, "turn": 1})
    questions = [("texts", 0), ("find", "x"), ("find", "/(/"), ("why", 1)]
    for ask, of in questions:
        stage.display.hear({"do": "map", "ask": ask, "of": of})
    told()
    if "box" in name:
        for text in ('root ::= "(" root ")" | "y"', 'root ::= "y"', "root ::="):
            stage.edit(text, "grammar")
            told()
    told(everything=True)
