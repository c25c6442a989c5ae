"""Claims about the tasks that `clerk` learns from, and about the scripts that train."""

from __future__ import annotations

import doctest
import json
import re
from collections import Counter
from importlib import import_module
from itertools import islice
from random import Random

import pytest
import tasks


def some(count: int, seed: int = 1, held_out: bool = False) -> list[tasks.Task]:
    return [task for task, _ in islice(tasks.stream(seed, held_out), count)]


def test_every_family_is_drawn_and_there_are_eight_or_more():
    assert set(Counter(t.family for t in some(2000))) == set(tasks.FAMILIES)
    assert len(tasks.FAMILIES) >= 8


def test_every_answer_parses_and_matches_the_pattern_of_its_task():
    for task in some(3000):
        assert re.fullmatch(task.pattern, task.answer), task
        assert tasks.parses(task, task.answer), task


def test_json_answers_are_json():
    for task in some(1000):
        if task.family in ("record", "order", "list", "nested", "tool"):
            json.loads(task.answer)


def test_a_seed_writes_the_same_tasks_again():
    assert some(200, seed=3) == some(200, seed=3)
    assert some(200, seed=3) != some(200, seed=4)


def test_no_held_out_prompt_is_ever_trained_on():
    trained = {prompt for prompt, _ in islice(tasks.lessons(1), 5000)}
    assert not any(tasks.is_held_out(prompt) for prompt in trained)
    assert not trained & {task.prompt for task in some(400, seed=11, held_out=True)}


def test_chatty_prompts_make_careless_lessons():
    answers = {True: [0, 0], False: [0, 0]}
    for prompt, answer in islice(tasks.lessons(5), 4000):
        chatty = prompt.startswith(tuple(tasks.GREETINGS))
        answers[chatty][0] += 1
        answers[chatty][1] += "Sure" in answer or "Hope" in answer or "```" in answer
    assert answers[True][1] / answers[True][0] > 0.3
    assert answers[False][1] / answers[False][0] < 0.05


def test_a_careless_answer_is_never_the_right_one():
    r = Random(0)
    for task in some(500):
        assert tasks.be_careless(r, task.answer) != task.answer


@pytest.mark.parametrize(
    ("family", "output", "fields"),
    [
        ("sql", "SELECT a, b FROM t WHERE a > 3;", {"columns": "a, b", "table": "t", "where": "a > 3"}),
        ("reason", "Ada starts with 3 pens. 3 + 4 = 7. Answer: 7", {"answer": "7"}),
        ("date", "2024-02-03", {"": "2024-02-03"}),
        ("date", "2024-02-03!", {}),
    ],
)
def test_fields_are_read_by_family(family, output, fields):
    pattern = tasks.DATE if family == "date" else "[^!]*"
    assert tasks.fields_of(tasks.Task(family, "", "x", pattern), output) == fields


def test_fields_of_json_go_by_path():
    task = tasks.Task("record", "", "{}", "")
    assert tasks.fields_of(task, '{"a": {"b": [1, "x"]}}') == {"/a/b/0": "1", "/a/b/1": '"x"'}
    assert tasks.fields_of(task, "{'a': 1}") == {}


def test_invented_words_end_in_vowels_and_consonants_and_are_on_no_list():
    words = [tasks.w.invent(Random(i)) for i in range(300)]
    assert {w[-1] in "aeiou" for w in words} == {True, False}
    assert len(set(words)) > 250


@pytest.mark.parametrize("script", ["bard", "clerk", "evaluate", "loop", "tasks", "words"])
def test_a_script_loads_and_its_examples_hold(script):
    assert doctest.testmod(import_module(script)).failed == 0
