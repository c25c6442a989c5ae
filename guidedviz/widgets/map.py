"""The live vocabulary map of a stage: the mask of one state over all tokens, to hover, search and zoom.

The page gets the layout once, and each mask once with one bit per token. On a stage that asks for it, it also gets the
ranks of the tokens that depend on the stack, which are few. Texts and reasons are sent when the page asks for them.
"""

from base64 import b64encode
from collections.abc import Hashable, Iterable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from guidedviz.errors import GuidedVizError, PatternError, shorten
from guidedviz.tokens.arrays import Mask, pack
from guidedviz.tokens.guide import Guide, MachineGuide
from guidedviz.tokens.split import Split
from guidedviz.tokens.verdicts import DEPENDENT
from guidedviz.views.vocabulary.atlas import SEARCHES, atlas, search_tokens
from guidedviz.views.words import label
from guidedviz.widgets.display import Message
from guidedviz.widgets.runner import say_failure

CHUNK_TOKENS = 256  # tokens whose texts are sent together
KEPT_MASKS = 400  # masks that kernel and page keep


def split_of(guide: Guide | None, state: Any) -> Split | None:
    """The split of a guide, if it has one with answers for the state; an ambiguous grammar may have too many."""
    if not isinstance(guide, MachineGuide) or not guide.split:
        return None
    try:
        answers = guide.split.answers(state)
    except PatternError:
        return None
    return None if answers is None else guide.split


class Masks:
    """The masks that a page has or gets with the next news, each with its number, and the answers to its questions."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.new: dict[int, str] = {}
        self.answers: list[Message] = []
        self.has_land = False

    def number(self, mask: str) -> int:
        """The number of a packed mask; the page gets the mask if it does not have it."""
        if mask not in self._numbers:
            self._numbers[mask] = len(self._numbers)
            self.new[self._numbers[mask]] = mask
        return self._numbers[mask]

    @property
    def full(self) -> bool:
        """Whether the page has more masks than it should keep."""
        return len(self._numbers) > KEPT_MASKS


class MapFeed:
    """What a page needs to draw the map of a guide; with `stack` also which tokens depend on the stack."""

    def __init__(self, guide: Guide, stack: bool = False) -> None:
        self.guide = guide
        self.stack = stack
        self._atlas = atlas(guide.vocabulary)
        self._look = lru_cache(KEPT_MASKS)(self._pack_state)

    @cached_property
    def land(self) -> Message:
        """The layout of the map; the same for every state."""
        made = self._atlas
        vocabulary = made.vocabulary
        land: Message = {"count": len(made), "width": made.width, "height": made.height}
        land["moves"] = b64encode(made.moves).decode()
        land["borders"] = made.borders
        land["places"] = [[p.name, p.start, p.stop, p.x, p.y, p.room] for p in made.regions]
        land["eos"] = vocabulary.rank[sorted(vocabulary.eos)].tolist()
        return land | {"chunk": CHUNK_TOKENS, "ways": SEARCHES}

    def at(self, state: Hashable, masks: Masks) -> dict[str, int | None]:
        """The numbers of a state's mask and of its stack-dependent tokens."""
        mask, asked = self._look(state)
        return {"mask": masks.number(mask), "asked": None if asked is None else masks.number(asked)}

    def news(self, masks: Masks) -> Message:
        """What the page lacks."""
        news: Message = {"bits": masks.new, "answers": masks.answers}
        if not masks.has_land:
            news["land"] = self.land
        masks.new = {}
        masks.answers = []
        masks.has_land = True
        return news

    def hear(self, said: Any, state: Hashable, masks: Masks) -> None:
        """Answer a question of the page with the next news."""
        count = len(self.guide.vocabulary)
        match said:
            case {"ask": "texts", "of": int(chunk)} if 0 <= chunk * CHUNK_TOKENS < count:
                masks.answers.append(self._texts(chunk))
            case {"ask": "find", "of": str(query)}:
                masks.answers.append(self._find(query))
            case {"ask": "why", "of": int(token)} if 0 <= token < count:
                masks.answers.append(self._why(token, state))

    def _pack_state(self, state: Any) -> tuple[str, str | None]:
        """The mask, and the ranks of the stack-dependent tokens; None where nobody wants them, and without a split."""
        mask = self._pack(self.guide.mask(state))
        split = split_of(self.guide, state) if self.stack else None
        if split is None:
            return mask, None
        ranks = self.guide.vocabulary.rank[split.answers(state) == DEPENDENT]
        return mask, b64encode(np.sort(ranks).astype("<i4").tobytes()).decode()

    def _pack(self, mask: Mask) -> str:
        return b64encode(pack(self._atlas.ordered(mask)).tobytes()).decode()

    def texts(self, ranks: Iterable[int]) -> list[Message]:
        """The texts of the chunks that hold these places of the map."""
        chunks = {rank // CHUNK_TOKENS for rank in ranks}
        return list(map(self._texts, sorted(chunks)))

    def _texts(self, chunk: int) -> Message:
        """A chunk of neighbours: id, text and bytes of each."""
        vocabulary = self.guide.vocabulary
        rows = []
        start = chunk * CHUNK_TOKENS
        for token in vocabulary.order[start : start + CHUNK_TOKENS].tolist():
            piece = vocabulary.pieces[token]
            rows.append([token, shorten(label(piece), 80), piece[:32].hex(" ")])
        return {"texts": [chunk, rows]}

    def _find(self, query: str) -> Message:
        try:
            found = search_tokens(self.guide.vocabulary, query)
        except GuidedVizError as error:
            return {"found": {"query": query, "note": str(error)}}
        return {"found": {"query": query, "count": int(found.sum()), "bits": self._pack(found)}}

    def _why(self, token: int, state: Hashable) -> Message:
        try:
            reason = self.guide.explain(state, token).reason
        except Exception as error:  # a guide that cannot explain still forbids the token
            reason = say_failure(error)
        return {"why": [token, reason]}
