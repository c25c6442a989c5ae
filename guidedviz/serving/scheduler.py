"""A simulated server that decodes many requests in one batch: what compiles and masks cost under each policy.

The device runs one forward pass after the other; each pass gives every row of the batch its next token. The CPU
schedules, compiles and fills masks. The costs are measured or set by hand; the order of events is computed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import ceil
from typing import Literal

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.serving.timeline import BatchPass, Served, Span, Timeline
from guidedviz.serving.workload import Request, check_number, check_requests, check_whole


@dataclass(frozen=True)
class Costs:
    """Milliseconds on the device and on the CPU, and how much runs at the same time."""

    forward: float  # of one pass
    row: float = 0.0  # of one pass, more per row
    token: float = 0.0  # more per token that is read beside the last one: prompts, forced runs, drafts
    host: float = 0.0  # of scheduling, per pass
    apply: float = 0.0  # per constrained row: copy its mask to the device and apply it
    rows: int = 256  # the most rows of a batch
    workers: int = 1  # compiles at the same time
    threads: int = 1  # masks at the same time

    def __post_init__(self) -> None:
        for name in ("forward", "row", "token", "host", "apply"):
            check_number(f"Costs, {name}", getattr(self, name), "milliseconds from 0")
        for name in ("rows", "workers", "threads"):
            check_whole(f"Costs, {name}", getattr(self, name), 1)
        if self.forward == self.row == 0:
            raise SettingError("Costs, forward", seen="0", expected="more than 0, so that time goes on")


@dataclass(frozen=True)
class Policy:
    """How a server schedules: vLLM's V0 engine was Policy("blocks", "none"), its V1 engine began as Policy()."""

    compile: Literal["parks", "blocks"] = "parks"  # only this request waits, or the whole batch
    overlap: Literal["none", "masks", "all"] = "none"  # what the CPU does during the forward pass; "all": also schedule
    cache: bool = True  # requests with the same schema share one compile
    jump: bool = False  # forced tokens are read together with the next token
    draft: int = 0  # tokens that a draft proposes per pass
    accepted: float = 0.0  # how many of them are accepted, on average

    def __post_init__(self) -> None:
        for name, known in (("compile", ("parks", "blocks")), ("overlap", ("none", "masks", "all"))):
            if getattr(self, name) not in known:
                seen = quoted(getattr(self, name))
                raise SettingError(f"Policy, {name}", seen=seen, expected=" or ".join(map(repr, known)))
        check_number("Policy, accepted", self.accepted, "a number from 0")
        if type(self.draft) is not int or self.draft < 0 or self.accepted > self.draft:
            seen = f"{quoted(self.accepted)} accepted of {quoted(self.draft)}"
            raise SettingError("Policy, draft", seen=seen, expected="0 or more tokens, and at most as many accepted")

    def tokens_per_pass(self, request: Request) -> float:
        """How many tokens a pass gives this request, on average."""
        return (1 + self.accepted) / (1 - request.forced * self.jump)

    def read_more(self, request: Request) -> float:
        """How many tokens a pass reads for this request beside its last one: the draft, and its forced run."""
        return self.draft + (1 / (1 - request.forced * self.jump) - 1)

    def mask_ms(self, request: Request) -> float:
        """The time for the masks of one pass: one mask, and one more after each token of the draft."""
        return request.mask_ms * (1 + self.draft) if request.schema else 0.0


def simulate(requests: Sequence[Request], costs: Costs, policy: Policy | None = None) -> Timeline:
    """Serve these requests and return when everything happened.

    >>> story, order = Request(0, 3), Request(0, 2, "order", compile_ms=5, mask_ms=1)
    >>> simulate([story, order], Costs(forward=4))
    2 requests in 0.02 s, 278 tokens per second; per token p50 4.5 ms, p99 5.0 ms; first token p50 4.0 ms, p99 13.0 ms
    """
    expect(costs, Costs, "simulate, costs", "costs", "gv.serving.Costs(forward=20.0)")
    policy = expect(policy or Policy(), Policy, "simulate, policy", "a policy", 'gv.serving.Policy("parks")')
    check_requests(requests, "simulate, requests")
    server = _Server(requests, costs, policy)
    while server.waiting or server.leaving:
        server.run_pass()
    return Timeline(tuple(one for one in server.served if one), tuple(server.passes))


