"""A whole answer: thinking, text, calls of tools, in the ways of five families of models."""

import json
import re
from functools import reduce
from typing import Literal

import pytest

import guidedviz as gv
from guidedviz.errors import GuidedVizError, PatternError
from guidedviz.machines.names import name_bytes
from guidedviz.machines.tools import read_tools
from tests.common import BYTES, assert_reads, legal_tokens


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


def marked(text: str) -> bytes:
    """A text in which ‹A› is a special token."""
    return re.sub("‹(.+?)›".encode(), lambda found: name_bytes(found[1].decode()), text.encode())


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
    after_thoughts = [THINK + text for text in texts]
    assert_reads(machine, after_thoughts, [THINK + text for text in refused])
    assert_reads(machine, [THINK + b"\n\n" + text for text in texts], texts)
    opened = gv.turn(tools=TOOLS, choice=choice, think="open")
    rest = THINK.removeprefix(MARK["<think>"])
    assert_reads(opened, [rest + text for text in texts])
    assert not opened.accepts_prefix(MARK["<think>"])
    silent = gv.turn(tools=TOOLS, choice=choice, think=False)
    assert_reads(silent, texts, [THINK + text for text in texts])


@pytest.mark.parametrize(
    ("style", "begin", "call", "between", "end"),
    [
        ("hermes", "", f"‹<tool_call>›\n{ADD}\n‹</tool_call>›", "\n", ""),
        ("text", "", f"<tool_call>\n{ADD}\n</tool_call>", "\n", ""),
        ("llama", "‹<|python_tag|>›", ADD.replace("arguments", "parameters"), "; ", "‹<|eom_id|>›"),
        ("mistral", "‹[TOOL_CALLS]›[", ADD, ", ", "]‹</s>›"),
    ],
)
def test_a_style_writes_calls_in_its_own_way_one_at_most_unless_they_are_parallel(style, begin, call, between, end):
    one = marked(begin + call + end)
    two = marked(begin + call + between + call + end)
    many = gv.turn(TOOLS, style, think=False)
    assert_reads(many, [one, two, b"Three."], [marked(begin + call.replace("add", "sub") + end)])
    assert_reads(gv.turn(TOOLS, style, think=False, parallel=False), [one, b"Three. " + one, b"Three."], [two])
    assert_reads(
        gv.turn(TOOLS, style, "required", think=False, parallel=False), [one], [two, b"Three. " + one, b"Three."]
    )


def test_harmony_writes_a_call_as_a_message_of_its_own():
    harmony = marked(
        "‹<|channel|>›analysis‹<|message|>›hm‹<|end|>›‹<|start|>›assistant‹<|channel|>›commentary to=functions.add "
        '‹<|constrain|>›json‹<|message|>›{"a": 1, "b": 2}‹<|call|>›'
    )
    machine = gv.turn(tools=TOOLS, style="harmony")
    assert machine.accepts(harmony)
    assert not machine.accepts_prefix(harmony.replace(b"functions.add", b"functions.sub"))


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
        ({"tools": [], "choice": "required"}, "turn, tools: saw no tool"),
        ({"think": "maybe"}, "turn, think: saw 'maybe'"),
        ({"think_limit": -1}, "turn, think_limit: saw -1"),
        ({"tools": [add, add]}, r"turn, tools\[1\]: saw a second 'add'"),
        ({"choice": "sub"}, "turn, choice: saw 'sub', expected auto, required, none, or the name of a tool"),
        ({"tools": [lambda *given: 1]}, r"turn, tools\[0\]: saw <lambda>\(\*given\)"),
        ({"tools": [{"name": ""}]}, "expected a function, a Pydantic class, or a dict"),
        ({"tools": [3]}, r"turn, tools\[0\]: saw 3, expected a function"),
    ],
)
def test_what_cannot_be_a_turn_is_refused(settings, said):
    with pytest.raises(GuidedVizError, match=said) as caught:
        gv.turn(**{"tools": TOOLS, **settings})
    assert isinstance(caught.value, PatternError | gv.SettingError)


def tool_with(number: int) -> dict:
    """A tool whose key no other one has."""
    key = f"key-{number}"
    return {"name": f"tool-{number}", "parameters": {"type": "object", "properties": {key: {}}, "required": [key]}}


def test_different_tools_share_the_rules_of_plain_json_and_what_all_calls_begin_with():
    tools = [tool_with(number) for number in range(30)]
    one = gv.turn(tools=tools[:1], think=False)
    machine = gv.turn(tools=tools, think=False)
    rules = machine.grammar.rules
    assert len(rules) - len(one.grammar.rules) == 2 * 29, "a rule for a tool, and one for its arguments"
    assert sum(rule.name.startswith("string") for rule in rules) == 1
    call = '\n{"name": "tool-7", "arguments": {"key-7": {"a": null}}}\n'
    other_key = call.replace("tool-7", "tool-8")
    assert_reads(machine, [marked_call(call)], [marked_call(other_key)])


NESTED = {"type": "integer"}
for _ in range(3000):
    NESTED = {"type": "array", "items": NESTED}


@pytest.mark.parametrize("style", ["hermes", "harmony"])
@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"type": "thing"}, ", schema, #/type: saw 'thing'"),
        (NESTED, ": saw maximum"),
        (3, ": saw 3, expected a schema"),
    ],
)
def test_an_error_in_a_schema_names_the_tool(style, parameters, said):
    with pytest.raises(PatternError, match=re.escape(f"turn, tool 'deep'{said}")):
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
    return reduce(guide.advance, tokens, guide.initial)


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
    for tokens in ([256, *b"abc", 257], [256, 257]):
        assert guide.mask(read_tokens(guide, tokens))[ord("d")], "thinking has ended"
    state = read_tokens(guide, [256, *b"ab", 0xC3])
    assert not guide.mask(state)[257]
    assert legal_tokens(guide, guide.advance(state, 0xA9)) == [257], "a character is ended before"


@pytest.mark.parametrize(("think", "opening"), [(True, b"<think>"), ("open", b"")])
def test_marks_that_are_text_are_counted_and_ended_too(think, opening):
    guide = gv.guide(gv.turn(style="text", think=think, think_limit=4), gv.Vocabulary([*BYTES, b"</th"]))
    assert legal_tokens(guide, read_tokens(guide, opening + b"ab</")) == [ord("t")]
    assert legal_tokens(guide, read_tokens(guide, opening + b"abcd")) == [ord("<"), 256]
    assert guide.is_accepting(read_tokens(guide, opening + b"abcd</think>x"))


@pytest.mark.parametrize("engine", ["xgrammar", "llguidance"])
def test_a_real_engine_is_limited_too(engine):
    pytest.importorskip(engine)
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

    unescaped = call('a"').replace(b'\\"', b'"')
    assert_reads(machine, [call('select"a"\nwhere')], [unescaped, *map(call, ("", "A", "a b", "1"))])


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "custom"},
        {"type": "custom", "custom": {"name": ""}},
        custom("ebnf", "a"),
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
