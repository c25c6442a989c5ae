"""A conversation on a stage: the turn is decoded, its calls run, a person may change what the model reads next."""

import asyncio
import json
import threading
from unittest.mock import Mock

import pytest

import guidedviz as gv
from guidedviz.decoding import Conversation
from guidedviz.decoding.recording import PackedRun
from guidedviz.decoding.records import read_value, to_plain
from tests.decoding.scripted import TEMPLATE, Scripted
from tests.decoding.test_converse import add, boom, call_text
from tests.widgets.toy import told

pytest.importorskip("jinja2")

CALLS = call_text(a=1, b=2) + "\n" + call_text("boom")


def open_stage(first=CALLS, last="It is 3.", tools=(add, boom), **settings):
    """A conversation whose first turn, which calls two tools, has been decoded."""
    model = Scripted(first, last)
    conversation = Conversation(model, "What is 1 + 2?", tools, think=False)
    return model, gv.stage(conversation, **{"temperature": 0, "max_tokens": 300, "steps": 300, **settings})


def texts_of(stage):
    return [text for _, text, _ in told(stage)["results"]]


def test_results_stand_on_the_stage_until_the_model_reads_them():
    model, stage = open_stage(steps=5)
    assert told(stage)["results"] == []
    stage.take(300)
    shown = [['add {"a": 1, "b": 2}', "3", False], ["boom {}", r"error: ZeroDivisionError: by\x00zero \u202e", True]]
    assert told(stage)["results"] == shown
    stage.go(1)
    assert told(stage)["results"] == []
    stage.go(len(stage.player.steps))
    assert told(stage)["results"] == shown, "they are known at the end of the same turn"
    stage.answer()
    assert told(stage)["results"] == []
    assert stage.player.cursor == 0
    assert "<tool_response>3</tool_response>" in stage.head.prompt
    assert stage.head.prompt_parts == model.prompts[-1].parts
    assert stage.take(300).text == "It is 3."
    assert told(stage)["results"] == []


def test_the_model_reads_what_a_person_wrote_in_place_of_a_result():
    special = []
    for texts in (["41 </tool_response>", "nothing"], ["3", "4"]):
        model, stage = open_stage()
        stage._hear({"do": "answer", "texts": texts})
        assert f"<tool_response>{texts[0]}</tool_response>" in stage.head.prompt
        special.append([token for token in model.prompts[-1].tokens if token >= 256])
    assert special[0] == special[1], "what was typed is no special token"


async def test_tools_run_beside_the_event_loop_and_a_turn_that_was_changed_meanwhile_gets_no_results(until):
    release = threading.Event()

    def slow() -> str:
        release.wait(10)
        return "late"

    _, stage = open_stage(call_text("slow"), tools=[slow])
    assert texts_of(stage) == []
    stage.go(3).choose(ord("x"))  # another way: the results of the first are for nobody
    release.set()
    await asyncio.sleep(0.1)
    assert texts_of(stage) == []
    stage.reset().take(300)
    await until(lambda: stage.talk.is_ready)
    assert texts_of(stage) == ["late"]


def talk_of(stage):
    return told(stage)["head"].get("talk")


def test_all_turns_are_one_tape():
    _, stage = open_stage(call_text(a=1, b=2))
    first = told(stage)["head"]
    assert "talk" not in first
    stage.answer().take(300)
    head = told(stage)["head"]
    assert head["parts"] == first["parts"], "the tape begins as before"
    assert head["talk"]["now"] == 1
    said, answer = head["talk"]["turns"]
    assert said["said"] == ["", "<tool_call>", '↵{"name": "add", "arguments": {"a": 1, "b": 2}}↵', "</tool_call>", ""]
    read = ["", "<|im_end|>", "↵", "<|im_start|>", "tool↵", "<tool_response>", "3"]
    assert said["read"][:7] == read
    assert said["read"][-2:] == ["<|im_start|>", "assistant↵"]
    assert answer == {"said": ["It is 3."], "read": []}


def test_a_person_goes_to_an_earlier_turn_and_back():
    _, stage = open_stage()
    asked = stage.head.prompt
    length = len(stage.player.steps)
    stage.answer().take(300)
    stage._hear({"do": "visit", "turn": 0, "cursor": 4})
    assert stage.head.prompt == asked
    assert stage.player.cursor == 4
    assert len(told(stage)["add"]) == length
    assert stage.guide.machine is stage.talk.turns[0].guide.machine
    stage.take(300)
    assert stage.player.cursor == length
    assert texts_of(stage)[0] == "3"
    for place in (1, -1, 2, 10**9):
        assert stage.visit(place, 999).text == "It is 3."
    assert len(talk_of(stage)["turns"]) == 2, "to look drops nothing"


def lookup(table: str, key: str) -> int:
    """Looks up a value in a table."""
    return 45


PRICE = {"function": {"name": "lookup", "arguments": {"table": "price", "key": "lamp"}}}
ASKED = [
    {"role": "user", "content": "What is the price of the lamp?"},
    {"role": "assistant", "content": "", "reasoning_content": "The tool is lookup.", "tool_calls": [PRICE]},
]


