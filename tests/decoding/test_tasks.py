"""The fraction that is asked for is the one that comes out, and every example is a text of its regex."""

import json

import pytest

import guidedviz as gv
from guidedviz.decoding.payoff import FRACTIONS
from guidedviz.decoding.timing import TASK_PROMPT, build_tasks, pattern_of, write_example
from tests.common import BYTES, constant_model


def shares(parts):
    return sum(fixed for _, fixed in parts) / len(parts)


def test_there_is_a_task_for_each_place_and_its_example_has_that_share_and_size(tasks):
    assert tuple(task.fraction for task in tasks) == FRACTIONS
    for task in tasks:
        assert abs(shares(task.text) - task.fraction) < 0.035
        assert 56 <= len(task.text) <= 72


@pytest.mark.parametrize("place", range(0, 20, 3))
@pytest.mark.quick(every=3)
def test_with_jump_forward_clerk_comes_out_at_that_fraction(clerk, tasks, place):
    """Of the tokens of the output, those for which no pass was needed."""
    task = tasks[place]
    trace = gv.record(clerk, TASK_PROMPT, task.guide, temperature=0.0, jump_forward=True)
    share = 1 - trace.passes / len(trace.tokens)
    assert abs(share - task.fraction) < 0.04
    assert trace.steps[-1].end == "eos"
    assert isinstance(json.loads(trace.text), dict if place else str)


@pytest.mark.parametrize(("words", "values"), [(6, None), (1, (0, 0)), (0, (2, 3)), (0, (0, 1)), (6, (5, 12))])
def test_an_example_is_json_and_a_text_of_its_regex_in_which_only_the_free_parts_may_differ(words, values):
    example = write_example(words, values)
    machine = gv.regex(pattern_of(example))
    text = "".join(part for part, _ in example)
    assert json.loads(text)
    assert machine.accepts(text.encode())
    state = machine.initial
    for part, form in example:
        ways = []
        for byte in part.encode():
            following = [machine.step(state, other) for other in range(256)]
            ways.append(sum(after is not None for after in following))
            state = machine.step(state, byte)
        assert bool(form) == any(way > 1 for way in ways)


def test_free_letters_and_digits_are_not_made_up(tasks):
    parts = tasks[10].text
    shown = "".join(text for text, _ in parts)
    assert shown.startswith('{"title": "The B·····')
    assert shown.endswith("·}<|end|>")


def test_where_a_token_is_a_byte_the_share_still_rises_from_place_to_place():
    zeros = [0.0] * 256
    letters = constant_model(BYTES, zeros)
    found = [shares(task.text) for task in build_tasks(letters, 160)]
    assert found == sorted(found)
    assert found[0] < 0.05
    assert found[-1] > 0.9
