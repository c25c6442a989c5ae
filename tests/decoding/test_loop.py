"""Claims about the loop: what a step records, why it ends, and that going back is free."""

from __future__ import annotations

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.loop import start, take_step
from guidedviz.decoding.settings import Settings
from guidedviz.tokens.guide import Guide
from guidedviz.views.words import say_step

PIECES = [b"a", b"b", b"c", b"<eos>", b"<script>alert(1)</script>"]


def toy(rule=lambda tokens: [0.0, 1.0, 2.0, -1.0, -3.0], eos=(3,)):
    return gv.ToyModel(PIECES, rule, eos=eos)


def test_a_free_decode_ends_at_eos_and_says_so():
    steps = list(gv.decode(toy(lambda t: [0, 0, 0, 9.0 if len(t) > 3 else -9, -9]), "a", temperature=0))
    assert [s.end for s in steps] == ["", "", "", "eos"]
    assert steps[-1].piece == b"<eos>"


def test_stop_closes_with_a_step_that_chose_nothing():
    asked = iter([False, False, True])
    steps = list(gv.decode(toy(lambda t: [0, 1, 2, -50, -50]), "a", stop=lambda: next(asked)))
    assert [(s.end, s.token, s.how) for s in steps[-1:]] == [("stop", -1, "none")]
    assert len(steps) == 3


def test_a_guide_that_has_finished_ends_the_decode_without_an_eos():
    model = toy(eos=())
    guide = gv.static_masks(model.vocabulary, [{0, 1}, {2}])
    steps = list(gv.decode(model, "a", guide))
    assert [s.end for s in steps] == ["", "complete"]
    assert steps[0].piece in (b"a", b"b")
    assert steps[1].piece == b"c"


def test_a_finished_guide_leaves_only_eos_where_there_is_one():
    model = toy()
    steps = list(gv.decode(model, "a", gv.static_masks(model.vocabulary, [{0}])))
    assert [s.piece for s in steps] == [b"a", b"<eos>"]
    assert steps[-1].legal == 1


class DeadEnd(Guide):
    """A guide that forbids everything after one token."""

    def __init__(self, vocabulary):
        self.vocabulary, self.initial = vocabulary, 0

    def mask(self, state):
        return np.array([state == 0] + [False] * (len(self.vocabulary) - 1))

    def advance(self, state, token):
        return state + 1

    def is_accepting(self, state):
        return False

    def label(self, state):
        return f"q{state}"

    def stack(self, state):
        return ("top",)


def test_a_dead_end_is_told_apart_and_shows_what_was_forbidden():
    model = toy()
    steps = list(gv.decode(model, "a", DeadEnd(model.vocabulary)))
    last = steps[-1]
    assert (last.end, last.token, last.legal, last.mass) == ("dead_end", -1, 0, 0.0)
    assert last.candidates
    assert not any(c.legal for c in last.candidates)
    assert (last.state, last.stack) == ("q1", ("top",))


def test_a_text_that_is_complete_before_it_began_is_no_dead_end():
    model = gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, 1.0])
    (only,) = gv.decode(model, "a", gv.guide(gv.regex("c?"), model.vocabulary))
    assert (only.end, only.token, only.how) == ("complete", -1, "none")


def test_a_step_records_both_distributions_and_the_legal_mass():
    model = toy()
    guide = gv.static_masks(model.vocabulary, [{0, 1}])
    step = next(gv.decode(model, "a", guide))
    raw = gv.sampling.softmax(model.logits([0]))
    by_token = {c.token: c for c in step.candidates}
    assert step.legal == 2
    assert step.mass == pytest.approx(raw[0] + raw[1])
    assert by_token[2].raw == pytest.approx(raw[2])
    assert by_token[2].masked == 0
    assert not by_token[2].legal
    assert by_token[0].masked + by_token[1].masked == pytest.approx(1)
    assert step.token in by_token


def test_a_step_records_what_the_draw_went_by():
    model = toy()
    guide = gv.static_masks(model.vocabulary, [{0, 1}])
    plain = next(gv.decode(model, "a", guide))
    assert [c.drawn for c in plain.candidates] == pytest.approx([c.masked for c in plain.candidates])
    cold = next(gv.decode(model, "a", guide, temperature=0))
    assert {c.token: c.drawn for c in cold.candidates} == {0: 0, 1: 1, 2: 0, 3: 0, 4: 0}
    assert (cold.token, cold.drawn) == (1, 1.0)


def test_going_back_and_forward_draws_the_same_tokens():
    model, settings = toy(), Settings(seed=5)
    points, pieces = [start(model, "abc")], []
    for _ in range(6):
        step, point = take_step(model, points[-1], None, settings)
        points.append(point)
        pieces.append(step.piece)
    again = [take_step(model, points[i], None, settings)[0].piece for i in reversed(range(6))]
    assert again == pieces[::-1]


def test_a_person_may_insert_a_legal_token_and_only_that():
    model, settings = toy(), Settings()
    guide = gv.static_masks(model.vocabulary, [{0, 1}])
    point = start(model, "a", guide)
    step, after = take_step(model, point, guide, settings, choice=1)
    assert (step.how, step.piece, after.tokens[-1]) == ("inserted", b"b", 1)
    with pytest.raises(gv.IllegalToken):
        take_step(model, point, guide, settings, choice=2)
    for wrong in (99, "a", 1.0):
        with pytest.raises(gv.IllegalToken, match="no such id"):
            take_step(model, point, guide, settings, choice=wrong)