def test_the_rule_in_which_a_token_is_refused_is_drawn():
    """Of a large machine only the rules are drawn that a token has passed."""
    messages = [*ASKED, {"role": "tool", "name": "lookup", "content": "45"}]
    conversation = Conversation(gv.load_model("scout"), messages, [lookup])
    stage = gv.stage(conversation, temperature=0, steps=14)
    assert stage.trace.parts[3] == "</think>"
    player = stage.player.look()
    refused = [one.token for one in player.ahead.step.candidates if not one.legal]
    whys = [stage.panels.explain(player, token) for token in refused]
    assert {why["stacks"][why["path"][-1]]["frames"][0][1] for why in whys} == {"call"}
    assert "call" in {drawing.get("rule") for drawing in told(stage)["drawings"].values()}


def test_a_recording_plays_every_turn():
    _, stage = open_stage()
    lengths = [len(stage.player.steps), len(stage.answer().take(300).player.steps)]
    shown = json.loads(json.dumps(stage.display.record(), default=to_plain))
    pages = [(len(page["add"]), page["head"]["talk"]["now"]) for page in shown["pages"]]
    assert pages == list(zip(lengths, (0, 1), strict=True))
    assert shown["moves"] == {'{"do":"visit","turn":0,"cursor":0}': 0, '{"do":"visit","turn":1,"cursor":0}': 1}
    assert shown["head"] == shown["pages"][1]["head"]
    for page in shown["pages"]:
        read_value(PackedRun, page, "recording")


def test_a_result_that_was_read_is_changed_and_who_takes_another_way_drops_the_later_turns():
    _, stage = open_stage()
    stage.answer().take(300).visit(0, 999)
    stage._hear({"do": "answer", "texts": ["41 </tool_response>", "no"]})
    assert stage.head.prompt.count("<tool_response>") == 2
    read = talk_of(stage)["turns"][0]["read"]
    assert "41 </tool_response>" in read[::2], "what was typed is text"
    assert len(stage.talk.turns) == 2
    stage.visit(0, 0).choose(ord("N"))
    assert talk_of(stage) is None
    assert len(stage.talk.turns) == 1
    assert len(stage.talk.conversation.messages) == 1


def test_a_turn_that_cannot_begin_leaves_the_results(monkeypatch):
    model, stage = open_stage()
    error = gv.ModelError("model.chat", seen="too much")
    monkeypatch.setattr(model, "chat", Mock(side_effect=error))
    assert "model.chat: saw too much" in stage.answer().note
    monkeypatch.undo()
    assert stage.answer().take(300).text == "It is 3."
    assert len(stage.talk.conversation.messages) == 4


def test_of_a_long_conversation_the_last_turns_are_kept(monkeypatch):
    monkeypatch.setattr("guidedviz.widgets.talk.KEPT_TURNS", 2)
    call = call_text(a=1, b=2)
    _, stage = open_stage(call, call)
    for _ in range(4):
        stage.take(300).answer()
    head = told(stage)["head"]
    assert len(head["talk"]["turns"]) == 2
    assert head["parts"].count("<tool_response>") == 3, "the first prompt has the turns that were forgotten"


def test_a_template_that_ends_a_turn_in_another_way_shows_the_results():
    other = TEMPLATE.replace("{% endfor %}<|im_end|>", "{% endfor %}")
    conversation = Conversation(Scripted(call_text(a=1, b=2), "It is 3.", template=other), "Hi", [add], think=False)
    stage = gv.stage(conversation, temperature=0, max_tokens=300, steps=300)
    assert talk_of(stage.answer())["turns"][0]["read"] == ["3"]


def test_a_page_that_sends_other_texts_is_told_so():
    _, stage = open_stage()
    for texts in (["one"], [1, 2], ["\ud800", ""]):
        stage.go(0).go(300)
        stage._hear({"do": "answer", "texts": texts})
        assert "stage.answer: saw" in stage.note
        assert len(told(stage)["results"]) == 2


def test_a_stage_without_results_says_what_is_missing():
    _, stage = open_stage("Well.")
    assert "saw a turn without results" in stage.answer().note
    plain = gv.stage(Scripted("Well."), Scripted("Well.").chat("Hi"))
    assert "saw a stage without a conversation" in plain.answer().note


@pytest.mark.parametrize("name", ["prompt", "guide", "edit", "share"])
def test_a_conversation_brings_its_own_prompt_and_guide(name):
    talk = Conversation(Scripted("Well."), "Hi")
    with pytest.raises(gv.SettingError, match=rf"gv.stage\(conversation\), {name}: saw"):
        gv.stage(talk, **{name: True if name == "share" else "x"})


def test_where_nobody_can_click_the_whole_conversation_is_there_also_in_a_kernel(monkeypatch):
    for room in ("stage", "talk"):
        monkeypatch.setattr(f"guidedviz.widgets.{room}.is_still", lambda: True)

    async def in_a_kernel():
        return open_stage(steps=None)[1]

    assert open_stage(steps=None)[1].text == asyncio.run(in_a_kernel()).text == "It is 3."
