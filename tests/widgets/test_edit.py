"""Edit while decoding: a wrong text changes nothing, a good one is taken over, or waits for the person to go back."""

import asyncio
import json
import threading

import pytest

import guidedviz as gv
from guidedviz.widgets import runner
from tests.common import constant_model
from tests.widgets.toy import told

ADA = r'\{"name": "(Ada|Bob)"\}'


def edited(toy, text=ADA, steps=5, **settings):
    return gv.stage(toy.toy_model(), "say ", seed=3, steps=steps, edit=text, **settings)


def test_without_a_guide_the_text_of_the_box_is_the_constraint(toy):
    stage = edited(toy, steps=60)
    assert stage.text in ('{"name": "Ada"}', '{"name": "Bob"}')
    assert told(stage)["edit"]["text"] == ADA
    assert told(stage)["head"]["constraint"] == "regex " + ADA


def test_a_good_text_holds_from_the_cursor_on_and_later_steps_are_stale(toy):
    stage = edited(toy, steps=6).go(3)
    before = stage.player.go(5).point(5).tokens
    stage.edit(r'\{"name": "[A-Z][a-z]*"(, "age": [0-9])?\}')
    assert told(stage)["edit"]["state"] == "runs"
    assert stage.player.cursor == 3
    assert not stage.player.known, "the steps ahead were taken under the constraint before"
    assert stage.player.go(5).point(5).tokens == before, "but they are still there"
    assert told(stage)["head"]["constraint"].endswith("from step 4 on")
    stage.take(1)
    under = [step["words"].endswith("under the earlier constraint") for step in told(stage)["add"]]
    assert under == [True, True, True, False]


def test_what_rejects_a_token_that_was_taken_waits_until_one_goes_back(toy):
    stage = edited(toy)
    tokens = [step.token for step in stage.player.steps]
    stage.edit('{"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}', "schema")
    box = told(stage)["edit"]
    assert (box["state"], box["rejects"][0]) == ("waits", "name")
    assert "cannot come" in box["rejects"][1]
    assert [step.token for step in stage.player.steps] == tokens, "nothing has happened yet"
    stage.take(1)
    assert stage.player.steps[-1].piece in (b"Ada", b"A", b"Bob"), "the constraint before runs on"
    stage.go_back()
    assert stage.player.cursor == len(stage.player.taken) == box["place"]
    assert stage.take(1).player.current.piece == b"age"
    assert json.loads(stage.take(60).text)["age"] >= 0


def test_what_was_complete_may_go_on_and_what_is_complete_ends(toy):
    model = gv.ToyModel(toy.PIECES, toy.rule)  # no token of it is an end
    stage = gv.stage(model, "say ", edit=r'\{"name')
    stage.take(60)
    assert stage.player.current.end == "complete"
    stage.edit(ADA)
    assert not stage.player.at_end
    stage.edit(r'\{"name')
    assert stage.player.at_end
    stage = edited(toy, text=r'\{"name', steps=60).edit(ADA)
    assert told(stage)["edit"]["rejects"][0] == "<eos>"


def test_another_token_in_the_place_of_the_rejected_one_is_compared_anew(toy):
    stage = edited(toy, text="(age|Bob|say)(36|7)?", steps=2)
    taken = stage.player.steps[0].piece
    other = next(piece for piece in (b"age", b"Bob") if piece != taken)
    stage.edit(other.decode() + "7?")
    assert told(stage)["edit"]["rejects"][0] == taken.decode()
    stage.go(0).choose(toy.PIECES.index(other))
    box = told(stage)["edit"]
    assert (box["state"], box["rejects"]) == ("runs", None)


async def test_a_wrong_text_is_told_with_its_caret_and_not_sent_back_while_one_types_on(toy, until, monkeypatch):
    stage = edited(toy)
    assert "text" in stage.display.news(True)["edit"]
    stage.display.hear({"do": "edit", "kind": "regex", "text": r"\{(name"})
    await until(lambda: stage.display.saved()["edit"]["state"] == "wrong")
    box = stage.display.news(False)["edit"]
    assert "text" not in box
    assert box["error"].split("\n")[2] == "    ^"
    assert stage.take(60).text in ('{"name": "Ada"}', '{"name": "Bob"}'), "the old constraint runs on"
    assert stage.display.saved()["edit"]["text"] == r"\{(name"
    monkeypatch.setattr(runner, "compile_guide", lambda *_: 1 / 0)
    stage.display.hear({"do": "edit", "kind": "regex", "text": "a"})
    await until(lambda: told(stage)["edit"]["error"] == "ZeroDivisionError: division by zero")
    monkeypatch.undo()
    stage.edit("[", "regex")
    await until(lambda: stage.display.saved()["edit"]["state"] == "wrong")
    assert stage.display.news(False)["edit"]["text"] == "["


