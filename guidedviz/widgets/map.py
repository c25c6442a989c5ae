"""The vocabulary map alive: one state's mask over all tokens, to hover, search, zoom, and to compare with another's."""

from __future__ import annotations

from typing import Any

from guidedviz.errors import SettingError
from guidedviz.machines.machine import next_bytes
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.tokens.guide import Guide
from guidedviz.views.figure import Figure, shorten
from guidedviz.views.map import draw_map, draw_xor
from guidedviz.views.search import read_signs
from guidedviz.views.split import draw_split
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.map_feed import MapFeed, split_of
from guidedviz.widgets.show import OnPage, show

MOST_STATES = 40  # states that get a button each


def vocabulary_map(guide: Guide, state: Any = None, *, text: str = "", before: Any = None) -> VocabularyMap:
    """The live map of a state, or of the state after a text; `before` is a state to compare it with."""
    return VocabularyMap(guide, guide.initial if state is None else state, text, before)


class VocabularyMap(OnPage):
    """What `gv.vocabulary_map` gives: a guide, a state, and a page that shows which tokens are legal in it."""

    kind = "map"

    def __init__(self, guide: Guide, state: Any, text: str, before: Any) -> None:
        self.cell = ("", "")
        move_in(self)
        self.guide, self.state, self.before, self.text, self.note = guide, state, before, "", ""
        self._feed = MapFeed(guide)
        if text:
            self.read(text)

    # --- what a person or a notebook does ---

    def go(self, state: Any) -> VocabularyMap:
        """The map of another state."""
        self.state, self.text, self.note = state, "", ""
        return self._moved()

    def read(self, text: str) -> VocabularyMap:
        """The map of the state after a text from the beginning; where the text dies, the note says so."""
        machine = getattr(self.guide, "machine", None)
        if machine is None:
            raise SettingError("map after a text", seen="a guide without a machine", expected="gv.guide(machine, ...)")
        state, data, self.text, self.note = machine.initial, read_signs(text), text, ""
        for place, byte in enumerate(data):
            after = machine.step(state, byte)
            if after is None:
                expected = visible_bytes(next_bytes(machine, state)) or "the end"
                after_what = f"after {visible(data[:place])[-40:]}, " if place else ""
                self.note = f"{after_what}{visible(bytes([byte]))} cannot come: expected {expected}"
                break
            state = after
        self.state = state
        return self._moved()

    def compare(self, before: Any = None) -> VocabularyMap:
        """From now on, what differs from this state; None shows the mask alone."""
        self.before = before
        return self._moved()

    @property
    def figure(self) -> Figure:
        """The same as a still picture."""
        if self.before is not None:
            return draw_xor(self.guide, self.before, self.state)
        split = split_of(self.guide, self.state)
        return draw_split(split, self.state) if split else draw_map(self.guide, self.state)

    def _everything(self) -> dict[str, Any]:
        return {"map": self._feed.kept(self.state), **self._standing()}

    def __repr__(self) -> str:
        return self.figure.text

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return show(self.figure, self, **wanted)

    # --- what the page says and is told ---

    def _hear(self, said: dict[str, Any]) -> None:
        do = said.get("do")
        if do == "map":
            self._feed.hear(said, self.state)
            self._moved()
        elif do == "read":
            self.read(str(said["text"]))
        elif do == "state":
            self.go(int(said["state"]))
        elif do == "compare":
            self.compare(self.state if said["on"] else None)

    def _moved(self) -> VocabularyMap:
        self._tell()
        return self

    def _news(self, everything: bool) -> dict[str, Any]:
        return {"map": self._feed.news(self.state, self.before, everything), **self._standing()}

    def _standing(self) -> dict[str, Any]:
        machine: Any = getattr(self.guide, "machine", None)
        count = len(machine) if hasattr(machine, "__len__") else 0
        names = [self.guide.label(state) for state in range(count)] if count <= MOST_STATES else []
        states = [shorten(name, 16) for name in names]
        at = self.state if isinstance(self.state, int) and states else None
        return {"states": states, "at": at, "text": self.text, "reads": machine is not None, "note": self.note}
