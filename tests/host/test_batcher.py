"""Claims about passes: they give the model's logits, students take turns, and long texts are read in parts."""

import asyncio

import numpy as np
import pytest

from guidedviz.errors import ModelError
from guidedviz.host.batcher import Engine
from guidedviz.models.frames import Ask, unpack_rows


def ask(engine, *wanted):
    """The rows that each of several students asks for at the same time."""

    async def run():
        asks = [Ask(tuple(text), start) for text, start in wanted]
        bodies = await asyncio.gather(*(engine.rows(str(n), one) for n, one in enumerate(asks)))
        size = engine.card["size"]
        return [unpack_rows(body, len(one.tokens) - one.first, size) for body, one in zip(bodies, asks, strict=True)]

    return asyncio.run(run())


TEXTS = [[5, 6, 7], [5, 6, 7, 8], [9], [5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]]


def close(rows):
    """Equal up to the rounding to 16 bits."""
    return pytest.approx(rows, abs=2e-2)


@pytest.mark.parametrize("name", ["bard", "clerk_torch"])
@pytest.mark.quick("bard")
def test_texts_that_are_read_together_have_the_logits_of_each_alone(request, name):
    model = request.getfixturevalue(name)
    engine = Engine(model)
    for _ in range(2):  # the second time from the kept prefixes
        found = ask(engine, *((text, -1) for text in TEXTS))
        for text, rows in zip(TEXTS, found, strict=True):
            assert rows == close(model.logits(text)[None])
    assert engine.reader.passes == 2
    asked = sum(map(len, TEXTS))
    assert engine.reader.tokens < 2 * asked - len(TEXTS), "most of them only once"


def test_rows_from_a_place_on_are_those_of_the_model_also_in_parts(bard):
    engine = Engine(bard)
    text = TEXTS[-1]
    engine.reader.pass_tokens = 5
    for start in (0, 4, 16, 17):
        (rows,) = ask(engine, (text, start))
        assert rows == close(bard.all_logits(text, start))


def served(engine, *asked):
    """The students in the order in which they are answered."""
    order = []

    async def one(student, tokens):
        await engine.rows(student, Ask(tokens))
        order.append(student)

    async def run():
        await asyncio.gather(*(one(*student) for student in asked))

    asyncio.run(run())
    return order


def test_a_long_text_is_read_in_parts_and_a_short_one_comes_first(bard):
    engine = Engine(bard)
    engine.reader.pass_tokens = 10
    found = served(engine, ("long", (1,) * 100), ("short", (2, 3)))
    assert found == ["short", "long"]


def test_one_students_burst_takes_one_place_per_turn(bard):
    engine = Engine(bard)
    burst = [("burst", (token,)) for token in range(40)]
    order = served(engine, *burst, ("Ada", (61,)), ("Bob", (62,)))
    assert set(order[:3]) == {"burst", "Ada", "Bob"}
    assert engine.reader.passes == 40
    assert engine.waiting == 0
    assert engine._students == {}


def test_a_text_that_nobody_waits_for_is_not_read(bard):
    engine = Engine(bard)
    engine.wait = 0.01

    async def run():
        waiting = [asyncio.ensure_future(engine.rows(str(n), Ask((n,)))) for n in range(9)]
        await asyncio.sleep(0)
        for task in waiting[1:]:
            task.cancel()
        await waiting[0]

    asyncio.run(run())
    assert engine.reader.tokens == 1


def test_a_pass_that_fails_is_an_error_and_the_next_one_succeeds(bard, monkeypatch):
    engine = Engine(bard)

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(engine.reader, "network", type("Net", (), {"read": fail})())
        with pytest.raises(ModelError, match="out of memory"):
            ask(engine, ([1, 2], -1))
    assert np.isfinite(ask(engine, ([1, 2], -1))).all()
