"""The stack on the stage: each state is told once, a token byte by byte, pictures only while they are seen."""

from __future__ import annotations

import asyncio
import json
import threading
from itertools import chain, pairwise

import pytest

import guidedviz as gv
from guidedviz.views.stack.stack import say_ways
from guidedviz.widgets import panels as stacks
from guidedviz.widgets.panels import PICTURES, MachineFeed, Pictures, StackFeed

PIECES = [b"<eos>", b'{"', b"a", b'":', b"[", b"]}", b"1", b'{"a":', b"[[", b"]]}}", b"x", b"]"]
TEXT = (b'{"', b"a", b'":', b'{"a":', b"[[", b"1", b"]]}}")


def says(*pieces):
    def rule(tokens):
        wanted = pieces[len(tokens) - 1] if len(tokens) <= len(pieces) else b"<eos>"
        return [9.0 if piece == wanted else 5.0 if piece == b"x" else 0.0 for piece in PIECES]

    return gv.ToyModel(PIECES, rule, eos={0})


def staged(steps=0, **settings):
    model = says(*TEXT)
    return gv.stage(model, "x", gv.guide(gv.json(), model.vocabulary), temperature=0, steps=steps, **settings)


def told(stage, everything=False):
    return json.loads(json.dumps(stage.display.news(everything)))


def test_the_frames_of_every_state_are_those_of_the_machine():
    stage, pda = staged(7), gv.json()
    news = told(stage, True)
    state = pda.initial
    for step, piece in zip(news["add"], TEXT, strict=True):
        for number, byte, seen in zip(step["path"][1:], piece, step["bytes"], strict=True):
            state = pda.step(state, byte)
            known = news["stacks"][str(number)]
            assert tuple(rule for _, rule, _ in known["frames"]) == pda.stack(state)
            assert known["depth"] == pda.depth(state)
            assert known["ground"] == ("bottom · the text may end" if pda.is_accepting(state) else "bottom")
            assert known["ways"] == say_ways(state)
            assert known["now"] == sorted(pda.places(state))
            assert seen == chr(byte)
    assert news["machine"]["stack"]


def test_a_state_is_told_once_and_again_to_a_new_page():
    stage = staged()
    news = told(stage, True)
    first = news["stacks"]
    assert set(first) == set(map(str, news["next"]["path"])), "the first state, and those inside the next token"
    stage.take(2)
    assert first.keys().isdisjoint(told(stage)["stacks"])
    stage.back(2).take(1)
    assert told(stage)["stacks"] == {}
    news = told(stage, True)
    assert set(news["stacks"]) == {str(number) for step in news["add"] for number in step["path"]}


def test_what_stays_open_keeps_its_number():
    stage = staged(7)
    known = told(stage, True)["stacks"]
    path = [number for step in stage.display.saved()["add"] for number in step["path"][1:]]
    outward = [[number for number, *_ in reversed(known[str(state)]["frames"])] for state in path]
    for before, after in pairwise(outward):
        below = min(len(before), len(after)) - 1
        assert before[:below] == after[:below]
    assert len({len(numbers) for numbers in outward}) > 3


def test_each_byte_has_its_arrows_and_they_are_in_the_drawing():
    stage = staged(7)
    news = told(stage, True)
    for step, piece in zip(news["add"], TEXT, strict=True):
        assert len(step["taken"]) == len(piece)
        assert all(keys for keys in step["taken"])
        for key in chain(*step["taken"]):
            assert f"'data-arrow': '{key}'" in str(news["drawings"]["0"]["shapes"])


def test_why_shows_the_stack_where_the_token_died():
    stage = staged(5)
    told(stage)
    stage.display.hear({"do": "choose", "token": PIECES.index(b"x"), "cursor": 5})
    why = told(stage)["why"]
    assert why["rows"][-1][:2] == ["x", f"n{why['stacks'][str(why['path'][-1])]['now'][0]}"]
    assert why["died"] == "x"
    assert why["stack"][0] == "array"
    assert str(why["path"][-1]) in why["stacks"]
    assert "innermost open rule is array" in why["reason"]


def test_a_recording_shows_its_stack_and_another_guide_is_refused():
    model = says(*TEXT)
    guide = gv.guide(gv.json(), model.vocabulary)
    trace = gv.record(model, "x", guide, temperature=0, max_tokens=20)
    stage = gv.stage(trace, guide=gv.guide(gv.json(), model.vocabulary), steps=5)
    news = told(stage, True)
    state = guide.initial
    for step in stage.player.steps:
        state = guide.advance(state, step.token)
    assert news["stacks"][str(news["add"][4]["path"][-1])]["depth"] == guide.machine.depth(state)
    other = gv.guide(gv.grammar('root ::= "{" root "}" | "x"'), model.vocabulary)
    with pytest.raises(gv.SettingError, match=r"this guide: saw step 1, '\{\"'"):
        gv.stage(trace, guide=other)


def test_a_saved_notebook_has_the_stack_of_its_step():
    stage = staged(3)
    kept = stage.display.saved()
    assert {str(n) for n in kept["stacks"]} >= {str(kept["add"][2]["path"][-1])}


def test_other_pictures_are_drawn_when_they_are_asked_for():
    stage = staged(4)
    assert "picture" not in told(stage, True)
    for name in PICTURES:
        stage.display.hear({"do": "picture", "name": name})
        seen, svg = told(stage)["picture"]
        assert seen == name
        assert svg[0] == "svg"
        assert "picture" not in told(stage), "and not again"
        stage.take(1)
        assert told(stage)["picture"][1] != svg, "it follows the cursor"
        stage.back(1)
        told(stage)
    stage.display.hear({"do": "picture", "name": "stack"})
    stage.take(1)
    assert "picture" not in told(stage)


async def test_pictures_are_drawn_aside_and_only_the_newest(monkeypatch):
    drawn, release = [], threading.Event()

    def slowly(pda, name, text):
        assert release.wait(10)
        drawn.append(text)
        return f"<svg>{len(text)}</svg>"

    monkeypatch.setattr(stacks, "draw_picture", slowly)
    pictures = Pictures(gv.json(), lambda: None)
    for end in range(1, 20):
        pictures.want("tree", b"[" * end)
        await asyncio.sleep(0)
    release.set()
    while waits := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(waits)
    assert pictures.news(False) == {"picture": ["tree", "<svg>19</svg>"]}
    assert len(drawn) <= 2


def test_a_picture_that_cannot_be_drawn_says_why(monkeypatch):
    def burst(pda, text):
        raise gv.SettingError("too long", seen="much", expected="less")

    monkeypatch.setitem(PICTURES, "tree", burst)
    stage = staged(1)
    stage.display.hear({"do": "picture", "name": "tree"})
    assert told(stage)["picture"] == ["tree", "too long: saw much, expected less"]


def test_a_deep_stack_is_short_to_tell():
    deep = gv.grammar('root ::= "(" root ")" | "x"')
    feed, state = StackFeed(deep), deep.initial
    for _ in range(10_000):
        state = deep.step(state, ord("("))
    packed = feed.pack([state])[state.number]
    assert packed["depth"] == 10_000
    assert len(json.dumps(packed)) < 4000
    assert MachineFeed(deep).news(True)["machine"]["stack"]
