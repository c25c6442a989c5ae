"""Claims about answers: they hold what was asked, whole and as a stream, and they say what does not hold."""

import json
from itertools import chain

import pytest

import guidedviz as gv
from guidedviz.files import PACKAGE
from guidedviz.machines import limits
from tests.host.api.asking import ABOUT, ADD, CHAT, PERSON, SUM, ask_chat, refusal, send, stream_chat

REGEX = "2024-0[1-9]-03"


def test_the_model_of_the_host_is_listed(clerk_host):
    listed = ask_chat(clerk_host, None, "/v1/models")
    assert [model["id"] for model in listed["data"]] == ["clerk"]
    assert ask_chat(clerk_host, None, "/v1/models/clerk") == listed["data"][0]


@pytest.mark.parametrize("name", ["gpt-9", "some/hub%20name", ""])
def test_a_model_of_another_name_is_not_found(clerk_host, name):
    status, field, message = refusal(clerk_host, None, f"/v1/models/{name}")
    assert (status, field) == (404, "model")
    assert "the model of this host: clerk" in message
    assert send(clerk_host, f"/v1/models/{name}", {})[0] == 405


def test_a_schema_holds_and_the_text_is_that_of_the_library(clerk_host, clerk):
    said = ask_chat(clerk_host, CHAT | {"response_format": PERSON})
    (choice,) = said["choices"]
    schema = PERSON["json_schema"]["schema"]
    guide = gv.guide(gv.json_schema(schema), clerk.vocabulary)
    trace = gv.record(clerk, f"{ABOUT}\n", guide, temperature=0)
    assert choice["message"] == {"role": "assistant", "content": trace.text, "refusal": None}
    assert (choice["finish_reason"], choice["logprobs"]) == ("stop", None)
    prompt = len(clerk.encode(f"{ABOUT}\n"))
    written = len(trace.tokens)
    assert said["usage"] == {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
    }


