"""The live vocabulary map: the mask of one state over all tokens, to hover, search, zoom and compare.

The page gets the layout once, and each mask once with one bit per token. With `stack` it also gets the ranks of the
tokens that depend on the stack, which are few. Texts and reasons are sent when the page asks for them.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Hashable
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.errors import GuidedVizError, PatternError, SettingError, expect, quoted, shorten
from guidedviz.machines.machine import next_bytes
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, MachineGuide, check_guide
from guidedviz.tokens.repeats import DEPENDENT
from guidedviz.tokens.split import Split
from guidedviz.views.figure import Figure
from guidedviz.views.vocabulary.atlas import atlas, pack_bits
from guidedviz.views.vocabulary.map import draw_map, draw_xor
from guidedviz.views.vocabulary.split_map import draw_split
from guidedviz.views.vocabulary.table import WAYS, find_tokens, read_signs
from guidedviz.views.words import label
from guidedviz.widgets.display import Display, Shown, said
from guidedviz.widgets.runner import say_failure

CHUNK = 256  # tokens whose texts are sent together
KEPT = 400  # masks that kernel and page keep


def split_of(guide: Guide | None, state: Any) -> Split | None:
    """The split of a guide, if it has one with answers for the state; an ambiguous grammar may have too many."""
    split = guide.split if isinstance(guide, MachineGuide) else None
    try:
        return split if split and split.answers(state) is not None else None
    except PatternError:
        return None


class MapFeed:
    """What the page needs to draw the map of a guide, each thing once; with `stack` also who asked the stack."""

    def __init__(self, guide: Guide, stack: bool = False) -> None:
        self.guide, self.stack = guide, stack
        self._known: dict[Hashable, tuple[str, str | None]] = {}  # state -> its packed mask and stack-dependent tokens
        self._sent: dict[str, int] = {}  # what the page has -> its number there
        self._bits: dict[int, str] = {}  # what the page gets with the next news
        self._answers: list[dict[str, Any]] = []

    @cached_property
    def land(self) -> dict[str, Any]:
        """The layout of the map; the same for every state."""
        made = atlas(self.guide.vocabulary)
        return {
            "count": len(made),
            "width": made.width,
            "height": made.height,
            "moves": b64encode(made.moves).decode(),
            "borders": made.borders,
            "places": [[p.name, p.start, p.stop, p.x, p.y, p.room] for p in made.regions],
            "eos": made.rank[sorted(self.guide.vocabulary.eos)].tolist(),
            "chunk": CHUNK,
            "ways": WAYS,
        }

    def turn(self, guide: Guide) -> None:
        """Show another guide over the same vocabulary."""
        self.guide = guide
        self._known.clear()

    def again(self) -> MapFeed:
        """A feed for another page."""
        feed = MapFeed(self.guide, self.stack)
        feed._known = self._known
        return feed

    def at(self, state: Hashable) -> dict[str, Any]:
        """A state's mask and its stack-dependent tokens, as numbers of what the page has or gets with the next news."""
        mask, asked = self._look(state)
        return {"mask": self._number(mask), "asked": None if asked is None else self._number(asked)}

    @property
    def full(self) -> bool:
        """Whether the page has more masks than it should keep."""
        return len(self._sent) > KEPT

    def forget(self) -> None:
        """Send everything again: the page is new, or a long run is over."""
        self._sent.clear()
        self._bits.clear()

    def news(self, everything: bool = False, edited: tuple[Mask, Mask] | None = None) -> dict[str, Any]:
        """The bits that the page lacks, and the answers to its questions.

        `edited` are the masks before and after an edit of the constraint.
        """
        pair = [self._number(self._pack(mask)) for mask in edited] if edited else None
        answers, self._answers = self._answers, []
        bits, self._bits = self._bits, {}
        return {"edited": pair, "bits": bits, "answers": answers} | ({"land": self.land} if everything else {})

    def ranks(self, tokens: list[int]) -> list[int]:
        """The ranks of tokens on the map."""
        return list(map(int, atlas(self.guide.vocabulary).rank[tokens]))

    def hear(self, said: Any, state: Hashable) -> None:
        """Answer a question of the page with the next news."""
        count = len(self.guide.vocabulary)
        match said:
            case {"ask": "texts", "of": int(chunk)} if 0 <= chunk * CHUNK < count:
                self._answers.append(self._texts(chunk))
            case {"ask": "find", "of": str(query)}:
                self._answers.append(self._find(query))
            case {"ask": "why", "of": int(token)} if 0 <= token < count:
                self._answers.append(self._why(token, state))

    def _number(self, mask: str) -> int:
        if mask not in self._sent:
            self._sent[mask] = len(self._sent)
            self._bits[self._sent[mask]] = mask
        return self._sent[mask]

    def _look(self, state: Hashable) -> tuple[str, str | None]:
        if state not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[state] = self._pack(self.guide.mask(state)), self._asked(state)
        return self._known[state]

    def _asked(self, state: Any) -> str | None:
        """The ranks of the stack-dependent tokens; None where nobody wants them, and without a split."""
        if not self.stack or (split := split_of(self.guide, state)) is None:
            return None
        ranks = atlas(self.guide.vocabulary).rank[split.answers(state) == DEPENDENT]
        return b64encode(np.sort(ranks).astype("<i4").tobytes()).decode()

    def _pack(self, mask: Mask) -> str:
        return b64encode(pack_bits(atlas(self.guide.vocabulary).ordered(mask))).decode()

    def texts(self, ranks: list[int]) -> list[dict[str, Any]]:
        """The texts of the chunks that hold these places of the map."""
        return [self._texts(chunk) for chunk in sorted({rank // CHUNK for rank in ranks})]

    def _texts(self, chunk: int) -> dict[str, Any]:
        """A chunk of neighbours: id, text and bytes of each."""
        order, pieces = atlas(self.guide.vocabulary).order, self.guide.vocabulary.pieces
        ids = order[chunk * CHUNK : (chunk + 1) * CHUNK].tolist()
        return {"texts": [chunk, [[t, shorten(label(pieces[t]), 80), pieces[t][:32].hex(" ")] for t in ids]]}

    def _find(self, query: str) -> dict[str, Any]:
        try:
            found = find_tokens(self.guide.vocabulary, query)
        except GuidedVizError as error:
            return {"found": {"query": query, "note": str(error)}}
        return {"found": {"query": query, "count": int(found.sum()), "bits": self._pack(found)}}

    def _why(self, token: int, state: Hashable) -> dict[str, Any]:
        try:
            reason = self.guide.explain(state, token).reason
        except Exception as error:  # a guide that cannot explain still forbids the token
            reason = say_failure(error)
        return {"why": [token, reason]}


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
    if stack and not (isinstance(guide, MachineGuide) and guide.split):
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
        machine = self.guide.machine
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
            case {"do": "read", "text": str(text)} if self.guide.machine is not None:
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
        reads = self.guide.machine is not None
        return {"states": states, "at": at, "text": self.text, "reads": reads, "note": self.note}

    @property
    def _states(self) -> list[str]:
        """The names of the states of a small finite machine; the page shows one button per state."""
        machine = self.guide.machine
        count = len(machine) if isinstance(machine, DFA) else 0
        return [shorten(self.guide.label(state), 16) for state in range(count)] if count <= MOST_STATES else []
