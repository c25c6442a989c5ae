"""A simulated server: what compiles and masks of some requests cost all others.

It decodes many requests in one batch: the device runs one forward pass after the other, and each pass gives every row
of the batch its next token; the CPU schedules, compiles and fills masks. Costs are set by hand or measured; the order
of events is computed. All times are milliseconds from the start.
"""

from collections import deque
from collections.abc import Sequence

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
    blocks: bool = policy.compile == "blocks"
    compiled: set[str] = set()
    spans = [(one.arrives, one.arrives) for one in requests] if blocks else compile_times(requests)
    waiting = deque(sorted(range(len(requests)), key=lambda number: spans[number][1]))
    passes, now, served = list[BatchPass](), 0.0, dict[int, Served]()
    left, joined, first = dict[int, int](), dict[int, float](), dict[int, float]()  # per row: its tokens, two times
    while waiting or left:
        start = now = now if left else max(now, spans[waiting[0]][1])
        blocked, prompts = dict[int, float](), dict[int, float]()
        while waiting and len(left) < costs.rows and spans[waiting[0]][1] <= now:  # requests join
            number = waiting.popleft()
            request = requests[number]
            if blocks and request.schema:  # the batch waits for the compile
                blocked[number] = 0.0 if request.schema in compiled else request.compile_ms
                spans[number] = now, now + blocked[number]
                now = spans[number][1]
                compiled.add(request.schema)
            left[number], joined[number], prompts[number] = request.tokens, now, costs.token * request.prompt
        masks = {number: requests[number].mask_ms for number in left if requests[number].schema}
        begins = now if policy.overlap == "all" else now + costs.host
        forward = begins, begins + costs.forward + costs.row * len(left) + sum(prompts.values())
        fill = forward[1] if policy.overlap == "none" else now + costs.host
        filled = fill + max(sum(masks.values()) / costs.threads, max(masks.values(), default=0.0))
        end = max(forward[1], filled) + costs.apply * len(masks)
        parts = {"compile": blocked, "masks": masks, "prompt": prompts}
        parts = {name: {number: ms for number, ms in each.items() if ms} for name, each in parts.items()}
        passes.append(BatchPass(start, (start, now), forward, (fill, filled), end, tuple(left), parts))
        now = end
        for number in [*left]:
            first.setdefault(number, now)
            left[number] -= 1
            if not left[number]:
                del left[number]
                served[number] = Served(requests[number], spans[number], joined[number], first[number], now)
    return Timeline(tuple(served[number] for number in range(len(requests))), tuple(passes))


def compile_times(requests: Sequence[Request]) -> list[Span]:
    """When the machine of each request is compiled; two equal times if there is nothing to do.

    >>> order = Request(0, 1, "order", compile_ms=5)
    >>> compile_times([order, Request(1, 1, "order", compile_ms=5), Request(2, 1)])
    [(0, 5), (5, 5), (2, 2)]
    """
    free, ready = 0.0, dict[str, float]()
    found: list[Span] = [(one.arrives, one.arrives) for one in requests]
    for number in sorted(range(len(requests)), key=lambda number: requests[number].arrives):
        request = requests[number]
        if request.schema in ready:
            found[number] = (max(request.arrives, ready[request.schema]),) * 2
        elif request.schema:
            start = max(request.arrives, free)
            free = ready[request.schema] = start + request.compile_ms
            found[number] = start, free
    return found
