"""Three ways to valid JSON, beside each other: ask again, send the validator's message back, or use a mask.

The first answers are those of the records `json` and `orders`, free and greedy. A *retry* asks the same question again
at temperature 1 with a new seed. A *repair* appends the wrong answer and the validator's message to the conversation,
and asks greedily. Both stop at the first answer that fits the schema. The mask needs one call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
from questions import AS_ORDER, EXACT, ORDERS, PEOPLE, PERSON, SHORT_ORDER, Case, Way
from tables import JUDGES, share

CALLS = 3  # of one case, with the first answer
SENT_BACK = "Your answer is not valid: {message}. Write it again. Answer only with the JSON object."
RETRY, REPAIR = "retry", "repair"
Messages = list[dict[str, str]]
Ask = Callable[[Iterable[tuple[int, Messages, Way]]], dict[int, dict[str, Any]]]  # a row per number of a case


@dataclass(frozen=True)
class Task:
    """A record whose first answers are used, its ways, and the schema that the validator knows."""

    record: str
    words: str
    free: str
    mask: str
    asked: Way
    schema: dict[str, Any]
    cases: int


TASKS = {
    "person": Task("json", EXACT, "keys, free", "keys, mask", PEOPLE["keys, free"], PERSON, 120),
    "order": Task("orders", AS_ORDER, "free", "mask, at most 3 items", ORDERS["free"], SHORT_ORDER, 30),
}


def complain(text: str, schema: dict[str, Any]) -> str:
    """What the validator says about a text; "" if it fits.

    >>> complain('{"age": "6"}', {"properties": {"age": {"type": "integer"}}})
    "'6' is not of type 'integer'"
    >>> complain('Sure: {"age": 6}', {})
    'Expecting value: line 1 column 1 (char 0)'
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        return str(error)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(value)
    return next((error.message for error in errors), "")


def ask_again(way: str, call: int, messages: Messages, text: str, task: Task) -> tuple[Messages, Way]:
    """The messages of the next call and its settings, after an answer that does not fit."""
    if way == RETRY:
        return messages, replace(task.asked, temperature=1.0, seed=call)
    said = SENT_BACK.format(message=complain(text, task.schema))
    more = [{"role": "assistant", "content": text}, {"role": "user", "content": said}]
    return [*messages, *more], task.asked


def collect(task: Task, way: str, kept: list[dict[str, Any]], ask: Ask) -> list[list[str]]:
    """All texts of each case, the first one from the record; a case that fits is not asked again."""
    answers = []
    waiting: dict[int, Messages] = {}
    for number, case in enumerate(kept):
        answers.append([case["outputs"][task.free]])
        waiting[number] = [{"role": "user", "content": f"{case['fact']} {task.words}"}]
    for call in range(2, CALLS + 1):
        asked = []
        for number, messages in waiting.items():
            text = answers[number][-1]
            if complain(text, task.schema):
                asked.append((number, *ask_again(way, call, messages, text, task)))
        waiting = {number: messages for number, messages, _ in asked}
        for number, row in sorted(ask(asked).items()):
            answers[number].append(row["text"])
        print(f"{task.record}, {way}: call {call} of {len(asked)} cases", flush=True)
    return answers


def tabulate(name: str, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each way, and each number of calls that are allowed: how many fit, how many are right, and all calls."""
    task = TASKS[name]
    table = []
    for way, most in (("free", 1), (RETRY, 2), (RETRY, CALLS), (REPAIR, 2), (REPAIR, CALLS), ("mask", 1)):
        said = [case["answers"][way][:most] for case in cases]
        texts = [answers[-1] for answers in said]
        label = f"{name}, {way}" if most == 1 else f"{name}, {way}, at most {most} calls"
        fit = sum(not complain(text, task.schema) for text in texts)
        right = sum(is_right(task.record, text, case["right"]) for text, case in zip(texts, cases, strict=True))
        calls = sum(map(len, said))
        table.append(share(label, "fits", fit, len(cases)) | {"calls": calls})
        table.append(share(label, "right", right, len(cases)) | {"calls": calls})
    return table


def is_right(record: str, text: str, right: Any) -> bool:
    """Whether the answer has the right values, as the first record judges it."""
    return JUDGES[record](Case("", right), {"text": text, "end": "eos"})["right"]


def record_repairs(ask: Ask, folder: Path, count: int | None) -> dict[str, Any]:
    """Ask again where a first answer does not fit, in both ways; the mask's answers are those of the record."""
    table = []
    made = []
    for name, task in TASKS.items():
        record = json.loads((folder / f"{task.record}.json").read_text(encoding="utf-8"))
        kept = record["cases"][: min(task.cases, count or task.cases)]
        found = {way: collect(task, way, kept, ask) for way in (RETRY, REPAIR)}
        cases = []
        for number, case in enumerate(kept):
            answers = {way: texts[number] for way, texts in found.items()}
            answers["free"] = answers[RETRY][:1]
            answers["mask"] = [case["outputs"][task.mask]]
            cases.append({"task": name, "fact": case["fact"], "right": case["right"], "answers": answers})
        table += tabulate(name, cases)
        made += cases
    return {"sent_back": SENT_BACK, "table": table, "cases": made}
