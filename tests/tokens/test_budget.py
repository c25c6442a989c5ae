"""Within a budget every run ends, complete, whatever the model wants."""

from functools import reduce

import numpy as np
import pytest

import guidedviz as gv
from tests.common import BYTES, assert_mask_is_told, constant_model, legal_tokens, with_end

BRACKETS = gv.grammar('root ::= ("(" root ")" | "[" root "]")*')
PIECES = [b"(", b")", b"[", b"]", b"((", b"))", b"?", b"</s>"]


def model(wishes):
    return constant_model(PIECES, wishes, eos={7})


@pytest.mark.parametrize("budget", [1, 2, 21])
def test_a_model_that_only_opens_is_made_to_close(budget):
    greedy = model([9, 0, 8, 0, 9, 0, 0, -9])
    guide = gv.within(gv.guide(BRACKETS, greedy.vocabulary), budget)
    for seed in range(10):
        run = gv.record(greedy, "?", guide, seed=seed, max_tokens=budget)
        assert run.steps[-1].end == "eos"
        assert BRACKETS.accepts(run.text.encode())
        assert len(run.steps) <= budget


def test_the_mask_is_true_where_advance_succeeds_and_explain_agrees():
    guide = gv.within(gv.guide(BRACKETS, model([]).vocabulary), 6)
    states = [guide.initial]
    for state in states:
        assert_mask_is_told(guide, state)
        for token in legal_tokens(guide, state):
            after = guide.advance(state, token)
            if after not in states and token != 7:
                states.append(after)
    assert {state.left for state in states} == set(range(1, 7))


TALK = [*BYTES, b"<think>", b"</think>", b"</s>"]


@pytest.mark.parametrize("style", ["hermes", "text"])
@pytest.mark.quick("text")
def test_a_limit_of_thinking_holds_within_a_budget(style):
    machine = gv.turn(style=style, think_limit=3)
    rng = np.random.default_rng(0)

    def noise(tokens):
        return rng.normal(size=len(TALK))

    babble = gv.ToyModel(TALK, noise, eos={258}, special={256, 257})
    guide = gv.within(gv.guide(machine, babble.vocabulary), 20)
    for seed in range(8):
        run = gv.record(babble, "?", guide, seed=seed, max_tokens=20)
        assert run.steps[-1].end == "eos"
        text = b"".join(step.piece for step in run.steps[:-1])
        assert machine.accepts(text)
        thought = text.partition(b"</think>")[0].rpartition(b"<think>")[2]
        assert len(thought.strip(b"\xff\xfe")) <= 6  # 3 tokens, and the rest of a character
    opening = b"<think>" if style == "text" else [256]
    state = reduce(guide.advance, [*opening, *b"abc"], guide.initial)
    assert "3 tokens have been thought" in guide.explain(state, ord("d")).reason
    assert guide.forced(state).strip(b"\xff\xfe") == b"</think>"


def test_a_budget_needs_our_machine_behind_the_limit_of_thinking():
    pytest.importorskip("llguidance")
    vocabulary = gv.Vocabulary(TALK, eos={258}, special={256, 257})
    real = gv.guide(gv.turn(think_limit=3), vocabulary, "llguidance")
    with pytest.raises(gv.SettingError, match=r"within: saw RealGuide, expected a guide of a machine; try: gv\.guide"):
        gv.within(real, 40)


def test_a_byte_without_a_token_of_its_own_is_no_way_out():
    vocabulary = with_end([b"(", b"))", b")x", b"x"])
    guide = gv.within(gv.guide(gv.grammar('root ::= "(" root ")" | "x"'), vocabulary), 20)
    assert legal_tokens(guide, guide.initial) == [3]


@pytest.mark.parametrize("tokens", ["5", None, 4])
def test_a_budget_is_a_number_of_tokens(tokens):
    vocabulary = with_end([b"a"])
    guide = gv.guide(gv.regex("a{4}"), vocabulary)
    with pytest.raises(gv.SettingError, match=f"within, tokens: saw {tokens!r}, expected at least 5"):
        gv.within(guide, tokens)


def test_a_vocabulary_that_can_write_no_end_is_said():
    vocabulary = with_end([b"()"])
    guide = gv.guide(BRACKETS, vocabulary)
    gv.within(guide, 1)  # the empty text is an end
    with pytest.raises(gv.SettingError, match="within, guide: saw a vocabulary in which no text can be written"):
        gv.within(gv.guide(gv.regex("(ab)+"), vocabulary), 9)


@pytest.mark.slow
def test_an_end_too_far_to_be_counted_is_said():
    doubled = ["r{0} ::= r{1} r{1}".format(n, n + 1) for n in range(2_000)]
    rules = "\n".join(doubled)
    machine = gv.grammar(f'root ::= r0 | "b"\n{rules}\nr2000 ::= "a"')
    guide = gv.guide(machine, gv.Vocabulary([b"a", b"b"]))
    short = gv.within(guide, 5)
    assert short.mask(short.initial).tolist() == [False, True]
    assert short.explain(short.initial, 0).reason.endswith("takes over 10^12 tokens of a byte each, and 4 are left")
