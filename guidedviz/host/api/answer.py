"""Decode a choice on the host: rows of logits come from the passes for all, and each step is the library's own.

What a client gets while the text grows is certain: what may be the begin of a stop, of a call's mark, or of a character
is held back. An answer that is not streamed is the same deltas in one.
"""

import codecs
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from guidedviz.decoding.loop import take_step
from guidedviz.decoding.reply import BEGINS_NAME, ENDS_NAME, ToolCall, sign, split_reply, without_signs
from guidedviz.decoding.sampling import Settings, softmax
from guidedviz.decoding.trace import Point, Step
from guidedviz.host.api.certain import certain_parts, hold_back
from guidedviz.host.api.plan import TurnPlan
from guidedviz.host.batcher import Engine
from guidedviz.machines.names import is_name
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.model import Array
from guidedviz.tokens.by_hand import Unguided
from guidedviz.tokens.guide import Guide

ENDS_EARLY = ("max_tokens", "context", "dead_end")
LEAST_LOG = -9999.0  # for a probability of 0, which has no logarithm


class TokenLog(NamedTuple):
    """The log-probability of a token by the model alone, before mask and temperature."""

    piece: bytes
    log: float


class Stepped(NamedTuple):
    """A step, and the log-probabilities that were asked for: the token's own first, then the likeliest."""

    step: Step
    logs: tuple[TokenLog, ...]


async def decode_here(
    engine: Engine,
    place: str,
    point: Point,
    guide: Guide | None,
    settings: Settings,
    top: int | None,
    first: Sequence[int] = (),
) -> AsyncGenerator[Stepped, None]:
    """The steps of a choice from a point on; `place` says whose turns in the passes it takes.

    The tokens in `first` are not drawn: a person has put them there.
    """
    model = engine.model
    used = guide or Unguided(model.vocabulary)

    def take(row: Any, point: Point, choice: int | None) -> tuple[Stepped, Point]:
        given: Any = SimpleNamespace(name=model.name, vocabulary=model.vocabulary, context=model.context)
        given.logits = lambda tokens: row
        step, after = take_step(given, point, used, settings, choice)
        return Stepped(step, read_logs(model, row, step, top)), after

    end = ""
    chosen = iter(first)
    while not end:
        began = perf_counter()
        row = None
        if len(point.tokens) <= model.context:
            row = await engine.row(place, point.tokens)
        waited = (perf_counter() - began) * 1000
        stepped, point = await engine.run("mask", take, row, point, next(chosen, None))
        end = stepped.step.end
        yield stepped._replace(step=replace(stepped.step, forward_ms=waited))


def read_logs(model: LanguageModel, row: Array, step: Step, top: int | None) -> tuple[TokenLog, ...]:
    """The log-probability of the step's token, and those of the likeliest ones."""
    if top is None or step.token < 0:
        return ()
    chances = softmax(row)
    likeliest = np.argsort(-chances, kind="stable")[:top].tolist()
    pieces = model.vocabulary.pieces
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(chances), LEAST_LOG)
    named = [step.token, *likeliest]
    return tuple(TokenLog(pieces[token], float(logs[token])) for token in named)


class Delta(NamedTuple):
    """What a step adds to an answer."""

    thinking: str = ""
    text: str = ""
    logs: tuple[tuple[TokenLog, ...], ...] = ()

    def then(self, after: "Delta") -> "Delta":
        """Both in one."""
        return Delta(self.thinking + after.thinking, self.text + after.text, self.logs + after.logs)


@dataclass
class ChoiceWriter:
    """Reads the steps of a choice, and says what of the answer is certain."""

    plan: TurnPlan
    stops: Sequence[str] = ()
    said: str = ""  # with signs around special tokens
    thinking: str = ""
    text: str = ""
    tokens: int = 0
    end: str = ""
    calls: tuple[ToolCall, ...] = ()
    _decode: Any = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))

    def take(self, stepped: Stepped) -> Delta:
        """What is certain after a step, beside what was before."""
        step = stepped.step
        self.tokens += step.token >= 0
        self.end = step.end
        before = len(self.said)
        if is_name(step.piece):
            name = step.piece[1:-1].decode("utf-8", "replace")
            self.said += self._decode.decode(b"", True)
            self.said += sign(name)
        elif step.end != "eos":
            self.said += self._decode.decode(step.piece, bool(step.end))
        longest = max(map(len, self.stops), default=0)
        first = max(0, before - longest)
        for stop in self.stops:
            place = self.said.find(stop, first)
            if place >= 0:
                self.said = self.said[:place]
                self.end = "stop"
        return self._grow((stepped.logs,) if stepped.logs else ())

    def _grow(self, logs: tuple[tuple[TokenLog, ...], ...]) -> Delta:
        """What is new since the last call."""
        thinking, text = self._certain()
        delta = Delta(thinking[len(self.thinking) :], text[len(self.text) :], logs)
        self.thinking = thinking
        self.text = text
        if self.end and self.plan.style:
            parts = re.split(f"{BEGINS_NAME}(.*?){ENDS_NAME}", self.said, flags=re.DOTALL)
            self.calls = split_reply(parts, self.plan.style, self.plan.thinks).calls
        return delta

    def _certain(self) -> tuple[str, str]:
        """The thinking and the text that no later token changes."""
        ended = bool(self.end)
        said = self.said if ended else hold_back(self.said, self.stops)
        if self.plan.style is None:
            return "", without_signs(said, strip=False)
        return certain_parts(said, self.plan.style, self.plan.thinks, ended)
