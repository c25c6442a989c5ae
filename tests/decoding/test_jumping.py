"""Claims about jumping in the loop: fewer passes, the same text, nothing taken back twice, and steps that say so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.decoding.loop import start, take_step
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import standing
from guidedviz.tokens.jump import SPELLING_WAYS
from tests.common import constant_model, regex_guide
from tests.strategies import regexes

PROMPT = "Ada Lovelace is 36 and lives in London. She is a member.\nJSON with name, age, city, member:\n"
KINDS = {"name": "string", "age": "integer", "city": "string", "member": "boolean"}
PROPERTIES = {key: {"type": kind} for key, kind in KINDS.items()}
PERSON = {"type": "object", "properties": PROPERTIES, "required": list(KINDS)}
PERSON |= {"additionalProperties": False}
PIECES = [b"a", b"b", b"A", b"1", b"\xc3", b"\xa9", "é".encode(), b"ab", b"ba", b"aba", b" ", b"\n", b"</s>"]


@pytest.fixture(scope="module")
def person(clerk):
    return gv.guide(gv.json_schema(PERSON, "one"), clerk.vocabulary)


def dice(seed):
    """A model without sense: other logits after every text."""

    def rule(tokens):
        noise = np.random.default_rng([seed, *tokens])
        return noise.normal(size=len(PIECES)) * 3

    return gv.ToyModel(PIECES, rule, eos=(12,))


def last_end(trace):
    return [step.end for step in trace.steps[-1:]]


@pytest.mark.parametrize("way", SPELLING_WAYS[:2])
def test_whole_keys_are_put_without_the_model_and_the_text_is_the_same(clerk, person, way):
    plain = gv.record(clerk, PROMPT, person, temperature=0)
    jumped = gv.record(clerk, PROMPT, person, temperature=0, jump_forward=way)
    assert jumped.text == plain.text == '{"name": "Ada Lovelace", "age": 36, "city": "London", "member": true}'
    assert jumped.tokens == plain.tokens
    assert jumped.passes < 0.4 * plain.passes
    begun = jumped.steps[:4]
    assert [(step.piece, step.how) for step in begun] == [(one, "forced") for one in (b'{"', b"name", b'":', b' "')]
    told = {(step.forward_ms, step.sample_ms, step.raw, step.mass, step.candidates) for step in begun}
    assert told == {(0.0, 0.0, 0.0, 0.0, ())}, "a forced step cost no pass and tells no probability"


@given(regexes, st.integers(0, 99))
def test_minimal_draws_the_very_tokens_that_would_be_drawn_without_it(pattern, seed):
    model = dice(seed)
    guide = regex_guide(model, pattern)
    settings = {"seed": seed, "max_tokens": 12}
    plain = gv.record(model, "a", guide, jump_forward=False, **settings)
    jumped = gv.record(model, "a", guide, jump_forward="minimal", **settings)
    assert jumped.tokens == plain.tokens
    assert jumped.passes <= plain.passes
    assert last_end(jumped) == last_end(plain)


@given(regexes, st.integers(0, 99), st.sampled_from(SPELLING_WAYS))
def test_every_beginning_of_the_output_can_be_completed_and_a_finished_one_is_in_the_language(pattern, seed, way):
    machine = gv.regex(pattern)
    model = dice(seed)
    trace = gv.record(model, "a", gv.guide(machine, model.vocabulary), seed=seed, max_tokens=12, jump_forward=way)
    for end in range(len(trace.steps) + 1):
        written = b"".join(step.piece for step in standing(trace.steps[:end]) if step.end != "eos")
        assert machine.accepts_prefix(written) or not machine.accepting
    if trace.steps[-1].end in ("eos", "complete"):
        assert machine.accepts(trace.output)


def test_a_token_that_is_taken_back_is_not_in_the_output():
    """The model likes single letters; the tokenizer cuts the longest piece, so each run takes its letters back."""
    model = constant_model([b"n", b"a", b"name", b"x", b"me", b"!", b"?"], [5.0, 4, 0, 3, 0, 1, 0])
    trace = gv.record(model, "x", regex_guide(model, "x?name[!?]"), temperature=0, jump_forward=True)
    steps = [(step.piece, step.how, step.back, step.position) for step in trace.steps]
    assert steps == [(b"n", "sampled", 0, 0), (b"name", "forced", 1, 0), (b"!", "sampled", 0, 1)]
    assert trace.tokens == (2, 5)
    assert trace.passes == 2
    assert trace.prefilled == 1


def test_going_back_into_a_run_and_on_again_takes_the_same_steps(clerk, person):
    settings = Settings(seed=5, jump_forward="canonical")
    points = [start(clerk, PROMPT, person)]
    steps = []
    for _ in range(12):
        step, point = take_step(clerk, points[-1], person, settings)
        points.append(point)
        steps.append(step)
    for place in (2, 9, 0, 5):
        again, _ = take_step(clerk, points[place], person, settings)
        step = steps[place]
        assert again.token == step.token
        assert again.how == step.how
        assert again.raw == step.raw


@pytest.mark.parametrize("limit", [{"max_tokens": 2}, {"stop": iter([False, False, True]).__next__}])
def test_a_run_stops_at_the_token_limit_and_when_asked(clerk, person, limit):
    steps = list(gv.decode(clerk, PROMPT, person, jump_forward=True, **limit))
    found = [step.how for step in steps[:2]]
    assert found == ["forced", "forced"]
    assert steps[-1].end == ("max_tokens" if "max_tokens" in limit else "stop")
    assert len(steps) <= 3


def test_a_text_with_one_way_needs_no_pass_at_all():
    model = dice(1)
    trace = gv.record(model, "a", regex_guide(model, "aba é1A"), jump_forward="longest")
    assert (trace.passes, trace.text) == (0, "aba é1A")
