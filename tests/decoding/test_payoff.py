"""The cost model against passes added up one by one, and a record that a file gives back."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.decoding.payoff import PLACES, Cost, Payoff, Timed, ideal
from guidedviz.errors import SettingError, TraceError


def add_up(forced: list[bool], cost: Cost, rows: int) -> float:
    """A text token by token: forced ones wait until a chosen one is read, and are read with it."""
    spent, waiting = 0.0, 0
    for is_forced in forced:
        waiting += 1
        if not is_forced:
            spent += cost.pass_ms + cost.put_ms * waiting
            spent += sum(cost.row_ms + cost.token_ms * waiting for _ in range(rows))
            waiting = 0
    return spent


costs = st.builds(Cost, st.floats(0.1, 50), st.floats(0.001, 5), row_ms=st.floats(0, 0.05), put_ms=st.floats(0, 0.5))
texts = st.lists(st.booleans(), max_size=80).map(lambda forced: [*forced, False])


@given(costs, texts, st.integers(1, 256))
def test_the_cost_model_is_the_sum_over_the_passes(cost, forced, rows):
    plain = add_up([False] * len(forced), cost, rows)
    fraction = sum(forced) / len(forced)
    assert cost.speedup(fraction, rows) == pytest.approx(plain / add_up(forced, cost, rows))


@given(costs, texts, st.integers(1, 256))
def test_it_lies_between_one_and_the_ideal(cost, forced, rows):
    fraction = sum(forced) / len(forced)
    assert 1 - 1e-9 <= cost.speedup(fraction, rows) <= ideal(fraction) + 1e-9


@given(costs, texts, st.integers(1, 256))
def test_where_rows_cost_only_what_they_read_it_falls_with_them(cost, forced, rows):
    alone, fraction = replace(cost, row_ms=0.0), sum(forced) / len(forced)
    assert alone.speedup(fraction, rows + 1) <= alone.speedup(fraction, rows) + 1e-9


def test_reading_that_costs_nothing_is_the_ideal_and_passes_that_cost_nothing_gain_nothing():
    assert Cost(5.0, 0.0).speedup(0.9) == pytest.approx(ideal(0.9)) == pytest.approx(10)
    assert Cost(0.0, 5.0).speedup(0.9) == 1


@pytest.mark.parametrize("fraction", [1, 1.5, -0.1, float("nan")])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(SettingError, match=r"fraction: saw .*, expected 0 up to, not including, 1"):
        ideal(fraction)


def test_the_slider_has_twenty_places():
    assert (len(PLACES), PLACES[0], PLACES[-1]) == (20, 0.0, 0.95)


RUN = Timed(
    asked=0.5, fraction=0.5, rows=8, naive_ms=80.0, jump_ms=50.0, naive_passes=4, jump_passes=2, prefilled=1,
    tokens=4, parts=(('{"', True), ("</script>é", False)), difference="other text",
)  # fmt: skip
RECORD = Payoff(Cost(2.5, 0.25), (RUN,), (RUN.parts,) * 20, "clerk", "cpu", "2026-11-22", "canonical")


def test_the_speed_up_of_a_run_is_counted_by_the_token():
    assert RUN.speedup == 1.6
    assert replace(RUN, naive_passes=5).speedup == pytest.approx(1.28)  # one token more than with jump-forward


@pytest.mark.parametrize(("source", "kept"), [("LIVE", "RECORDED"), ("RECORDED", "RECORDED"), ("TOY", "TOY")])
def test_a_file_gives_back_what_was_saved_and_says_recorded_unless_it_is_a_toy(tmp_path, source, kept):
    replace(RECORD, source=source).save(tmp_path / "jump.json")
    assert Payoff.load(tmp_path / "jump.json") == replace(RECORD, source=kept)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "expected a file that Payoff.save wrote"),
        ("[]", "saw version None"),
        ('{"guidedviz_payoff": 0}', "saw version 0"),
        ('{"guidedviz_payoff": 1}', "a damaged record"),
        ('{"guidedviz_payoff": 1, "cost": [], "runs": []}', "a damaged record"),
        ('{"guidedviz_payoff": 1, "cost": {"pass_ms": 1, "token_ms": 1}, "runs": [{"parts": 1}]}', "a damaged record"),
        ('{"guidedviz_payoff": 1, "cost": {"pass_ms": 1, "token_ms": 1}, "runs": [7]}', "a damaged record"),
    ],
)
def test_a_file_that_is_no_record_is_refused(tmp_path, text, said):
    (tmp_path / "jump.json").write_text(text)
    with pytest.raises(TraceError, match=said):
        Payoff.load(tmp_path / "jump.json")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TraceError, match="No such file"):
        Payoff.load(tmp_path / "none.json")
