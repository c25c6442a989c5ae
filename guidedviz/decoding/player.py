"""A decode with a cursor that moves forward and back and can branch. A player is immutable; a move returns a new one.

The cursor is the number of tokens written. The step after it can be computed before it is taken, so that its
distribution can be shown before the draw. Where another token is taken, the run so far is kept as a branch.
"""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

from guidedviz.decoding.loop import check_fit
from guidedviz.decoding.point import Point, is_complete
from guidedviz.decoding.recording import End
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.trace import Step, Trace
from guidedviz.decoding.walks import (
    ClosedWalk,
    LiveWalk,
    ReplayWalk,
    Taken,
    TakenSteps,
    Walk,
    read_taken,
    recorded_settings,
    under_guide,
)
from guidedviz.errors import SettingError
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.spelling import shared_length

MOST_BRANCHES = 6  # an older one is forgotten


@dataclass(frozen=True)
class Player:
    """All known steps, and a cursor."""

    walk: Walk
    settings: Settings
    taken: TakenSteps = ()
    cursor: int = 0
    peek: Taken | None = None  # the step at the cursor, computed but not taken
    branches: tuple[TakenSteps, ...] = ()  # runs that were left, newest last

    @property
    def steps(self) -> tuple[Step, ...]:
        """All known steps, including those after the cursor."""
        return tuple(t.step for t in self.taken)

    @property
    def current(self) -> Step | None:
        """The step before the cursor; None at the prompt."""
        return self.taken[self.cursor - 1].step if self.cursor else None

    @property
    def at_end(self) -> bool:
        """Whether the decode ended here."""
        if isinstance(self.walk, ReplayWalk) and self.cursor >= len(self.walk.trace.steps):
            return True
        return bool(self.cursor and self.taken[self.cursor - 1].step.end)

    @property
    def known(self) -> bool:
        """Whether the next step is known and was computed with the current settings under the current constraint."""
        return self.cursor < len(self.taken) and not self._is_old(self.taken[self.cursor])

    @property
    def outdated(self) -> list[int]:
        """The places of all steps that were computed with other settings or under another constraint."""
        return [place for place, taken in enumerate(self.taken) if self._is_old(taken)]

    def _is_old(self, taken: Taken) -> bool:
        return taken.settings != self.settings or taken.walk is not self.walk

    @property
    def ahead(self) -> Taken | None:
        """The step that comes next, if it is computed."""
        return self.taken[self.cursor] if self.known else self.peek

    @property
    def wants_look(self) -> bool:
        """Whether there is a next step that is not computed."""
        return not (self.at_end or self.ahead or isinstance(self.walk, ClosedWalk))

    def go(self, cursor: int) -> Self:
        """Move the cursor to a known step."""
        cursor = max(0, min(cursor, len(self.taken)))
        return self if cursor == self.cursor else replace(self, cursor=cursor, peek=None)

    def look(self) -> Self:
        """Compute the next step without taking it."""
        return replace(self, peek=self._compute(None)) if self.wants_look else self

    def forward(self) -> Self:
        """Move one step forward; the step is computed only if it is not known."""
        if self.at_end:
            return self
        if self.known:
            return self.go(self.cursor + 1)
        return self._take(self.peek or self._compute(None))

    def choose(self, token: int) -> Self:
        """Take this token as the next one; if it replaces another, the steps so far are kept as a branch."""
        if self.known and self.taken[self.cursor].step.token == token:
            return self.go(self.cursor + 1)
        return self if self.at_end else self._take(self._compute(token))

    def part(self) -> Self:
        """The steps up to the cursor; if there are more, the whole run is kept as a branch."""
        branches = self.branches
        if self.cursor < len(self.taken):
            branches = _add_branch(branches, self.taken)
        return replace(self, taken=self.taken[: self.cursor], peek=None, branches=branches)

    def turn(self, branch: int) -> Self:
        """Return to a branch, at the place where it parts from the current run, which becomes a branch."""
        run = self.branches[branch]
        kept = tuple(other for other in self.branches if other is not run)
        branches = _add_branch(kept, self.taken)
        return replace(self, taken=run, cursor=shared_steps(self.taken, run), peek=None, branches=branches)

    def change(self, **changes: Any) -> Self:
        """Change the settings for all later steps."""
        return replace(self, settings=replace(self.settings, **changes), peek=None)

    def reset(self) -> Self:
        """Return to the prompt and remove all steps."""
        return replace(self, taken=(), cursor=0, peek=None, branches=())

    def close(self) -> Self:
        """The same steps without a source, so that the model can be freed."""
        walk = ClosedWalk()
        kept = tuple(replace(t, after=None, walk=walk) for t in self.taken)
        return replace(self, walk=walk, taken=kept, peek=None, branches=())

    def adopt(self, guide: Guide) -> Self:
        """Continue under another guide: it reads the tokens so far; steps from the first rejected token are removed.

        The distributions of the steps do not change; their states are those of the new guide.
        """
        if not isinstance(self.walk, LiveWalk):
            raise SettingError("another constraint", seen="a recording", expected="a live stage")
        check_fit(guide, self.walk.model.vocabulary, self.walk.model.name)
        walk = copy(self.walk)
        walk.guide = guide
        walk.first = replace(walk.first, states=(guide.initial,))
        kept = list(under_guide(guide, walk.first, self.taken))
        if kept and kept[-1].step.end in ("", "complete"):
            last = kept.pop()
            end: End = "complete" if is_complete(guide, last.after.state) else ""
            kept.append(replace(last, step=replace(last.step, end=end)))
        cursor = min(self.cursor, len(kept))
        return replace(self, walk=walk, taken=tuple(kept), cursor=cursor, peek=None, branches=())

    def point(self, cursor: int) -> Any:
        """The point of the decode after this many steps."""
        return self.taken[cursor - 1].after if cursor else self.walk.first

    def _compute(self, choice: int | None) -> Taken:
        step, after = self.walk.step(self.point(self.cursor), self.settings, choice)
        return Taken(step, after, self.settings, self.walk)

    def _take(self, step: Taken) -> Self:
        kept = self.part()
        return replace(kept, taken=(*kept.taken, step), cursor=self.cursor + 1)


def shared_steps(one: TakenSteps, other: TakenSteps) -> int:
    """How many first steps two runs have in common: equal steps that were taken twice are different ones."""
    mine = [*map(id, one)]
    theirs = [*map(id, other)]
    return shared_length(mine, theirs)


def _add_branch(branches: tuple[TakenSteps, ...], run: TakenSteps) -> tuple[TakenSteps, ...]:
    return (*branches, run)[-MOST_BRANCHES:] if run else branches


def read_record(where: str, guide: Guide | None, trace: Trace) -> Player:
    """A player that has taken all steps of a trace, with the guide's state after each."""
    walk = ClosedWalk(Point((), (guide.initial if guide else None,)))
    settings = recorded_settings(trace)
    run = read_taken(where, guide, walk.first, [(step, settings, walk) for step in trace.steps])
    return Player(walk, settings, run, len(run))