FORMS = {
    "json_object": ({"response_format": {"type": "json_object"}}, dict),
    "llama.cpp": ({"response_format": {"type": "json_object", "schema": PERSON["json_schema"]["schema"]}}, dict),
    "vllm json": ({"structured_outputs": {"json": PERSON["json_schema"]["schema"]}}, dict),
    "sglang": ({"json_schema": json.dumps(PERSON["json_schema"]["schema"])}, dict),
    "vllm regex": ({"structured_outputs": {"regex": REGEX}}, REGEX),
    "sglang regex": ({"regex": REGEX}, REGEX),
    "choice": ({"structured_outputs": {"choice": ["y.s", "no"]}}, r"y\.s|no"),
    "gbnf": ({"structured_outputs": {"grammar": 'root ::= "a" [bc]'}}, "a[bc]"),
    "lark": ({"structured_outputs": {"grammar": 'start: "a" /[bc]/'}}, "a[bc]"),
    "ebnf": ({"ebnf": 'root ::= "a" [bc]'}, "a[bc]"),
    "tag": (
        {"response_format": {"type": "structural_tag", "format": {"type": "regex", "pattern": "a[bc]"}}},
        "a[bc]",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_constraint_is_enforced(clerk_host, form):
    asked, wanted = FORMS[form]
    said = ask_chat(clerk_host, CHAT | asked | {"max_tokens": 60})
    text = said["choices"][0]["message"]["content"]
    assert said["guidedviz"]["enforced"]
    if wanted is dict:
        assert isinstance(json.loads(text), dict)
    else:
        assert gv.regex(wanted).accepts(text.encode())


def join_stream(chunks, place=0):
    """The message that the chunks of a choice add up to, and why it ended."""
    message = {"content": "", "reasoning_content": "", "tool_calls": []}
    ends = []
    for choice in chain.from_iterable(chunk["choices"] for chunk in chunks):
        if choice["index"] == place:
            for key in message:
                message[key] += choice["delta"].get(key, type(message[key])())
            ends.append(choice["finish_reason"])
    assert set(ends[:-1]) == {None}
    return message, ends[-1]


@pytest.mark.parametrize("model", ["clerk", "scout"])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_a_stream_adds_up_to_the_whole_answer(clerk_host, scout_host, model, seed):
    host, body = (clerk_host, CHAT) if model == "clerk" else (scout_host, SUM | {"tools": [ADD]})
    body = body | {"temperature": 1.3, "seed": seed, "n": 2, "max_tokens": 60, "logprobs": True}
    body |= {"stop": ["\n\n", "ondo"], "stream_options": {"include_usage": True}}
    whole = ask_chat(host, body)
    *chunks, last = stream_chat(host, body)
    assert last["usage"] == whole["usage"]
    for choice in whole["choices"]:
        message, end = join_stream(chunks, choice["index"])
        wanted = choice["message"]
        assert message["content"] == (wanted["content"] or "")
        assert end == choice["finish_reason"]
        assert message["reasoning_content"] == wanted.get("reasoning_content", "")
        called = [
            [call["function"] for call in calls] for calls in (message["tool_calls"], wanted.get("tool_calls", []))
        ]
        assert called[0] == called[1]
        logs = [one["choices"][0]["logprobs"] for one in chunks if one["choices"][0]["index"] == choice["index"]]
        assert len([one for log in logs if log for one in log["content"]]) == len(choice["logprobs"]["content"])


def test_a_tool_is_called_as_the_choice_says(scout_host):
    named = {"type": "function", "function": {"name": "add"}}
    said = ask_chat(scout_host, SUM | {"tools": [ADD], "tool_choice": named})
    message = said["choices"][0]["message"]
    (call,) = message["tool_calls"]
    assert (call["type"], call["function"]["name"]) == ("function", "add")
    arguments = json.loads(call["function"]["arguments"])
    assert arguments == {"a": 137, "b": 248}
    assert message["content"] is None
    assert said["choices"][0]["finish_reason"] == "tool_calls"
    assert message["reasoning_content"].startswith("The sum")
    result = {"role": "tool", "tool_call_id": call["id"], "content": "385"}
    messages = [*SUM["messages"], message, result]
    after = ask_chat(scout_host, SUM | {"tools": [ADD], "messages": messages})
    assert after["choices"][0]["message"]["content"] == "137 plus 248 is 385."
    body = SUM | {"tools": [ADD], "tool_choice": "none", "max_tokens": 4}
    quiet = ask_chat(scout_host, body)
    assert "tool_calls" not in quiet["choices"][0]["message"]


def allowing(mode, *names):
    """A choice that allows some tools, in the form of a chat."""
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


def test_only_an_allowed_tool_is_called_and_the_prompt_names_all(scout_host):
    other = {"type": "function", "function": {**ADD["function"], "name": "take"}}
    body = SUM | {"tools": [ADD, other], "max_tokens": 90}
    free = ask_chat(scout_host, body)
    (call, *_) = free["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "add"
    for mode in ("auto", "required"):
        said = ask_chat(scout_host, body | {"tool_choice": allowing(mode, "take")})
        assert said["usage"]["prompt_tokens"] == free["usage"]["prompt_tokens"]
        calls = said["choices"][0]["message"].get("tool_calls", [])
        assert {call["function"]["name"] for call in calls} <= {"take"}
        assert calls or mode == "auto"
        assert f"calls of 1 tools (tool_choice {mode})" in said["guidedviz"]["enforced"]


@pytest.mark.parametrize("parallel", [True, False])
def test_calls_come_in_parallel_unless_the_request_forbids_it(clerk_host, clerk, parallel):
    tool = {"type": "function", "function": {"name": "go", "parameters": {"enum": [1]}}}
    goes_on = {str(token): -100 for token in clerk.vocabulary.eos}
    body = {"tools": [tool], "tool_choice": "required", "parallel_tool_calls": parallel, "logit_bias": goes_on}
    said = ask_chat(clerk_host, CHAT | body | {"max_tokens": 120})
    message = said["choices"][0]["message"]
    assert (len(message["tool_calls"]) > 1) == parallel


@pytest.mark.parametrize("syntax", ["regex", "lark"])
def test_a_custom_tool_takes_a_text_that_its_grammar_allows(scout_host, syntax):
    definition = {"regex": "[0-9]+ [+] [0-9]+", "lark": 'start: /[0-9]+/ " + " /[0-9]+/'}[syntax]
    form = {"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}}
    tool = {"type": "custom", "custom": {"name": "sum", "format": form}}
    custom = {"type": "custom", "custom": {"name": "sum"}}
    body = SUM | {"tools": [tool], "tool_choice": custom, "max_tokens": 90}
    said = ask_chat(scout_host, body)
    (call,) = said["choices"][0]["message"]["tool_calls"]
    assert (call["type"], call["custom"]["name"]) == ("custom", "sum")
    assert gv.regex("[0-9]+ [+] [0-9]+").accepts(call["custom"]["input"].encode())


def test_an_answer_that_is_cut_says_length(clerk_host):
    said = ask_chat(clerk_host, CHAT | {"response_format": PERSON, "max_tokens": 3})
    assert said["choices"][0]["finish_reason"] == "length"
    assert said["usage"]["completion_tokens"] == 3
    last = stream_chat(clerk_host, CHAT | {"max_tokens": 3})[-1]
    assert last["choices"][0]["finish_reason"] == "length"


def test_a_stop_is_no_part_of_the_text(clerk_host):
    body = CHAT | {"response_format": PERSON}
    whole = ask_chat(clerk_host, body)["choices"][0]["message"]["content"]
    said = ask_chat(clerk_host, body | {"stop": ["Love", "zzz"]})
    cut = said["choices"][0]
    assert cut["message"]["content"] == whole.partition("Love")[0]
    assert cut["finish_reason"] == "stop"


def test_a_seed_gives_the_same_answer_again_and_each_choice_another(clerk_host):
    body = {"model": "clerk", "prompt": "The lamp", "seed": 7, "n": 4, "max_tokens": 8, "temperature": 1.5}
    first, second = (ask_chat(clerk_host, body, "/v1/completions")["choices"] for _ in range(2))
    texts = [choice["text"] for choice in first]
    assert texts == [choice["text"] for choice in second]
    assert len(set(texts)) > 1


def test_logprobs_are_those_of_the_model_alone(clerk_host, clerk):
    body = CHAT | {"response_format": PERSON, "logprobs": True, "top_logprobs": 3, "max_tokens": 2}
    (choice, *_) = ask_chat(clerk_host, body)["choices"]
    first, _ = choice["logprobs"]["content"]
    prompt = clerk.encode(f"{ABOUT}\n")
    odds = gv.sampling.softmax(clerk.logits(prompt))
    likeliest = sorted(odds)[::-1][:3]
    told = [2.718281828 ** one["logprob"] for one in first["top_logprobs"]]
    assert told == pytest.approx(likeliest, rel=1e-3)
    assert bytes(first["bytes"]).decode() == first["token"]


def test_what_is_not_enforced_is_noted(clerk_host, scout_host):
    def notes(host, body):
        said = ask_chat(host, body | {"max_tokens": 2})
        return " ".join(said["guidedviz"]["notes"])

    loose = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "null", "x-y": 1}, "strict": False}}
    said = notes(clerk_host, CHAT | {"response_format": loose, "frequency_penalty": 0.5, "user": "me"})
    for part in (
        "no chat template",
        "strict: false",
        "#/x-y: not a keyword",
        "frequency_penalty: no effect",
        "user: no",
    ):
        assert part in said
    assert "not told" in notes(clerk_host, CHAT | {"tools": [ADD]})
    assert notes(scout_host, SUM | {"tools": [ADD], "parallel_tool_calls": False}) == ""
    assert "does not think first" in notes(scout_host, SUM | {"response_format": PERSON})
    body = SUM | {"tools": [ADD], "frequency_penalty": 0, "user": None}
    assert notes(scout_host, body) == ""
    assert "at most 4,096" in notes(clerk_host, CHAT | {"max_completion_tokens": 99999})


BAD = {
    "no json": (b"{", "body", "a JSON object"),
    "a list": ([], "body", "a JSON object"),
    "many values": (b'{"a": [' + b"0," * 70_000 + b"0]}", "body", "bounded size"),
    "deep": (b'{"a": ' + b"[" * 60_000 + b"]" * 60_000 + b"}", "body", "a JSON object"),
    "no messages": ({"messages": []}, "messages", "at least one message"),
    "a text as message": ({"messages": ["Hi"]}, "messages[0]", "a role and a content"),
    "a picture": (
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        "messages[0].content[0]",
        "texts",
    ),
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
    "top_p": ({"top_p": 0}, "top_p", "a number"),
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
    "allowed, unknown": (
        {"tools": [ADD], "tool_choice": allowing("auto", "add", "ad")},
        "tool_choice.allowed_tools.tools[1]",
        '"add"',
    ),
    "allowed, none": ({"tools": [ADD], "tool_choice": allowing("auto")}, "tool_choice.allowed_tools.tools", "at least"),
    "allowed, mode": (
        {"tools": [ADD], "tool_choice": allowing("none", "add")},
        "tool_choice.allowed_tools.mode",
        "auto",
    ),
    "allowed, text": (
        {"tools": [ADD], "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": ["add"]}},
        "tool_choice.tools[0]",
        "name",
    ),
    "old functions": ({"functions": []}, "functions", "tools"),
    "long prompt": ({"messages": [{"role": "user", "content": "word " * 2000}]}, "prompt", "at most 1024"),
    "surrogate": (
        b'{"model": "clerk", "messages": [{"role": "user", "content": "\\ud800"}]}',
        "messages[0]['content']",
        "UTF-8",
    ),
    "hostile": ({"messages": [{"role": "user\u202e\n", "content": 7}]}, "messages[0]['content']", "a text"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_body_that_cannot_be_met_is_refused_with_its_field(clerk_host, case):
    body, field, part = BAD[case]
    if isinstance(body, dict):
        body = CHAT | body
    status, param, message = refusal(clerk_host, body)
    if isinstance(body, dict):
        assert refusal(clerk_host, body | {"stream": True}) == (status, param, message), "before the stream begins"
    assert status == (404 if case == "another model" else 400)
    assert field is None or param == field
    assert part in message
    assert "\u202e" not in message


def test_a_schema_that_takes_too_much_work_is_refused(clerk_host, monkeypatch):
    monkeypatch.setattr(limits, "WORK", 2000)
    hard = {"json_schema": {"pattern": "(a|b)*a(a|b){9}", "type": "string"}}
    status, field, message = refusal(clerk_host, CHAT | hard)
    assert (status, field) == (400, "json_schema: schema, #/pattern")
    assert "steps of work" in message
    monkeypatch.undo()
    assert ask_chat(clerk_host, CHAT | {"max_tokens": 1})


def test_a_body_that_is_too_large_or_from_elsewhere_is_refused(clerk_host):
    length = {"Content-Length": str((1 << 20) + 1)}
    assert refusal(clerk_host, b"{}", **length)[0] == 413
    assert refusal(clerk_host, CHAT, Origin="http://evil.example")[0] == 403
    assert refusal(clerk_host, b"{}", **{"Content-Type": "text/plain"})[0] == 415
    assert send(clerk_host, "/v1/chat/completions")[0] == 405


def test_the_request_of_the_page_about_the_api_is_answered(clerk_host):
    page = (PACKAGE / "host" / "api" / "README.md").read_text(encoding="utf-8")
    body = page.partition("-d '")[2].partition("'")[0]
    message = ask_chat(clerk_host, body.encode())["choices"][0]["message"]
    assert set(json.loads(message["content"])) == {"name", "age"}
