"""What each stage of the sampler does: equal to what transformers does, and kept in a step."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.sampling import Settings, apply_mask, sampler_stages, softmax
from tests.common import constant_model, regex_guide

WORDS = 200
STRONG = Settings(temperature=0.7, top_k=30, top_p=0.8, bias={7: 2.0}, repetition_penalty=1.3)


def random_case(seed):
    """Logits of both signs, a mask with half of the tokens, and a text in which tokens repeat."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 2, WORDS)
    mask = random.random(WORDS) < 0.5
    mask[7] = True  # it has a bias
    return logits, mask, random.integers(0, WORDS, 40).tolist()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.quick(every=10)
def test_each_stage_gives_the_numbers_of_transformers(seed):
    torch = pytest.importorskip("torch")
    hub = pytest.importorskip("transformers")
    logits, mask, tokens = random_case(seed)
    scores = torch.tensor(apply_mask(logits, mask))[None]
    expected = [softmax(scores[0].numpy())]
    for processor in (
        hub.SequenceBiasLogitsProcessor([[[7], 2.0]]),
        hub.RepetitionPenaltyLogitsProcessor(1.3),
        hub.TemperatureLogitsWarper(0.7),
        hub.TopKLogitsWarper(30),
        hub.TopPLogitsWarper(0.8),
    ):
        scores = processor(torch.tensor([tokens]), scores)
        expected.append(softmax(scores[0].numpy()))
    found = sampler_stages(logits, mask, STRONG, tokens)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    assert len({stage.tobytes() for stage in found}) == 6, "each stage changes something"


def test_the_mask_gives_the_same_before_the_penalty_and_after_it():
    logits, mask, tokens = random_case(0)
    late = apply_mask(gv.sampling.apply_penalty(logits, tokens, 1.3), mask)
    penalised = sampler_stages(logits, mask, Settings(repetition_penalty=1.3), tokens)[-1]
    np.testing.assert_allclose(penalised, softmax(late), rtol=1e-12)


def test_top_k_and_top_p_change_nothing_where_the_likeliest_is_taken():
    logits, mask, tokens = random_case(1)
    greedy = sampler_stages(logits, mask, Settings(temperature=0), tokens)[-1]
    cut = sampler_stages(logits, mask, Settings(temperature=0, top_k=3, top_p=0.2), tokens)
    for stage in cut[1:]:
        assert (stage == greedy).all()


def test_a_step_keeps_the_stages_between_the_mask_and_the_draw(tmp_path):
    toy = constant_model([b"a", b"b", b"c"], [2.0, 1.0, 0.0])
    guide = regex_guide(toy, "[ab]{2}")
    trace = gv.record(toy, "a", guide, temperature=0.5, top_k=1, repetition_penalty=2)
    step = trace.steps[0]
    assert step.changes == "penalty 2 · T 0.50 · top-k 1"
    assert step.stages == ((0.5, 0.5, 0.0),) * 2, "a is in the prompt, so its logit is halved"
    assert [c.drawn for c in step.candidates] == [1.0, 0.0, 0.0]
    trace.save(tmp_path / "run.json")
    assert gv.Trace.load(tmp_path / "run.json").steps == trace.steps
    (plain, *_) = gv.decode(toy, "a", guide, temperature=0.5)
    assert plain.stages == (), "the only stage is what is drawn from"
