"""What lab 13 says in prose is what its outputs, the committed records and the simulation show."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.serving import Costs, Policy, Request, make_requests, simulate, simulate_routing
from guidedviz.tokens.engines.engine_guide import PREPARE
from tests.labs.solved import read_solved

LAB = read_solved("13_in_production")
COSTS = Costs(forward=8, row=0.02, token=0.02, host=1.5, apply=0.005)
RECORD = json.loads(shipped("traces/serving.json").read_text())
ROOT = Path(__file__).resolve().parents[2]
MANY, COMPILES, WAY = "64 requests share", "come at 100 per second", "With which way do some requests"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Only our processor has our mask at all 54 steps", "How many of the seven", "transformers, ours       12          0"),
        ("Outlines, its engine outlines-core, and lm-format-enforcer ignore the bound", "How many of the seven", "120"),
        ("it is legal exactly where the text is complete", "# mask, apply", "10 tokens are left, 1 tokens are left."),
        ("A pass takes 8 ms and 1.5 ms of scheduling", "v0 = simulate", "15.3 ms per token"),
        ("within 6% of the dots", "def rate", "masks, simulated: 0% 103.2, 20% 99.0, 80% 88.3"),
        ("In the white gap from 22 to 82 ms", "v0 = simulate", "order: arrives 20.0 ms, joins 82.3 ms"),
        ("In the white gap from 22 to 82 ms", "v0 = simulate", "longest TPOT of the four: 15 ms"),
        ("lm-format-enforcer ignore the bound and write 120", "How many of the seven", "lm-format-enforcer"),
        ("4,096 tokens of `clerk`", "packed = gv.serving", "(2, 128)"),
        ("sends the popular schema to one server", WAY, "hash         hit rate 89%, busiest replica 36% of the requests"),
        ("nearly the p99 of round robin", WAY, "round robin  hit rate 64%, busiest replica 12% of the requests"),
        ("nearly the hits of the hash", WAY, "bounded hash hit rate 84%"),
        ("all wait for the slowest mask", MANY, "per token p50 43.2 ms"),
        ("So the compiles queue", COMPILES, "20 schemas: 400 requests"),
        ("So the compiles queue", COMPILES, "p99 440.9 ms"),
        ("So the compiles queue", COMPILES, "first token p50 9,985.0 ms, p99 19,735.4 ms"),
    ],
)  # fmt: skip
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in LAB.output_of(words)


def test_the_table_of_frameworks_is_the_recorded_one_and_three_write_more_than_the_schema_allows():
    record = json.loads((ROOT / "assets/bench/frameworks.json").read_text())
    head, *lines = LAB.output_of("How many of the seven").split("RECORDED ")[1].splitlines()[:8]
    assert head.startswith(record["about"]["date"][:10])
    for line, row in zip(lines, record["rows"], strict=True):
        assert line.split()[0].rstrip(",").lower() in row["name"]
        assert line[25:36].strip() == ("12" if row["same"][1] else "120")
        assert int(line[36:].strip().partition(":")[0]) == row["differ"]
    assert sum(not row["same"][1] for row in record["rows"]) == 3


@pytest.mark.parametrize("engine", ["auto", *PREPARE])
def test_all_engines_leave_eos_alone_at_the_end_of_a_time(clerk, engine):
    if engine in PREPARE:
        pytest.importorskip(engine.replace("-", "_"))
    guide = gv.guide(gv.regex("[0-9]{2}:[0-9]{2}"), clerk.vocabulary, engine)
    state, left = guide.initial, []
    for token in clerk.encode("07:30"):
        left.append(int(guide.mask(state).sum()))
        state = guide.advance(state, token)
    assert left == [10, 10, 1, 10, 10]
    assert set(guide.mask(state).nonzero()[0]) == clerk.vocabulary.eos


def test_a_parked_request_delays_no_other_and_its_first_token_comes_as_late():
    rows = [Request(3 * n, tokens=12, prompt=40) for n in range(4)]
    five = [*rows, Request(20, 8, "order", compile_ms=60, mask_ms=0.1)]
    blocks, parks = (simulate(five, COSTS, Policy(policy)) for policy in ("blocks", "parks"))
    assert max(one.per_token_ms for one in blocks.served[:4]) == pytest.approx(15.3, abs=0.1)
    assert max(one.per_token_ms for one in parks.served[:4]) == pytest.approx(9.8, abs=0.1)
    assert abs(blocks.served[4].first - parks.served[4].first) < 10


def test_what_the_model_lacks_per_pass_when_all_is_overlapped():
    published, found = (106.08, 93.59, 90.34), LAB.output_of("def rate")
    ours = [float(part.split()[1]) for part in found.split("all, simulated: ")[1].splitlines()[0].split(", ")][1:]
    gaps = [800 / 128 * 1e3 * (1 / theirs - 1 / mine) for theirs, mine in zip(published, ours, strict=True)]
    assert all(9 < gap < 10 for gap in gaps)


def test_one_slow_grammar_makes_the_median_four_times_as_long():
    others = make_requests(63, per_second=400, tokens=60, schemas=[(0, 0.04)])
    times = [
        simulate([*others, Request(50, 60, "other", mask_ms=ms)], COSTS, Policy(overlap="masks")).per_token(0.5)
        for ms in (0.04, 40)
    ]
    assert times[1] / times[0] == pytest.approx(4, abs=0.2)


@pytest.mark.parametrize(("threads", "crowded"), [(1, True), (8, False)])
def test_the_puzzle_from_400_rows_on_one_thread_is_too_slow(threads, crowded):
    def lasts(rows, mask_ms):
        asked = make_requests(rows, per_second=1e12, tokens=20, schemas=[(0, mask_ms)])
        return simulate(asked, replace(COSTS, rows=500, threads=threads), Policy(overlap="masks")).passes[-1].ms

    assert lasts(390, 0.04) == pytest.approx(lasts(390, 0.0001))
    assert (lasts(410, 0.04) > lasts(410, 0.0001) + 0.1) is crowded


def test_the_most_popular_of_200_schemas_is_asked_for_in_17_percent():
    assert 1 / sum(1 / rank for rank in range(1, 201)) == pytest.approx(0.17, abs=0.003)


def test_for_one_text_per_schema_a_walk_is_cheaper_than_a_split():
    engines = {one["engine"].split()[0]: one for one in RECORD["engines"]}
    first, mask = (
        {name: median(schema[part] for schema in one["schemas"]) for name, one in engines.items()}
        for part in ("compile_ms", "mask_ms")
    )
    assert first["llguidance"] + 99 * mask["llguidance"] < first["xgrammar"] + 99 * mask["xgrammar"]
    saved = mask["llguidance"] - mask["xgrammar"]
    assert (first["xgrammar"] - first["llguidance"]) / saved == pytest.approx(330_000, rel=0.02)
    index = engines["outlines-core"]
    assert len(index["schemas"]) < index["tried"] / 2, "the others took more than ten seconds"
    assert all(one["compile_ms"] > 1000 for one in index["schemas"])


def test_the_record_says_what_the_cache_saves():
    runs = {run["name"].split(",")[0] if "warmed" not in run["name"] else "warm": run for run in RECORD["cache"]}
    assert runs["no cache"]["hit_rate"] == runs["unique schemas"]["hit_rate"] == 0
    assert runs["10 MB"]["hit_rate"] < runs["no limit"]["hit_rate"] < runs["warm"]["hit_rate"]
    assert runs["10 MB"]["megabytes"] <= 10 < runs["no limit"]["megabytes"] < runs["unique schemas"]["megabytes"]
    assert runs["no limit"]["p50_ms"] < runs["no cache"]["p50_ms"] / 10


def test_round_robin_compiles_a_popular_schema_on_each_replica():
    asked = make_requests(2000, per_second=50, schemas=[(400, 0)] * 300, skew=1.2, tokens=100, seed=3)
    found = simulate_routing(asked, 8, "round robin", rows=8, kept=30).routed
    assert {one.replica for one in found if one.request.schema == "schema 0" and not one.hit} == set(range(8))
