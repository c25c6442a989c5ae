"""A simulated server: what compiles and masks of some requests cost all others.

It decodes many requests in one batch: the device runs one forward pass after the other, and each pass gives every row
of the batch its next token; the CPU schedules, compiles and fills masks. Costs are set by hand or measured; the order
of events is computed. All times are milliseconds from the start.
"""

from collections import deque
from collections.abc import Mapping, Sequence

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.serving.timeline import BatchPass, Served, Span, Timeline
from guidedviz.serving.workload import Costs, Policy, Request


def simulate(requests: Sequence[Request], costs: Costs, policy: Policy | None = None) -> Timeline:
    """Serve these requests and return when everything happened. Equal schemas share one compile; one worker compiles.

    >>> story, order = Request(0, 3), Request(0, 2, "order", compile_ms=5, mask_ms=1)
    >>> simulate([story, order], Costs(forward=4))
    2 requests in 0.02 s, 278 tokens per second; per token p50 4.5 ms, p99 5.0 ms; first token p50 4.0 ms, p99 13.0 ms
    """
    expect(costs, Costs, "simulate, costs", "costs", "gv.serving.Costs(forward=20.0)")
    policy = expect(policy or Policy(), Policy, "simulate, policy", "a policy", 'gv.serving.Policy("parks")')
    if not isinstance(requests, list | tuple) or not requests or not all(isinstance(one, Request) for one in requests):
        hint = "gv.serving.make_requests"
        raise SettingError("simulate, requests", seen=quoted(requests), expected="a list of requests", hint=hint)
    server = SimulatedServer(requests, costs, policy)
    passes = []
    while server.waiting or server.left:
        passes.append(server.run_pass())
    return Timeline(tuple(server.served[number] for number in range(len(requests))), tuple(passes))


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
        self.waiting = deque(sorted(range(len(requests)), key=lambda number: self.spans[number][1]))
        self.now = 0.0
        self.compiled: set[str] = set()
        self.left: dict[int, int] = {}  # per row of the batch, the tokens that it must still write
        self.joined: dict[int, float] = {}
        self.first: dict[int, float] = {}  # when the first token came
        self.served: dict[int, Served] = {}

    def run_pass(self) -> BatchPass:
        """Let requests join the batch, run one pass, and give each row its next token."""
        if not self.left:  # wait for a request
            self.now = max(self.now, self.spans[self.waiting[0]][1])
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
        while self.waiting and len(self.left) < self.costs.rows and self.spans[self.waiting[0]][1] <= self.now:
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
        masks = {number: self.requests[number].mask_ms for number in self.left if self.requests[number].schema}
        scheduled = self.now + costs.host
        begins = self.now if self.policy.overlap == "all" else scheduled
        forward_end = begins + costs.forward + costs.row * len(self.left) + sum(prompts.values())
        fill = forward_end if self.policy.overlap == "none" else scheduled
        filled = fill + max(sum(masks.values()) / costs.threads, max(masks.values(), default=0.0))
        end = max(forward_end, filled) + costs.apply * len(masks)
        parts = {"compile": _without_zeros(blocked), "masks": _without_zeros(masks), "prompt": _without_zeros(prompts)}
        return BatchPass(
            start, (start, self.now), (begins, forward_end), (fill, filled), end, rows=tuple(self.left), parts=parts
        )

    def _give_tokens(self) -> None:
        """Give each row its token; a row with its last token leaves the batch."""
        for number in [*self.left]:
            first = self.first.setdefault(number, self.now)
            self.left[number] -= 1
            if not self.left[number]:
                del self.left[number]
                request = self.requests[number]
                self.served[number] = Served(request, self.spans[number], self.joined[number], first, self.now)


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
    for number in sorted(range(len(requests)), key=lambda number: requests[number].arrives):
        request = requests[number]
        if request.schema in ready:
            known = max(request.arrives, ready[request.schema])
            found[number] = (known, known)
        elif request.schema:
            start = max(request.arrives, free)
            free = start + request.compile_ms
            ready[request.schema] = free
            found[number] = (start, free)
    return found
