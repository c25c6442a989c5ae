"""What masked draws alone tell about the target agrees with the exact numbers of small tasks."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding import distribution
from guidedviz.decoding.samplers import Draw, Task
from guidedviz.errors import SettingError
from tests.common import regex_guide

PIECES = [b"a", b"b", b"c", b"</s>"]


def task_of(pattern, seed):
    noise = np.random.default_rng(seed)
    table = noise.normal(size=(4, 4)) * 2

    def rule(tokens):
        return table[tokens[-1]]

    toy = gv.ToyModel(PIECES, rule, eos={3})
    return Task(toy, "a", regex_guide(toy, pattern))


def assert_nearly_holds(estimate, value):
    room = estimate.high - estimate.low
    assert estimate.low - room <= value <= estimate.high + room


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pattern", ["a|bb|ccc", "[ab]{1,3}", "(ab?c){1,2}"])
@pytest.mark.quick(every=5)
def test_the_interval_of_masked_draws_holds_the_exact_value_or_misses_it_narrowly(pattern, seed):
    task = task_of(pattern, seed)
    texts = distribution.all_texts(task)
    sampler = distribution.Masked(task)
    draws = [sampler.draw(one) for one in range(200)]
    masked = {text.tokens: text.masked for text in texts}
    target = {text.tokens: text.conditioned for text in texts}
    assert_nearly_holds(distribution.total_variation_of(draws), distribution.total_variation(masked, target))
    assert_nearly_holds(distribution.legal_of(draws), sum(text.free for text in texts))


@pytest.mark.parametrize("draws", [[], [Draw((), b"", 0.0)], [Draw((), b"", 1.0, ended=False)]])
def test_without_a_finished_draw_there_is_no_estimate(draws):
    with pytest.raises(SettingError, match="weights above 0"):
        distribution.total_variation_of(draws)


@pytest.mark.parametrize(("hits", "count"), [(-1, 5), (6, 5), (0, 0)])
def test_a_share_is_a_part_of_something(hits, count):
    with pytest.raises(SettingError, match="share_of"):
        distribution.share_of(hits, count)


@pytest.mark.parametrize("count", [1, 7, 400])
def test_an_interval_holds_its_share_and_stays_between_0_and_1(count):
    for hits in range(count + 1):
        share = distribution.share_of(hits, count)
        assert 0 <= share.low <= share.value <= share.high <= 1


def test_a_branch_is_the_sum_of_its_texts_and_of_what_is_illegal():
    def check(one):
        if one.branches:
            for kind in ("masked", "conditioned"):
                parts = [getattr(sub, kind) for sub in one.branches]
                assert getattr(one, kind) == pytest.approx(sum(parts))
            free = sum(sub.free for sub in one.branches)
            assert one.free == pytest.approx(one.illegal + free)
        for sub in one.branches:
            check(sub)

    tree = distribution.branch(task_of("(ab?c){1,2}", 0))
    chances = (tree.free, tree.masked, tree.conditioned)
    assert chances == pytest.approx((1, 1, 1))
    check(tree)


def test_a_recorded_table_names_its_date_and_its_model_without_the_form_of_its_weights():
    table = distribution.Rates.load("smollm2/jumps")
    assert str(table) == f"RECORDED {table.about['date']} · SmolLM2-135M-Instruct"
    assert "Q4_1" in table.about["model"]
