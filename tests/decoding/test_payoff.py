"""The cost model against passes added up one by one, and a record that a file gives back."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.decoding.payoff import FRACTIONS, Cost, Payoff, Timed, ideal, median_run, nearest_fraction
from guidedviz.decoding.records import save_record
from guidedviz.errors import SettingError, TraceError
from guidedviz.files import shipped


def add_up(forced: list[bool], cost: Cost, rows: int) -> float:
    """A text token by token: forced ones wait until a chosen one is read, and are read with it."""
    spent = 0.0
    waiting = 0
    for is_forced in forced:
        waiting += 1
        if not is_forced:
            spent += cost.pass_ms + cost.put_ms * waiting
            each = cost.row_ms + cost.token_ms * waiting
            spent += sum(each for _ in range(rows))
            waiting = 0
    return spent


costs = st.builds(Cost, st.floats(0.1, 50), st.floats(0.001, 5), row_ms=st.floats(0, 0.05), put_ms=st.floats(0, 0.5))
choices = st.lists(st.booleans(), max_size=80)
texts = choices.map(lambda forced: [*forced, False])


@given(costs, texts, st.integers(1, 256))
def test_the_cost_model_is_the_sum_over_the_passes(cost, forced, rows):
    plain = add_up([False] * len(forced), cost, rows)
    fraction = sum(forced) / len(forced)
    jumped = add_up(forced, cost, rows)
    speedup = cost.speedup(fraction, rows)
    assert speedup == pytest.approx(plain / jumped)
    assert 1 - 1e-9 <= speedup <= ideal(fraction) + 1e-9


@pytest.mark.parametrize("fraction", [1.5, -0.1, float("nan"), "a", None])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(SettingError, match=r"fraction: saw .*, expected a number from 0 to 1"):
        ideal(fraction)
    with pytest.raises(SettingError, match=r"fraction: saw .*, expected a number from 0 to 0\.95"):
        nearest_fraction(fraction)
    assert [nearest_fraction(share) for share in FRACTIONS] == list(range(20))


RUN = Timed(
    asked=0.5, fraction=0.5, rows=8, naive_ms=80.0, jump_ms=50.0, naive_passes=4, jump_passes=2, prefilled=1,
    tokens=4, parts=(('{"', True), ("</script>é", False)), difference="other text",
)  # fmt: skip
RECORD = Payoff(Cost(2.5, 0.25), (RUN,), (RUN.parts,) * 20, "clerk", "cpu", "2026-11-22", "canonical")


def test_the_speed_up_of_a_run_is_counted_by_the_token():
    assert RUN.speedup == 1.6
    assert replace(RUN, naive_passes=5).speedup == pytest.approx(1.28)  # one token more than with jump-forward


def test_the_median_of_several_runs_counts_whatever_disturbs_one_of_them():
    runs = [replace(RUN, jump_ms=ms) for ms in (50.0, 5000.0, 40.0)]
    assert median_run(runs) == replace(RUN, speedups=(0.016, 1.6, 2.0))
    assert median_run([RUN]) == RUN


def test_a_record_comes_back_from_its_file(tmp_path):
    save_record(RECORD, tmp_path / "jump.json")
    assert Payoff.load(tmp_path / "jump.json") == replace(RECORD, source="RECORDED")
    found = len(Payoff.load(shipped("traces/jump-cpu.json")).previews)
    assert found == len(FRACTIONS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"previews": (RUN.parts,) * 2}, "previews: saw 2, expected 20"),
        ({"runs": (replace(RUN, asked=1.0),)}, r"runs\[0\].asked: saw 1.0, expected a number from 0 to 0.95"),
        ({"runs": (replace(RUN, naive_ms=0.0),)}, r"runs\[0\].naive_ms: saw 0.0, expected a number from 1e-09"),
    ],
)
def test_damage_of_a_record_is_named(tmp_path, change, said):
    save_record(replace(RECORD, **change), tmp_path / "jump.json")
    with pytest.raises(TraceError, match=f"payoff file .*{said}"):
        Payoff.load(tmp_path / "jump.json")
