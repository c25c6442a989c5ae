"""Time greedy decoding with and without jump-forward, after the prompt has been read, and measure the cost model."""

from collections.abc import Callable
from functools import lru_cache
from time import monotonic, perf_counter

from guidedviz.decoding.cost_model import Cost, MarkedTokens, median_cost
from guidedviz.decoding.loop import record
from guidedviz.decoding.payoff import Timed, find_difference
from guidedviz.decoding.tasks import PROMPT, SliderTask, pattern_of, write_example
from guidedviz.decoding.trace import Trace, standing
from guidedviz.models.language_model import LanguageModel
from guidedviz.tokens.jump import SPELLING_WAYS
from guidedviz.tokens.vocabulary import Vocabulary

Run = tuple[float, Trace]  # milliseconds and the decode
MANY = 16  # rows
TRIES, WITHIN = 8, 0.2  # measurements of the constants at most, and how far the speed-ups of two may differ
PATIENCE = 3.0  # seconds; after that no measurement is begun
FREE = '"[a-z]{24}"'  # every token is chosen
FORCED = pattern_of(write_example(0, (3, 4)))  # one long forced run and several short ones, whose tokens cost more


def time_task(
    model: LanguageModel, task: SliderTask, rows: int, stop: Callable[[], bool] = lambda: False
) -> Timed | None:
    """Time one task without and with jump-forward; None as soon as `stop` returns True."""
    runs: list[Run] = []
    for way in (
        "",
        SPELLING_WAYS[0],
    ):  # on a model that has read nothing: a text that it knows is forked at every token
        runs.append(time_once(model.side_by_side(rows), task, way, stop))
        if runs[-1][1].steps[-1].end == "stop":
            return None
    (naive_ms, naive), (jump_ms, jump) = runs
    tokens = len(jump.tokens)
    return Timed(
        asked=task.fraction, fraction=round(max(0.0, 1 - jump.passes / tokens), 4), rows=rows,
        naive_ms=round(naive_ms, 3), jump_ms=round(jump_ms, 3), naive_passes=naive.passes, jump_passes=jump.passes,
        prefilled=jump.prefilled, tokens=tokens, parts=mark_parts(jump),
        difference=find_difference(naive, jump),
    )  # fmt: skip


def time_once(model: LanguageModel, task: SliderTask, way: str, stop: Callable[[], bool] | None = None) -> Run:
    """Decode once and measure the milliseconds; the pass that reads the prompt is not timed."""
    model.logits(model.encode(task.prompt))
    guide = task.guide  # it is built when it is first used
    began = perf_counter()
    trace = record(model, task.prompt, guide, temperature=0.0, max_tokens=1000, jump_forward=way, stop=stop)
    return (perf_counter() - began) * 1e3, trace


def mark_parts(trace: Trace) -> MarkedTokens:
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
def _references(vocabulary: Vocabulary) -> tuple[SliderTask, SliderTask]:
    """Two tasks to measure the constants with: all tokens are chosen, and nearly all tokens are forced."""
    free, forced = (SliderTask(0.0, PROMPT, (), vocabulary, pattern) for pattern in (FREE, FORCED))
    return free, forced


def calibrate(model: LanguageModel) -> tuple[Cost, bool] | None:
    """The constants, measured until two measurements agree, and whether two do: on a busy machine it is the median.

    None where even the median predicts no less for many rows.
    """
    costs, end = list[Cost](), monotonic() + PATIENCE
    while len(costs) < TRIES and monotonic() < end:
        costs.append(measure_cost(model))
        for cost in costs[:-1]:
            if agree(cost, costs[-1]):
                return median_cost((cost, costs[-1])), True
    median = median_cost(costs)
    return (median, False) if agree(median, median) else None


def agree(one: Cost, other: Cost) -> bool:
    """Whether both predict about the same speed-ups for one row and for many, and less for many rows.

    >>> one = Cost(9.0, 1.0)
    >>> agree(one, Cost(8.5, 1.0)), agree(one, Cost(4.0, 1.0)), agree(Cost(9.0, 0.0), Cost(9.0, 0.0))
    (True, False, False)
    """
    found = [[cost.speedup(0.9, rows) for rows in (1, 8 * MANY)] for cost in (one, other)]
    close = all(max(pair) <= (1 + WITHIN) * min(pair) for pair in zip(*found, strict=True))
    return close and all(alone > many for alone, many in found)


def measure_cost(model: LanguageModel) -> Cost:
    """Measure the constants of the cost model once; on a busy machine one measurement may be far off.

    The cost of a pass is the constant time of a step: the constant part of the forward pass, the mask, the
    choice and its record. The cost of a token is its share of the forward pass and, as the tokens here are forced, the
    search for them and their records. Both are measured with one row and with many rows.
    """
    (pass_one, token_one), (pass_many, token_many) = (time_prices(model, rows) for rows in (1, MANY))
    row = max(0.0, (pass_many - pass_one) / (MANY - 1))
    token = min(token_one, max(0.0, (token_many - token_one) / (MANY - 1)))
    return Cost(max(0.0, pass_one - row), token, row, token_one - token)


def time_prices(model: LanguageModel, rows: int) -> tuple[float, float]:
    """The fixed milliseconds of a pass, and the milliseconds per token that it reads, with this many rows."""
    free, forced = _references(model.vocabulary)
    free_ms, chosen = time_once(model.side_by_side(rows), free, "")
    forced_ms, jumped = time_once(model.side_by_side(rows), forced, SPELLING_WAYS[0])
    passes, tokens, step_ms = jumped.passes, len(jumped.tokens), free_ms / len(chosen.tokens)
    token_ms = max(0.0, (forced_ms - passes * step_ms) / (tokens - passes))
    return max(0.0, step_ms - token_ms), token_ms
