"""The wire: nothing piles up, whatever the page does."""

from __future__ import annotations

import asyncio
import json

from guidedviz.widgets import wire
from guidedviz.widgets.player_page import BUNDLES


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


def test_a_page_that_does_not_answer_is_not_flooded_and_gets_the_last_state_when_it_does(monkeypatch):
    monkeypatch.setattr(wire, "GAP", 0.002)

    async def lesson(line, state):
        for state["n"] in range(30):
            line.tell()
            await asyncio.sleep(wire.GAP * 1.1)
        assert len(line.sent) <= wire.UNDER_WAY
        line.hear({"do": "painted", "number": line.sent[-1]["number"]})
        await asyncio.sleep(2 * wire.GAP)
        assert line.sent[-1]["n"] == 29

    in_loop(lesson)


def test_a_new_page_gets_everything():
    async def lesson(line, state):
        line.hear({"do": "hello"})
        await asyncio.sleep(2 * wire.GAP)
        assert line.sent[-1]["all"]

    in_loop(lesson)


def test_a_widget_loads_the_bundle_of_its_kind_alone():
    kinds = {path.stem for path in BUNDLES.glob("*.js")} - {"player", "class"}  # they are no widgets
    assert kinds == {"stage", "map", "film", "fold", "fraction", "picture", "predict", "score"}
    code = {kind: wire.Wire(kind, lambda said: None, lambda everything: {}).code for kind in kinds}
    assert len({one.script for one in code.values()}) == len(kinds)
    size = {kind: len((one.script + one.style).encode()) for kind, one in code.items()}
    assert size["film"] < 40_000
    assert ".gv-map-tools" not in code["film"].style
    assert max(size, key=size.get) == "stage"


def test_a_notebook_stores_the_code_of_a_kind_once():
    one, other = (wire.Wire("stage", lambda said: None, lambda everything: {}) for _ in range(2))
    assert one.code is other.code
    assert one.get_state("code") == {"code": f"IPY_MODEL_{one.code.model_id}"}
    assert len(json.dumps(one.get_state()).encode()) < 3_000


def test_a_widget_after_all_were_closed_has_its_code():
    one = wire.Wire("film", lambda said: None, lambda everything: {})
    one.code.close()
    assert wire.Wire("film", lambda said: None, lambda everything: {}).code.comm is not None
