"""The wire: nothing piles up, whatever the page does."""

from __future__ import annotations

import asyncio

from guidedviz.widgets import wire


class Recorder(wire.Wire):
    """A wire whose messages go into a list."""

    def send(self, content, buffers=None):
        self.__dict__.setdefault("sent", []).append(content)


def in_loop(lesson):
    async def run():
        state = {"n": 0}
        line = Recorder("stage", lambda said: None, lambda everything: {"n": state["n"], "all": everything})
        line.sent = []
        await lesson(line, state)
        line.close()

    asyncio.run(run())


def test_many_changes_in_a_frame_are_one_message():
    async def lesson(line, state):
        for state["n"] in range(1, 50):
            line.tell()
        await asyncio.sleep(3 * wire.GAP)
        assert [message["n"] for message in line.sent] == [49] or [m["n"] for m in line.sent] == [1, 49]

    in_loop(lesson)


def test_a_page_that_does_not_answer_is_not_flooded_and_gets_the_last_state_when_it_does():
    async def lesson(line, state):
        for state["n"] in range(30):
            line.tell()
            await asyncio.sleep(wire.GAP * 1.1)
        assert len(line.sent) <= wire.UNDER_WAY
        line._hear({"do": "painted", "number": line.sent[-1]["number"]})
        await asyncio.sleep(2 * wire.GAP)
        assert line.sent[-1]["n"] == 29

    in_loop(lesson)


def test_a_new_page_gets_everything():
    async def lesson(line, state):
        line._hear({"do": "hello"})
        await asyncio.sleep(2 * wire.GAP)
        assert line.sent[-1]["all"]

    in_loop(lesson)
