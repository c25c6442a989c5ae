"""What a page needs to draw the map of a guide: what lies where goes once, each mask once, a bit a token.

Of a split it is told as well which tokens had to ask the stack, as the list of their places: they are few.
Texts and reasons go when somebody points there.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.errors import GuidedVizError, PatternError
from guidedviz.tokens.guide import Guide, Mask
from guidedviz.tokens.split import ASK, Split
from guidedviz.views.atlas import atlas, pack_bits
from guidedviz.views.figure import shorten
from guidedviz.views.search import WAYS, find_tokens
from guidedviz.views.words import label

CHUNK = 256  # tokens whose texts go together
KEPT = 400  # masks that kernel and page keep


def split_of(guide: Guide | None, state: Any) -> Split | None:
    """The split that a guide asks, if it asks one and that has answers: there may be too many ways to read a text."""
    split = getattr(guide, "split", None)
    try:
        return split if isinstance(split, Split) and split.answers(state) is not None else None
    except PatternError:
        return None


class MapFeed:
    """What a page needs to draw the map of a guide, each thing once."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self._known: dict[Hashable, tuple[str, str | None]] = {}  # state -> its mask, and who asked the stack, packed
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
        self._known.clear()

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
        asked: str | None = None
        if edited:
            masks: list[str | None] = [self._pack(mask) for mask in reversed(edited)]
        else:
            mask, asked = self._look(now)
            masks = [mask, None if before is None else self._look(before)[0]]
        return {
            "now": self._number(masks[0], bits),
            "asked": self._number(asked, bits),
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
        mask, asked = self._look(now)
        bits = {0: mask} if asked is None else {0: mask, 1: asked}
        numbers = {"now": 0, "asked": None if asked is None else 1, "before": None}
        return {"land": self.land, **numbers, "bits": bits, "state": self._label(now)}

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

    def _look(self, state: Hashable) -> tuple[str, str | None]:
        if state not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[state] = self._pack(self.guide.mask(state)), self._asked(state)
        return self._known[state]

    def _asked(self, state: Any) -> str | None:
        """The places of the tokens that had to ask the stack; None where there is no split to say so."""
        if (split := split_of(self.guide, state)) is None:
            return None
        ranks = atlas(self.guide.vocabulary).rank[split.answers(state) == ASK]
        return b64encode(np.sort(ranks).astype("<i4").tobytes()).decode()

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
