"""Where the steps of a player come from: a model, a record, or a run that is closed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.decoding.loop import start, take_step
from guidedviz.decoding.point import Point
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import IllegalToken, ModelError, SettingError, TraceError, quoted
from guidedviz.machines.visible import visible
from guidedviz.models.model import Model
from guidedviz.tokens.guide import Guide


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
            seen, expected = quoted(visible(step.piece)), "a token that the guide allows"
            raise TraceError(f"{where} {len(run) + 1}", seen=seen, expected=expected) from None
        run.append(Taken(step, point, settings, walk))
    return tuple(run)
