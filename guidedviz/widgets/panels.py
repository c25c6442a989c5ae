"""What hangs on the stage for a guide: its machine, its stack, its map, all at the player's cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guidedviz.decoding.trace import Trace
from guidedviz.machines.pda import PDA
from guidedviz.tokens.engines import MachineGuide
from guidedviz.tokens.guide import Guide, Mask
from guidedviz.tokens.split import Split
from guidedviz.views.words import label, shown_candidates
from guidedviz.widgets.machine import Drawn, MachineFeed, machine_of
from guidedviz.widgets.map_feed import MapFeed, split_of
from guidedviz.widgets.pack import pack_explanation, pack_taken
from guidedviz.widgets.player import Player, ReplayWalk
from guidedviz.widgets.stack import Pictures


def has_map(guide: Guide, recorded: Trace | None) -> bool:
    """Whether the state of every step is known: of a record it is where the machine that is drawn stands."""
    if recorded is None:
        return True
    drawn = isinstance(guide, MachineGuide) and machine_of(guide) is not None
    return drawn and recorded.vocabulary_size == len(guide.vocabulary)


class Panels:
    """Feeds of the page; another guide gives other feeds."""

    def __init__(self, guide: Guide | None, recorded: Trace | None, tell: Callable[[], Any]) -> None:
        self._recorded, self._tell = recorded, tell
        self.map: MapFeed | None = None
        self.pictures: Pictures | None = None
        self._new_map = self._had_machine = False
        self.turn(guide)

    def turn(self, guide: Guide | None) -> None:
        """From now on they are those of this guide."""
        self.guide, machine = guide, machine_of(guide)
        self.machine = MachineFeed(machine) if machine else None
        self.pictures = Pictures(machine, self._tell) if isinstance(machine, PDA) else None
        if guide is not None and has_map(guide, self._recorded):
            self._show_map(guide)

    def _show_map(self, guide: Guide) -> None:
        if self.map:
            self.map.turn(guide)
        else:
            self.map, self._new_map = MapFeed(guide), True

    def close(self) -> None:
        """Let go of the guide; the machine stays as it is drawn."""
        self.guide = self.map = self.pictures = None

    @property
    def drawn(self) -> Drawn | None:
        """The machine, for a still picture."""
        return self.machine.machine if self.machine else None

    def split(self, player: Player) -> Split | None:
        """What asks the stack on the map, for a still picture."""
        return split_of(self.guide, self.masked_at(player, player.cursor)) if self.map else None

    def hear(self, said: dict[str, Any], player: Player) -> bool:
        """Whether this was said to one of them; the answer goes with the next news."""
        if said.get("do") == "map" and self.map is not None:
            self.map.hear(said, self.masked_at(player, player.cursor))
        elif said.get("do") == "picture" and self.pictures is not None:
            self.pictures.name = str(said["name"])
            self.moved(player)
        else:
            return False
        self._tell()
        return True

    def moved(self, player: Player) -> None:
        """The picture that is seen follows the cursor."""
        if self.pictures is not None:
            steps = player.steps[: player.cursor]
            read = b"".join(step.piece for step in steps if step.how != "none" and step.end != "eos")
            self.pictures.want(self.pictures.name, read)

    # --- what the page is told ---

    def pack(self, player: Player, same: int) -> list[dict[str, Any]]:
        """The steps that the page does not have."""
        packed = [pack_taken(taken, player.walk) for taken in player.taken[same:]]
        if not self.machine:
            return packed
        return [step | way for step, way in zip(packed, self.machine.pack(player.steps, same), strict=True)]

    def news(
        self, player: Player, same: int, everything: bool, edited: tuple[Mask, Mask] | None = None
    ) -> dict[str, Any]:
        """What a page lacks that had the first steps; a machine that is gone is None."""
        news: dict[str, Any] = {"machine": None} if self._had_machine and not self.machine else {}
        self._had_machine = self.machine is not None
        if self.machine:
            news |= self.machine.news(player.cursor, same, everything)
        if self.map:
            before = self.masked_at(player, player.cursor - 1) if player.cursor > 1 else None
            everything, self._new_map = everything or self._new_map, False
            told = self.map.news(self.masked_at(player, player.cursor), before, everything, edited)
            news["map"] = {**told, "ranks": self._ranks(player)}
        return news | (self.pictures.news(everything) if self.pictures else {})

    def kept(self, player: Player) -> dict[str, Any]:
        """What a saved notebook keeps of them."""
        kept = self.machine.kept(player.cursor) if self.machine else {}
        if self.map:
            kept["map"] = {**self.map.kept(self.masked_at(player, player.cursor)), "ranks": self._ranks(player)}
        return kept

    def _ranks(self, player: Player) -> list[int]:
        """Where the candidates lie on the map."""
        step = player.current
        return self.map.ranks([c.token for c in shown_candidates(step)]) if step and self.map else []

    # --- what was forbidden, and why ---

    def masked_at(self, player: Player, cursor: int) -> Any:
        """The guide's state whose mask the step at the cursor obeyed; at the prompt the one that comes first."""
        if self.machine and isinstance(player.walk, ReplayWalk):
            self.machine.paths(player.steps)
            return self.machine.at(player.before(cursor))
        return player.point(player.before(cursor)).state

    def forbids(self, player: Player, token: int) -> bool:
        """Whether this candidate is forbidden: by the record, or, if that is of an earlier constraint, by the guide."""
        step = player.current
        if step is None or not any(c.token == token and not c.legal for c in step.candidates):
            return False
        now = player.taken[player.cursor - 1].walk is player.walk
        return now or self.guide is None or not self.guide.explain(self.masked_at(player, player.cursor), token).legal

    def explain(self, player: Player, token: int) -> dict[str, Any]:
        """Why a candidate of the step at the cursor is forbidden."""
        step = player.current
        piece = next((c.piece for c in step.candidates if c.token == token), b"") if step else b""
        plain = {"label": label(piece), "reason": "The constraint forbids it here.", "rows": [], "stack": []}
        if self.guide is None or (self.map is None and self.machine is None):
            special, recorded = "It is a special token, no text.", "The recording says that it was forbidden here."
            return plain | {"reason": recorded if self._recorded else special}
        try:
            return self._explain(self.guide, self.masked_at(player, player.cursor), token)
        except Exception as error:  # a guide that cannot explain still forbids
            return plain | {"reason": f"The constraint forbids it here ({type(error).__name__}: {error})."}

    def _explain(self, guide: Guide, state: Any, token: int) -> dict[str, Any]:
        why = guide.explain(state, token)
        if not self.machine:
            return pack_explanation(why, why.states)
        path = guide.path(state, token)
        return pack_explanation(why, self.machine.names(path)) | self.machine.why(why, path)