def test_a_recording_and_a_stage_without_a_wish_have_no_box(toy):
    trace = gv.record(toy.toy_model(), "say ", None, max_tokens=3)
    with pytest.raises(gv.SettingError, match=r"gv.stage\(trace\), edit: saw 'a\*', expected no settings"):
        gv.stage(trace, edit="a*")
    assert "edit" not in told(gv.stage(trace))
    assert "edit" not in told(gv.stage(toy.toy_model(), "say "))
    with pytest.raises(gv.SettingError, match=r"gv.stage\(..., edit=text\)"):
        gv.stage(toy.toy_model(), "say ").edit("a")


async def test_a_long_compile_leaves_the_stage_alive_and_a_newer_text_wins(toy, monkeypatch, until):
    release = threading.Event()
    finished = threading.Event()
    plain = runner.compile_guide

    def compile_slowly(kind, text, vocabulary):
        if text == "slow":
            assert release.wait(10)
            finished.set()
        return plain(kind, text, vocabulary)

    monkeypatch.setattr(runner, "compile_guide", compile_slowly)

    stage = edited(toy, steps=2)
    stage.display.hear({"do": "edit", "kind": "regex", "text": "slow"})
    assert told(stage)["edit"]["state"] == "compiling"
    stage.display.hear({"do": "step"})
    await until(lambda: stage.player.cursor == 3)
    stage.display.hear({"do": "edit", "kind": "regex", "text": ADA + "?"})
    newer = gv.regex(ADA + "?")
    await until(lambda: stage.guide.machine == newer)
    assert not finished.is_set(), "it does not wait for the older one"
    release.set()
    await until(finished.is_set)
    await asyncio.sleep(0)
    assert told(stage)["edit"]["state"] == "runs", "and that one comes too late"
    assert stage.guide.machine == newer


async def test_a_stage_that_plays_goes_on_under_the_new_constraint(toy, until):
    bias = {0: -100, toy.PIECES.index(b"7"): 50}  # it goes on until the new constraint allows a 7
    stage = edited(toy, text=r'\{"name": "(Ada|Bob)*', steps=0, max_tokens=400, bias=bias)
    stage.speed = 30
    stage.play()
    await until(lambda: stage.player.cursor >= 6)
    stage.display.hear({"do": "edit", "kind": "regex", "text": r'\{"name": "(Ada|Bob)*(7|36)"\}'})
    await until(lambda: stage.player.at_end)
    assert stage.text.endswith('7"}')
    assert told(stage)["head"]["constraint"].startswith(r"regex \{")


def test_only_a_guide_over_the_vocabulary_of_the_model_is_adopted(toy):
    stage = edited(toy)
    before = stage.guide
    another = gv.guide(gv.regex("a"), gv.Vocabulary([b"a"]))
    for other in (None, gv.regex("a"), another):
        assert "gv.guide(machine, model.vocabulary)" in stage.adopt(other, "another", 0).note
        assert stage.guide is before
    assert stage.take(60).text in ('{"name": "Ada"}', '{"name": "Bob"}')


def test_a_budget_stays_when_the_constraint_is_edited():
    nested = 'root ::= "(" root ")" | "x"'
    model = constant_model([b"(", b")", b"x", b"a", b"</s>"], [3.0, 0.1, 0.1, 0.1, -3.0], eos={4})
    guide = gv.within(gv.guide(gv.grammar(nested), model.vocabulary), 8)
    stage = gv.stage(model, "(", guide, steps=2, edit=nested, max_tokens=60)
    assert stage.edit(nested.replace("x", "a")).take(60).text == "(((a)))"
    before = stage.guide
    stage = stage.reset().edit('root ::= "aaaaaaaaa"')
    assert "saw 8, expected at least 10" in told(stage)["edit"]["error"]
    assert stage.guide is before
