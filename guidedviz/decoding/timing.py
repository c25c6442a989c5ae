"""With jump-forward and without, against the clock: greedily, after the prompt has been read."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from time import perf_counter

from guidedviz.decoding.loop import record
from guidedviz.decoding.models import LanguageModel
from guidedviz.decoding.parting import name_difference
from guidedviz.decoding.payoff import Cost, Parts, Timed
from guidedviz.decoding.tasks import ABOUT, SETTLED, Task, build_schema, list_keys
from guidedviz.decoding.trace import Trace, standing
from guidedviz.tokens.jump import WAYS

WAY = WAYS[0]
Run = tuple[float, Trace]  # milliseconds, and what was decoded in them
MANY = 32  # rows
FREE = {"type": "string", "pattern": "^[a-z]{32}$"}  # a choice at each token
FORCED = build_schema(list_keys(len(SETTLED), 8))  # a long run, and short ones: each of their tokens takes more


def time_task(
    model: LanguageModel, task: Task, rows: int, stop: Callable[[], bool] = lambda: False, rounds: int = 2
) -> Timed | None:
    """One task both ways, the quicker of the rounds of each; None as soon as `stop` says so."""
    runs: list[Run] = []
    batch = model.side_by_side(rows)
    for way in ("", WAY) * rounds:
        runs.append(time_once(batch, task, way, stop))
        if runs[-1][1].steps[-1].end == "stop":
            return None
    naive, jump = min(runs[::2], key=itemgetter(0)), min(runs[1::2], key=itemgetter(0))
    return compare_runs(task.fraction, rows, naive, jump)


def time_once(model: LanguageModel, task: Task, way: str, stop: Callable[[], bool] | None = None) -> Run:
    """Milliseconds, and what was decoded in them; the pass that reads the prompt comes before."""
    model.logits(model.encode(task.prompt))
    began = perf_counter()
    trace = record(model, task.prompt, task.guide, temperature=0.0, max_tokens=1000, jump_forward=way, stop=stop)
    return (perf_counter() - began) * 1e3, trace


def compare_runs(asked: float, rows: int, one: Run, other: Run) -> Timed:
    """A run without and one with jump-forward as one record."""
    (naive_ms, naive), (jump_ms, jump) = one, other
    tokens = len(jump.tokens)
    return Timed(
        asked=asked,
        fraction=round(max(0.0, 1 - jump.passes / tokens), 4),
        rows=rows,
        naive_ms=round(naive_ms, 3),
        jump_ms=round(jump_ms, 3),
        naive_passes=naive.passes,
        jump_passes=jump.passes,
        prefilled=jump.prefilled,
        tokens=tokens,
        parts=mark_parts(jump),
        difference=name_difference(naive, jump),
    )


def mark_parts(trace: Trace) -> Parts:
    """The text token by token, True where no byte was chosen: a token that was cut anew keeps what was chosen in it."""
    sure: list[bool] = []
    for at, step in enumerate(trace.steps):
        size = sum(len(s.piece) for s in standing(trace.steps[: at + 1]))
        sure += [step.how == "forced"] * (size - len(sure))
    parts, end = [], 0
    for step in standing(trace.steps):
        begin, end = end, end + len(step.piece)
        parts.append((step.piece.decode("utf-8", "replace"), all(sure[begin:end])))
    return tuple(parts)


def measure_cost(model: LanguageModel, rounds: int = 5) -> Cost:
    """The constants, measured now: by a text of which every token is chosen, and one of which few are.

    What a pass costs by itself is what a step takes however much it reads: the part of the forward that does not grow,
    the mask, the choice and its record. What a token adds is its share of the forward and, as the tokens here are
    forced, the search for them, their way through the machine and their records. Both are taken with one row and with
    many, so that a row has its price, too. The quickest round counts.
    """
    return join_prices(time_prices(model, 1, rounds), time_prices(model, MANY, 2))


def join_prices(one: tuple[float, float], many: tuple[float, float]) -> Cost:
    """What a row adds to the prices of a pass and of a token, and what is left without rows.

    >>> join_prices((3.0, 0.5), (3.0 + 31 * 0.25, 0.5 + 31 * 0.125))
    Cost(pass_ms=2.75, token_ms=0.125, row_ms=0.25, put_ms=0.375)
    """
    (pass_one, token_one), (pass_many, token_many) = one, many
    row = max(0.0, (pass_many - pass_one) / (MANY - 1))
    token = min(token_one, max(0.0, (token_many - token_one) / (MANY - 1)))
    return Cost(max(0.0, pass_one - row), token, row, token_one - token)


def time_prices(model: LanguageModel, rows: int, rounds: int) -> tuple[float, float]:
    """Milliseconds of a pass by itself, and of each token that it reads, with so many rows."""
    free, forced = (Task(0.0, f"{ABOUT}\nJSON:\n", schema, (), model.vocabulary) for schema in (FREE, FORCED))
    batch = model.side_by_side(rows)
    pairs = [(time_once(batch, free, ""), time_once(batch, forced, WAY)) for _ in range(rounds)]
    chosen, jumped = zip(*pairs, strict=True)
    passes, tokens = jumped[0][1].passes, len(jumped[0][1].tokens)
    step_ms = min(ms / len(trace.tokens) for ms, trace in chosen)
    token_ms = max(0.0, (min(ms for ms, _ in jumped) - passes * step_ms) / (tokens - passes))
    return max(0.0, step_ms - token_ms), token_ms
