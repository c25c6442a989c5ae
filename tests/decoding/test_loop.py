"""Claims about the loop: what a step records, why it ends, and that going back is free."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.loop import decode_plainly, start, take_step
from guidedviz.decoding.sampling import Settings
from guidedviz.views.step_words import say_step
from tests.common import BYTES, constant_model, regex_guide

PIECES = [b"a", b"b", b"c", b"<eos>", b"<script>alert(1)</script>"]


def toy(rule=lambda tokens: [0.0, 1.0, 2.0, -1.0, -3.0], eos=(3,), kind=gv.ToyModel):
    return kind(PIECES, rule, eos=eos)


def ends_after_3(tokens):
    return [0, 0, 0, 9.0 if len(tokens) > 3 else -9, -9]


ENDS_AFTER_3 = toy(ends_after_3)
WITHOUT_EOS = toy(eos=())


@pytest.mark.parametrize(
    ("model", "machine", "pieces", "end"),
    [
        (ENDS_AFTER_3, None, [b"a", b"a", b"a", b"<eos>"], "eos"),
        (toy(), gv.regex("a"), [b"a", b"<eos>"], "eos"),  # a finished machine leaves only EOS where there is one
        (WITHOUT_EOS, gv.regex("[ab]c"), [b"b", b"c"], "complete"),
        (WITHOUT_EOS, gv.regex("z?"), [b""], "complete"),  # complete before it began, which is no dead end
        (toy(), gv.regex("az"), [b"a", b""], "dead_end"),
    ],
)
def test_a_decode_says_why_it_ends(model, machine, pieces, end):
    guide = machine and gv.guide(machine, model.vocabulary)
    steps = list(gv.decode(model, "a", guide, temperature=0))
    assert [step.piece for step in steps] == pieces
    *before, last = steps
    assert {step.end for step in before} <= {""}
    assert last.end == end
    assert (last.token == -1) == (last.how == "none") == (not last.piece)


def test_a_dead_end_shows_what_the_model_wanted():
    model = toy()
    *_, last = gv.decode(model, "a", regex_guide(model, "az"), temperature=0)
    assert (last.legal, last.mass, last.state) == (0, 0.0, "q1")
    assert [candidate.legal for candidate in last.candidates] == [False] * 5


def test_stop_closes_with_a_step_that_chose_nothing():
    asked = iter([False, False, True])
    steps = list(gv.decode(WITHOUT_EOS, "a", stop=asked.__next__))
    assert [(step.end, step.how) for step in steps] == [("", "sampled")] * 2 + [("stop", "none")]


def test_a_step_records_all_three_distributions_and_the_legal_mass():
    model = toy()
    guide = gv.static_masks(model.vocabulary, [{0, 1}])
    raw = gv.sampling.softmax(model.logits([0]))
    step = next(gv.decode(model, "a", guide))
    legal = raw[0] + raw[1]
    assert (step.legal, step.mass) == (2, pytest.approx(legal))
    masked = [raw[0] / legal, raw[1] / legal, 0, 0, 0]
    found = sorted((c.token, c.raw, c.masked, c.drawn, c.legal) for c in step.candidates)
    for token, own, after, drawn, is_legal in found:
        assert own == pytest.approx(raw[token])
        assert after == pytest.approx(masked[token])
        assert drawn == pytest.approx(masked[token])
        assert is_legal == (token < 2)
    cold = next(gv.decode(model, "a", guide, temperature=0))
    assert {c.token: c.drawn for c in cold.candidates} == {0: 0, 1: 1, 2: 0, 3: 0, 4: 0}
    assert (cold.token, cold.drawn) == (1, 1.0)


def test_a_drawn_step_keeps_where_in_the_share_of_its_token_the_random_number_fell():
    model = toy()
    guide = gv.static_masks(model.vocabulary, [{0, 1}, {0, 1, 2}])
    for step in gv.decode(model, "a", guide, seed=4, max_tokens=2):
        below = sum(c.drawn for c in step.candidates if c.token < step.token)
        number = below + step.inside * step.drawn
        assert number == pytest.approx(gv.sampling.uniform(4, step.position))


def test_raw_is_the_models_own_distribution_whatever_the_bias_and_the_temperature():
    (step,) = gv.decode(toy(), "a", max_tokens=1, temperature=0, bias={4: 20})
    own = gv.sampling.softmax([0.0, 1.0, 2.0, -1.0, -3.0])
    found = {c.token: c.raw for c in step.candidates}
    assert found == pytest.approx(dict(enumerate(own)))
    assert step.token == 4
    assert step.raw == pytest.approx(own[4])
    assert step.drawn == 1


def test_a_token_that_a_bias_lifts_is_shown_also_where_it_is_not_drawn():
    falling = [-n for n in range(40)]
    model = constant_model(BYTES[:40], falling)
    for seed in range(5):
        (step,) = gv.decode(model, "\x05", max_tokens=1, bias={39: 40}, seed=seed)
        assert 39 in {candidate.token for candidate in step.candidates}


def test_a_person_may_insert_a_legal_token_and_only_that():
    model = toy()
    guide = gv.static_masks(model.vocabulary, [{0, 1}])
    point = start(model, "a", guide)
    step, after = take_step(model, point, guide, Settings(), choice=1)
    assert (step.how, step.piece, step.inside) == ("inserted", b"b", None)
    assert after.tokens[-1] == 1
    refused = {2: "forbids it in position 0", 99: "no such id", "a": "no such id", 1.0: "no such id"}
    for wrong, said in refused.items():
        with pytest.raises(gv.IllegalToken, match=said):
            take_step(model, point, guide, Settings(), choice=wrong)


def test_a_step_names_what_is_open():
    pieces = [b"[", b'{"a":', b"1", b"}", b"]", b"<eos>"]
    model = gv.ToyModel(pieces, lambda tokens: np.eye(6)[len(tokens) - 1] * 99, eos=[5])
    guide = gv.guide(gv.json(), model.vocabulary)
    steps = list(gv.decode(model, "[", guide, temperature=0))
    assert [step.piece for step in steps] == pieces
    stacks = [" ".join(step.stack) for step in steps]
    assert stacks[:3] == ["root", "array root", "member object array root"]
    assert all(step.state.startswith("n") for step in steps), "the nodes of the rules"


class Short(gv.ToyModel):
    """A model that reads four tokens."""

    context = 4

    def logits(self, tokens):
        assert len(tokens) <= self.context
        return super().logits(tokens)


SHORT = toy(lambda tokens: [0.0, 1.0, 2.0, -90.0, -90.0], (), Short)


def test_a_full_context_ends_the_decode_and_keeps_the_record():
    trace = gv.record(SHORT, "ab")
    ways = [(step.how, step.end) for step in trace.steps]
    assert ways == [*[("sampled", "")] * 3, ("none", "context")], "the token after the last that it reads, too"
    assert "the context of the model is full" in say_step(trace.steps[-1])
    forced = gv.record(SHORT, "abc", regex_guide(SHORT, "[ab]abcabc"), jump_forward=True)
    assert forced.text[1:] == "abcabc"
    assert forced.steps[-1].end == "complete", "forced tokens go on"
    _, point = take_step(SHORT, start(SHORT, "abca"), None, Settings(), choice=1)
    step, _ = take_step(SHORT, point, None, Settings(), choice=1)
    assert (step.how, step.end) == ("none", "context"), "a person gets the closing step, too"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bard", "Hello"), r"^model: saw 'bard', expected a model; try: gv.load_model\(\"bard\"\)"),
        ((None, "Hello"), "^model: saw None, expected a model"),
        *(((toy(), wrong), "^prompt: saw ") for wrong in (None, b"a", ["a"], "a\ud800", "")),
        ((SHORT, "abcab"), "prompt: saw 5 tokens, expected at most 4, the context of toy"),
        ((toy(), "a", "[0-9]"), "guide: saw str, expected a guide"),
        ((toy(), "a", gv.static_masks(gv.Vocabulary((b"a",)), [{0}])), "the same vocabulary"),
    ],
)
def test_wrong_arguments_are_refused_at_the_call_and_not_at_the_first_step(arguments, said):
    for use in (gv.decode, gv.record):
        with pytest.raises(gv.SettingError, match=said) as error:
            use(*arguments)
        assert str(error.value).isprintable()


def test_a_constraint_in_words_is_a_text():
    with pytest.raises(gv.SettingError, match="constraint: saw 5, expected a text"):
        gv.record(toy(), "a", constraint=5)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_loop_writes_what_the_plain_loop_writes(clerk, seed):
    for machine in (gv.regex("[a-z ]*"), gv.grammar('root ::= "(" root ")" | "x"')):
        guide = gv.guide(machine, clerk.vocabulary)
        plain = decode_plainly(clerk, "Date:", guide, seed=seed, max_tokens=20)
        trace = gv.record(clerk, "Date:", guide, seed=seed, max_tokens=20)
        assert trace.output == plain
