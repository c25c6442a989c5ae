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
from tests.strategies import regexes

PROMPT = "Ada Lovelace is 36 and lives in London. She is a member.\nJSON with name, age, city, member:\n"
KINDS = {"name": "string", "age": "integer", "city": "string", "member": "boolean"}
PERSON = {"type": "object", "properties": {key: {"type": kind} for key, kind in KINDS.items()}, "required": list(KINDS)}
PERSON |= {"additionalProperties": False}
PIECES = [b"a", b"b", b"A", b"1", b"\xc3", b"\xa9", "é".encode(), b"ab", b"ba", b"aba", b" ", b"\n", b"</s>"]


@pytest.fixture(scope="module")
def person(clerk):
    return gv.guide(gv.json_schema(PERSON, "one"), clerk.vocabulary)


def dice(seed):
    """A model without sense: other logits after every text."""
    rule = lambda tokens: np.random.default_rng([seed, *tokens]).normal(size=len(PIECES)) * 3  # noqa: E731
    return gv.ToyModel(PIECES, rule, eos=(12,))


@pytest.mark.parametrize("way", SPELLING_WAYS[:2])
def test_whole_keys_are_put_without_the_model_and_the_text_is_the_same(clerk, person, way):
    plain = gv.record(clerk, PROMPT, person, temperature=0)
    jumped = gv.record(clerk, PROMPT, person, temperature=0, jump_forward=way)
    assert jumped.text == plain.text == '{"name": "Ada Lovelace", "age": 36, "city": "London", "member": true}'
    assert jumped.tokens == plain.tokens
    assert plain.passes == len(plain.steps)
    assert jumped.passes < 0.4 * plain.passes
    assert [s.piece for s in jumped.steps[:4]] == [b'{"', b"name", b'":', b' "']
    silent = {(s.how, s.forward_ms, s.sample_ms, s.raw, s.mass, s.candidates) for s in jumped.steps[:4]}
    assert silent == {("forced", 0.0, 0.0, 0.0, 0.0, ())}, "a forced step tells no probability and cost no pass"


@given(regexes, st.integers(0, 99))
def test_minimal_draws_the_very_tokens_that_would_be_drawn_without_it(pattern, seed):
    model = dice(seed)
    guide = gv.guide(gv.regex(pattern), model.vocabulary)
    plain, jumped = (
        gv.record(model, "a", guide, seed=seed, max_tokens=12, jump_forward=way) for way in (False, "minimal")
    )
    assert jumped.tokens == plain.tokens
    assert jumped.passes <= plain.passes
    assert [s.end for s in jumped.steps[-1:]] == [s.end for s in plain.steps[-1:]]


@given(regexes, st.integers(0, 99), st.sampled_from(SPELLING_WAYS))
def test_every_beginning_of_the_output_can_be_completed_and_a_finished_one_is_in_the_language(pattern, seed, way):
    machine = gv.regex(pattern)
    model = dice(seed)
    trace = gv.record(model, "a", gv.guide(machine, model.vocabulary), seed=seed, max_tokens=12, jump_forward=way)
    for end in range(len(trace.steps) + 1):
        so_far = standing(trace.steps[:end])
        assert machine.accepts_prefix(b"".join(s.piece for s in so_far if s.end != "eos")) or not machine.accepting
    if trace.steps[-1].end in ("eos", "complete"):
        assert machine.accepts(trace.output)


def test_a_token_that_is_taken_back_is_not_in_the_output():
    """The model likes single letters; the tokenizer cuts the longest piece, so each run takes its letters back."""
    model = gv.ToyModel([b"n", b"a", b"name", b"x", b"me", b"!", b"?"], lambda tokens: [5.0, 4, 0, 3, 0, 1, 0])
    guide = gv.guide(gv.regex("x?name[!?]"), model.vocabulary)
    trace = gv.record(model, "x", guide, temperature=0, jump_forward=True)
    steps = [(step.piece, step.how, step.back) for step in trace.steps]
    assert steps == [(b"n", "sampled", 0), (b"name", "forced", 1), (b"!", "sampled", 0)]
    assert (trace.text, trace.tokens, trace.passes, trace.prefilled) == ("name!", (2, 5), 2, 1)
    assert [s.position for s in trace.steps] == [0, 0, 1]


def test_going_back_into_a_run_and_on_again_takes_the_same_steps(clerk, person):
    settings = Settings(temperature=0, jump_forward="canonical")
    points = [start(clerk, PROMPT, person)]
    steps = []
    for _ in range(12):
        step, point = take_step(clerk, points[-1], person, settings)
        points.append(point)
        steps.append(step)
    for place in (2, 9, 0, 5):
        again, _ = take_step(clerk, points[place], person, settings)
        assert (again.token, again.how, again.raw) == (steps[place].token, steps[place].how, steps[place].raw)


def test_a_run_stops_at_the_token_limit_and_when_asked(clerk, person):
    steps = list(gv.decode(clerk, PROMPT, person, jump_forward=True, max_tokens=2))
    assert [(s.how, s.end) for s in steps] == [("forced", ""), ("forced", "max_tokens")]
    asked = iter([False, False, True])
    steps = list(gv.decode(clerk, PROMPT, person, jump_forward=True, stop=lambda: next(asked)))
    assert [s.end for s in steps] == ["", "", "stop"]


def test_a_text_with_one_way_needs_no_pass_at_all():
    model = dice(1)
    guide = gv.guide(gv.grammar('root ::= "aba é1A"'), model.vocabulary)
    trace = gv.record(model, "a", guide, jump_forward="longest")
    assert (trace.passes, trace.text) == (0, "aba é1A")
    assert all(s.how == "sampled" for s in gv.decode(model, "a", jump_forward=True, max_tokens=5)), "without a guide"
