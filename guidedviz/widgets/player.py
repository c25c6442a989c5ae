"""A decode one can walk: forward, back, branch. Plain Python, every player is a value; moving gives a new one.

The cursor counts the steps taken. The current step is the one before the cursor; to choose another token for it cuts
what came after and goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

from guidedviz.decoding.loop import Model, check_guide, start, take_step
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.steps import Point
from guidedviz.decoding.trace import End, Step, Trace, follows
from guidedviz.errors import IllegalToken, ModelError, SettingError
from guidedviz.tokens.guide import Guide


class Walk(Protocol):
    """Where steps come from: a model, or a record."""

    @property
    def first(self) -> Any: ...
    def step(self, point: Any, settings: Settings, choice: int | None) -> tuple[Step, Any]: ...


class LiveWalk:
    """Steps that a model takes now."""

    def __init__(self, model: Model, prompt: str, guide: Guide | None) -> None:
        self.model, self.guide = model, guide
        self.first = start(model, prompt, guide)

    def step(self, point: Point, settings: Settings, choice: int | None) -> tuple[Step, Point]:
        """One forward pass."""
        return take_step(self.model, point, self.guide, settings, choice)

    def under(self, guide: Guide) -> LiveWalk:
        """The same model and prompt under another guide."""
        walk = copy(self)
        walk.guide, walk.first = guide, replace(self.first, states=(guide.initial,))
        return walk


class ReplayWalk:
    """Steps that were recorded."""

    first = 0

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def step(self, point: int, settings: Settings, choice: int | None) -> tuple[Step, int]:
        """The next step of the record; a record has no other way to go."""
        if choice is not None:
            hint = "start a live stage with gv.stage(model, prompt, guide)"
            raise SettingError("this recording", seen="another token", expected="the recorded tokens", hint=hint)
        if point >= len(self.trace.steps):
            raise SettingError("this recording", seen="a step past its last", expected="fewer steps")
        return self.trace.steps[point], point + 1


class ClosedWalk:
    """No steps: the cell was run again and the model let go."""

    first = None

    def step(self, point: Any, settings: Settings, choice: int | None) -> tuple[Step, Any]:
        """Always an error that says what to do."""
        raise ModelError("this stage", seen="its cell was run again", hint="use the newer stage")


@dataclass(frozen=True)
class Taken:
    """A step, the point it led to, and the settings and the walk that it was made with."""

    step: Step
    after: Any
    settings: Settings
    walk: Walk


@dataclass(frozen=True)
class Player:
    """All steps so far and a cursor among them."""

    walk: Walk
    settings: Settings
    taken: tuple[Taken, ...] = ()
    cursor: int = 0

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps known, those ahead of the cursor too."""
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
        """Whether the next step is there already, made with the settings of now."""
        return self.cursor < len(self.taken) and not self.stale

    @property
    def stale(self) -> bool:
        """Whether the steps ahead were made with other settings or under another constraint."""
        if self.cursor == len(self.taken):
            return False
        ahead = self.taken[self.cursor]
        return ahead.settings != self.settings or ahead.walk is not self.walk

    def go(self, cursor: int) -> Player:
        """To any step that is known."""
        return replace(self, cursor=max(0, min(cursor, len(self.taken))))

    def forward(self) -> Player:
        """One step on, taken anew only where it is not known."""
        if self.at_end:
            return self
        return self.go(self.cursor + 1) if self.known else self._take(self.cursor, None)

    def choose(self, token: int) -> Player:
        """Another token in place of the current one; the steps after it are cut."""
        if not self.cursor:
            raise SettingError("choosing a token", seen="no step yet", expected="a step whose token is replaced")
        if self.current and self.current.token == token:
            return self
        return self._take(self.cursor - 1, token)

    def change(self, **changes: Any) -> Player:
        """Other settings, for the steps from here on."""
        return replace(self, settings=replace(self.settings, **changes))

    def reset(self) -> Player:
        """The prompt alone again."""
        return replace(self, taken=(), cursor=0)

    def close(self) -> Player:
        """The same steps with nothing behind them, so that the model can be freed."""
        walk = ClosedWalk()
        kept = tuple(replace(t, after=None, walk=walk) for t in self.taken)
        return replace(self, walk=walk, taken=kept)

    def adopt(self, guide: Guide) -> Player:
        """Go on under another guide: it reads the tokens taken so far, and what it rejects is cut.

        What the steps drew from stays as it was; their states are the new guide's.
        """
        if not isinstance(self.walk, LiveWalk):
            raise SettingError("another constraint", seen="a recording", expected="a live stage")
        check_guide(guide, self.walk.model.vocabulary)
        walk = self.walk.under(guide)
        kept = tuple(_under(guide, walk.first, self.taken))
        if kept and kept[-1].step.end in ("", "complete"):
            end: End = "complete" if _is_complete(guide, kept[-1].after.state) else ""
            kept = (*kept[:-1], replace(kept[-1], step=replace(kept[-1].step, end=end)))
        return replace(self, walk=walk, taken=kept, cursor=min(self.cursor, len(kept)))

    def point(self, cursor: int) -> Any:
        """Where the decode stands after so many steps."""
        return self.taken[cursor - 1].after if cursor else self.walk.first

    def before(self, cursor: int) -> int:
        """After how many steps the one at the cursor came: it may take some back."""
        return follows(self.steps[:cursor])[-1] if cursor else 0

    def _take(self, index: int, choice: int | None) -> Player:
        step, after = self.walk.step(self.point(index), self.settings, choice)
        taken = (*self.taken[:index], Taken(step, after, self.settings, self.walk))
        return replace(self, taken=taken, cursor=index + 1)


def _under(guide: Guide, point: Point, taken: tuple[Taken, ...]) -> Iterator[Taken]:
    """The same steps with the states of another guide, up to the first token that it rejects."""
    for one in taken:
        before, step = point.back(one.step.back), one.step
        try:
            point = before.then(step.token, guide.advance(before.state, step.token))
        except IllegalToken:
            return
        step = replace(step, state=guide.label(before.state), stack=guide.stack(before.state))
        yield replace(one, step=step, after=point)


def _is_complete(guide: Guide, state: Any) -> bool:
    return guide.is_accepting(state) and not guide.mask(state).any()
