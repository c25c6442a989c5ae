"""The panels of a run that was loaded from a file: everything that they show stands in the recording."""

from __future__ import annotations

from typing import Any

from guidedviz.decoding.player import Player
from guidedviz.decoding.trace import Trace

SENT_ONCE = ("machine", "drawings", "stacks", "map")


class RecordedPanels:
    """The panels of a recording; they answer no question that it does not answer."""

    guide = map = drawn = None

    def __init__(self, trace: Trace) -> None:
        self._shown = trace.shown
        self._steps: list[dict[str, Any]] = self._shown["add"]

    def news(self, player: Player, same: int, everything: bool, edited: Any = None) -> dict[str, Any]:
        """The steps from `same` on, the next one, and with `everything` what all steps need."""
        once = {name: self._shown[name] for name in SENT_ONCE if everything and name in self._shown}
        ahead = None if player.peek is None else self._steps[player.cursor]
        return {"from": same, "add": self._steps[same : len(player.taken)], "next": ahead, **once}

    def kept(self, player: Player) -> dict[str, Any]:
        """All that a page without a kernel shows."""
        return self.news(player, 0, True)

    def forbids(self, player: Player, token: int) -> bool:
        """Whether a candidate of the shown step is forbidden."""
        return self._why(player, token) is not None

    def explain(self, player: Player, token: int) -> Any:
        """Why a candidate of the shown step is forbidden."""
        return self._why(player, token)

    def _why(self, player: Player, token: int) -> Any:
        step = self._steps[min(player.cursor, len(self._steps) - 1)] if self._steps else {}
        return step.get("whys", {}).get(str(token))

    def split(self, player: Player) -> None:
        """No split: the recording has the masks only."""

    def hear(self, said: Any, player: Player) -> None:
        """Answer nothing: the page has all texts."""

    def moved(self, player: Player) -> None:
        """Do nothing."""

    def turn(self, guide: Any) -> None:
        """Do nothing: a recording has its own guide."""

    def close(self) -> None:
        """Release nothing."""
