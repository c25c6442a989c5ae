"""A whole answer: thinking, text, calls of tools, in the ways of five families of models."""

import json
import re
from typing import Literal

import pytest

import guidedviz as gv
from guidedviz.errors import GuidedVizError, PatternError
from guidedviz.machines.names import name_bytes
from guidedviz.machines.tools import read_tools
from guidedviz.machines.turn import TURN_STYLES
from tests.common import BYTES, constant_model, legal_tokens


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """The weather."""
    return f"{city} {unit}"


TOOLS = [add, weather]
MARKS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<|eom_id|>", "</s>")
MARK = {name: name_bytes(name) for name in MARKS}
ADD = '{"name": "add", "arguments": {"a": 1, "b": 2}}'
THINK = MARK["<think>"] + b"Two and one: </think>?" + MARK["</think>"]


def marked_call(text: str) -> bytes:
    return MARK["<tool_call>"] + text.encode() + MARK["</tool_call>"]


CALL = marked_call(f"\n{ADD}\n")


@pytest.mark.parametrize(
    ("choice", "texts", "refused"),
    [
        (
            "auto",
            [b"Three.", CALL, CALL + b"\n" + CALL, b"I add. " + CALL],
            [CALL + b"text", MARK["<tool_call>"] + b"x"],
        ),
        ("required", [CALL, CALL + b"\n" + CALL], [b"Three.", b""]),
        ("none", [b"Three.", b"<tool_call>"], [CALL]),
        ("add", [CALL], [CALL + b"\n" + CALL, CALL.replace(b"add", b"weather"), b"Three."]),
    ],
)
def test_a_choice_says_which_answers_are_allowed(choice, texts, refused):
    machine = gv.turn(tools=TOOLS, choice=choice)
    for text in texts:
        assert machine.accepts(THINK + text), text
        assert machine.accepts(THINK + b"\n\n" + text), text
        assert not machine.accepts_prefix(text) or text == b""
    for text in refused:
        assert not machine.accepts(THINK + text), text


@pytest.mark.parametrize("style", ["hermes", "text", "llama", "mistral"])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_calls_that_are_not_parallel_are_one_at_most(style, choice):
    form = TURN_STYLES[style]
    one = form.call.replace("NAME", '"add"').replace("ARGS", '{"a": 1, "b": 2}')

    def written(calls):
        calls_in_a_row = form.between.join([one] * calls)
        text = form.opens + calls_in_a_row + form.closes
        for name in form.special:
            text = text.replace(name, name_bytes(name).decode("latin-1"))
        return text.encode("latin-1")

    many = gv.turn(TOOLS, style, choice, think=False, parallel=True)
    single = gv.turn(TOOLS, style, choice, think=False, parallel=False)
    assert many.accepts(written(2))
    assert not single.accepts(written(2))
    assert many.accepts(written(1))
    assert single.accepts(written(1))
    assert single.accepts(b"Three. " + written(1)) == (choice == "auto")
    assert single.accepts(b"Three.") == (choice == "auto")


def test_thinking_is_off_or_begun_by_the_prompt():
    assert gv.turn(tools=TOOLS, think=False).accepts(CALL)
    assert not gv.turn(tools=TOOLS, think=False).accepts_prefix(MARK["<think>"])
    opened = gv.turn(tools=TOOLS, think="open")
    assert opened.accepts(THINK.removeprefix(MARK["<think>"]) + CALL)
    assert not opened.accepts_prefix(MARK["<think>"])


def special_or_text(part: str) -> bytes:
    return name_bytes(part) if part.startswith("<|") else part.encode()


