"""The panels of the stage that need a guide: machine, stack and map, all at the player's cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from guidedviz.decoding.player import Player, ReplayWalk, Run, Walk
from guidedviz.decoding.recording import PackedNewSteps, PackedStep, PackedWhy
from guidedviz.decoding.trace import Candidate, Step, Trace, follows, standing, taken_back
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.machine_guide import MachineGuide
from guidedviz.tokens.split.split import Split
from guidedviz.views.machine.highlight import Drawable, read_bytes
from guidedviz.views.words import label, shown_candidates
from guidedviz.widgets.panels.machine_panel import MachineFeed, machine_of
from guidedviz.widgets.panels.map_feed import MapFeed, split_of
from guidedviz.widgets.panels.pack import pack_explanation, pack_taken
from guidedviz.widgets.panels.stack_panel import Pictures
from guidedviz.widgets.runner import say_failure


def has_map(guide: Guide, recorded: Trace | None) -> bool:
    """Whether the state of every step is known. A recording has only the states of the machine that is drawn."""
    if recorded is None:
        return True
    drawn = isinstance(guide, MachineGuide) and machine_of(guide) is not None
    return drawn and recorded.vocabulary_size == len(guide.vocabulary)


def _candidates(player: Player) -> tuple[Candidate, ...]:
    """The candidates of the step that comes next or, at the end, of the last step."""
    step = player.ahead.step if player.ahead else player.current if player.at_end else None
    return step.candidates if step else ()


class Panels:
    """The feeds of the panels."""

    def __init__(self, guide: Guide | None, recorded: Trace | None, tell: Callable[[], Any]) -> None:
        self._recorded, self._tell = recorded, tell
        self.map: MapFeed | None = None
        self.pictures: Pictures | None = None
        self._new_map = self._had_machine = False
        self.turn(guide)

    def replaces(self, other: Any) -> None:
        """Take the place of these panels: the page may show a machine that is no longer there."""
        self._had_machine = getattr(other, "machine", None) is not None

    def turn(self, guide: Guide | None) -> None:
        """Show another guide."""
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
        """Release the guide; the machine stays drawn."""
        self.guide = self.map = self.pictures = None

    @property
    def drawn(self) -> Drawable | None:
        """The machine for a still picture."""
        return self.machine.machine if self.machine else None

    def split(self, player: Player) -> Split | None:
        """The split whose stack-dependent tokens a still picture marks on the map."""
        return split_of(self.guide, self.state_at(player)) if self.map else None

    def hear(self, said: Any, player: Player) -> None:
        """Answer a question of the page with the next news."""
        match said:
            case {"do": "map"} if self.map is not None:
                self.map.hear(said, self.state_at(player))
                self._tell()
            case {"do": "picture", "name": str(name)} if self.pictures is not None:
                self.pictures.name = name
                self.moved(player)
                self._tell()

    def moved(self, player: Player) -> None:
        """Ask for the visible picture at the cursor."""
        if self.pictures is not None:
            steps = standing(player.steps[: player.cursor])
            self.pictures.want(self.pictures.name, b"".join(map(read_bytes, steps)))

    def _pack_steps(self, player: Player, same: int, feed: MapFeed | None) -> PackedNewSteps:
        """The steps from `same` on, and the step that is computed but not taken."""
        added, ahead = self._pack(player, player.taken, same, feed), None
        if player.peek:
            [ahead] = self._pack(player, (*player.taken[: player.cursor], player.peek), player.cursor, feed)
        return {"from": same, "add": tuple(added), "next": ahead}

    def _pack(self, player: Player, run: Run, same: int, feed: MapFeed | None) -> list[PackedStep]:
        steps = tuple(taken.step for taken in run)
        new, back, before = run[same:], taken_back(steps)[same:], follows(steps)[same:]
        packed: list[Any] = [pack_taken(taken, player.walk, gone) for taken, gone in zip(new, back, strict=True)]
        ways = self.machine.pack(steps, same) if self.machine else []
        marks = (
            [self._mark(feed, player.walk, run, *at) for at in zip(steps[same:], before, strict=True)] if feed else []
        )
        for more in (ways, marks):
            for one, told in zip(packed, more, strict=False):
                one.update(told)
        return packed

    def _mark(self, feed: MapFeed, walk: Walk, run: Run, step: Step, place: int) -> dict[str, Any]:
        """The mask that applied to a step, and the ranks of its candidates."""
        return feed.at(self._state(walk, run, place)) | {"ranks": feed.ranks([c.token for c in shown_candidates(step)])}

    def news(
        self, player: Player, same: int, everything: bool, edited: tuple[Mask, Mask] | None = None
    ) -> dict[str, Any]:
        """The steps from `same` on, the next one, and what the page lacks to show them; a removed machine is None."""
        news: dict[str, Any] = {"machine": None} if self._had_machine and not self.machine else {}
        self._had_machine = self.machine is not None
        if self.map and (everything or self._new_map or (self.map.full and not same)):
            self.map.forget()
        news |= self._pack_steps(player, same, self.map)
        if self.machine:
            news |= self.machine.news(everything)
        if self.map:
            everything, self._new_map = everything or self._new_map, False
            news["map"] = self.map.news(everything, edited)
        return news | (self.pictures.news(everything) if self.pictures else {})

    def kept(self, player: Player) -> dict[str, Any]:
        """All that a page without a kernel shows."""
        feed = self.map.again() if self.map else None
        kept = self._pack_steps(player, 0, feed) | (self.machine.kept() if self.machine else {})
        return kept | ({"map": feed.news(True)} if feed else {})

    def state_at(self, player: Player) -> Any:
        """The state whose mask is shown: of the step that comes next or, at the end, of the last step."""
        steps = player.steps[: player.cursor]
        if self.machine:
            self.machine.paths(player.steps)
        return self._state(player.walk, player.taken, follows(steps)[-1] if player.at_end and steps else player.cursor)

    def _state(self, walk: Walk, run: Run, place: int) -> Any:
        """The state after the first steps of a run, whose paths the machine has read."""
        if self.machine and isinstance(walk, ReplayWalk):
            return self.machine.at(place)
        return run[place - 1].after.state if place else walk.first.state

    def forbids(self, player: Player, token: int) -> bool:
        """Whether a candidate of the shown step is forbidden."""
        return any(c.token == token and not c.legal for c in _candidates(player))

    def explain(self, player: Player, token: int) -> PackedWhy:
        """Why a candidate of the shown step is forbidden."""
        piece = next((c.piece for c in _candidates(player) if c.token == token), b"")
        return self._explain(self.state_at(player) if self.guide else None, token, piece)

    def explain_steps(self, player: Player) -> list[dict[int, PackedWhy]]:
        """For every known step, why each shown forbidden candidate is forbidden."""
        places = follows(player.steps)
        states = [self._state(player.walk, player.taken, place) for place in places]
        forbidden = [[c for c in shown_candidates(step) if not c.legal] for step in player.steps]
        return [
            {c.token: self._explain(state, c.token, c.piece) for c in candidates}
            for state, candidates in zip(states, forbidden, strict=True)
        ]

    def _explain(self, state: Any, token: int, piece: bytes) -> PackedWhy:
        reason = (
            "It was forbidden here when the run was recorded." if self._recorded else "It is a special token, not text."
        )
        if self.guide is not None and (self.map or self.machine):
            try:
                why = self.guide.explain(state, token)
                way = self.machine.why(why, self.guide.path(state, token)) if self.machine else {}
                return cast(PackedWhy, pack_explanation(why) | way)
            except Exception as error:  # a guide that cannot explain still forbids the token
                reason = f"The constraint forbids it here ({say_failure(error)})."
        return {"label": label(piece), "reason": reason, "rows": (), "stack": ()}
