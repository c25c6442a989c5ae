"""The wire: nothing piles up, whatever the page does."""

import asyncio
import json

from guidedviz.widgets import wire
from guidedviz.widgets.player_page import BUNDLES, NO_KINDS


class Recorder(wire.Wire):
    """A wire whose messages go into a list; each has the number that was told last."""

    sent = None
    number = 0

    def __init__(self):
        super().__init__("stage", lambda said: None, lambda everything: {"n": self.number, "all": everything})

    def send(self, content, buffers=None):
        self.sent = [*(self.sent or []), content]


async def test_many_changes_in_a_frame_are_one_message_and_a_new_page_gets_everything():
    line = Recorder()
    for line.number in range(1, 50):
        line.tell()
    await asyncio.sleep(3 * wire.GAP)
    sent = [message["n"] for message in line.sent]
    assert sent in ([49], [1, 49])
    line.hear({"do": "hello"})
    await asyncio.sleep(2 * wire.GAP)
    assert line.sent[-1]["all"]


async def test_a_page_that_does_not_answer_is_not_flooded_and_gets_the_last_state_when_it_does(monkeypatch):
    monkeypatch.setattr(wire, "GAP", 0.002)
    line = Recorder()
    for line.number in range(30):
        line.tell()
        await asyncio.sleep(wire.GAP * 1.1)
    assert len(line.sent) <= wire.UNDER_WAY
    line.hear({"do": "painted", "number": line.sent[-1]["number"]})
    await asyncio.sleep(2 * wire.GAP)
    assert line.sent[-1]["n"] == 29


def test_a_widget_loads_the_bundle_of_its_kind_alone():
    kinds = {path.stem for path in BUNDLES.glob("*.js")} - NO_KINDS  # they are no widgets
    assert kinds == {"stage", "film", "fold", "fraction", "picture", "predict", "score", "tree"}
    code = {kind: wire.Wire(kind, lambda said: None, lambda everything: {}).code for kind in kinds}
    assert len({one.script for one in code.values()}) == len(kinds)
    size = {kind: len((one.script + one.style).encode()) for kind, one in code.items()}
    assert size["film"] < 40_000
    assert len(code["stage"].script.encode()) <= 75_000, "what few need is loaded late"
    assert [kind for kind, one in code.items() if one.map and one.learning] == ["stage"]
    assert ".gv-map-tools" not in code["film"].style
    assert max(size, key=size.get) == "stage"


def test_a_notebook_stores_the_code_of_a_kind_once_and_again_after_all_widgets_were_closed():
    one, other = (wire.Wire("stage", lambda said: None, lambda everything: {}) for _ in range(2))
    assert one.code is other.code
    assert one.get_state("code") == {"code": f"IPY_MODEL_{one.code.model_id}"}
    assert len(json.dumps(one.get_state()).encode()) < 3_000
    one.code.close()
    assert wire.Wire("stage", lambda said: None, lambda everything: {}).code.comm is not None