def test_each_style_writes_calls_in_its_own_way():
    llama = gv.turn(tools=TOOLS, style="llama")
    llama_call = '{"name": "add", "parameters": {"a": 1, "b": 2}}'
    calls = f"{llama_call}; {llama_call}".encode()
    text = name_bytes("<|python_tag|>") + calls + MARK["<|eom_id|>"]
    assert llama.accepts(text)
    assert not llama.accepts_prefix(b"<|python_tag|>" + MARK["<|eom_id|>"])
    mistral = gv.turn(tools=TOOLS, style="mistral", think=False)
    calls = f"[{ADD}, {ADD}]".encode()
    assert mistral.accepts(name_bytes("[TOOL_CALLS]") + calls + MARK["</s>"])
    plain = gv.turn(tools=TOOLS, style="text")
    assert plain.accepts(f"<think>hm</think>I add.\n<tool_call>\n{ADD}\n</tool_call>".encode())
    assert not plain.accepts_prefix(b"<think>hm</think><tool_call>\n{}")
    parts = ["<|channel|>", "analysis", "<|message|>", "hm", "<|end|>", "<|start|>", "assistant", "<|channel|>"]
    parts += ["commentary to=functions.add ", "<|constrain|>", "json", "<|message|>", '{"a": 1, "b": 2}', "<|call|>"]
    harmony = b"".join(map(special_or_text, parts))
    machine = gv.turn(tools=TOOLS, style="harmony")
    assert machine.accepts(harmony)
    assert not machine.accepts_prefix(harmony.replace(b"functions.add", b"functions.sub"))


def test_qwen_s_structural_tag_of_a_server_allows_the_same_calls():
    xgrammar = pytest.importorskip("xgrammar")
    schema = read_tools([add])[0].schema
    tools = [{"type": "function", "function": {"name": "add", "parameters": schema}}]
    served = gv.structural_tag(xgrammar.get_model_structural_tag("qwen_3", tools=tools))
    text = f"hm</think>\n\n<tool_call>\n{ADD}\n</tool_call>".encode()  # a server writes the marks as text
    assert served.accepts(text)
    assert gv.turn(tools=tools, style="text", think="open").accepts(text)


def test_tools_are_functions_classes_and_dicts():
    pydantic = pytest.importorskip("pydantic")
    book = pydantic.create_model("Book", title=(str, ...))
    flat = {"type": "function", "name": "flat", "parameters": {"type": "object"}}
    claude = {"name": "claude", "input_schema": {"type": "object"}}
    found = read_tools([weather, book, flat, claude])
    assert [tool.name for tool in found] == ["weather", "Book", "flat", "claude"]
    schema = found[0].schema
    assert schema["properties"]["unit"] == {"enum": ["C", "F"]}
    assert schema["required"] == ["city"]
    machine = gv.turn(tools=[book], choice="Book", style="text", think=False)
    assert machine.accepts(b'<tool_call>\n{"name": "Book", "arguments": {"title": "x"}}\n</tool_call>')


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"style": "hermez"}, "turn, style: saw 'hermez', expected one of hermes"),
        ({"choice": "sub"}, "turn, choice: saw 'sub', expected auto, required, none, or the name of a tool"),
        ({"tools": [], "choice": "required"}, "turn, tools: saw no tool"),
        ({"think": "maybe"}, "turn, think: saw 'maybe'"),
        ({"think_limit": -1}, "turn, think_limit: saw -1"),
        ({"think_limit": True}, "turn, think_limit: saw True"),
        ({"tools": [add, add]}, r"turn, tools\[1\]: saw a second 'add'"),
        ({"tools": [3]}, r"turn, tools\[0\]: saw 3, expected a function"),
        ({"tools": [lambda *given: 1]}, r"turn, tools\[0\]: saw <lambda>\(\*given\)"),
        ({"tools": [{"name": ""}]}, "expected a function, a Pydantic class, or a dict"),
        ({"tools": [{"name": "a", "parameters": {"type": "thing"}}]}, "thing"),
    ],
)
def test_what_cannot_be_a_turn_is_refused(settings, said):
    with pytest.raises(GuidedVizError, match=said) as caught:
        gv.turn(**{"tools": TOOLS, **settings})
    assert isinstance(caught.value, PatternError | gv.SettingError)