def test_the_first_error_comes_at_the_call_and_not_at_the_first_step():
    with pytest.raises(gv.SettingError, match="prompt"):
        gv.decode(toy(), "")
    with pytest.raises(gv.SettingError, match="temperature"):
        gv.decode(toy(), "a", temperature=-1)
    other = gv.Vocabulary((b"a",))
    with pytest.raises(gv.SettingError, match="same vocabulary"):
        gv.decode(toy(), "a", gv.static_masks(other, [{0}]))


def test_bias_is_a_constant_added_at_every_step():
    steps = list(gv.decode(toy(lambda t: [0, 1, 2, -50, -50]), "a", temperature=0, bias={2: -100}, max_tokens=3))
    assert {s.piece for s in steps} == {b"b"}


def test_a_step_names_what_is_open_and_a_trace_keeps_it(tmp_path):
    written = [b"[", b'{"a":', b"[", b"1", b"]", b"}", b"]", b"<eos>"]
    pieces = [*dict.fromkeys(written)]
    model = gv.ToyModel(
        pieces, lambda tokens: np.eye(len(pieces))[pieces.index(written[len(tokens) - 1])] * 99, eos=[5]
    )
    trace = gv.record(model, "[", gv.guide(gv.json(), model.vocabulary), temperature=0, max_tokens=8)
    assert [s.piece for s in trace.steps] == written
    assert [s.stack for s in trace.steps][:5] == [
        ("root",), ("array", "root"), ("member", "object", "array", "root"), ("array", "object", "array", "root"),
        ("number", "array", "object", "array", "root"),
    ]  # fmt: skip
    assert all(s.state.startswith("n") for s in trace.steps), "the nodes of the rules"
    trace.save(tmp_path / "nested.json")
    assert gv.Trace.load(tmp_path / "nested.json").steps == trace.steps


class Short(gv.ToyModel):
    """A model that reads four tokens."""

    context = 4

    def logits(self, tokens):
        assert len(tokens) <= self.context
        return super().logits(tokens)


def test_a_full_context_ends_the_decode_and_keeps_the_record(tmp_path):
    model = Short(PIECES, lambda tokens: [0.0, 1.0, 2.0, -90.0, -90.0])
    trace = gv.record(model, "ab")
    assert [(s.how, s.end) for s in trace.steps] == [*[("sampled", "")] * 3, ("none", "context")]
    assert len(trace.tokens) == 3, "the token after the last that it reads"
    trace.save(tmp_path / "t.json")
    assert gv.Trace.load(tmp_path / "t.json") == trace
    assert "the context of the model is full" in say_step(trace.steps[-1])
    assert [s.end for s in gv.decode(model, "abca")] == ["", "context"]
    with pytest.raises(gv.SettingError, match="prompt: saw 5 tokens, expected at most 4, the context of toy"):
        gv.decode(model, "abcab")


def test_forced_tokens_go_on_where_the_context_is_full():
    model = Short(PIECES, lambda tokens: [0.0, 1.0, 2.0, -90.0, -90.0])
    guide = gv.guide(gv.regex("[ab]abcabc"), model.vocabulary)
    trace = gv.record(model, "abc", guide, jump_forward=True)
    assert (trace.text[1:], trace.steps[-1].end) == ("abcabc", "complete")


def test_after_a_full_context_a_person_gets_the_closing_step_too():
    model = Short(PIECES, lambda tokens: [0.0, 1.0, 2.0, -90.0, -90.0])
    point = start(model, "abca")
    for _ in range(2):
        step, point = take_step(model, point, None, Settings(), choice=1)
    assert (step.how, step.end) == ("none", "context")


@pytest.mark.parametrize("wrong", ["clerk", "bard", None, 3, gv.Trace, [], "x" * 10_000])
def test_the_name_of_a_model_is_not_a_model(wrong):
    for use in (gv.decode, gv.record):
        with pytest.raises(gv.SettingError, match=r'^model: saw .*, expected a model; try: gv.load_model\("'):
            use(wrong, "Hello")
    with pytest.raises(gv.SettingError, match=r'gv.load_model\("bard"\)'):
        gv.record("bard", "Hello")


@pytest.mark.parametrize("wrong", [None, 3, b"a", ["a"], "a\ud800", "\udfff", ""])
def test_a_prompt_that_is_no_text_is_refused(wrong):
    with pytest.raises(gv.SettingError, match=r"^prompt: saw ") as error:
        gv.decode(toy(), wrong)
    assert str(error.value).isprintable()


def test_a_constraint_in_words_is_a_text():
    with pytest.raises(gv.SettingError, match="constraint: saw 5, expected a text"):
        gv.record(toy(), "a", constraint=5)


def test_before_is_the_models_own_distribution_whatever_the_bias_and_the_temperature():
    model = toy(lambda tokens: [0, 3, 2, 1, -5])
    (plain,) = gv.decode(model, "a", max_tokens=1, temperature=0)
    (biased,) = gv.decode(model, "a", max_tokens=1, temperature=0, bias={4: 20})
    own = {candidate.token: candidate.raw for candidate in plain.candidates}
    assert {c.token: c.raw for c in biased.candidates} == own
    assert (plain.token, biased.token) == (1, 4)
    assert (biased.raw, biased.drawn) == (own[4], 1)


def test_a_token_that_a_bias_lifts_is_shown_also_where_it_is_not_drawn():
    model = gv.ToyModel([bytes([65 + n]) for n in range(40)], lambda tokens: [-n for n in range(40)])
    for seed in range(5):
        (step,) = gv.decode(model, "A", max_tokens=1, bias={39: 40}, seed=seed)
        assert 39 in {candidate.token for candidate in step.candidates}
