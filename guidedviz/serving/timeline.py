"""When everything of a simulation happened: for each request and for each pass of the batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from guidedviz.decoding.annotations import Share, check_number
from guidedviz.serving.workload import Request

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
    return sorted(values)[max(0, ceil(len(values) * share) - 1)]


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
        rate = sum(one.request.tokens for one in self.served) / self.seconds
        parts = [f"{len(self.served)} requests in {self.seconds:.2f} s, {rate:,.0f} tokens per second"]
        for name, times in (
            ("per token", [one.per_token_ms for one in self.served]),
            ("first token", [one.first_token_ms for one in self.served]),
        ):
            parts.append(f"{name} p50 {percentile(times, 0.5):,.1f} ms, p99 {percentile(times, 0.99):,.1f} ms")
        return "; ".join(parts)
