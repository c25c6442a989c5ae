"""The vocabulary map alive: one state's mask over all tokens, to hover, search, zoom, and to compare with another's.

What lies where goes to the page once, each mask once (a bit a token), and texts and reasons when somebody points there.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.machines.machine import next_bytes
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.tokens.guide import Guide, Mask
from guidedviz.views.atlas import atlas, pack_bits
from guidedviz.views.figure import Figure, shorten
from guidedviz.views.map import draw_map, draw_xor
from guidedviz.views.search import WAYS, find_tokens, read_signs
from guidedviz.views.words import label
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.show import OnPage, show

CHUNK = 256  # tokens whose texts go together
KEPT = 400  # masks that kernel and page keep
MOST_STATES = 40  # states that get a button each


class MapFeed:
    """What a page needs to draw the map of a guide, each thing once."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self._masks: dict[Hashable, str] = {}  # state -> its mask, packed
        self._sent: dict[str, int] = {}  # what the page has -> under which number
        self._count = 0
        self._answers: list[dict[str, Any]] = []

    @cached_property
    def land(self) -> dict[str, Any]:
        """What lies where; the same for every state."""
        made = atlas(self.guide.vocabulary)
        return {
            "count": len(made),
            "width": made.width,
            "height": made.height,
            "moves": b64encode(made.moves).decode(),
            "borders": made.borders,
            "places": [[p.name, p.start, p.stop, p.x, p.y, p.room] for p in made.places],
            "eos": made.rank[sorted(self.guide.vocabulary.eos)].tolist(),
            "chunk": CHUNK,
            "ways": WAYS,
        }

    def turn(self, guide: Guide) -> None:
        """Another guide over the same vocabulary."""
        self.guide = guide
        self._masks.clear()

    def news(
        self,
        now: Hashable,
        before: Hashable | None = None,
        everything: bool = False,
        edited: tuple[Mask, Mask] | None = None,
    ) -> dict[str, Any]:
        """The masks of a state and of one to compare it with, as numbers; and the bits that the page lacks.

        `edited` shows two masks instead: those of one place, before the constraint was edited and after.
        """
        forget = everything or len(self._sent) > KEPT
        if forget:
            self._sent.clear()
        bits: dict[int, str] = {}
        answers, self._answers = self._answers, []
        if edited:
            masks: list[str | None] = [self._pack(mask) for mask in reversed(edited)]
        else:
            masks = [self._mask(now), None if before is None else self._mask(before)]
        return {
            "now": self._number(masks[0], bits),
            "state": "after the edit" if edited else self._label(now),
            "before": self._number(masks[1], bits),
            "stateBefore": "before the edit" if edited else "" if before is None else self._label(before),
            "edited": bool(edited),
            "bits": bits,
            "forget": forget,
            "answers": answers,
            **({"land": self.land} if everything else {}),
        }

    def kept(self, now: Hashable) -> dict[str, Any]:
        """Enough for a page that has no kernel."""
        return {"land": self.land, "now": 0, "before": None, "bits": {0: self._mask(now)}, "state": self._label(now)}

    def ranks(self, tokens: list[int]) -> list[int]:
        """Where tokens lie."""
        ranks: list[int] = atlas(self.guide.vocabulary).rank[tokens].tolist()
        return ranks

    def hear(self, said: dict[str, Any], state: Hashable) -> None:
        """A question of the page; the answer goes with the next news."""
        asks: dict[Any, Callable[[Any], dict[str, Any]]] = {"texts": self._texts, "find": self._find}
        asks["why"] = lambda token: self._why(token, state)
        if said.get("ask") in asks:
            self._answers.append(asks[said["ask"]](said["of"]))

    def _number(self, mask: str | None, bits: dict[int, str]) -> int | None:
        if mask is None:
            return None
        if mask not in self._sent:
            self._count += 1
            self._sent[mask] = self._count
            bits[self._count] = mask
        return self._sent[mask]

    def _mask(self, state: Hashable) -> str:
        if state not in self._masks:
            if len(self._masks) >= KEPT:
                self._masks.clear()
            self._masks[state] = self._pack(self.guide.mask(state))
        return self._masks[state]

    def _pack(self, mask: Mask) -> str:
        return b64encode(pack_bits(atlas(self.guide.vocabulary).ordered(mask))).decode()

    def _label(self, state: Hashable) -> str:
        return shorten(self.guide.label(state), 40)

    def _texts(self, chunk: int) -> dict[str, Any]:
        """A few hundred neighbours: id, text, bytes, kind."""
        order, pieces = atlas(self.guide.vocabulary).order, self.guide.vocabulary.pieces
        ids = order[int(chunk) * CHUNK : (int(chunk) + 1) * CHUNK].tolist()
        return {"texts": [chunk, [[t, shorten(label(pieces[t]), 80), pieces[t][:32].hex(" ")] for t in ids]]}

    def _find(self, query: str) -> dict[str, Any]:
        try:
            found = find_tokens(self.guide.vocabulary, str(query))
        except GuidedVizError as error:
            return {"found": {"query": query, "note": str(error)}}
        ordered = atlas(self.guide.vocabulary).ordered(found)
        return {"found": {"query": query, "count": int(found.sum()), "bits": b64encode(pack_bits(ordered)).decode()}}

    def _why(self, token: int, state: Hashable) -> dict[str, Any]:
        try:
            reason = self.guide.explain(state, int(token)).reason
        except Exception as error:  # a guide that cannot explain still forbids
            reason = f"{type(error).__name__}: {error}"
        return {"why": [token, reason]}


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
        return draw_map(self.guide, self.state)

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
