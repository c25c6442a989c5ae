"""The live vocabulary map: the mask of one state over all tokens, to hover, search, zoom and compare."""

from __future__ import annotations

from copy import copy
from typing import Any

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.machine import next_bytes
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.split.split import Split
from guidedviz.views.figure import Figure
from guidedviz.views.vocabulary.map import draw_map, draw_xor
from guidedviz.views.vocabulary.split_map import draw_split
from guidedviz.views.vocabulary.table import read_signs
from guidedviz.widgets.display import Display, Shown, said
from guidedviz.widgets.panels.map_feed import MapFeed, split_of

MOST_STATES = 40  # a larger machine gets no buttons
FEW_STATES = 12  # a recording has every pair of so many states


def vocabulary_map(
    guide: Guide, state: Any = None, *, text: str = "", before: Any = None, stack: bool = False
) -> VocabularyMap:
    """A live map of the mask of a state, or of the state after a text; `before` is a state to compare it with.

    With `stack` the map of a split also shows which tokens depend on the stack.
    """
    check_guide(guide)
    expect(text, str, "gv.vocabulary_map, text", "a text")
    expect(stack, bool, "gv.vocabulary_map, stack", "True or False")
    if stack and not isinstance(getattr(guide, "split", None), Split):
        hint = 'gv.guide(machine, vocabulary, engine="split")'
        raise SettingError("gv.vocabulary_map, stack", seen="a guide without a split", expected="a split", hint=hint)
    for name, given in {"state": state, "before": before}.items():
        if given is not None and not _has_mask(guide, given):
            expected = "a state of the guide"
            raise SettingError(
                f"gv.vocabulary_map, {name}", seen=quoted(given), expected=expected, hint="guide.initial"
            )
    return VocabularyMap(guide, guide.initial if state is None else state, text, before, stack)


def _has_mask(guide: Guide, state: Any) -> bool:
    try:
        hash(state), guide.mask(state), guide.label(state)
    except Exception:  # each kind of guide has states of its own kind
        return False
    return True


class VocabularyMap(Shown):
    """What `gv.vocabulary_map` returns: a guide, a state, and a page that shows which tokens are legal in it."""

    def __init__(self, guide: Guide, state: Any, text: str, before: Any, stack: bool) -> None:
        self.guide, self.state, self.before, self.text, self.note = guide, state, before, "", ""
        self._feed = MapFeed(guide, stack)
        self.display = Display("map", self._news, self._hear, saved=self._everything, record=self._record)
        if text:
            self.read(text)

    def go(self, state: Any) -> VocabularyMap:
        """Show another state."""
        self.state, self.text, self.note = state, "", ""
        return self._moved()

    def read(self, text: str) -> VocabularyMap:
        """Show the state after a text read from the start; the note says where the machine rejects it."""
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
        """Show the difference from this state; None shows the mask alone."""
        self.before = before
        return self._moved()

    @property
    def figure(self) -> Figure:
        """The map as a still picture."""
        if self.before is not None:
            return draw_xor(self.guide, self.before, self.state)
        split = split_of(self.guide, self.state) if self._feed.stack else None
        return draw_split(split, self.state) if split else draw_map(self.guide, self.state)

    def _hear(self, heard: Any) -> None:
        match heard:
            case {"do": "map"}:
                self._feed.hear(heard, self.state)
                self.display.tell()
            case {"do": "read", "text": str(text)} if hasattr(self.guide, "machine"):
                self.read(text)
            case {"do": "state", "state": int(state)} if 0 <= state < len(self._states):
                self.go(state)
            case {"do": "compare", "on": bool(on)}:
                self.compare(self.state if on else None)

    def _moved(self) -> VocabularyMap:
        self.display.tell()
        return self

    def _news(self, everything: bool) -> dict[str, Any]:
        if everything or self._feed.full:
            self._feed.forget()
        return self._pack(self._feed, everything)

    def _everything(self) -> dict[str, Any]:
        return self._pack(self._feed.again(), True)

    def _record(self) -> dict[str, Any]:
        """The map of every state, and of every pair of states if they are few."""
        feed, names = self._feed.again(), self._states
        states = [*range(len(names))] or [self.state]
        befores = [None, *states] if len(states) <= FEW_STATES else [None]
        wanted = [(state, before) for before in befores for state in states]
        pages = list(dict.fromkeys([(self.state, self.before), *wanted]))
        record = [self._at(*page)._pack(feed, False) for page in pages]
        bits: dict[int, str] = {}
        for shown, (state, before) in zip(record, pages, strict=True):
            answers = {said("state", state=to): (to, before) for to in states if names}
            answers |= {said("compare", on=True): (state, state), said("compare", on=False): (state, None)}
            moves = {ask: pages.index(to) for ask, to in answers.items() if to in pages}
            bits, shown["map"]["bits"] = bits | shown["map"]["bits"], {}
            shown |= {"moves": moves, "reads": False}
        whole = feed.news(True) | record[0]["map"] | {"bits": bits}
        whole["answers"] = feed.texts([*range(len(self.guide.vocabulary))])
        return record[0] | {"map": whole, "pages": record}

    def _at(self, state: Any, before: Any) -> VocabularyMap:
        """A copy that shows other states."""
        other = copy(self)
        other.state, other.before = state, before
        if state != self.state:
            other.text = other.note = ""
        return other

    def _pack(self, feed: MapFeed, everything: bool) -> dict[str, Any]:
        now, before = feed.at(self.state), None if self.before is None else feed.at(self.before)["mask"]
        names = [shorten(self.guide.label(state), 40) for state in (self.state, self.before) if state is not None]
        shown = {"now": now["mask"], "asked": now["asked"], "before": before}
        return {"map": feed.news(everything) | shown | {"states": names}, **self._standing()}

    def _standing(self) -> dict[str, Any]:
        states = self._states
        at = self.state if isinstance(self.state, int) and states else None
        reads = hasattr(self.guide, "machine")
        return {"states": states, "at": at, "text": self.text, "reads": reads, "note": self.note}

    @property
    def _states(self) -> list[str]:
        """The names of the states of a small finite machine; the page shows one button per state."""
        machine: Any = getattr(self.guide, "machine", None)
        count = len(machine) if hasattr(machine, "__len__") else 0
        return [shorten(self.guide.label(state), 16) for state in range(count)] if count <= MOST_STATES else []
