"""Each sampler against the exact distribution of a toy that masks distort."""

from itertools import permutations

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.distribution import all_texts, shares, total_variation
from guidedviz.decoding.samplers import Adaptive, Asap, Masked, Particles, Rejection, Task
from guidedviz.errors import SettingError
from tests.common import regex_guide

PIECES = [b"a", b"b", b"c", b"</s>"]


def rule(tokens):
    """After an `a` almost all of the model's probability is on the illegal `c`."""
    if tokens[-1] == 0:
        return np.log([0.1, 0.1, 0.7, 0.1])
    return np.log([0.4, 0.3, 0.1, 0.2])


def new_task(pattern="a[ab]|b[ab]", max_tokens=10):
    toy = gv.ToyModel(PIECES, rule, eos={3})
    return Task(toy, "c", regex_guide(toy, pattern), max_tokens=max_tokens)


def draw_anew(sampler, count):
    return [sampler(new_task()).draw(seed) for seed in range(count)]


TARGET = {chance.tokens: chance.conditioned for chance in all_texts(new_task())}
MASKED = {chance.tokens: chance.masked for chance in all_texts(new_task())}


@pytest.mark.parametrize(
    ("sampler", "target", "count"),
    [(Masked, MASKED, 800), (Rejection, TARGET, 100), (lambda task: Particles(task, 32), TARGET, 250)],
)
@pytest.mark.quick("Rejection-target1-100")
def test_a_sampler_draws_from_its_distribution(sampler, target, count):
    assert total_variation(TARGET, MASKED) > 0.25
    draws = draw_anew(sampler, count)
    counts = shares([gv_draw(draw) for draw in draws])
    assert all(draw.ended for draw in draws)
    assert total_variation(counts, target) < 2 / np.sqrt(count)  # of four texts, twice what chance explains


def gv_draw(draw):
    """The draw as if all draws counted alike."""
    return type(draw)(draw.tokens, draw.text)


@pytest.mark.parametrize(
    ("sampler", "count"), [(Masked, 1000), (Adaptive, 1000), (lambda task: Particles(task, 16), 200)]
)
@pytest.mark.slow
def test_weights_make_a_sampler_unbiased(sampler, count):
    draws = draw_anew(sampler, count)
    assert total_variation(shares(draws), TARGET) < 2.3 / np.sqrt(count)
    legal = sum(chance.free for chance in all_texts(new_task()))
    found = np.mean([draw.weight for draw in draws])
    assert found == pytest.approx(legal, rel=0.1)


def test_the_estimate_of_z_is_unbiased_for_each_token_exactly(monkeypatch):
    task = new_task()
    chances = np.array([0.1, 0.25, 0.45, 0.2])
    found = {0: 0.0, 1: 0.0}  # the legal tokens
    for order in permutations(range(4)):
        share = 1.0
        left = 1.0
        for token in order:
            share *= chances[token] / left
            left -= chances[token]
        monkeypatch.setattr("guidedviz.decoding.samplers.draw_order", lambda *_, order=order: list(order))
        text, weight = Adaptive(task).next_token(task.start, chances, None)
        found[text.tokens[-1]] += share * weight
    assert found == pytest.approx({0: 0.1, 1: 0.25})


@pytest.mark.slow
def test_asap_begins_like_masked_decoding_and_converges_to_the_target():
    first = draw_anew(Asap, 500)
    assert total_variation(shares(first), MASKED) < 0.08
    learned = Asap(new_task())
    draws = [learned.draw(seed) for seed in range(1500)]
    assert total_variation(shares(draws[500:]), TARGET) < 0.06
    assert sum(draw.calls for draw in draws) <= 7, "each text so far is read once"


@pytest.mark.parametrize(
    ("sampler", "most"), [(Masked, 3), (Adaptive, 3), (Asap, 3), (Rejection, 3000), (Particles, 24)]
)
def test_all_count_their_work(sampler, most):
    assert 3 <= sampler(new_task()).draw(0).calls <= most


def test_a_rejection_that_finds_nothing_weighs_nothing():
    assert Rejection(new_task("aaaaaaaa"), tries=3).draw(0).weight == 0


def test_a_text_that_is_cut_counts_nothing_and_too_many_texts_are_refused():
    weight = Masked(new_task("[ab]*", max_tokens=1)).draw(3).weight
    assert weight in (0, pytest.approx(0.9, abs=0.2))
    with pytest.raises(SettingError, match="more texts or longer ones"):
        all_texts(new_task("[ab]*"))
