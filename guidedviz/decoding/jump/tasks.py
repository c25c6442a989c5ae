"""JSON Schemas with a given fraction of forced tokens: from one long free string to many short keys.

Every example describes a book: a title of any length, keys with a constant value as in the response of an API,
and keys with one free digit. A person can change which tokens of a text are fixed: a regex
then replaces the schema.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice, product
from typing import Any

from guidedviz.decoding.jump.cost import FRACTIONS, Parts
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.models.model import Model
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.machine_guide import guide
from guidedviz.tokens.vocabulary import Vocabulary

Schema = dict[str, Any]
Values = dict[str, object]  # the values of an example by key; the key "" is a title without an object
ABOUT = "The Bridge and the Clock and the Desert is by Ada Lovelace."
WORDS = """Bridge Castle Desert Forest Garden Harbor Island Journey Kingdom Lantern Mirror Night Ocean River Storm Tower
Violin Winter""".split()  # different initials prevent a small model from repeating one word
SETTLED = {"author": "Ada Lovelace", "status": "ok", "city": "London", "member": True, "date": "2026-11-22"}
OPEN = "pages stock score count points seats minutes order total amount length number".split()
KINDS = re.compile("(?<=[^A-Za-z])([A-Za-z])([a-z]+)|([A-Za-z]+)|([0-9]+)|(.)", re.DOTALL)  # a word keeps its initial
DIGIT: Schema = {"type": "integer", "minimum": 0, "maximum": 9}


@dataclass(frozen=True)
class Task:
    """The task that is decoded at a position of the slider."""

    fraction: float  # the requested fraction
    prompt: str
    schema: Schema
    text: Parts  # an example, token by token; True if fixed; free letters and digits are dots
    vocabulary: Vocabulary
    example: Parts = ()  # the same text without dots
    pattern: str = ""  # a regex in place of the schema, for fixed tokens that a person chose

    @cached_property
    def guide(self) -> Guide:
        """The guide, built when it is first used."""
        machine = regex(self.pattern) if self.pattern else json_schema(self.schema, whitespace="one")
        return guide(machine, self.vocabulary)


def build_tasks(model: Model, tokens: int = 64) -> tuple[Task, ...]:
    """One task per position of the slider, each of about `tokens` tokens of the model's tokenizer.

    >>> first, *_, last = build_tasks(gv.load_model("clerk"))
    >>> first.schema["type"], list(last.schema["properties"])[:3]
    ('string', ['author', 'status', 'city'])
    """
    counts = product(range(len(SETTLED) + 1), range(len(OPEN) + 1))
    found = [fill(model, "", {}, tokens), *(fill(model, "title", list_keys(*count), tokens) for count in counts)]
    best = ((place, *min(found, key=partial(_miss, place, tokens))) for place in FRACTIONS)
    return tuple(
        Task(
            place, ask_for(values), build_schema(values), text, model.vocabulary, cut_example(model, values, dots=False)
        )
        for place, values, text in best
    )


def fix_by_hand(task: Task, parts: Parts, fraction: float) -> Task:
    """The task with these fixed tokens; a free token keeps its length and its kinds of characters.

    >>> task, *_ = build_tasks(gv.load_model("clerk"))
    >>> fix_by_hand(task, (('{"', True), (":Ada", False), ("7", False), ('"}', False), ("<|end|>", True)), 0.4).pattern
    '\\\\{":A[a-z]{2}[0-9]{1}[^A-Za-z0-9]{2}'
    """
    ends = {task.vocabulary.display(token) for token in task.vocabulary.eos}
    at_end = parts[-1:] if parts[-1][0] in ends else ()
    pattern = "".join(re.escape(text) if fixed else _free(text) for text, fixed in parts[: len(parts) - len(at_end)])
    pattern += "".join("[ -~]?" for _, fixed in at_end if not fixed)  # the text may go on
    return replace(task, fraction=fraction, text=parts, example=parts, pattern=pattern)


def _free(token: str) -> str:
    """A regex for a free token: its letters and digits are free, or all of it where it has none."""
    if not any(map(str.isalnum, token)):
        return f"[^A-Za-z0-9]{{{len(token)}}}"
    return KINDS.sub(_free_kind, token)


def _free_kind(found: re.Match[str]) -> str:
    initial, rest, letters, digits, other = found.groups()
    if initial:
        return f"{initial}[a-z]{{{len(rest)}}}"
    return re.escape(other) if other else f"{'[A-Za-z]' if letters else '[0-9]'}{{{len(letters or digits)}}}"


def ask_for(values: Values) -> str:
    """The prompt, in the format that clerk was trained on.

    >>> ask_for({"title": "", "pages": 0}).splitlines()[1]
    'JSON with title, pages:'
    """
    return f"{ABOUT}\nJSON with {', '.join(key or 'title' for key in values)}:\n"


def list_keys(settled: int, opened: int) -> Values:
    """An example with this many constant keys and this many free keys.

    >>> list_keys(1, 2)
    {'author': 'Ada Lovelace', 'pages': 0, 'stock': 1}
    """
    return dict(islice(SETTLED.items(), settled)) | {key: at % 10 for at, key in enumerate(OPEN[:opened])}


def fill(model: Model, key: str, others: Values, tokens: int) -> tuple[Values, Parts]:
    """An example with a title that fills the remaining length before the other keys, and its tokens."""
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


def cut_example(model: Model, values: Values, dots: bool = True) -> Parts:
    """The tokens of an example, True for a token without a free byte. `dots` replace free letters and digits."""
    spelled = spell(values)
    fixed = [sure for text, sure in spelled for _ in text.encode()]
    shown = "".join(re.sub("[A-Za-z0-9]", "·", text) if dots and not sure else text for text, sure in spelled)
    parts, at = [], 0
    for token in model.encode("".join(text for text, _ in spelled)):
        if token in model.vocabulary.special:
            continue  # some tokenizers add a special token at the start
        end = at + len(model.vocabulary.pieces[token])
        parts.append((shown[at:end], all(fixed[at:end])))
        at = end
    return (*parts, *_end(model.vocabulary))


def spell(values: Values) -> Parts:
    """An example as JSON in parts, True for fixed parts. The closing quote of a title is free: a letter could come.

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
    """EOS as a token; it is forced if there is only one EOS id."""
    return tuple((vocabulary.display(token), True) for token in vocabulary.eos if len(vocabulary.eos) == 1)
