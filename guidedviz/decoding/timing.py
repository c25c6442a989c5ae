"""Time greedy decoding with and without jump-forward, after the prompt has been read, and measure the cost model.

The timed texts have a given fraction of forced tokens: from one long free title to an object of many short values.
Every example is JSON about a book: a title of any length, constant values as in the response of an API, and values of
one free digit. Each part of a text that is not fixed has a regex of what may stand there, so that the text has one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from time import monotonic, perf_counter

from guidedviz.decoding.loop import record
from guidedviz.decoding.payoff import FRACTIONS, Cost, MarkedTokens, Timed, find_difference, fixed_share, median_cost
from guidedviz.decoding.trace import Trace, standing
from guidedviz.machines.regular.regex import regex
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.model import Model
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.jump import SPELLING_WAYS, encode_text
from guidedviz.tokens.vocabulary import Vocabulary

TASK_PROMPT = "The Bridge and the Clock and the Desert is by Ada Lovelace.\nJSON:\n"
TITLE_WORDS = """Bridge Castle Desert Forest Garden Harbor Island Journey Kingdom Lantern Mirror Night Ocean River
Storm Tower Violin Winter""".split()  # different initials prevent a small model from repeating one word
CONSTANT_VALUES = (
    '"author": "Ada Lovelace"', '"status": "ok"', '"city": "London"', '"member": true', '"date": "2026-11-22"',
)  # fmt: skip
DIGIT_KEYS = "pages stock score count points seats minutes order total amount length number".split()
Example = list[tuple[str, str]]  # a text in parts, each with the regex of what may stand there; "" for a fixed part


@dataclass(frozen=True)
class SliderTask:
    """The task that is decoded at a position of the slider."""

    fraction: float  # the requested fraction
    text: MarkedTokens  # an example, token by token; True if fixed; free letters and digits are dots
    vocabulary: Vocabulary
    pattern: str = ""  # the regex of the example

    @cached_property
    def guide(self) -> Guide:
        """The guide, built when it is first used."""
        return guide(regex(self.pattern), self.vocabulary)


def build_tasks(model: Model, tokens: int = 64) -> tuple[SliderTask, ...]:
    """One task per position of the slider, each of about `tokens` tokens of the model's tokenizer.

    >>> first, *_, last = build_tasks(gv.load_model("clerk"))
    >>> "".join(text for text, _ in last.text)[:42], last.pattern[:10]
    ('{"author": "Ada Lovelace", "status": "ok",', '\\\\{"author"')
    """
    word = len(model.encode(" and the ".join(TITLE_WORDS))) / len(TITLE_WORDS)  # tokens of a word and what joins it
    counts = product(range(len(CONSTANT_VALUES) + 1), range(len(DIGIT_KEYS) + 1))
    found = []
    for values in [None, *counts]:
        room = tokens - len(cut_example(model, write_example(1, values)))
        words = 0
        if room > 0 or values is None:
            words = round(room / word) + 1
        example = write_example(words, values)
        text = cut_example(model, example)
        found.append(SliderTask(0.0, text, model.vocabulary, pattern_of(example)))

    def miss(task: SliderTask, place: float) -> float:
        of_share = abs(fixed_share(task.text) - place)
        of_length = abs(len(task.text) / tokens - 1)
        return of_share + of_length / 4

    def nearest(place: float) -> SliderTask:
        return min(found, key=lambda task: miss(task, place))

    return tuple(replace(nearest(place), fraction=place) for place in FRACTIONS)


def write_example(words: int, values: tuple[int, int] | None) -> Example:
    """An object with a title of so many words, and so many constants and digits; without an object, the title alone.

    >>> "".join(text if not form else "·" for text, form in write_example(1, (1, 2)))
    '{"title": "The B·, "author": "Ada Lovelace", "pages": ·, "stock": ·}'
    """
    names = [TITLE_WORDS[at % len(TITLE_WORDS)] for at in range(words)]
    text = " and the ".join(names)[1:] + '"'
    form = "( and| of)( the)? ".join(f"{name[0]}[a-z]{{2,8}}" for name in names)[1:] + '"'
    title = [('"The B', ""), (text, form)]
    if values is None:
        return title
    constants, digits = values
    items: list[Example] = []
    if words:
        items.append([('"title": ', ""), *title])
    items += [[(constant, "")] for constant in CONSTANT_VALUES[:constants]]
    for at, key in enumerate(DIGIT_KEYS[:digits]):
        items.append([(f'"{key}": ', ""), (str(at % 10), "[0-9]")])
    parts: Example = []
    for item in items:
        parts += [(", ", ""), *item]
    return [("{", ""), *parts[1:], ("}", "")]


def pattern_of(example: Example) -> str:
    """The regex of an example."""
    return "".join(form or re.escape(text) for text, form in example)


def cut_example(model: Model, example: Example) -> MarkedTokens:
    """The tokens of an example and EOS, True for a token without a free byte; free letters and digits are dots."""
    vocabulary = model.vocabulary
    text = shown = ""
    fixed: list[bool] = []  # of each character
    for part, form in example:
        text += part
        shown += re.sub("[A-Za-z0-9]", "·", part) if form else part
        fixed += [not form for _ in part]
    parts = []
    begin = 0
    for token in encode_text(vocabulary, model.encode, text):
        end = begin + len(vocabulary.pieces[token])
        is_fixed = all(fixed[begin:end])
        parts.append((shown[begin:end], is_fixed))
        begin = end
    if vocabulary.eos:
        parts.append((vocabulary.display(min(vocabulary.eos)), True))
    return tuple(parts)


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
    model.logits(model.encode(TASK_PROMPT))
    guide = task.guide  # it is built when it is first used
    began = perf_counter()
    trace = record(model, TASK_PROMPT, guide, temperature=0.0, max_tokens=1000, jump_forward=way, stop=stop)
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
    free = SliderTask(0.0, (), vocabulary, FREE_TEXT)
    forced = SliderTask(0.0, (), vocabulary, FORCED_TEXT)
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
