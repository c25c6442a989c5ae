"""A simulated server: what compiles and masks of some requests cost all others.

It decodes many requests in one batch: the device runs one forward pass after the other, and each pass gives every row
of the batch its next token; the CPU schedules, compiles and fills masks. Costs are set by hand or measured; the order
of events is computed. All times are milliseconds from the start.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from guidedviz.decoding.records import AtLeastOne, Count, Milliseconds, Share, check_fields, check_number
from guidedviz.errors import SettingError, expect, quoted


@dataclass(frozen=True)
class Request:
    """One request; a request without a schema is not constrained."""

    arrives: Milliseconds
    tokens: AtLeastOne  # that it writes
    schema: str = ""
    compile_ms: Milliseconds = 0.0
    mask_ms: Milliseconds = 0.0  # per mask
    prompt: Count = 0  # tokens

    def __post_init__(self) -> None:
        check_fields(self, "Request, ")


@dataclass(frozen=True)
class Costs:
    """Milliseconds on the device and on the CPU, and how much runs at the same time."""

    forward: Milliseconds  # of one pass
    row: Milliseconds = 0.0  # of one pass, more per row
    token: Milliseconds = 0.0  # more per token of a prompt
    host: Milliseconds = 0.0  # of scheduling, per pass
    apply: Milliseconds = 0.0  # per constrained row: copy its mask to the device and apply it
    rows: AtLeastOne = 256  # the most rows of a batch
    threads: AtLeastOne = 1  # masks at the same time

    def __post_init__(self) -> None:
        check_fields(self, "Costs, ")
        if self.forward == self.row == 0:
            raise SettingError("Costs, forward", seen="0", expected="more than 0, so that time goes on")


@dataclass(frozen=True)
class Policy:
    """How a server schedules: vLLM's V0 engine was Policy("blocks", "none"), its V1 engine began as Policy()."""

    compile: Literal["parks", "blocks"] = "parks"  # only this request waits, or the whole batch
    overlap: Literal["none", "masks", "all"] = "none"  # what the CPU does during the forward pass; "all": also schedule

    def __post_init__(self) -> None:
        check_fields(self, "Policy, ")


Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class BatchPass:
    """One pass of the batch: when each part ran. A part that did not run has two equal times."""

    start: float
    compiling: Span  # a compile for which the whole batch waits
    forward: Span
    masks: Span
    end: float  # the tokens of all rows are chosen
    rows: tuple[int, ...]  # the numbers of the requests
    parts: Mapping[str, Mapping[int, float]]  # per request: "compile" while the batch waited, "masks", "prompt"


