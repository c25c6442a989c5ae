"""What a simulated server did: per request its times, per pass its parts. All times are milliseconds from the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from guidedviz.errors import SettingError, quoted
from guidedviz.serving.workload import Request

Span = tuple[float, float]
Parts = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class BatchPass:
    """One pass of the batch: when each part ran. A part that did not run has two equal times."""

    start: float
    compiling: Span  # a compile for which the whole batch waits
    forward: Span
    masks: Span
    end: float  # the tokens of all rows are chosen
    rows: tuple[int, ...]  # the numbers of the requests
    parts: Parts  # what each request cost: "compile" while the batch waited, "masks", "prompt"

    @property
    def ms(self) -> float:
        """How long the pass took."""
        return self.end - self.start


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


@dataclass(frozen=True)
class Timeline:
    """All requests, and all passes of the batch in their order."""

    served: tuple[Served, ...]
    passes: tuple[BatchPass, ...]

    @cached_property
    def seconds(self) -> float:
        """From the first arrival to the last token."""
        return (max(one.done for one in self.served) - min(one.request.arrives for one in self.served)) / 1e3

    @property
    def tokens_per_second(self) -> float:
        """The throughput."""
        return sum(one.request.tokens for one in self.served) / self.seconds

    @property
    def requests_per_second(self) -> float:
        """The throughput in requests."""
        return len(self.served) / self.seconds

    def per_token(self, share: float) -> float:
        """The time per output token that this share of the requests does not exceed: 0.5 for p50, 0.99 for p99."""
        return percentile([one.per_token_ms for one in self.served], share)

    def first_token(self, share: float) -> float:
        """The time to the first token that this share of the requests does not exceed."""
        return percentile([one.first_token_ms for one in self.served], share)

    def __repr__(self) -> str:
        parts = [
            f"{len(self.served)} requests in {self.seconds:.2f} s, {self.tokens_per_second:,.0f} tokens per second"
        ]
        for name, find in (("per token", self.per_token), ("first token", self.first_token)):
            parts.append(f"{name} p50 {find(0.5):,.1f} ms, p99 {find(0.99):,.1f} ms")
        return "; ".join(parts)


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed.

    >>> percentile([4, 1, 3, 2], 0.5), percentile([4, 1, 3, 2], 0.99)
    (2, 4)
    """
    if not values or not isinstance(share, int | float) or not 0 < share <= 1:
        raise SettingError("percentile", seen=quoted(share), expected="a share from 0 to 1, of one or more values")
    return sorted(values)[max(0, -int(-len(values) * share // 1) - 1)]
