"""What the page needs to draw the vocabulary map: the layout once, and each mask once with one bit per token.

With `stack` the page also gets the ranks of the tokens that depend on the stack, which are few. Texts and reasons are
sent when the page asks for them.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Hashable
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.errors import GuidedVizError, PatternError, shorten
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.split.split import DEPENDENT, Split
from guidedviz.views.vocabulary.atlas import atlas, pack_bits
from guidedviz.views.vocabulary.table import WAYS, find_tokens
from guidedviz.views.words import label
from guidedviz.widgets.runner import say_failure

CHUNK = 256  # tokens whose texts are sent together
KEPT = 400  # masks that kernel and page keep


def split_of(guide: Guide | None, state: Any) -> Split | None:
    """The split of a guide, if it has one with answers for the state; an ambiguous grammar may have too many."""
    split = getattr(guide, "split", None)
    try:
        return split if isinstance(split, Split) and split.answers(state) is not None else None
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
