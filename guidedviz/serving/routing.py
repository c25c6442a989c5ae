"""Routing of requests to replicas, each with a compile cache of its own: hit rate against load, simulated.

Round robin spreads the load and compiles each schema on every replica. A hash of the schema compiles it once, and one
popular schema can fill its replica. With a bound on the load (arXiv 1608.01350), a request goes to the next replica of
its schema when one is full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from heapq import heappop, heappush
from math import ceil
from typing import Literal

from guidedviz.errors import SettingError, quoted
from guidedviz.serving.compile_cache import CompileCache
from guidedviz.serving.timeline import percentile
from guidedviz.serving.workload import Request, check_number, check_requests, check_whole

Route = Literal["round robin", "hash", "bounded hash"]
ROUTES: tuple[Route, ...] = ("round robin", "hash", "bounded hash")


@dataclass(frozen=True)
class Routed:
    """One request: its replica, whether its machine was in the cache there, and when it was served."""

    request: Request
    replica: int
    hit: bool
    start: float
    done: float

    @property
    def latency(self) -> float:
        """From its arrival to its end, in milliseconds."""
        return self.done - self.request.arrives


@dataclass(frozen=True)
class Routing:
    """All requests of a simulated day."""

    routed: tuple[Routed, ...]
    replicas: int

    @property
    def hit_rate(self) -> float:
        """The share of the constrained requests that found their machine."""
        found = [one.hit for one in self.routed if one.request.schema]
        return sum(found) / max(1, len(found))

    @property
    def largest_share(self) -> float:
        """The share of all requests that went to the busiest replica."""
        counts = [sum(one.replica == number for one in self.routed) for number in range(self.replicas)]
        return max(counts) / len(self.routed)

    def latency(self, share: float) -> float:
        """The latency that this share of the requests does not exceed."""
        return percentile([one.latency for one in self.routed], share)

    def __repr__(self) -> str:
        parts = f"hit rate {self.hit_rate:.0%}, busiest replica {self.largest_share:.0%} of the requests"
        return f"{parts}, latency p50 {self.latency(0.5):,.0f} ms, p99 {self.latency(0.99):,.0f} ms"


def simulate_routing(
    requests: Sequence[Request],
    replicas: int,
    route: Route,
    *,
    token_ms: float = 10.0,
    rows: int = 8,
    kept: int = 50,
    bound: float = 1.25,
) -> Routing:
    """Serve requests on replicas that decode `rows` texts at a time and keep `kept` compiled schemas each (LRU).

    A request takes its compile, unless its schema is kept, and `token_ms` per token. With "bounded hash", no replica
    holds more than `bound` times the mean number of requests.

    >>> orders = [Request(at, 1, "order", compile_ms=50) for at in (0, 100)]
    >>> [simulate_routing(orders, 2, route).hit_rate for route in ("round robin", "hash")]
    [0.0, 0.5]
    """
    if route not in ROUTES:
        raise SettingError("simulate_routing, route", seen=quoted(route), expected=" or ".join(map(repr, ROUTES)))
    for name, value, least in (("replicas", replicas, 1), ("rows", rows, 1), ("kept", kept, 0)):
        check_whole(f"simulate_routing, {name}", value, least, f"a whole number, {least} or more")
    check_number("simulate_routing, bound", bound, "1 or more", least=1)
    check_number("simulate_routing, token_ms", token_ms, "milliseconds from 0")
    check_requests(requests, "simulate_routing, requests")
    servers = [_Replica(rows, kept) for _ in range(replicas)]
    found = []
    for turn, request in enumerate(sorted(requests, key=lambda request: request.arrives)):
        loads = [server.load(request.arrives) for server in servers]
        most = ceil(bound * (sum(loads) + 1) / replicas) if route == "bounded hash" else len(requests)
        order = (
            [turn % replicas] if route == "round robin" or not request.schema else preference(request.schema, replicas)
        )
        place = next(place for place in [*order, *range(replicas)] if loads[place] < most)
        found.append(Routed(request, place, *servers[place].serve(request, token_ms)))
    return Routing(tuple(found), replicas)


def preference(schema: str, replicas: int) -> list[int]:
    """The replicas in the order in which a schema prefers them; a lost replica moves only its own schemas.

    >>> preference("order", 4), preference("order", 3)
    ([0, 2, 3, 1], [0, 2, 1])
    """
    return sorted(range(replicas), key=lambda place: sha256(f"{place}:{schema}".encode()).digest())


class _Replica:
    """A server with rows, a queue and a cache."""

    def __init__(self, rows: int, kept: int) -> None:
        self.free = [0.0] * rows  # when each row is free
        self.ends: list[float] = []  # of the requests that are here
        self.cache = CompileCache[bool](kept, size=lambda machine: 1)  # bounded by their number

    def load(self, now: float) -> int:
        """How many requests wait or decode here."""
        while self.ends and self.ends[0] <= now:
            heappop(self.ends)
        return len(self.ends)

    def serve(self, request: Request, token_ms: float) -> tuple[bool, float, float]:
        """Whether the machine was there, when the request started, and when it was done."""
        hit = not request.schema or request.schema in self.cache
        if request.schema:
            self.cache.get(request.schema, bool)
        start = max(request.arrives, heappop(self.free))
        done = start + (0.0 if hit else request.compile_ms) + token_ms * request.tokens
        heappush(self.free, done)
        heappush(self.ends, done)
        return hit, start, done
