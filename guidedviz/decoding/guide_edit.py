"""A new guide in place of the one that a decode runs under: what it changes, and how likely the changes are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from guidedviz.decoding.player import LiveWalk, Player
from guidedviz.decoding.sampling import Floats, softmax
from guidedviz.errors import SettingError
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.guide_change import Difference, compare_guides, mask_after


@dataclass(frozen=True)
class GuideEdit:
    """A new guide, what it changes, and the player it was compared with."""

    guide: Guide
    difference: Difference
    masks: tuple[Mask, Mask]  # where they differ first, under the old guide and under the new
    odds: Floats  # the model's probabilities there
    player: Player

    def likeliest(self, tokens: Sequence[int], most: int) -> list[tuple[int, float]]:
        """The likeliest of these tokens where the masks differ first, each with its probability."""
        ids = np.array(tokens, dtype=np.int64)
        best = ids[np.argsort(-self.odds[ids], kind="stable")[:most]]
        return [(int(token), float(self.odds[token])) for token in best]


def try_guide(player: Player, old: Guide | None, new: Guide) -> GuideEdit:
    """What a new guide changes after the tokens up to the cursor, and the model's probabilities there."""
    if not isinstance(player.walk, LiveWalk):
        raise SettingError("another constraint", seen="a recording", expected="a live stage")
    tokens = [taken.step.token for taken in player.taken[: player.cursor] if taken.step.how != "none"]
    found = compare_guides(old, new, tokens)
    logits = player.walk.model.logits(list(player.point(found.position).tokens))
    after = mask_after(new, tokens[: found.position])
    before = after.copy()
    before[list(found.became_legal)], before[list(found.became_illegal)] = False, True
    return GuideEdit(new, found, (before, after), softmax(logits), player)
