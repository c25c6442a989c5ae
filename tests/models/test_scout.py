"""Claims about scout: it loads as clerk does, its template is that of transformers, it thinks, calls and answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.tools import read_tools
from guidedviz.models import sandbox, template
from guidedviz.models.load import embedded_folder
from guidedviz.models.scout_chat import write_scout_chat

MARKS = ("<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>")
NAMED = {*MARKS, "</tool_response>"}
FOLDER = embedded_folder("scout")
SOURCE = (FOLDER / "chat_template.jinja").read_text(encoding="utf-8")


def lookup(table: str, key: str) -> int:
    """Looks up a value in a table."""
    return 45


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def form(function):
    """A tool as an API takes it."""
    (tool,) = read_tools([function])
    function = {"name": tool.name, "description": tool.about, "parameters": tool.schema}
    return {"type": "function", "function": function}


TOOLS = [form(lookup), form(add)]
CALL = {"name": "lookup", "arguments": {"table": "price", "key": "lamp"}}
QUESTION = {"role": "user", "content": "What is the price of the lamp?"}
THOUGHT = {"role": "assistant", "content": "", "reasoning_content": "A look-up.", "tool_calls": [{"function": CALL}]}
RESULT = {"role": "tool", "content": "45"}
TALKS = {
    "a question": [QUESTION],
    "a call": [QUESTION, THOUGHT, RESULT],
    "two calls": [QUESTION, THOUGHT | {"tool_calls": [CALL, CALL], "content": "Wait."}, RESULT, RESULT],
    "arguments as text": [QUESTION, THOUGHT | {"tool_calls": [CALL | {"arguments": '{"key": 1}'}]}, RESULT],
    "a system message": [{"role": "system", "content": "Be brief."}, QUESTION],
    "an answer": [QUESTION, THOUGHT, RESULT, {"role": "assistant", "content": "It is 45."}, QUESTION],
    "no content": [QUESTION, {"role": "assistant", "tool_calls": [CALL]}, RESULT],
}


@pytest.fixture(scope="module")
def scout():
    return gv.load_model("scout")


@pytest.fixture(scope="module")
def reference():
    transformers = pytest.importorskip("transformers")
    return transformers.AutoTokenizer.from_pretrained(FOLDER)


def test_it_has_the_tokens_of_clerk_and_eight_special_ones(scout, clerk):
    words = scout.vocabulary
    assert words.pieces[:4096] == clerk.vocabulary.pieces
    names = {words.pieces[token].decode() for token in words.special}
    assert names == {*NAMED, "<|end|>"}
    assert [words.pieces[token] for token in words.eos] == [b"<|im_end|>"]
    assert scout.network.weights < 1.01 * clerk.network.weights  # a step costs what clerk's costs


def test_its_files_take_less_than_nine_megabytes():
    sizes = [file.stat().st_size for file in FOLDER.iterdir()]
    assert sum(sizes) < 9e6


@pytest.mark.parametrize("thinks", [True, False])
@pytest.mark.parametrize("tools", [None, TOOLS], ids=["no tools", "tools"])
@pytest.mark.parametrize("talk", TALKS)
@pytest.mark.quick(every=5)
def test_its_template_gives_the_text_of_transformers_and_needs_no_process(reference, talk, tools, thinks, monkeypatch):
    monkeypatch.setattr(template, "IN_TAB", True)
    asked = {"add_generation_prompt": True, "enable_thinking": thinks}
    wanted = reference.apply_chat_template(TALKS[talk], tools=tools, tokenize=False, **asked)
    text = template.render(SOURCE, messages=TALKS[talk], tools=tools, **asked)
    assert text == wanted


LINES = st.sampled_from(["", "\n\n45\n", "</tool_response>", 'é"\\'])
STRANGE_KEYS = {"é": True, "b": {"type": ["null", "array"]}, "c": {}}
STRANGE = {"name": "any", "parameters": {"properties": STRANGE_KEYS}}
OFFERED = [*TOOLS, STRANGE, {"name": "bare"}, {"name": "b", "parameters": True}]
CALLS = [CALL, {"name": "é", "arguments": {"é": [None, 1.5]}}]
OFFERS = st.lists(st.sampled_from(OFFERED), max_size=3)
MADE = st.lists(st.sampled_from(CALLS), max_size=2)
ASSISTANT = st.just("assistant")
OTHERS = st.sampled_from(["user", "system", "tool"])
TOLD = st.fixed_dictionaries({"role": OTHERS, "content": LINES})
CALLED = st.fixed_dictionaries({"role": ASSISTANT, "content": LINES, "tool_calls": MADE})
THOUGHTS = st.fixed_dictionaries({"role": ASSISTANT, "content": LINES, "reasoning_content": LINES})
MESSAGES = st.lists(TOLD | CALLED | THOUGHTS, min_size=1, max_size=6)


@given(messages=MESSAGES, tools=OFFERS, thinks=st.booleans(), ends=st.booleans())
def test_its_template_in_python_is_that_of_jinja(messages, tools, thinks, ends):
    pytest.importorskip("jinja2")
    values = {"messages": messages, "tools": tools, "enable_thinking": thinks, "add_generation_prompt": ends}
    assert write_scout_chat(**values) == sandbox.fill(SOURCE, values)


def test_a_conversation_that_is_too_long_is_refused():
    with pytest.raises(gv.ModelError, match=r"saw 2,000,0\d\d characters"):
        template.render(SOURCE, messages=[{"role": "user", "content": "x" * 2_000_000}])


def test_its_template_writes_the_form_of_hermes(reference):
    def write(messages, **settings):
        return reference.apply_chat_template(messages, tokenize=False, **settings)

    text = write(TALKS["a call"], tools=TOOLS[:1], add_generation_prompt=True)
    assert text == (
        '<|im_start|>system\nTools:\n{"name": "lookup", "description": "Looks up a value in a table.", '
        '"arguments": {"table": "string", "key": "string"}}<|im_end|>\n'
        "<|im_start|>user\nWhat is the price of the lamp?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nA look-up.\n</think>\n\n"
        '<tool_call>\n{"name": "lookup", "arguments": {"table": "price", "key": "lamp"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>tool\n<tool_response>\n45\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    )
    off = write([QUESTION], add_generation_prompt=True, enable_thinking=False)
    assert off.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert write(TALKS["two calls"], enable_thinking=False).startswith(off.removesuffix("<think>\n\n</think>\n\n"))
    both = "\n".join(["<tool_response>\n45\n</tool_response>"] * 2)
    assert write(TALKS["two calls"]).endswith(f"<|im_start|>tool\n{both}<|im_end|>\n")


def test_marks_that_a_person_types_are_text_and_those_of_the_template_are_tokens(scout):
    typed = scout.chat("".join(MARKS))
    plain = scout.chat("x")
    special = scout.vocabulary.special
    marks = [token for token in plain.tokens if token in special]
    assert [token for token in typed.tokens if token in special] == marks


def test_it_thinks_calls_reads_the_results_and_answers(scout):
    question = "What is the price of the lamp plus 30?"
    turns = [*gv.converse(scout, question, [lookup, add], temperature=0)]
    results = [turn.text for turn in turns if not hasattr(turn, "steps")]
    assert results == ["45", "75"]
    first, second, answer = [turn.parts for turn in turns if hasattr(turn, "steps")]
    thought = "\nFirst the price of the lamp, then + 30.\nThe tool is lookup.\n"
    call = f"\n{json.dumps(CALL)}\n"
    assert first[:5] == ("", "<think>", thought, "</think>", "\n\n")
    assert first[5:8] == ("<tool_call>", call, "</tool_call>")
    assert '"add", "arguments": {"a": 45, "b": 30}' in second[6]
    assert answer[4] == "\n\nThe price of the lamp plus 30 is 75."
