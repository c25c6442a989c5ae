"""A decode with a cursor that moves forward and back and can branch. A player is immutable; a move returns a new one.

The cursor is the number of tokens written. The step after it can be computed before it is taken, so that its
distribution can be shown before the draw. Where another token is taken, the run so far is kept as a branch. The steps
come from a model, from a record, or from a run that is closed.
"""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

from guidedviz.decoding.loop import check_fit, start, take_step
from guidedviz.decoding.recording import End
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import Point, Step, Trace, is_complete
from guidedviz.errors import IllegalToken, ModelError, SettingError, TraceError, quoted
from guidedviz.machines.visible import visible
from guidedviz.models.model import Model
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import shared_length


class LiveWalk:
    """Steps computed live by a model."""

    def __init__(self, model: Model, prompt: str, guide: Guide | None) -> None:
        self.model = model
        self.guide = guide
        self.first = start(model, prompt, guide)

    def step(self, point: Point, settings: Settings, choice: int | None) -> tuple[Step, Point]:
        """One forward pass."""
        return take_step(self.model, point, self.guide, settings, choice)


class ReplayWalk:
    """Steps of a record."""

    first: Any = 0

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def step(self, point: int, settings: Settings, choice: int | None) -> tuple[Step, int]:
        """The next step of the record; a record cannot branch."""
        if choice is not None:
            hint = "start a live stage with gv.stage(model, prompt, guide)"
            raise SettingError("this recording", seen="another token", expected="the recorded tokens", hint=hint)
        return self.trace.steps[point], point + 1


def recorded_settings(trace: Trace) -> Settings:
    """The settings of a replay: those of the record."""
    return Settings(trace.temperature, seed=trace.seed, max_tokens=max(1, len(trace.steps)))


@dataclass(frozen=True)
class ClosedWalk:
    """A source without more steps: of a run that is kept, or of a cell that was run again and whose model was freed."""

    first: Any = None

    def step(self, point: Any, settings: Settings, choice: int | None) -> tuple[Step, Any]:
        """Always raise an error that says what to do."""
        raise ModelError("this stage", seen="its cell was run again", hint="use the newer stage")


Walk = LiveWalk | ReplayWalk | ClosedWalk  # the source of steps


@dataclass(frozen=True)
class Taken:
    """A step, the point after it, and the settings and the walk that produced it."""

    step: Step
    after: Any
    settings: Settings
    walk: Walk


TakenSteps = tuple[Taken, ...]


# Steps that are known: of this run under another guide, of a file, or of the teacher's stage.


def follow(guide: Guide | None, point: Point, step: Step) -> Point:
    """The point after a known step; an IllegalToken if the guide rejects its token."""
    before = point.back(step.back)
    return before.then(step.token, guide.advance(before.state, step.token) if guide else before.state)


def under_guide(guide: Guide, point: Point, taken: tuple[Taken, ...]) -> Iterator[Taken]:
    """The same steps with the states of another guide, up to the first token that it rejects."""
    for one in taken:
        state = point.back(one.step.back).state
        try:
            point = follow(guide, point, one.step)
        except IllegalToken:
            return
        yield replace(one, step=replace(one.step, state=guide.label(state), stack=guide.stack(state)), after=point)


def read_taken(
    where: str, guide: Guide | None, point: Point, steps: Iterable[tuple[Step, Settings, Walk]], before: TakenSteps = ()
) -> TakenSteps:
    """The steps `before` and after them these steps, whose tokens the guide reads; `point` is where they begin."""
    run = [*before]
    for step, settings, walk in steps:
        try:
            point = follow(guide, point, step) if step.how != "none" else point
        except IllegalToken:
            seen = quoted(visible(step.piece))
            expected = "a token that the guide allows"
            raise TraceError(f"{where} {len(run) + 1}", seen=seen, expected=expected) from None
        run.append(Taken(step, point, settings, walk))
    return tuple(run)


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
        if cursor == self.cursor:
            return self
        return replace(self, cursor=cursor, peek=None)

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

    def choose(self, *tokens: int) -> Self:
        """Take these tokens as the next ones; if one replaces another, the steps so far are kept as a branch."""
        player = self
        for token in tokens:
            player = player._choose_one(token)
        return player

    def _choose_one(self, token: int) -> Self:
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
