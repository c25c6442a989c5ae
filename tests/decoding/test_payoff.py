"""The cost model against passes added up one by one, and a record that a file gives back."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.decoding.payoff import PLACES, Cost, Payoff, Timed, find_place, group_passes, ideal
from guidedviz.errors import SettingError, TraceError
from guidedviz.files import shipped


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


def test_where_all_is_fixed_only_reading_costs():
    assert ideal(1) == math.inf
    assert Cost(9.0, 1.0).speedup(1) == 10
    assert Cost(9.0, 0.0).speedup(1) == math.inf


@pytest.mark.parametrize("fraction", [1.5, -0.1, float("nan"), "a", None])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(SettingError, match=r"fraction: saw .*, expected 0 to 1"):
        ideal(fraction)
    with pytest.raises(SettingError, match=r"fraction: saw .*, expected 0 to 0\.95"):
        find_place(fraction)


def test_the_slider_has_twenty_places_and_each_is_found_by_its_own_share():
    assert (len(PLACES), PLACES[0], PLACES[-1]) == (20, 0.0, 0.95)
    assert [find_place(share) for share in PLACES] == list(range(20))


parts = st.lists(st.tuples(st.sampled_from(["{", '"', "Ada"]), st.booleans()), min_size=1, max_size=70).map(tuple)


@given(parts)
def test_each_free_token_is_a_pass_that_reads_what_is_fixed_before_it(text):
    passes, tokens = group_passes(text), list(text)
    for count in passes.read:
        read, tokens = tokens[:count], tokens[count:]
        assert [fixed for _, fixed in read] == [True] * (count - 1) + [False]
    assert [fixed for _, fixed in tokens] == [True] * passes.rest


@given(parts, st.integers(0, 80))
def test_as_many_passes_as_were_made_read_each_token_once(text, made):
    passes = group_passes(text, made)
    assert len(passes.read) == made
    assert sum(passes.read) + passes.rest == len(text)
    assert min((*passes.read, passes.rest)) >= 0
    free = sum(not fixed for _, fixed in text)
    assert group_passes(text, free) == group_passes(text)
    if made:
        assert passes.rest == group_passes(text).rest, "what comes last is chosen, not what follows it"


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


def put(data, way, value):
    *before, last = way
    for name in before:
        data = data[name]
    data[last] = value


@pytest.mark.parametrize(
    ("way", "value", "said"),
    [
        (["previews"], [RUN.parts] * 2, "previews: saw 2, expected 20"),
        (["previews", 3], [], "preview 3: saw no tokens, expected a text token by token"),
        (["previews", 3], [[7, True]], r"preview 3: saw \[7, True\], expected a token's text"),
        (["previews", 3], ["ab"], r"preview 3: saw \['a', 'b'\]"),
        (["runs", 0, "parts"], [], "run 0: saw no tokens"),
        (["runs", 0, "asked"], 0.52, "run 0, asked: saw 0.52, expected a place of the slider"),
        (["runs", 0, "asked"], "0.5", "run 0, asked: saw 0.5, expected"),
        (["runs", 0, "fraction"], 1.01, "run 0, fraction: saw 1.01, expected 0 to 1"),
        (["runs", 0, "naive_ms"], 0, "run 0, naive_ms: saw 0, expected a number above 0"),
        (["runs", 0, "jump_ms"], float("nan"), "run 0, jump_ms: saw nan"),
        (["runs", 0, "jump_ms"], True, "run 0, jump_ms: saw True"),
        (["runs", 0, "jump_ms"], 10**400, "a damaged record"),
        (["runs", 0, "naive_passes"], 0, "run 0, naive_passes: saw 0, expected a whole number from 1"),
        (["runs", 0, "jump_passes"], -1, "run 0, jump_passes: saw -1, expected a whole number from 0"),
        (["runs", 0, "tokens"], 1.5, "run 0, tokens: saw 1.5"),
        (["runs", 0, "rows"], "8", "run 0, rows: saw 8"),
        (["runs", 0, "difference"], "none", "run 0, difference: saw none, expected 'same tokens' or"),
        (["cost", "pass_ms"], "a", "cost, pass_ms: saw a, expected a number from 0"),
        (["cost", "token_ms"], -1.0, "cost, token_ms: saw -1.0"),
        (["cost"], {"pass_ms": 0, "token_ms": 0.0}, "cost: saw only zeros, expected a pass or a token that costs"),
        (["source"], "TRUE", "source: saw TRUE, expected LIVE or RECORDED or TOY"),
        (["model"], 3, "model: saw 3, expected a text"),
    ],
)
def test_a_damaged_record_is_told_where_it_is_damaged(tmp_path, way, value, said):
    RECORD.save(tmp_path / "jump.json")
    data = json.loads((tmp_path / "jump.json").read_text(encoding="utf-8"))
    put(data, way, value)
    (tmp_path / "jump.json").write_text(json.dumps(data))
    with pytest.raises(TraceError, match=said) as error:
        Payoff.load(tmp_path / "jump.json")
    assert error.value.where.startswith("payoff file ")
    assert error.value.seen
    assert error.value.expected


def test_the_record_that_comes_along_is_whole():
    assert len(Payoff.load(shipped("traces/jump-cpu.json")).previews) == len(PLACES)
