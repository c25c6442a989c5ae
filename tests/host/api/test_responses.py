"""Claims about /v1/responses: items in, items out, and a stream whose events add up to the same items."""

import json

import pytest

from tests.host.api.asking import ABOUT, ADD, PERSON, SUM, ask_chat, refusal, send

PATH = "/v1/responses"
ASKED = {"model": "clerk", "input": ABOUT, "temperature": 0}
FORM = {"text": {"format": {"type": "json_schema", "name": "person", "schema": PERSON["json_schema"]["schema"]}}}
FLAT = {"type": "function", **ADD["function"]}
CALLS = {"model": "scout", "input": SUM["messages"], "tools": [FLAT], "temperature": 0}


def stream_events(host, body):
    """The events of a stream; their names and numbers are checked."""
    status, _, found = send(host, PATH, body | {"stream": True})
    assert status == 200, found
    events = []
    blocks = found.decode().removesuffix("\n\n").split("\n\n")
    for place, block in enumerate(blocks):
        name, data = block.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
        assert events[-1]["sequence_number"] == place
    return events


def without_name(items):
    """Items without the names of their run."""
    return [{key: value for key, value in item.items() if key not in ("id", "call_id")} for item in items]


@pytest.mark.parametrize("model", ["clerk", "scout"])
def test_the_events_of_a_stream_add_up_to_the_whole_answer(clerk_host, scout_host, model):
    host, body = (clerk_host, ASKED | FORM) if model == "clerk" else (scout_host, CALLS)
    whole = ask_chat(host, body, PATH)
    events = stream_events(host, body)
    closed = events[-1]["response"]
    assert events[-1]["type"] == "response.completed"
    assert closed["status"] == "completed"
    assert without_name(closed["output"]) == without_name(whole["output"])
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == closed["output"]
    for place, item in enumerate(done):
        grown = [e["delta"] for e in events if e.get("output_index") == place and e["type"].endswith(".delta")]
        written = item["content"][0]["text"] if "content" in item else item["arguments"]
        assert "".join(grown) == written
    assert closed["usage"]["total_tokens"] == whole["usage"]["total_tokens"]


def test_a_conversation_of_items_goes_on(scout_host):
    _, call = ask_chat(scout_host, CALLS, PATH)["output"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "385"}
    turns = {"input": [*SUM["messages"], call, result], "instructions": "Be short."}
    _, message = ask_chat(scout_host, CALLS | turns, PATH)["output"]
    assert message["content"][0]["text"] == "137 plus 248 is 385."


def test_a_tool_that_is_allowed_has_to_be_there(scout_host):
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "ad"}]}
    body = {"model": "scout", "input": SUM["messages"], "tools": [FLAT], "tool_choice": allowed}
    status, field, message = refusal(scout_host, body, PATH)
    assert (status, field, '"add"' in message) == (400, "tool_choice.tools[0]", True)


def test_a_cut_answer_is_incomplete_and_what_has_no_effect_is_noted(clerk_host):
    said = ask_chat(clerk_host, ASKED | {"max_output_tokens": 2, "store": True, "truncation": "auto"}, PATH)
    assert said["status"] == "incomplete"
    assert said["incomplete_details"] == {"reason": "max_output_tokens"}
    notes = " ".join(said["guidedviz"]["notes"])
    assert "store: no effect: the host keeps no conversation" in notes
    assert "truncation: no effect" in notes


BAD = {
    "before": ({"previous_response_id": "resp_1"}, "previous_response_id"),
    "no input": ({"input": []}, "input"),
    "an item": ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
    "a format": ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
    "several": ({"n": 2}, "n"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_body_that_cannot_be_met_is_refused(clerk_host, case):
    body, field = BAD[case]
    assert refusal(clerk_host, ASKED | body, PATH)[:2] == (400, field)
