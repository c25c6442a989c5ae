"""Time greedy decoding with and without jump-forward, after the prompt has been read."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter

from guidedviz.decoding.jump.cost import Cost, Parts
from guidedviz.decoding.jump.difference import name_difference
from guidedviz.decoding.jump.payoff import Timed
from guidedviz.decoding.jump.tasks import ABOUT, Task, build_schema, list_keys
from guidedviz.decoding.loop import record
from guidedviz.decoding.trace import Trace, standing
from guidedviz.models.language_model import LanguageModel
from guidedviz.tokens.jump import WAYS
from guidedviz.tokens.vocabulary import Vocabulary

WAY = WAYS[0]
Run = tuple[float, Trace]  # milliseconds and the decode
Prices = tuple[float, float]  # milliseconds of a pass and of each token that it reads
MANY = 16  # rows
FREE = {"type": "string", "pattern": "^[a-z]{24}$"}  # every token is chosen
FORCED = build_schema(list_keys(3, 4))  # one long forced run and several short ones, whose tokens cost more


def time_task(model: LanguageModel, task: Task, rows: int, stop: Callable[[], bool] = lambda: False) -> Timed | None:
    """Time one task without and with jump-forward; None as soon as `stop` returns True."""
    runs: list[Run] = []
    batch = model.side_by_side(rows)
    for way in ("", WAY):
        runs.append(time_once(batch, task, way, stop))
        if runs[-1][1].steps[-1].end == "stop":
            return None
    return compare_runs(task, rows, *runs)


def time_once(model: LanguageModel, task: Task, way: str, stop: Callable[[], bool] | None = None) -> Run:
    """Decode once and measure the milliseconds; the pass that reads the prompt is not timed."""
    model.logits(model.encode(task.prompt))
    guide = task.guide  # it is built when it is first used
    began = perf_counter()
    trace = record(model, task.prompt, guide, temperature=0.0, max_tokens=1000, jump_forward=way, stop=stop)
    return (perf_counter() - began) * 1e3, trace


def compare_runs(task: Task, rows: int, one: Run, other: Run) -> Timed:
    """Combine a run without jump-forward and one with it into one record."""
    (naive_ms, naive), (jump_ms, jump) = one, other
    tokens = len(jump.tokens)
    return Timed(
        asked=task.fraction,
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
        by_hand=bool(task.pattern),
    )


def mark_parts(trace: Trace) -> Parts:
    """The text token by token; True if every byte was forced, also in retokenized tokens."""
    sure: list[bool] = []
    for at, step in enumerate(trace.steps):
        size = sum(len(s.piece) for s in standing(trace.steps[: at + 1]))
        sure += [step.how == "forced"] * (size - len(sure))
    parts, end = [], 0
    for step in standing(trace.steps):
        begin, end = end, end + len(step.piece)
        parts.append((step.piece.decode("utf-8", "replace"), all(sure[begin:end])))
    return tuple(parts)


@lru_cache(maxsize=1)
def _references(vocabulary: Vocabulary) -> tuple[Task, Task]:
    """Two tasks to measure the constants with: all tokens are chosen, and nearly all tokens are forced."""
    free, forced = (Task(0.0, f"{ABOUT}\nJSON:\n", schema, (), vocabulary) for schema in (FREE, FORCED))
    return free, forced


def measure_cost(model: LanguageModel) -> Cost:
    """Measure the constants of the cost model once; the median of several measurements is more reliable.

    The cost of a pass is the constant time of a step: the constant part of the forward pass, the mask, the
    choice and its record. The cost of a token is its share of the forward pass and, as the tokens here are forced, the
    search for them and their records. Both are measured with one row and with many rows.
    """
    return join_prices(time_prices(model, 1), time_prices(model, MANY))


def join_prices(one: Prices, many: Prices) -> Cost:
    """The cost per row of a pass and of a token, and the remaining cost that is independent of the rows.

    >>> join_prices((3.0, 0.5), (3.0 + 15 * 0.25, 0.5 + 15 * 0.125))
    Cost(pass_ms=2.75, token_ms=0.125, row_ms=0.25, put_ms=0.375)
    """
    (pass_one, token_one), (pass_many, token_many) = one, many
    row = max(0.0, (pass_many - pass_one) / (MANY - 1))
    token = min(token_one, max(0.0, (token_many - token_one) / (MANY - 1)))
    return Cost(max(0.0, pass_one - row), token, row, token_one - token)


def time_prices(model: LanguageModel, rows: int) -> Prices:
    """The fixed milliseconds of a pass, and the milliseconds per token that it reads, with this many rows."""
    batch, (free, forced) = model.side_by_side(rows), _references(model.vocabulary)
    (free_ms, chosen), (forced_ms, jumped) = time_once(batch, free, ""), time_once(batch, forced, WAY)
    passes, tokens, step_ms = jumped.passes, len(jumped.tokens), free_ms / len(chosen.tokens)
    token_ms = max(0.0, (forced_ms - passes * step_ms) / (tokens - passes))
    return max(0.0, step_ms - token_ms), token_ms