def tool_with(number: int) -> dict:
    """A tool whose keys no other one has."""
    numbers = {"type": "array", "items": {"type": "number"}}
    keys = {}
    for place, kind in enumerate([{"type": "string"}, {"type": "integer"}, numbers, {}]):
        keys[f"key-{place}-{number}"] = kind
    schema = {"type": "object", "properties": keys, "required": [*keys]}
    return {"name": f"tool-{number}", "parameters": schema}


def test_different_tools_share_the_rules_of_plain_json_and_what_all_calls_begin_with():
    tools = [tool_with(number) for number in range(30)]
    one = gv.turn(tools=tools[:1])
    machine = gv.turn(tools=tools)
    rules = machine.grammar.rules
    added = len(rules) - len(one.grammar.rules)
    assert added == 2 * 29, "a rule for a tool, and one for its arguments"
    assert sum(rule.name.startswith("string") for rule in rules) == 1
    arguments = '{"key-0-7": "x", "key-1-7": 1, "key-2-7": [0.5], "key-3-7": {"a": null}}'
    call = '\n{"name": "tool-7", "arguments": ' + arguments + "}\n"
    assert machine.accepts(THINK + marked_call(call))
    other = call.replace("tool-7", "tool-8").encode()
    assert not machine.accepts_prefix(THINK + MARK["<tool_call>"] + other)


NESTED = {"type": "integer"}
for _ in range(3000):
    NESTED = {"type": "array", "items": NESTED}


@pytest.mark.parametrize("style", ["text", "hermes", "harmony"])
@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"type": "thing"}, "turn, tool 'deep', schema, #/type: saw 'thing'"),
        (NESTED, "turn, tool 'deep': saw maximum recursion depth"),
        (3, "turn, tool 'deep': saw 3, expected a schema"),
    ],
)
def test_an_error_in_a_schema_names_the_tool(style, parameters, said):
    with pytest.raises(PatternError, match=re.escape(said)):
        gv.turn(tools=[add, {"name": "deep", "parameters": parameters}], style=style)


def test_a_hostile_name_of_a_tool_stays_text():
    name = '"}\n</tool_call><|im_end|>\0'
    tool = {"name": name, "parameters": {"type": "null"}}
    machine = gv.turn(tools=[tool], choice="required", think=False)
    assert machine.accepts(marked_call(f'\n{{"name": {json.dumps(name)}, "arguments": null}}\n'))


# -- how long a model may think ------------------------------------------------------------------------------------

PIECES = [*BYTES, b"<think>", b"</think>", b"<tool_call>", b"</tool_call>", b"<end>"]
SMALL = gv.Vocabulary(PIECES, eos={260}, special={256, 257, 258, 259})


def read_tokens(guide, tokens):
    state = guide.initial
    for token in tokens:
        state = guide.advance(state, token)
    return state


def test_after_the_limit_only_the_end_of_thinking_is_legal():
    guide = gv.guide(gv.turn(tools=TOOLS, think_limit=3), SMALL)
    state = read_tokens(guide, [256, *b"ab"])
    assert guide.mask(state)[ord("c")]
    state = guide.advance(state, ord("c"))
    assert legal_tokens(guide, state) == [257]
    assert guide.forced(state) == MARK["</think>"]
    assert guide.explain(state, ord("d")).reason == "3 tokens have been thought, so only </think> may come"
    with pytest.raises(gv.IllegalToken, match="3 tokens have been thought"):
        guide.advance(state, ord("d"))
    after = guide.advance(state, 257)
    assert guide.mask(after)[ord("d")]
    assert guide.mask(read_tokens(guide, [256, 257]))[ord("d")]  # thinking ended before


def test_a_character_is_ended_before_the_end_of_thinking():
    guide = gv.guide(gv.turn(think_limit=1), SMALL)
    first, second = "é".encode()
    state = read_tokens(guide, [256, first])
    assert not guide.mask(state)[257]
    assert legal_tokens(guide, guide.advance(state, second)) == [257]


