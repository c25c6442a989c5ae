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

PROMPT = "The Bridge and the Clock and the Desert is by Ada Lovelace.\nJSON:\n"
WORDS = """Bridge Castle Desert Forest Garden Harbor Island Journey Kingdom Lantern Mirror Night Ocean River Storm Tower
Violin Winter""".split()  # different initials prevent a small model from repeating one word
CONSTANTS = (
    '"author": "Ada Lovelace"', '"status": "ok"', '"city": "London"', '"member": true', '"date": "2026-11-22"',
)  # fmt: skip
KEYS = "pages stock score count points seats minutes order total amount length number".split()
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
    word = len(model.encode(" and the ".join(WORDS))) / len(WORDS)  # the tokens of a word and what joins it
    found = []
    for values in [None, *product(range(len(CONSTANTS) + 1), range(len(KEYS) + 1))]:
        room = tokens - len(cut_example(model, write_example(1, values)))
        words = round(room / word) + 1 if room > 0 or not values else 0
        example = write_example(words, values)
        text = cut_example(model, example)
        found.append(SliderTask(0.0, PROMPT, text, model.vocabulary, pattern_of(example)))

    def miss(task: SliderTask, place: float) -> float:
        return abs(fixed_share(task.text) - place) + abs(len(task.text) / tokens - 1) / 4

    return tuple(replace(min(found, key=lambda task: miss(task, place)), fraction=place) for place in FRACTIONS)


def write_example(words: int, values: tuple[int, int] | None) -> Example:
    """An object with a title of so many words, and so many constants and digits; without an object, the title alone.

    >>> "".join(text if not form else "·" for text, form in write_example(1, (1, 2)))
    '{"title": "The B·, "author": "Ada Lovelace", "pages": ·, "stock": ·}'
    """
    names = [WORDS[at % len(WORDS)] for at in range(words)]
    forms = (f"{name[0]}[a-z]{{2,8}}" for name in names)
    title = [('"The B', ""), (" and the ".join(names)[1:] + '"', "( and| of)( the)? ".join(forms)[1:] + '"')]
    if values is None:
        return title
    items: list[Example] = [[('"title": ', ""), *title]] if words else []
    items += [[(constant, "")] for constant in CONSTANTS[: values[0]]]
    items += [[(f'"{key}": ', ""), (str(at % 10), "[0-9]")] for at, key in enumerate(KEYS[: values[1]])]
    parts = [part for item in items for part in ((", ", ""), *item)]
    return [("{", ""), *parts[1:], ("}", "")]


def pattern_of(example: Example) -> str:
    """The regex of an example."""
    return "".join(form or re.escape(text) for text, form in example)


def cut_example(model: Model, example: Example) -> MarkedTokens:
    """The tokens of an example and EOS, True for a token without a free byte; free letters and digits are dots."""
    text = "".join(part for part, _ in example)
    shown = "".join(re.sub("[A-Za-z0-9]", "·", part) if form else part for part, form in example)
    fixed = [not form for part, form in example for _ in part]
    parts, at = [], 0
    for token in encode_text(model.vocabulary, model.encode, text):
        end = at + len(model.vocabulary.pieces[token])
        parts.append((shown[at:end], all(fixed[at:end])))
        at = end
    return (*parts, *((model.vocabulary.display(token), True) for token in sorted(model.vocabulary.eos)[:1]))