def compile_times(requests: Sequence[Request], policy: Policy, workers: int) -> list[Span]:
    """When the machine of each request is compiled by the workers; two equal times if there is nothing to do.

    >>> order = Request(0, 1, "order", compile_ms=5)
    >>> compile_times([order, Request(1, 1, "order", compile_ms=5), Request(2, 1)], Policy(), 1)
    [(0, 5), (5, 5), (2, 2)]
    """
    free = [0.0] * workers
    heapify(free)
    ready: dict[str, float] = {}
    found: list[Span] = [(0.0, 0.0)] * len(requests)
    for number in sorted(range(len(requests)), key=lambda number: requests[number].arrives):
        request = requests[number]
        if not request.schema:
            found[number] = request.arrives, request.arrives
        elif policy.cache and request.schema in ready:
            at = max(request.arrives, ready[request.schema])
            found[number] = at, at
        else:
            start = max(request.arrives, heappop(free))
            found[number] = start, start + request.compile_ms
            ready[request.schema] = found[number][1]
            heappush(free, found[number][1])
    return found


@dataclass
class _Server:
    """The clock, who waits, and who decodes."""

    requests: Sequence[Request]
    costs: Costs
    policy: Policy
    now: float = 0.0
    passes: list[BatchPass] = field(default_factory=list)
    rows: dict[int, float] = field(default_factory=dict)  # the requests that decode, and when they joined
    leaving: list[tuple[int, int]] = field(default_factory=list)  # a heap: the last pass of each row
    compiled: set[str] = field(default_factory=set)  # by a batch that waited for it

    def __post_init__(self) -> None:
        parks = self.policy.compile == "parks"
        own = [(one.arrives, one.arrives) for one in self.requests]
        self.spans = compile_times(self.requests, self.policy, self.costs.workers) if parks else own
        order = sorted(range(len(self.requests)), key=lambda number: self.spans[number][1])
        self.waiting = deque(order)
        self.first: dict[int, float] = {}
        self.served: list[Served | None] = [None] * len(self.requests)
        self.mask_ms = [self.policy.mask_ms(one) for one in self.requests]
        self.read_more = [self.policy.read_more(one) for one in self.requests]

    def run_pass(self) -> None:
        """Let ready requests join, then give every row its next tokens."""
        if not self.rows and self.spans[self.waiting[0]][1] > self.now:
            self.now = self.spans[self.waiting[0]][1]
        start, fresh = self.now, self._join()
        compiling = start, self.now
        costs, overlap = self.costs, self.policy.overlap
        begins = self.now if overlap == "all" else self.now + costs.host
        forward = begins, begins + costs.forward + costs.row * len(self.rows) + self._read_ms(fresh)
        fill = forward[1] if overlap == "none" else self.now + costs.host
        masks = fill, fill + self._masks_ms()
        self.now = max(forward[1], masks[1]) + self._apply_ms()
        parts = {
            "compile": {number: spent for number in fresh if (spent := self._blocked(number))},
            "masks": {number: self.mask_ms[number] for number in self.rows if self.mask_ms[number]},
            "prompt": {number: read for number in fresh if (read := costs.token * self.requests[number].prompt)},
        }
        self.passes.append(BatchPass(start, compiling, forward, masks, self.now, tuple(self.rows), parts))
        self.first |= dict.fromkeys(fresh, self.now)
        while self.leaving and self.leaving[0][0] == len(self.passes):
            self._leave(heappop(self.leaving)[1])

    def _join(self) -> list[int]:
        """The requests that join now; under "blocks" the batch waits for their compiles."""
        fresh = []
        while self.waiting and len(self.rows) < self.costs.rows and self.spans[self.waiting[0]][1] <= self.now:
            number = self.waiting.popleft()
            request = self.requests[number]
            if self.policy.compile == "blocks" and request.schema:
                self.spans[number] = self.now, self._compile(request)
                self.now = self.spans[number][1]
            self.rows[number] = self.now
            passes = ceil(request.tokens / self.policy.tokens_per_pass(request))
            heappush(self.leaving, (len(self.passes) + passes, number))
            fresh.append(number)
        return fresh

    def _compile(self, request: Request) -> float:
        """When the batch goes on."""
        if self.policy.cache and request.schema in self.compiled:
            return self.now
        self.compiled.add(request.schema)
        return self.now + request.compile_ms

    def _blocked(self, number: int) -> float:
        """For how long the batch waited for the compile of this request."""
        start, end = self.spans[number]
        return end - start if self.policy.compile == "blocks" else 0.0

    def _leave(self, number: int) -> None:
        joined = self.rows.pop(number)
        self.served[number] = Served(self.requests[number], self.spans[number], joined, self.first[number], self.now)

    def _masks_ms(self) -> float:
        """The masks of one pass: they share the threads, and all wait for the slowest."""
        masks = [self.mask_ms[number] for number in self.rows]
        return max(sum(masks) / self.costs.threads, max(masks))

    def _read_ms(self, fresh: Sequence[int]) -> float:
        """The tokens that one pass reads beside the last one of each row: prompts, forced runs and drafts."""
        prompts = sum(self.requests[number].prompt for number in fresh)
        return self.costs.token * (prompts + sum(self.read_more[number] for number in self.rows))

    def _apply_ms(self) -> float:
        return self.costs.apply * sum(bool(self.requests[number].schema) for number in self.rows)
