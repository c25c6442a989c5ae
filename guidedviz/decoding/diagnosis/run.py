"""A run as a diagnosis reads it: the steps that stand, and what the guide says when it reads their tokens again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from guidedviz.decoding.trace import CHOSEN, End, Step, Trace, standing
from guidedviz.errors import GuidedVizError
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

LIMITS = ("max_tokens", "context")  # ends that no rule of the text asked for


class Placed(NamedTuple):
    """A step and its place in the trace."""

    place: int
    step: Step


@dataclass(frozen=True)
class Replay:
    """A guide reads the tokens again: the state before each, and the place where it refuses one."""

    states: tuple[Any, ...]
    refused: Placed | None = None
    why: str = ""


@dataclass(frozen=True)
class Run:
    """A trace and the guide that belongs to it, if there is one."""

    trace: Trace
    guide: Guide | None

    @cached_property
    def steps(self) -> list[Placed]:
        """The steps whose tokens stand in the output."""
        kept = {id(step) for step in standing(self.trace.steps)}
        return [Placed(at, step) for at, step in enumerate(self.trace.steps) if id(step) in kept and step.token >= 0]

    @cached_property
    def asked(self) -> list[Placed]:
        """The steps with a forward pass of the model."""
        return [placed for placed in self.steps if placed.step.how in CHOSEN]

    @property
    def last(self) -> int:
        """The place of the last step."""
        return len(self.trace.steps) - 1

    @property
    def end(self) -> End:
        """How the run ended."""
        return self.trace.steps[-1].end

    @property
    def limited(self) -> bool:
        """Whether a limit ended the run."""
        return self.end in LIMITS

    def tail(self, most: int = 24) -> str:
        """The end of the text, in quotes."""
        text = visible(self.trace.output)
        return f'"{"…" * (len(text) > most)}{text[-most:]}"'

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The vocabulary of the guide."""
        return self.guide.vocabulary if self.guide else None

    @cached_property
    def machine(self) -> Any:
        """The machine of the guide, if it has one."""
        return getattr(self.guide, "machine", None)

    @cached_property
    def replay(self) -> Replay:
        """The guide's states; it stops at the first token that the guide refuses."""
        assert self.guide is not None
        states = [self.guide.initial]
        for placed in self.steps:
            try:
                states.append(self.guide.advance(states[-1], placed.step.token))
            except GuidedVizError:
                known = placed.step.token < len(self.guide.vocabulary)
                why = self.guide.explain(states[-1], placed.step.token).reason if known else "no such id"
                return Replay(tuple(states), placed, why)
        return Replay(tuple(states))

    def explain(self, one: Placed, token: int) -> str:
        """Why the guide refuses a token at a step; "" if there is no guide or it does not get there."""
        number = self.steps.index(one)
        if self.guide is None or number >= len(self.replay.states) or token >= len(self.guide.vocabulary):
            return ""
        return self.guide.explain(self.replay.states[number], token).reason
