"""Claims about answers: they hold what was asked, whole and as a stream, and they say what does not hold."""

import json
import re

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.files import PACKAGE
from guidedviz.machines import limits
from tests.host.api.asking import ABOUT, ADD, CHAT, PERSON, SUM, ask_chat, refusal, send, stream_chat

REGEX = "2024-0[1-9]-03"
ADA = r'\{"name": "Ada Lovelace", "age": 36\}'


def test_the_model_of_the_host_is_listed(clerk_host):
    listed = ask_chat(clerk_host, None, "/v1/models")
    assert [model["id"] for model in listed["data"]] == ["clerk"]
    assert ask_chat(clerk_host, None, "/v1/models/clerk") == listed["data"][0]


@pytest.mark.parametrize("name", ["gpt-9", "some/hub%20name", ""])
def test_a_model_of_another_name_is_not_found(clerk_host, name):
    status, field, message = refusal(clerk_host, None, f"/v1/models/{name}")
    assert (status, field) == (404, "model")
    assert "the model of this host: clerk" in message


def test_a_schema_holds_and_the_text_is_that_of_the_library(clerk_host, clerk):
    said = ask_chat(clerk_host, CHAT | {"response_format": PERSON})
    (choice,) = said["choices"]
    guide = gv.guide(gv.json_schema(PERSON["json_schema"]["schema"]), clerk.vocabulary)
    trace = gv.record(clerk, f"{ABOUT}\n", guide, temperature=0)
    message = {"role": "assistant", "content": trace.text, "refusal": None}
    assert choice == {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    prompt = len(clerk.encode(f"{ABOUT}\n"))
    written = len(trace.tokens)
    assert [*said["usage"].values()] == [prompt, written, prompt + written]


SCHEMA = PERSON["json_schema"]["schema"]
REGEX_TAG = {"type": "structural_tag", "format": {"type": "regex", "pattern": "a[bc]"}}
FORMS = {
    "json_object": ({"response_format": {"type": "json_object"}}, r"\{.*\}"),
    "llama.cpp": ({"response_format": {"type": "json_object", "schema": SCHEMA}}, ADA),
    "vllm json": ({"structured_outputs": {"json": SCHEMA}}, ADA),
    "sglang": ({"json_schema": json.dumps(SCHEMA)}, ADA),
    "vllm regex": ({"structured_outputs": {"regex": REGEX}}, REGEX),
    "sglang regex": ({"regex": REGEX}, REGEX),
    "choice": ({"structured_outputs": {"choice": ["y.s", "no"]}}, r"y\.s|no"),
    "gbnf": ({"structured_outputs": {"grammar": 'root ::= "a" [bc]'}}, "a[bc]"),
    "lark": ({"structured_outputs": {"grammar": 'start: "a" /[bc]/'}}, "a[bc]"),
    "ebnf": ({"ebnf": 'root ::= "a" [bc]'}, "a[bc]"),
    "tag": ({"response_format": REGEX_TAG}, "a[bc]"),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_constraint_is_enforced(clerk_host, form):
    asked, wanted = FORMS[form]
    said = ask_chat(clerk_host, CHAT | asked | {"max_tokens": 60})
    assert re.fullmatch(wanted, said["choices"][0]["message"]["content"], re.DOTALL)
    assert said["guidedviz"]["enforced"]


def join_stream(chunks, place=0):
    """The message that the chunks of a choice add up to, and why it ended."""
    message = {"content": "", "reasoning_content": "", "tool_calls": []}
    choices = [one for chunk in chunks for one in chunk["choices"] if one["index"] == place]
    for choice in choices:
        for key in message.keys() & choice["delta"].keys():
            message[key] += choice["delta"][key]
    *before, end = [choice["finish_reason"] for choice in choices]
    assert set(before) == {None}
    return message, end


@pytest.mark.parametrize("model", ["clerk", "scout"])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_stream_adds_up_to_the_whole_answer(clerk_host, scout_host, model, seed):
    host, body = (clerk_host, CHAT) if model == "clerk" else (scout_host, SUM | {"tools": [ADD]})
    body = body | {"temperature": 1.3, "seed": seed, "n": 2, "max_tokens": 40, "logprobs": True}
    body |= {"stop": ["\n\n", "ondo"], "stream_options": {"include_usage": True}}
    whole = ask_chat(host, body)
    *chunks, last = stream_chat(host, body)
    assert last["usage"] == whole["usage"]
    for choice in whole["choices"]:
        message, end = join_stream(chunks, choice["index"])
        wanted = choice["message"]
        assert message["content"] == wanted["content"] or ""
        assert end == choice["finish_reason"]
        assert message["reasoning_content"] == wanted.get("reasoning_content", "")
        assert functions_of(message) == functions_of(wanted)
        parts = [one for chunk in chunks for one in chunk["choices"] if one["index"] == choice["index"]]
        logs = sum(len(part["logprobs"]["content"]) for part in parts if part["logprobs"])
        assert logs == len(choice["logprobs"]["content"])


def functions_of(message):
    return [call["function"] for call in message.get("tool_calls", [])]


def test_a_tool_is_called_as_the_choice_says(scout_host):
    body = SUM | {"tools": [ADD]}
    said = ask_chat(scout_host, body | {"tool_choice": {"type": "function", "function": {"name": "add"}}})
    message = said["choices"][0]["message"]
    (call,) = message["tool_calls"]
    assert call["function"] == {"name": "add", "arguments": '{"a": 137, "b": 248}'}
    assert message["content"] is None
    assert said["choices"][0]["finish_reason"] == "tool_calls"
    assert message["reasoning_content"].startswith("The sum")
    result = {"role": "tool", "tool_call_id": call["id"], "content": "385"}
    after = ask_chat(scout_host, body | {"messages": [*SUM["messages"], message, result]})
    assert after["choices"][0]["message"]["content"] == "137 plus 248 is 385."
    quiet = ask_chat(scout_host, body | {"tool_choice": "none", "max_tokens": 4})
    assert functions_of(quiet["choices"][0]["message"]) == []


def allowing(mode, *names):
    """A choice that allows some tools, in the form of a chat."""
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


ALLOWED = {"tools": [ADD]}
PLACE = "tool_choice.allowed_tools"
HELLO = {"role": "user", "content": "Hi"}


def test_only_an_allowed_tool_is_called_and_the_prompt_names_all(scout_host):
    other = {"type": "function", "function": {**ADD["function"], "name": "take"}}
    body = SUM | {"tools": [ADD, other], "max_tokens": 90}
    free = ask_chat(scout_host, body | {"max_tokens": 1})
    for mode in ("auto", "required"):
        said = ask_chat(scout_host, body | {"tool_choice": allowing(mode, "take")})
        assert said["usage"]["prompt_tokens"] == free["usage"]["prompt_tokens"]
        names = {function["name"] for function in functions_of(said["choices"][0]["message"])}
        assert names == {"take"} or (names, mode) == (set(), "auto")
        assert f"calls of 1 tools (tool_choice {mode})" in said["guidedviz"]["enforced"]


@pytest.mark.parametrize("parallel", [True, False])
def test_calls_come_in_parallel_unless_the_request_forbids_it(clerk_host, clerk, parallel):
    tool = {"type": "function", "function": {"name": "go", "parameters": {"enum": [1]}}}
    goes_on = {str(token): -100 for token in clerk.vocabulary.eos}
    body = {"tools": [tool], "tool_choice": "required", "parallel_tool_calls": parallel, "logit_bias": goes_on}
    said = ask_chat(clerk_host, CHAT | body | {"max_tokens": 120})
    assert (len(functions_of(said["choices"][0]["message"])) > 1) == parallel


@pytest.mark.parametrize(
    ("syntax", "definition"), [("regex", "[0-9]+ [+] [0-9]+"), ("lark", 'start: /[0-9]+/ " + " /[0-9]+/')]
)
def test_a_custom_tool_takes_a_text_that_its_grammar_allows(scout_host, syntax, definition):
    form = {"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}}
    tool = {"type": "custom", "custom": {"name": "sum", "format": form}}
    choice = {"type": "custom", "custom": {"name": "sum"}}
    said = ask_chat(scout_host, SUM | {"tools": [tool], "tool_choice": choice, "max_tokens": 90})
    (call,) = said["choices"][0]["message"]["tool_calls"]
    assert call["type"] == "custom"
    assert call["custom"]["name"] == "sum"
    assert re.fullmatch("[0-9]+ [+] [0-9]+", call["custom"]["input"])


def test_an_answer_that_is_cut_says_length(clerk_host):
    body = CHAT | {"response_format": PERSON, "max_tokens": 3}
    said = ask_chat(clerk_host, body)
    assert said["choices"][0]["finish_reason"] == "length"
    assert said["usage"]["completion_tokens"] == 3
    assert join_stream(stream_chat(clerk_host, body))[1] == "length"


def test_a_stop_is_no_part_of_the_text(clerk_host):
    said = ask_chat(clerk_host, CHAT | {"response_format": PERSON, "stop": ["Love", "zzz"]})
    (cut,) = said["choices"]
    assert cut["message"]["content"] == '{"name": "Ada '
    assert cut["finish_reason"] == "stop"


def test_a_seed_gives_the_same_answer_again_and_each_choice_another(clerk_host):
    body = {"model": "clerk", "prompt": "The lamp", "seed": 7, "n": 4, "max_tokens": 4, "temperature": 1.5}
    first, second = [ask_chat(clerk_host, body, "/v1/completions")["choices"] for _ in range(2)]
    assert first == second
    assert len({choice["text"] for choice in first}) > 1


def test_logprobs_are_those_of_the_model_alone(clerk_host, clerk):
    body = CHAT | {"response_format": PERSON, "logprobs": True, "top_logprobs": 3, "max_tokens": 1}
    (first,) = ask_chat(clerk_host, body)["choices"][0]["logprobs"]["content"]
    odds = gv.sampling.softmax(clerk.logits(clerk.encode(f"{ABOUT}\n")))
    told = [one["logprob"] for one in first["top_logprobs"]]
    assert told == pytest.approx(np.log(np.sort(odds)[:-4:-1]), abs=1e-3)
    assert bytes(first["bytes"]).decode() == first["token"]


LOOSE = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "null", "x-y": 1}, "strict": False}}
NOTED = {
    "schema": (CHAT | {"response_format": LOOSE}, ["no chat template", "strict: false", "#/x-y: not a keyword"]),
    "penalty": (CHAT | {"frequency_penalty": 0.5, "user": "me"}, ["frequency_penalty: no effect", "user: no"]),
    "tools": (CHAT | {"tools": [ADD]}, ["not told"]),
    "a thought": (SUM | {"response_format": PERSON}, ["does not think first"]),
    "length": (CHAT | {"max_completion_tokens": 99999, "max_tokens": None, "stop": "e"}, ["at most 4,096"]),
    "nothing": (SUM | {"tools": [ADD], "parallel_tool_calls": False}, []),
    "nothing, by the default": (SUM | {"tools": [ADD], "frequency_penalty": 0, "user": None}, []),
}


