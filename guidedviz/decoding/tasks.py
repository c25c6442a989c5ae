"""Texts with a given fraction of forced tokens: from one long free title to an object of many short values.

Every example is JSON about a book: a title of any length, constant values as in the response of an API, and values of
one free digit. Each part of a text that is not fixed has a regex of what may stand there, so that the text has one.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from guidedviz.decoding.cost_model import FRACTIONS, MarkedTokens, fixed_share
from guidedviz.machines.regular.regex import regex
from guidedviz.models.model import Model
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.jump import encode_text
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
    prompt: str
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
        found.append(SliderTask(0.0, TASK_PROMPT, text, model.vocabulary, pattern_of(example)))

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
