"""Claims about routing: small cases computed by hand, the laws of each route, and what a skewed load does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.serving import Request, make_requests, simulate_routing
from guidedviz.serving.routing import ROUTES, preference


def rows(routing):
    return [(one.replica, one.hit, one.start, one.done) for one in routing.routed]


def test_a_small_case_computed_by_hand():
    asked = [Request(at, 2, "a", compile_ms=30) for at in (0, 1, 2)]
    home, other = preference("a", 2)
    assert (home, other) == (1, 0)
    found = rows(simulate_routing(asked, 2, "round robin", rows=1))
    assert found == [(0, False, 0, 50), (1, False, 1, 51), (0, True, 50, 70)]
    assert rows(simulate_routing(asked, 2, "hash", rows=1)) == [(1, False, 0, 50), (1, True, 50, 70), (1, True, 70, 90)]
    # at most ceil(1.25 * requests / 2) per replica: 1, 2, 2
    bounded = rows(simulate_routing(asked, 2, "bounded hash", rows=1))
    assert bounded == [(1, False, 0, 50), (1, True, 50, 70), (0, False, 2, 52)]


def test_a_replica_keeps_what_was_used_last():
    asked = [Request(100 * at, 1, name, compile_ms=5) for at, name in enumerate("abacab")]
    hits = [one.hit for one in simulate_routing(asked, 1, "hash", kept=2).routed]
    assert hits == [False, False, True, False, True, False]
    assert not any(one.hit for one in simulate_routing(asked, 1, "hash", kept=0).routed)


def test_free_text_needs_no_machine_and_goes_round_robin():
    found = simulate_routing([Request(at, 1) for at in range(4)], 2, "hash")
    assert [(one.replica, one.hit) for one in found.routed] == [(0, True), (1, True), (0, True), (1, True)]


@given(st.integers(2, 12), st.text(max_size=8))
def test_without_the_last_replica_only_its_own_schemas_move(replicas, schema):
    before, after = preference(schema, replicas), preference(schema, replicas - 1)
    assert sorted(before) == list(range(replicas))
    assert [place for place in before if place != replicas - 1] == after


@given(st.sampled_from(ROUTES), st.integers(1, 5), st.integers(1, 3), st.integers(0, 99))
def test_every_request_is_served_after_it_arrives_and_rows_are_never_shared(route, replicas, width, seed):
    asked = make_requests(40, per_second=200, tokens=3, constrained=0.7, schemas=[(20, 1)] * 6, seed=seed)
    found = simulate_routing(asked, replicas, route, rows=width)
    assert [one.request for one in found.routed] == list(asked)
    for one in found.routed:
        assert one.start >= one.request.arrives
        assert one.done - one.start == pytest.approx(30 + (0 if one.hit else 20))
        busy = [each for each in found.routed if each.replica == one.replica and each.start <= one.start < each.done]
        assert len(busy) <= width


def test_with_skew_a_bound_keeps_most_hits_and_the_tail_short():
    asked = make_requests(2000, per_second=28, schemas=[(400, 0)] * 300, skew=1.2, tokens=100, seed=3)
    runs = {route: simulate_routing(asked, 8, route, rows=8, kept=30) for route in ROUTES}
    assert runs["hash"].hit_rate > runs["bounded hash"].hit_rate > runs["round robin"].hit_rate + 0.1
    tails = {route: run.latency(0.99) for route, run in runs.items()}
    assert tails["bounded hash"] < tails["hash"]
    assert tails["bounded hash"] <= tails["round robin"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"route": "random"}, "route: saw 'random', expected 'round robin' or"),
        ({"replicas": 0}, "replicas: saw 0, expected a whole number, 1 or more"),
        ({"bound": 0.5}, "bound: saw 0.5"),
        ({"bound": float("nan")}, "bound: saw nan"),
        ({"replicas": 2.5}, "replicas: saw 2.5"),
        ({"token_ms": "10"}, "token_ms: saw '10'"),
        ({"requests": [3]}, "requests: saw int"),
        ({"rows": 0}, "rows: saw 0"),
        ({"kept": -1}, "kept: saw -1"),
        ({"requests": []}, "requests: saw none"),
    ],
)
def test_bad_settings_are_refused(settings, said):
    with pytest.raises(gv.SettingError, match=said):
        simulate_routing(**{"requests": [Request(0, 1)], "replicas": 2, "route": "hash"} | settings)
