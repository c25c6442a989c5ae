"""What the host counts, in the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator

SECONDS = (0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
TEXTS = (1, 2, 4, 8, 16, 32)
HELP = {
    "requests_total": "counter: answers by kind and status",
    "passes_total": "counter: forward passes",
    "tokens_read_total": "counter: tokens that passed through the model",
    "prefix_tokens_total": "counter: tokens of requests whose keys and values were found, or had to be read",
    "prefix_bytes": "gauge: bytes of the kept prefixes",
    "prefixes": "gauge: prefixes that are kept",
    "queue": "gauge: texts that wait for a pass",
    "students": "gauge: students seen in the last minute",
    "answer_seconds": "histogram: seconds from a request for logits to its answer",
    "pass_texts": "histogram: texts per pass",
}


class Histogram:
    """How many values lie below each bound.

    >>> found = Histogram((1, 2))
    >>> for value in (0.5, 1.5, 9):
    ...     found.add(value)
    >>> found.counts, found.total
    ([1, 1, 1], 11.0)
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds, self.counts, self.total = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str) -> Iterator[str]:
        """The lines of the histogram."""
        below = 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            below += count
            yield f'{name}_bucket{{le="{bound}"}} {below}'
        yield f"{name}_sum {self.total:.6f}"
        yield f"{name}_count {below}"


class Metrics:
    """The counters of one host."""

    def __init__(self, replica: str = "") -> None:
        self.replica = replica
        self.answers: Counter[tuple[str, int]] = Counter()
        self.passes = self.read = 0
        self.seconds, self.texts = Histogram(SECONDS), Histogram(TEXTS)

    def passed(self, texts: int, tokens: int) -> None:
        """Count a forward pass."""
        self.passes += 1
        self.read += tokens
        self.texts.add(texts)

    def text(self, gauges: dict[str, float], found: int, missed: int) -> str:
        """All of it as text."""
        rows: dict[str, Iterable[str]] = {
            "requests_total": [f'{{kind="{k}",status="{s}"}} {n}' for (k, s), n in sorted(self.answers.items())],
            "passes_total": [f" {self.passes}"],
            "tokens_read_total": [f" {self.read}"],
            "prefix_tokens_total": [f'{{found="yes"}} {found}', f'{{found="no"}} {missed}'],
            **{name: [f" {value:g}"] for name, value in gauges.items()},
        }
        lines = [f'guidedviz_replica{{id="{self.replica}"}} 1']
        for name, about in HELP.items():
            kind, _, said = about.partition(": ")
            full = f"guidedviz_{name}"
            lines += [f"# HELP {full} {said}", f"# TYPE {full} {kind}"]
            if kind == "histogram":
                lines += (self.seconds if name == "answer_seconds" else self.texts).lines(full)
            else:
                lines += [full + row for row in rows[name]]
        return "\n".join(lines) + "\n"
