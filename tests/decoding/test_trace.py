"""A trace goes to a file and back, and a damaged file says what is wrong with it."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.decoding.trace import standing, taken_back, tokens_before
from guidedviz.models.chat import Prompt
from tests.common import constant_model, regex_guide


@pytest.fixture
def trace():
    logits = [0.0, 1.0, 2.0]
    toy = constant_model([b"a", b"\xff\x00", b"<script>"], logits)
    return gv.record(toy, "a", max_tokens=5, seed=3)


def test_a_trace_survives_the_file(trace, tmp_path):
    trace.save(tmp_path / "t.json")
    assert gv.Trace.load(tmp_path / "t.json") == trace


def test_a_file_keeps_the_parts_of_a_chat_prompt_and_an_older_file_has_none(trace, tmp_path):
    path = tmp_path / "t.json"
    model = constant_model([b"a", b"<s>"], [1.0, 0.0])
    prompt = Prompt("<s>a<s>", (1, 0, 1), ("", "<s>", "a<s>"))
    run = gv.record(model, prompt, max_tokens=2)
    run.save(path)
    assert gv.Trace.load(path).prompt_parts == run.prompt_parts == ("", "<s>", "a<s>")
    older = json.loads(path.read_text())
    older["parts"] = older.pop("prompt_parts")  # as older files name it
    path.write_text(json.dumps(older))
    assert gv.Trace.load(path).prompt_parts == ("", "<s>", "a<s>")
    trace.save(path)
    older = json.loads(path.read_text())
    assert older.pop("prompt_parts") == []
    path.write_text(json.dumps(older))
    assert gv.Trace.load(path) == trace


@pytest.mark.parametrize(
    ("way", "value", "said"),
    [
        (["steps", 2, "back"], 3, r"steps\[2\].back: saw 3, expected at most the 2 tokens that stand"),
        (["steps", 1, "end"], "eos", r"steps\[1\].end: saw 'eos', expected an end in the last step only"),
        (["steps", 1, "token"], -1, r"steps\[1\].how: saw 'sampled', expected 'none' exactly where the token is -1"),
        (["steps", 1, "candidates"], [], r"steps\[1\].candidates: saw \[\], expected token"),
        (["steps", 1, "candidates", 0, "token"], 3, r"steps\[1\]"),
        (["parts"], ["", "<s>"], "parts: saw '<s>', expected the texts and special tokens of the prompt"),
        (["steps", 4], {"token": -1, "how": "none", "end": ""}, "expected an end where no token was chosen"),
    ],
)
def test_a_damaged_trace_names_the_field(trace, tmp_path, way, value, said):
    path = tmp_path / "t.json"
    trace.save(path)
    data = json.loads(path.read_text())
    if isinstance(value, dict):
        value = data["steps"][4] | value
    put(data, way, value)
    path.write_text(json.dumps(data))
    with pytest.raises(gv.TraceError, match=said):
        gv.Trace.load(path)


def put(data, way, value):
    *before, last = way
    for name in before:
        data = data[name]
    data[last] = value


def all_ways(data, way=()):
    """The path of every field, list item and list of a record."""
    yield way
    items = ()
    if isinstance(data, dict):
        items = data.items()
    elif isinstance(data, list):
        items = enumerate(data)
    for name, value in items:
        yield from all_ways(value, (*way, name))


PIECES = [b"n", b"a", b"name", b"x", b"me", b"!", b"?"]
LOGITS = [5.0, 4, 0, 3, 0, 1, 0]
MODEL = constant_model(PIECES, LOGITS)
GUIDE = regex_guide(MODEL, "x?name[!?]")
VALID = gv.record(MODEL, "x", GUIDE, temperature=0, jump_forward=True)
WRONG = st.sampled_from(
    [None, True, -1, 0, 1, 7, 10**40, -0.5, 0.5, 2.5, float("nan"), float("inf"), "", "x", "none", "eos", "\ud800",
     [], [[]], [0], {}, {"token": 1}]
)  # fmt: skip


@given(st.data())
def test_a_trace_with_damaged_fields_is_refused_or_can_be_drawn(tmp_path_factory, data):
    """Whatever loads does not fail later."""
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    VALID.save(path)
    damaged = json.loads(path.read_text())
    for _ in range(data.draw(st.integers(0, 3))):
        ways = [way for way in all_ways(damaged) if way]
        way = data.draw(st.sampled_from(ways))
        put(damaged, way, deepcopy(data.draw(WRONG)))  # or a list might hold itself
    path.write_text(json.dumps(damaged))
    try:
        trace = gv.Trace.load(path)
    except gv.TraceError:
        return
    trace.save(path)
    assert gv.Trace.load(path) == trace
    assert gv.draw_strip(trace).text
    assert gv.draw_costs(trace).text
    assert gv.views.draw_stage(trace).text
    assert all(gv.draw_distribution(step).text for step in trace.steps)
    assert isinstance((trace.text, trace.tokens, trace.passes, trace.prefilled), tuple)


def test_a_step_names_the_places_of_the_steps_that_it_takes_back(trace):
    first = trace.steps[0]
    steps = [replace(first, back=back) for back in (0, 0, 2, 0, 1)]
    assert taken_back(steps) == [[], [], [0, 1], [], [3]]
    assert standing(steps) == [steps[2], steps[4]]
    assert tokens_before(steps) == [0, 1, 0, 3, 3]
