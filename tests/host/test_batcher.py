"""Claims about passes: they give the model's logits, students take turns, and long texts are read in parts."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from guidedviz.errors import ModelError
from guidedviz.host.batcher import Batcher, Turns
from guidedviz.host.metrics import Metrics
from guidedviz.host.prefixes import Prefixes


def batcher(model, **options):
    return Batcher(model.network, Prefixes(model.network, 1 << 26), Metrics(), **options)


def ask(passes, *wanted):
    async def run():
        return await asyncio.gather(*(passes.logits(str(n), *one) for n, one in enumerate(wanted)))

    return asyncio.run(run())


TEXTS = [[5, 6, 7], [5, 6, 7, 8], [9], [5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]]


@pytest.mark.parametrize("name", ["bard", "clerk_torch"])
def test_texts_that_are_read_together_have_the_logits_of_each_alone(request, name):
    model = request.getfixturevalue(name)
    passes = batcher(model)
    for _ in range(2):  # the second time from the kept prefixes
        for text, rows in zip(TEXTS, ask(passes, *((text, len(text) - 1) for text in TEXTS)), strict=True):
            assert rows == pytest.approx(model.logits(text)[None], abs=2e-4)
    assert passes.metrics.passes <= 3
    assert passes.prefixes.hits > 0


def test_rows_from_a_place_on_are_those_of_the_model_also_in_parts(bard):
    passes, text = batcher(bard), TEXTS[-1]
    passes.pass_tokens = 5
    for start in (0, 4, 16, 17):
        (rows,) = ask(passes, (text, start))
        assert rows == pytest.approx(bard.all_logits(text, start), abs=2e-4)


def test_a_long_text_is_read_in_parts_and_a_short_one_comes_first(bard):
    passes, order = batcher(bard), []
    passes.pass_tokens = 10

    async def one(student, tokens):
        await passes.logits(student, tokens, len(tokens) - 1)
        order.append(student)

    async def run():
        await asyncio.gather(one("long", [1] * 100), one("short", [2, 3]))

    asyncio.run(run())
    assert order == ["short", "long"]


def test_one_students_burst_takes_one_place_per_turn():
    turns = Turns()
    for number in range(100):
        turns.add("burst", number)
    for student in ("Ada", "Bob"):
        turns.add(student, 0)
    assert [student for student, _ in turns.take(4)] == ["burst", "Ada", "Bob", "burst"]
    turns.add("Ada", 1)
    assert {student for student, _ in turns.take(2)} == {"burst", "Ada"}
    assert turns.count == 97


def test_a_text_that_nobody_waits_for_is_not_read(bard):
    passes = batcher(bard, wait=0.01)

    async def run():
        waiting = [asyncio.ensure_future(passes.logits("Ada", [n], 0)) for n in range(9)]
        await asyncio.sleep(0)
        for task in waiting[1:]:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(run())
    assert passes.metrics.read == 1


def test_a_pass_that_fails_is_an_error_and_the_next_one_succeeds(bard, monkeypatch):
    passes = batcher(bard)

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(passes, "network", type("Net", (), {"read": fail, "device": "cpu"})())
        with pytest.raises(ModelError, match="out of memory"):
            ask(passes, ([1, 2], 1))
    assert np.array_equal(ask(passes, ([1, 2], 1))[0].shape, (1, 65))