@dataclass(frozen=True, slots=True)
class Served:
    """One request: it arrives, its machine is ready, it joins the batch, and its tokens come."""

    request: Request
    compiling: Span  # its own compile; two equal times if it found its machine in the cache, or needs none
    joined: float
    first: float  # its first token
    done: float

    @property
    def first_token_ms(self) -> float:
        """From its arrival to its first token."""
        return self.first - self.request.arrives

    @property
    def per_token_ms(self) -> float:
        """The time per output token (TPOT), without the first."""
        return (self.done - self.first) / max(1, self.request.tokens - 1)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed.

    >>> percentile([4, 1, 3, 2], 0.5), percentile([4, 1, 3, 2], 0.99)
    (2, 4)
    """
    check_number(Share, share, "percentile")
    place = ceil(len(values) * share) - 1
    return sorted(values)[max(0, place)]


@dataclass(frozen=True)
class Timeline:
    """All requests, and all passes of the batch in their order."""

    served: tuple[Served, ...]
    passes: tuple[BatchPass, ...]

    @property
    def seconds(self) -> float:
        """From the first arrival to the last token."""
        first = min(one.request.arrives for one in self.served)
        last = max(one.done for one in self.served)
        return (last - first) / 1e3

    @property
    def requests_per_second(self) -> float:
        """The throughput in requests."""
        return len(self.served) / self.seconds

    def __repr__(self) -> str:
        tokens = sum(one.request.tokens for one in self.served)
        rate = f"{tokens / self.seconds:,.0f} tokens per second"
        said = f"{len(self.served)} requests in {self.seconds:.2f} s, {rate}"
        per_token = say_spread_of([one.per_token_ms for one in self.served])
        first_token = say_spread_of([one.first_token_ms for one in self.served])
        return f"{said}; per token {per_token}; first token {first_token}"


def say_spread_of(times: Sequence[float]) -> str:
    """The middle and nearly the longest of some milliseconds."""
    middle = percentile(times, 0.5)
    most = percentile(times, 0.99)
    return f"p50 {middle:,.1f} ms, p99 {most:,.1f} ms"


def simulate(requests: Sequence[Request], costs: Costs, policy: Policy | None = None) -> Timeline:
    """Serve these requests and return when everything happened. Equal schemas share one compile; one worker compiles.

    >>> story, order = Request(0, 3), Request(0, 2, "order", compile_ms=5, mask_ms=1)
    >>> simulate([story, order], Costs(forward=4))
    2 requests in 0.02 s, 278 tokens per second; per token p50 4.5 ms, p99 5.0 ms; first token p50 4.0 ms, p99 13.0 ms
    """
    expect(costs, Costs, "simulate, costs", "costs", "gv.serving.Costs(forward=20.0)")
    policy = expect(policy or Policy(), Policy, "simulate, policy", "a policy", 'gv.serving.Policy("parks")')
    is_list = isinstance(requests, list | tuple) and len(requests) > 0
    if not is_list or not all(isinstance(one, Request) for one in requests):
        hint = "[gv.serving.Request(0, 128)]"
        raise SettingError("simulate, requests", seen=quoted(requests), expected="a list of requests", hint=hint)
    server = SimulatedServer(requests, costs, policy)
    passes = []
    while server.waiting or server.left:
        passes.append(server.run_pass())
    served = tuple(server.served[number] for number in range(len(requests)))
    return Timeline(served, tuple(passes))


class SimulatedServer:
    """A server at one time: which requests wait, which are in the batch, and which are done."""

    def __init__(self, requests: Sequence[Request], costs: Costs, policy: Policy) -> None:
        self.requests = requests
        self.costs = costs
        self.policy = policy
        if policy.compile == "blocks":  # nothing is compiled before a request joins the batch
            self.spans = [(one.arrives, one.arrives) for one in requests]
        else:
            self.spans = compile_times(requests)
        by_readiness = sorted(range(len(requests)), key=lambda number: self.spans[number][1])
        self.waiting = deque(by_readiness)
        self.now = 0.0
        self.compiled: set[str] = set()
        self.left: dict[int, int] = {}  # per row of the batch, the tokens that it must still write
        self.joined: dict[int, float] = {}
        self.first: dict[int, float] = {}  # when the first token came
        self.served: dict[int, Served] = {}

    def run_pass(self) -> BatchPass:
        """Let requests join the batch, run one pass, and give each row its next token."""
        if not self.left:  # wait for a request
            _, ready = self.spans[self.waiting[0]]
            self.now = max(self.now, ready)
        start = self.now
        blocked, prompts = self._let_join()
        found = self._time_pass(start, blocked, prompts)
        self.now = found.end
        self._give_tokens()
        return found

    def _let_join(self) -> tuple[dict[int, float], dict[int, float]]:
        """Let all requests join that are ready; how long each blocked the batch, and how long its prompt takes."""
        blocked: dict[int, float] = {}
        prompts: dict[int, float] = {}
        while self.waiting and len(self.left) < self.costs.rows:
            _, ready = self.spans[self.waiting[0]]
            if ready > self.now:
                break
            number = self.waiting.popleft()
            request = self.requests[number]
            if self.policy.compile == "blocks" and request.schema:
                blocked[number] = self._compile(number)
            self.left[number] = request.tokens
            self.joined[number] = self.now
            prompts[number] = self.costs.token * request.prompt
        return blocked, prompts

    def _compile(self, number: int) -> float:
        """Compile the schema of a request while the batch waits; how long that takes."""
        request = self.requests[number]
        compile_ms = 0.0 if request.schema in self.compiled else request.compile_ms
        self.compiled.add(request.schema)
        self.spans[number] = (self.now, self.now + compile_ms)
        self.now += compile_ms
        return compile_ms

    def _time_pass(self, start: float, blocked: Mapping[int, float], prompts: Mapping[int, float]) -> BatchPass:
        """When each part of a pass runs; the batch has waited for its compiles since the start."""
        costs = self.costs
        constrained = (number for number in self.left if self.requests[number].schema)
        masks = {number: self.requests[number].mask_ms for number in constrained}
        scheduled = self.now + costs.host
        begins = self.now if self.policy.overlap == "all" else scheduled
        forward = costs.forward + costs.row * len(self.left)
        forward_end = begins + forward + sum(prompts.values())
        fill = forward_end if self.policy.overlap == "none" else scheduled
        longest = max(masks.values(), default=0.0)
        filled = fill + max(longest, sum(masks.values()) / costs.threads)
        end = max(forward_end, filled) + costs.apply * len(masks)
        times = {"compile": blocked, "masks": masks, "prompt": prompts}
        parts = {name: _without_zeros(part) for name, part in times.items()}
        compiling = (start, self.now)
        spans = (compiling, (begins, forward_end), (fill, filled))
        return BatchPass(start, *spans, end, rows=tuple(self.left), parts=parts)

    def _give_tokens(self) -> None:
        """Give each row its token; a row with its last token leaves the batch."""
        for number in [*self.left]:
            first = self.first.setdefault(number, self.now)
            self.left[number] -= 1
            if not self.left[number]:
                del self.left[number]
                request = self.requests[number]
                times = (self.spans[number], self.joined[number], first, self.now)
                self.served[number] = Served(request, *times)


def _without_zeros(times: Mapping[int, float]) -> dict[int, float]:
    return {number: ms for number, ms in times.items() if ms}


def compile_times(requests: Sequence[Request]) -> list[Span]:
    """When the machine of each request is compiled; two equal times if there is nothing to do.

    >>> order = Request(0, 1, "order", compile_ms=5)
    >>> compile_times([order, Request(1, 1, "order", compile_ms=5), Request(2, 1)])
    [(0, 5), (5, 5), (2, 2)]
    """
    free = 0.0  # when the worker has nothing to do
    ready: dict[str, float] = {}
    found: list[Span] = [(one.arrives, one.arrives) for one in requests]
    by_arrival = sorted(enumerate(requests), key=lambda pair: pair[1].arrives)
    for number, request in by_arrival:
        if request.schema in ready:
            known = max(request.arrives, ready[request.schema])
            found[number] = (known, known)
        elif request.schema:
            start = max(request.arrives, free)
            free = start + request.compile_ms
            ready[request.schema] = free
            found[number] = (start, free)
    return found