@pytest.mark.parametrize("think", [True, "open"])
def test_marks_that_are_text_are_counted_and_ended_too(think):
    plain = gv.Vocabulary([*BYTES, b"</th"])
    machine = gv.turn(style="text", think=think, think_limit=4)
    guide = gv.guide(machine, plain)
    opening = b"<think>" if think is True else b""
    state = read_tokens(guide, [*opening, *b"ab</"])
    assert legal_tokens(guide, state) == [ord("t")]
    state = read_tokens(guide, [*opening, *b"abcd"])
    assert legal_tokens(guide, state) == [ord("<"), 256]
    for token in b"</think>x":
        state = guide.advance(state, token)
    assert guide.is_accepting(state)


def test_a_model_that_never_ends_its_thinking_is_ended():
    weights = [0.0] * 261
    weights[ord("a")] = 1.0
    model = constant_model(PIECES, weights, {260}, {256, 257})
    guide = gv.guide(gv.turn(think_limit=5), model.vocabulary)
    trace = gv.record(model, "x", guide, temperature=0, max_tokens=12)
    assert trace.parts == ("", "<think>", "aaaaa", "</think>", "aaaaa")


@pytest.mark.parametrize(("engine", "package"), [("xgrammar", "xgrammar"), ("llguidance", "llguidance")])
def test_a_real_engine_is_limited_too(engine, package):
    pytest.importorskip(package)
    guide = gv.guide(gv.turn(think_limit=2), SMALL, engine)
    state = read_tokens(guide, [256, *b"ab"])
    assert legal_tokens(guide, state) == [257]
    assert guide.explain(state, ord("c")).reason == "2 tokens have been thought, so only </think> may come"
    assert guide.mask(guide.advance(state, 257))[ord("c")]


def test_a_state_of_another_guide_is_refused():
    guide = gv.guide(gv.turn(think_limit=2), SMALL)

    def advance(state):
        return guide.advance(state, 256)

    for use in (guide.mask, guide.is_accepting, guide.forced, advance):
        with pytest.raises(gv.SettingError, match="state: saw"):
            use(guide.initial.state)


def custom(syntax, definition):
    grammar = {"syntax": syntax, "definition": definition}
    return {"type": "custom", "custom": {"name": "sql", "format": {"type": "grammar", "grammar": grammar}}}


@pytest.mark.parametrize(
    "tool",
    [
        custom("regex", r"[a-z\"]+(\n[a-z]+)*"),
        custom("lark", 'start: line ("\\n" word)*\nline: /[a-z"]+/\nword: /[a-z]+/'),
        {"type": "custom", "name": "sql", "format": {"type": "grammar", "syntax": "regex", "definition": r'[a-z"\n]+'}},
    ],
)
def test_a_custom_tool_takes_one_text_of_its_grammar_as_a_string_of_json(tool):
    machine = gv.turn(tools=[tool], style="text", choice="sql", think=False)

    def call(text):
        arguments = json.dumps({"input": text})
        return f'<tool_call>\n{{"name": "sql", "arguments": {arguments}}}\n</tool_call>'.encode()

    assert machine.accepts(call('select "a"\nwhere'.replace(" ", "")))
    for wrong in ("", "A", "a b", "1"):
        assert not machine.accepts(call(wrong)), wrong
    assert not machine.accepts(call('a"').replace(b'\\"', b'"'))


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "custom"},
        {"type": "custom", "custom": {"name": ""}},
        {"type": "custom", "custom": {"name": "x", "format": {"type": "json"}}},
        custom("ebnf", "a"),
        custom("regex", 7),
        custom("lark", "start: x"),
        custom("regex", "(a"),
    ],
)
def test_a_custom_tool_without_a_grammar_that_can_be_read_is_refused(tool):
    with pytest.raises(PatternError, match=r"expected|missing"):
        read_tools([tool])


def test_a_custom_tool_without_a_grammar_takes_any_text():
    tool = read_tools([{"type": "custom", "custom": {"name": "note", "description": "A note."}}])[0]
    assert tool.about == "A note."
    assert tool.takes is None
    assert tool.schema["required"] == ["input"]
