"""What lab 13 says in prose is what its outputs, the committed records and the simulation show."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.serving import Costs, Measured, Policy, Request, make_requests, run_verbs, simulate, simulate_routing
from tests.labs.solved import read_solved

ROOT = Path(__file__).parents[2]
LAB = read_solved("13_in_production")
COSTS = Costs(forward=8, row=0.02, token=0.02, host=1.5, apply=0.005)
RECORD = Measured.load(shipped("traces/serving.json"))
MANY, SLOW = "64 requests share", "Which engine's method"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Only our processor has our mask at all 54 steps", "How many of the seven", "differ at 0 of 54 steps"),
        ("Outlines, its engine outlines-core, and lm-format-enforcer ignore the bound", "How many of the seven", "120"),
        ("The FSM knows no EOS", "run_verbs", "NanoGPT's FSM  [10, 10, 1, 10, 10, 0]"),
        ("EOS is legal exactly where the text is complete", "run_verbs", "llguidance     [10, 10, 1, 10, 10, 1]"),
        ("A pass takes 8 ms and 1.5 ms of scheduling", "v0 = simulate", "15.3 ms per token"),
        ("within 6% of the published numbers", "def rate", "masks, simulated: 0% 103.2, 20% 99.0, 80% 88.3"),
        ("One schema has a third of all requests", "route in (", "busiest replica 36% of the requests"),
        ("all wait for the slowest mask", MANY, "per token p50 43.2 ms"),
        (
            "400 requests for 20 schemas",
            "ways = {",
            "scheduling beside  TPOT p50 12.4 ms, p99 13.6 ms, TTFT p99    441 ms",
        ),
        ("So the compiles queue", "schema of its own. With", "first token p50 9,985.0 ms, p99 19,735.4 ms"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in LAB.output_of(words)


def test_three_of_the_seven_frameworks_write_more_than_the_schema_allows():
    rows = gv.views.draw_frameworks().text.splitlines()[1:]
    assert len(rows) == 7
    assert [row.split(",")[0] for row in rows if "120 lamps differs" in row] == [
        "outlines",
        "lm-format-enforcer",
        "outlines-core",
    ]


def test_four_engines_leave_eos_at_the_end_of_a_time(clerk):
    tokens = clerk.encode("07:30")
    for engine in gv.serving.FOUR_VERBS[1:]:
        assert run_verbs(engine, clerk.vocabulary, tokens) == [10, 10, 1, 10, 10, 1]
    guide = gv.guide(gv.regex("[0-9]{2}:[0-9]{2}"), clerk.vocabulary)
    state = guide.initial
    for token in tokens:
        state = guide.advance(state, token)
    assert set(guide.mask(state).nonzero()[0]) == clerk.vocabulary.eos


def test_a_parked_request_delays_no_other_and_its_first_token_comes_as_late():
    rows = [Request(3 * n, tokens=12, prompt=40) for n in range(4)]
    five = [*rows, Request(20, 8, "order", compile_ms=60, mask_ms=0.1)]
    blocks, parks = (simulate(five, COSTS, Policy(policy)) for policy in ("blocks", "parks"))
    assert max(one.per_token_ms for one in blocks.served[:4]) == pytest.approx(15.3, abs=0.1)
    assert max(one.per_token_ms for one in parks.served[:4]) == pytest.approx(9.8, abs=0.1)
    assert abs(blocks.served[4].first - parks.served[4].first) < 10


@pytest.mark.parametrize(
    ("published", "least", "most"), [((106.08, 93.59, 90.34), 9, 10), ((114.67, 96.08, 93.42), 4.8, 8)]
)
def test_what_the_model_lacks_per_pass_when_all_is_overlapped(published, least, most):
    found = LAB.output_of("def rate")
    ours = [float(part.split()[1]) for part in found.split("all, simulated: ")[1].splitlines()[0].split(", ")][1:]
    gaps = [800 / 128 * 1e3 * (1 / theirs - 1 / mine) for theirs, mine in zip(published, ours, strict=True)]
    assert all(least < gap < most for gap in gaps)


def test_one_slow_grammar_makes_the_median_four_times_as_long():
    others = make_requests(63, per_second=400, tokens=60, schemas=[(0, 0.04)])
    times = [
        simulate([*others, Request(50, 60, "other", mask_ms=ms)], COSTS, Policy(overlap="masks")).per_token(0.5)
        for ms in (0.04, 40)
    ]
    assert times[1] / times[0] == pytest.approx(4, abs=0.2)


def test_the_puzzle_256_constrained_rows_gain_less_from_a_draft():
    draft = Policy(overlap="masks", draft=4, accepted=3.5)

    def gain(rows, constrained):
        asked = make_requests(rows, per_second=1e12, tokens=100, schemas=[(0, 0.04)], constrained=constrained)
        plain, fast = (simulate(asked, COSTS, policy) for policy in (replace(draft, draft=0, accepted=0), draft))
        return fast.tokens_per_second / plain.tokens_per_second

    assert gain(8, 1.0) == pytest.approx(4.1, abs=0.1)
    assert gain(256, 1.0) == pytest.approx(1.3, abs=0.05)
    assert gain(256, 0.0) == pytest.approx(1.8, abs=0.05)


def test_the_most_popular_of_200_schemas_is_asked_for_in_17_percent():
    assert 1 / sum(1 / rank for rank in range(1, 201)) == pytest.approx(0.17, abs=0.003)


def test_for_one_text_per_schema_a_walk_is_cheaper_than_a_split():
    total = {
        name: median(first + 99 * each for first, each in RECORD.costs(name)) for name in ("xgrammar", "llguidance")
    }
    assert total["llguidance"] < total["xgrammar"]
    masks = {name: median(each for _, each in RECORD.costs(name)) for name in total}
    assert masks["xgrammar"] < masks["llguidance"]
    index = next(one for one in RECORD.engines if one.engine.startswith("outlines-core"))
    assert len(index.schemas) < index.tried / 2, "the others took more than ten seconds"
    assert all(one.compile_ms > 1000 for one in index.schemas)


def test_the_record_says_what_the_cache_saves():
    runs = {run.name.split(",")[0] if "warmed" not in run.name else "warm": run for run in RECORD.cache}
    assert runs["no cache"].hit_rate == runs["unique schemas"].hit_rate == 0
    assert runs["10 MB"].hit_rate < runs["no limit"].hit_rate < runs["warm"].hit_rate
    assert runs["10 MB"].megabytes <= 10 < runs["no limit"].megabytes < runs["unique schemas"].megabytes
    assert runs["no limit"].p50_ms < runs["no cache"].p50_ms / 10


def test_round_robin_compiles_a_popular_schema_on_each_replica():
    asked = make_requests(2000, per_second=50, schemas=[(400, 0)] * 300, skew=1.2, tokens=100, seed=3)
    found = simulate_routing(asked, 8, "round robin", rows=8, kept=30).routed
    assert {one.replica for one in found if one.request.schema == "schema 0" and not one.hit} == set(range(8))


def test_the_forced_share_and_the_draft_are_those_of_the_bench():
    cases = json.loads((ROOT / "assets/bench/speculation.json").read_text())["cases"]
    greedy = next(rows for name, rows in cases.items() if "greedy" in name)
    assert 1 - 1 / greedy["forced"]["tokens"] == pytest.approx(0.26, abs=0.005)
    assert greedy["small, 4"]["tokens"] - 1 == pytest.approx(3.5, abs=0.05)
