"""Schemas of a given fraction: one long free string at the low end, many short keys at the high end.

Every text tells of a book: a title as long as one likes, keys whose value is settled as in the envelope of an API's
answer, and keys with one digit to choose. What is to be fixed is counted in tokens.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice, product
from typing import Any

from guidedviz.decoding.loop import Model
from guidedviz.decoding.payoff import PLACES, Parts
from guidedviz.machines.schema import json_schema
from guidedviz.tokens.engines import guide
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

Schema = dict[str, Any]
Values = dict[str, object]  # an example by keys; under no key a title that stands alone
ABOUT = "The Bridge and the Clock and the Desert is by Ada Lovelace."
WORDS = """Bridge Castle Desert Forest Garden Harbor Island Journey Kingdom Lantern Mirror Night Ocean River Storm Tower
Violin Winter""".split()  # the initials keep a small model from saying one word for ever
SETTLED = {"author": "Ada Lovelace", "status": "ok", "city": "London", "member": True, "date": "2026-11-22"}
OPEN = "pages stock score count points seats minutes order total amount length number".split()
DIGIT: Schema = {"type": "integer", "minimum": 0, "maximum": 9}


@dataclass(frozen=True)
class Task:
    """What is decoded at a place of the slider."""

    fraction: float  # asked for
    prompt: str
    schema: Schema
    text: Parts  # an example, token by token, True where fixed; letters and digits that are free stand as dots
    vocabulary: Vocabulary

    @cached_property
    def guide(self) -> Guide:
        """Built when it is first asked for."""
        return guide(json_schema(self.schema, whitespace="one"), self.vocabulary)


def build_tasks(model: Model, tokens: int = 64) -> tuple[Task, ...]:
    """A task for each place of the slider, of about so many tokens as the model's tokenizer cuts them.

    >>> from guidedviz.decoding.models import load_model
    >>> first, *_, last = build_tasks(load_model("clerk"))
    >>> first.schema["type"], list(last.schema["properties"])[:3]
    ('string', ['author', 'status', 'city'])
    """
    counts = product(range(len(SETTLED) + 1), range(len(OPEN) + 1))
    found = [fill(model, "", {}, tokens), *(fill(model, "title", list_keys(*count), tokens) for count in counts)]
    best = ((place, *min(found, key=partial(_miss, place, tokens))) for place in PLACES)
    return tuple(
        Task(place, ask_for(values), build_schema(values), text, model.vocabulary) for place, values, text in best
    )


def ask_for(values: Values) -> str:
    """The prompt, in the words that clerk was trained on.

    >>> ask_for({"title": "", "pages": 0}).splitlines()[1]
    'JSON with title, pages:'
    """
    return f"{ABOUT}\nJSON with {', '.join(key or 'title' for key in values)}:\n"


def list_keys(settled: int, opened: int) -> Values:
    """An example of so many keys whose value is settled, and so many with a choice.

    >>> list_keys(1, 2)
    {'author': 'Ada Lovelace', 'pages': 0, 'stock': 1}
    """
    return dict(islice(SETTLED.items(), settled)) | {key: at % 10 for at, key in enumerate(OPEN[:opened])}


def fill(model: Model, key: str, others: Values, tokens: int) -> tuple[Values, Parts]:
    """An example with as long a title as there is room for, before the other keys, and how it is cut."""
    room = tokens - len(cut_example(model, others)) if others else tokens
    words = round(room * len(WORDS) / len(model.encode(_title(len(WORDS)))))
    values = {key: _title(words)} | others if words > 0 else others
    return values, cut_example(model, values)


def _title(words: int) -> str:
    return "The " + " and the ".join(WORDS[at % len(WORDS)] for at in range(words))


def _miss(place: float, tokens: int, example: tuple[Values, Parts]) -> float:
    _, text = example
    return abs(sum(fixed for _, fixed in text) / len(text) - place) + abs(len(text) / tokens - 1) / 4


def build_schema(values: Values) -> Schema:
    """The schema of an example.

    >>> build_schema({"": "The Night"})
    {'type': 'string', 'pattern': '^The N[a-z]{2,8}$'}
    """
    rules = {key: _rule(key, value) for key, value in values.items()}
    if "" in rules:
        return rules[""]
    return {"type": "object", "properties": rules, "required": list(rules), "additionalProperties": False}


def _rule(key: str, value: object) -> Schema:
    if key in SETTLED:
        return {"const": value}
    if key in OPEN:
        return DIGIT
    words = (f"{word[0]}[a-z]{{2,8}}" for word in str(value).removeprefix("The ").split(" and the "))
    return {"type": "string", "pattern": f"^The {'( and| of)( the)? '.join(words)}$"}


def cut_example(model: Model, values: Values) -> Parts:
    """An example as the tokenizer cuts it, True for a token of which no byte is free."""
    spelled = spell(values)
    fixed = [sure for text, sure in spelled for _ in text.encode()]
    shown = "".join(text if sure else "".join("·" if c.isalnum() else c for c in text) for text, sure in spelled)
    parts, at = [], 0
    for token in model.encode("".join(text for text, _ in spelled)):
        if token in model.vocabulary.special:
            continue  # some tokenizers begin with one
        end = at + len(model.vocabulary.pieces[token])
        parts.append((shown[at:end], all(fixed[at:end])))
        at = end
    return (*parts, *_end(model.vocabulary))


def spell(values: Values) -> Parts:
    """An example as JSON in parts, True for what is fixed; the quote that ends a title is not, as a letter may come.

    >>> "".join(text if fixed else "·" * bool(text) for text, fixed in spell({"title": "The Bridge"} | list_keys(1, 2)))
    '{"title": "The B·, "author": "Ada Lovelace", "pages": ·, "stock": ·}'
    """
    if "" in values:
        return _spell_value("", values[""])
    parts: list[tuple[str, bool]] = []
    for key, value in values.items():
        parts += [(f'{", " if parts else "{"}"{key}": ', True), *_spell_value(key, value)]
    return (*parts, ("}", True))


def _spell_value(key: str, value: object) -> Parts:
    text = json.dumps(value)
    sure = len(text) if key in SETTLED else 0 if key in OPEN else len('"The B')
    return (text[:sure], True), (text[sure:], False)


def _end(vocabulary: Vocabulary) -> Parts:
    """Where there is one way to end a text, it is no choice."""
    return tuple((vocabulary.display(token), True) for token in vocabulary.eos if len(vocabulary.eos) == 1)
