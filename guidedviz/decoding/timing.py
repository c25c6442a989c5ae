"""Time greedy decoding with and without jump-forward, after the prompt has been read, and measure the cost model."""

from collections.abc import Callable
from functools import lru_cache
from time import monotonic, perf_counter

from guidedviz.decoding.cost_model import Cost, MarkedTokens, median_cost
from guidedviz.decoding.loop import record
from guidedviz.decoding.payoff import Timed, find_difference
from guidedviz.decoding.tasks import TASK_PROMPT, SliderTask, pattern_of, write_example
from guidedviz.decoding.trace import Trace, standing
from guidedviz.models.language_model import LanguageModel
from guidedviz.tokens.jump import SPELLING_WAYS
from guidedviz.tokens.vocabulary import Vocabulary

MANY_ROWS = 16
TRIES = 8  # measurements of the constants at most
WITHIN = 0.2  # how far the speed-ups of two measurements may differ
LAST_BEGIN = 3.0  # seconds; after that no measurement is begun
FREE_TEXT = '"[a-z]{24}"'  # every token is chosen
FORCED_TEXT = pattern_of(write_example(0, (3, 4)))  # one long forced run and several short ones, which cost more


def time_task(
    model: LanguageModel, task: SliderTask, rows: int, stop: Callable[[], bool] = lambda: False
) -> Timed | None:
    """Time one task without and with jump-forward; None as soon as `stop` returns True."""
    # each on a model that has read nothing: a text that it knows is forked at every token
    naive_ms, naive = time_once(model.side_by_side(rows), task, "", stop)
    if naive.steps[-1].end == "stop":
        return None
    jump_ms, jump = time_once(model.side_by_side(rows), task, SPELLING_WAYS[0], stop)
    if jump.steps[-1].end == "stop":
        return None
    tokens = len(jump.tokens)
    return Timed(
        asked=task.fraction, fraction=round(max(0.0, 1 - jump.passes / tokens), 4), rows=rows,
        naive_ms=round(naive_ms, 3), jump_ms=round(jump_ms, 3), naive_passes=naive.passes, jump_passes=jump.passes,
        prefilled=jump.prefilled, tokens=tokens, parts=mark_parts(jump),
        difference=find_difference(naive, jump),
    )  # fmt: skip


def time_once(
    model: LanguageModel, task: SliderTask, way: str, stop: Callable[[], bool] | None = None
) -> tuple[float, Trace]:
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
        sure += (step.how == "forced" for _ in range(len(sure), size))
    parts = []
    begin = 0
    for step in standing(trace.steps):
        end = begin + len(step.piece)
        parts.append((step.piece.decode("utf-8", "replace"), all(sure[begin:end])))
        begin = end
    return tuple(parts)


@lru_cache(maxsize=1)
def _references(vocabulary: Vocabulary) -> tuple[SliderTask, SliderTask]:
    """Two tasks to measure the constants with: all tokens are chosen, and nearly all tokens are forced."""
    free = SliderTask(0.0, TASK_PROMPT, (), vocabulary, FREE_TEXT)
    forced = SliderTask(0.0, TASK_PROMPT, (), vocabulary, FORCED_TEXT)
    return free, forced


def calibrate(model: LanguageModel) -> tuple[Cost, bool] | None:
    """The constants, measured until two measurements agree, and whether two do: on a busy machine it is the median.

    None where even the median predicts no less for many rows.
    """
    costs: list[Cost] = []
    end = monotonic() + LAST_BEGIN
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
    for rows in (1, 8 * MANY_ROWS):
        pair = (one.speedup(0.9, rows), other.speedup(0.9, rows))
        if max(pair) > (1 + WITHIN) * min(pair):
            return False
    return all(cost.speedup(0.9) > cost.speedup(0.9, 8 * MANY_ROWS) for cost in (one, other))


def measure_cost(model: LanguageModel) -> Cost:
    """Measure the constants of the cost model once; on a busy machine one measurement may be far off.

    The cost of a pass is the constant time of a step: the constant part of the forward pass, the mask, the
    choice and its record. The cost of a token is its share of the forward pass and, as the tokens here are forced, the
    search for them and their records. Both are measured with one row and with many rows.
    """
    pass_one, token_one = time_prices(model, 1)
    pass_many, token_many = time_prices(model, MANY_ROWS)
    row = max(0.0, (pass_many - pass_one) / (MANY_ROWS - 1))
    token = min(token_one, max(0.0, (token_many - token_one) / (MANY_ROWS - 1)))
    return Cost(max(0.0, pass_one - row), token, row, token_one - token)


def time_prices(model: LanguageModel, rows: int) -> tuple[float, float]:
    """The fixed milliseconds of a pass, and the milliseconds per token that it reads, with this many rows."""
    free, forced = _references(model.vocabulary)
    free_ms, chosen = time_once(model.side_by_side(rows), free, "")
    forced_ms, jumped = time_once(model.side_by_side(rows), forced, SPELLING_WAYS[0])
    step_ms = free_ms / len(chosen.tokens)
    saved = len(jumped.tokens) - jumped.passes
    token_ms = max(0.0, (forced_ms - jumped.passes * step_ms) / saved)
    return max(0.0, step_ms - token_ms), token_ms
