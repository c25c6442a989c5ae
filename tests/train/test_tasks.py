"""Claims about the tasks that `clerk` learns from, and about the scripts that train."""

import doctest
import json
import re
from importlib import import_module
from itertools import islice
from random import Random

import pytest
import tasks


def some(count: int, seed: int = 1, held_out: bool = False) -> list[tasks.Task]:
    return [task for task, _ in islice(tasks.stream(seed, held_out), count)]


def test_every_family_is_drawn_and_every_answer_parses_and_matches_the_pattern_of_its_task():
    families = set()
    random = Random(0)
    for task in some(3000):
        families.add(task.family)
        assert re.fullmatch(task.pattern, task.answer), task
        assert tasks.parses(task, task.answer), task
        assert tasks.be_careless(random, task.answer) != task.answer
        if task.family in ("record", "order", "list", "nested", "tool"):
            json.loads(task.answer)
    assert families == set(tasks.FAMILIES)
    assert len(families) >= 8
    assert some(200, seed=3) == some(200, seed=3)
    assert some(200, seed=3) != some(200, seed=4)


def test_no_held_out_prompt_is_ever_trained_on():
    lessons = islice(tasks.lessons(1), 5000)
    trained = {prompt for prompt, _ in lessons}
    assert not any(map(tasks.is_held_out, trained))
    prompts = [task.prompt for task in some(400, seed=11, held_out=True)]
    assert trained.isdisjoint(prompts)


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


@pytest.mark.parametrize(("output", "fields"), [('{"a": {"b": [1]}}', {"/a/b/0": "1"}), ("{'a': 1}", {})])
def test_fields_of_json_go_by_path(output, fields):
    assert tasks.fields_of(tasks.Task("record", "", "{}", ""), output) == fields


TRAINING = "bard clerk evaluate loop tasks words"
SCOUT = "scout scout_ask scout_decode scout_evaluate scout_problems scout_texts scout_tokens scout_tools"
RECORDS = "questions repairs tables"


@pytest.mark.parametrize("script", f"{TRAINING} {SCOUT} {RECORDS}".split())
def test_a_script_loads_and_its_examples_hold(script):
    assert doctest.testmod(import_module(script)).failed == 0
