"""What the host counts, in the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

SECONDS = (0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
TEXTS = (1, 2, 4, 8, 16, 32)
HELP = {
    "requests_total": "counter: answers by kind and status",
    "answer_seconds": "histogram: seconds from a request for logits to its answer",
    "queue": "gauge: texts that wait for a pass",
    "students": "gauge: students seen in the last minute",
    "replica": "gauge: the processes that run the model",
    "passes_total": "counter: forward passes",
    "pass_texts": "histogram: texts per pass",
    "pass_cpu_seconds_total": "counter: seconds of a core in passes",
    "tokens_read_total": "counter: tokens that passed through the model",
    "prefix_tokens_total": "counter: tokens of requests whose keys and values were found, or had to be read",
    "prefix_bytes": "gauge: bytes of the kept prefixes",
    "prefixes": "gauge: prefixes that are kept",
}
Counts = dict[str, float]  # a name, maybe with labels, and its value


class Histogram:
    """How many values lie below each bound.

    >>> found = Histogram((1, 2))
    >>> for value in (0.5, 1.5, 9):
    ...     found.add(value)
    >>> found.counted("x")
    {'x_bucket{le="1"}': 1.0, 'x_bucket{le="2"}': 2.0, 'x_bucket{le="+Inf"}': 3.0, 'x_sum': 11.0, 'x_count': 3.0}
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds, self._counts, self._total = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._total += value

    def counted(self, name: str) -> Counts:
        """Its lines by name."""
        below, out = 0.0, {}
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            below += count
            out[f'{name}_bucket{{le="{bound}"}}'] = below
        return {**out, f"{name}_sum": self._total, f"{name}_count": below}


class Metrics:
    """The counters of one host."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.seconds = Histogram(SECONDS)

    def counts(self) -> Counts:
        """Answers, and how long they took."""
        answers = {f'requests_total{{kind="{k}",status="{s}"}}': float(n) for (k, s), n in sorted(self.answers.items())}
        return answers | self.seconds.counted("answer_seconds")


def add_counts(parts: Iterable[Counts]) -> Counts:
    """The sums of several processes.

    >>> add_counts([{"a": 1, "b": 2}, {"a": 5}])
    {'a': 6.0, 'b': 2.0}
    """
    out: Counts = {}
    for part in parts:
        for name, value in part.items():
            out[name] = out.get(name, 0.0) + value
    return out


def write_counts(counts: Mapping[str, float]) -> str:
    """Counts as the text that Prometheus reads."""
    lines = []
    for name, about in HELP.items():
        kind, _, said = about.partition(": ")
        lines += [f"# HELP guidedviz_{name} {said}", f"# TYPE guidedviz_{name} {kind}"]
        ends = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        names = {name + end for end in ends}
        lines += [f"guidedviz_{key} {value:.10g}" for key, value in counts.items() if key.partition("{")[0] in names]
    return "\n".join(lines) + "\n"
