"""A trace goes to a file and back, and a damaged file says what is wrong with it."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.decoding.trace import check_steps, standing, taken_back, tokens_before
from guidedviz.models.chat import Prompt
from tests.common import constant_model, regex_guide

MODEL = constant_model([b"n", b"a", b"name", b"x", b"me", b"!", b"?"], [5.0, 4, 0, 3, 0, 1, 0])
VALID = gv.record(MODEL, "x", regex_guide(MODEL, "x?name[!?]"), temperature=0, jump_forward=True)
PARTS = ("", "<s>", "a<s>")
CHAT = gv.record(constant_model([b"a", b"<s>"], [1.0, 0.0]), Prompt("<s>a<s>", (1, 0, 1), PARTS), max_tokens=2)
STOPPED = gv.record(MODEL, "x", stop=lambda: True)


def older(data):
    """A file as an older version wrote it."""
    data["parts"] = data.pop("prompt_parts")


@pytest.mark.parametrize(
    ("run", "change"),
    [(CHAT, dict.copy), (CHAT, older), (VALID, dict.copy), (VALID, lambda data: data.pop("prompt_parts"))],
)
def test_a_trace_survives_the_file_also_one_of_an_older_version(tmp_path, run, change):
    path = tmp_path / "t.json"
    run.save(path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    assert gv.Trace.load(path) == run
    assert CHAT.prompt_parts == PARTS


@pytest.mark.parametrize(
    ("way", "value", "said"),
    [
        (["steps", 1, "back"], 3, r"steps\[1\].back: saw 3, expected at most the 1 tokens that stand"),
        (["steps", 1, "end"], "eos", r"steps\[1\].end: saw 'eos', expected an end in the last step only"),
        (["steps", 2, "token"], -1, r"steps\[2\].how: saw 'sampled', expected 'none' exactly where the token is -1"),
        (["steps", 2, "candidates"], [], r"steps\[2\].candidates: saw \[\], expected token"),
        (["steps", 2, "candidates", 0, "token"], 7, r"steps\[2\]"),
        (["parts"], ["", "<s>"], "parts: saw '<s>', expected the texts and special tokens of the prompt"),
    ],
)
def test_a_damaged_trace_names_the_field(tmp_path, way, value, said):
    path = tmp_path / "t.json"
    VALID.save(path)
    data = json.loads(path.read_text())
    put(data, way, value)
    path.write_text(json.dumps(data))
    with pytest.raises(gv.TraceError, match=said):
        gv.Trace.load(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"end": ""}, "expected an end where no token"),
        ({"stages": ((0.5,),)}, "stages: saw 1, expected a number for each of 0"),
    ],
)
def test_a_step_without_a_token_ends_a_trace_and_has_no_stages(change, said):
    wrong = replace(STOPPED.steps[0], **change)
    with pytest.raises(gv.TraceError, match=said):
        check_steps(replace(STOPPED, steps=(wrong,)))


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


def test_a_step_names_the_places_of_the_steps_that_it_takes_back():
    steps = [replace(VALID.steps[0], back=back) for back in (0, 0, 2, 0, 1)]
    assert taken_back(steps) == [[], [], [0, 1], [], [3]]
    assert standing(steps) == [steps[2], steps[4]]
    assert tokens_before(steps) == [0, 1, 0, 3, 3]