@pytest.mark.parametrize("case", NOTED)
def test_what_is_not_enforced_is_noted(clerk_host, scout_host, case):
    body, notes = NOTED[case]
    host = clerk_host if body["model"] == "clerk" else scout_host
    said = " ".join(ask_chat(host, {"max_tokens": 2} | body)["guidedviz"]["notes"])
    for note in notes:
        assert note in said
    assert bool(said) == bool(notes)


TEXT_TOOL = {"type": "allowed_tools", "mode": "auto", "tools": ["add"]}
BAD = {
    "no json": (b"{", "body", "a JSON object"),
    "a list": ([], "body", "a JSON object"),
    "many values": (b'{"a": [' + b"0," * 70_000 + b"0]}", "body", "bounded size"),
    "deep": (b'{"a": ' + b"[" * 60_000 + b"]" * 60_000 + b"}", "body", "a JSON object"),
    "no messages": ({"messages": []}, "messages", "at least one message"),
    "a text as message": ({"messages": ["Hi"]}, "messages[0]", "a role and a content"),
    "a picture": ({"messages": [HELLO | {"content": [{"type": "image_url"}]}]}, "messages[0].content[0]", "texts"),
    "another model": ({"model": "gpt-9"}, "model", "this host: clerk"),
    "unknown field": ({"temprature": 1}, "temprature", '"temperature"'),
    "removed": ({"guided_json": {}}, "guided_json", '"structured_outputs": {"json": ...}'),
    "two constraints": (
        {"response_format": PERSON, "regex": "a"},
        "response_format.json_schema.schema and regex",
        "one",
    ),
    "tools too": ({"response_format": PERSON, "tools": [ADD]}, "response_format.json_schema.schema", "one of both"),
    "n": ({"n": 5}, "n", "from 1 to 4"),
    "true as number": ({"n": True}, "n", "whole number"),
    "temperature": ({"temperature": "hot"}, "temperature", "a number"),
    "penalty": ({"repetition_penalty": 0}, "repetition_penalty", "a number"),
    "stop": ({"stop": [""]}, "stop", "at most 4 texts"),
    "bias": ({"logit_bias": {"x": 1}}, "logit_bias", "TOKEN ID"),
    "bias of no token": ({"logit_bias": {"999999": 1}}, "token id in logit bias", "0 to 4,095"),
    "regex": ({"regex": "(a"}, "regex: regex, position 0", "unterminated"),
    "grammar": ({"ebnf": "root ::= x"}, "ebnf: GBNF line 1, column 10", "x"),
    "schema": ({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "x"}}}}, None, "type"),
    "tool": ({"tools": [{"type": "function"}]}, "tools[0]", "a name and parameters"),
    "tool twice": ({"tools": [ADD, ADD]}, "tools[1]", "other names"),
    "choice of no tool": ({"tools": [ADD], "tool_choice": "required!"}, "tool_choice", "name of a tool"),
    "allowed, unknown": (ALLOWED | {"tool_choice": allowing("auto", "add", "ad")}, f"{PLACE}.tools[1]", '"add"'),
    "allowed, none": (ALLOWED | {"tool_choice": allowing("auto")}, f"{PLACE}.tools", "at least"),
    "allowed, mode": (ALLOWED | {"tool_choice": allowing("none", "add")}, f"{PLACE}.mode", "auto"),
    "allowed, text": (ALLOWED | {"tool_choice": TEXT_TOOL}, "tool_choice.tools[0]", "name"),
    "old functions": ({"functions": []}, "functions", "tools"),
    "long prompt": ({"messages": [HELLO | {"content": "word " * 2000}]}, "prompt", "at most 1024"),
    "surrogate": ({"messages": [HELLO | {"content": "\ud800"}]}, "messages[0]['content']", "UTF-8"),
    "hostile": ({"messages": [{"role": "user\u202e\n", "content": 7}]}, "messages[0]['content']", "a text"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_body_that_cannot_be_met_is_refused_with_its_field(clerk_host, case):
    body, field, part = BAD[case]
    if isinstance(body, dict):
        body = CHAT | body | {"stream": True}  # refused before the stream begins
    status, param, message = refusal(clerk_host, body)
    assert status == (404 if case == "another model" else 400)
    assert field in (None, param)
    assert part in message
    assert "\u202e" not in message


def test_a_schema_that_takes_too_much_work_is_refused(clerk_host, monkeypatch):
    monkeypatch.setattr(limits, "WORK", 2000)
    hard = {"json_schema": {"pattern": "(a|b)*a(a|b){9}", "type": "string"}}
    status, field, message = refusal(clerk_host, CHAT | hard)
    assert (status, field, "steps of work" in message) == (400, "json_schema: schema, #/pattern", True)


def test_a_body_that_is_too_large_or_not_sent_is_refused(clerk_host):
    length = {"Content-Length": str((1 << 20) + 1)}
    assert refusal(clerk_host, b"{}", **length)[0] == 413
    assert send(clerk_host, "/v1/chat/completions")[0] == 405


def test_the_request_of_the_page_about_the_api_is_answered(clerk_host):
    page = (PACKAGE / "host" / "api" / "README.md").read_text(encoding="utf-8")
    (body,) = re.findall("-d '([^']*)'", page)
    message = ask_chat(clerk_host, body.encode())["choices"][0]["message"]
    assert set(json.loads(message["content"])) == {"name", "age"}
