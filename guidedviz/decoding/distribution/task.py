"""What all samplers of this folder draw: texts of a model, after a prompt, in the language of a guide.

The target is the model's own distribution over whole texts, conditioned on the language: P(text | text is legal).
Masked decoding draws from another distribution, because a mask looks one token ahead and no further.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.decoding.ending import is_complete
from guidedviz.decoding.loop import start
from guidedviz.decoding.sampling import Floats, softmax
from guidedviz.errors import IllegalToken
from guidedviz.models.model import Model
from guidedviz.tokens.guide import Guide


@dataclass(frozen=True)
class Text:
    """A text so far: its tokens, the state of the guide after them, and whether it is finished."""

    tokens: tuple[int, ...] = ()
    state: Any = None
    ended: bool = False


@dataclass(frozen=True)
class Draw:
    """One text that a sampler has drawn.

    `weight` says how much the draw counts: 1 for a sampler of the target itself. `calls` counts the forward passes,
    `asked` the tokens or masks that the guide was asked for.
    """

    tokens: tuple[int, ...]
    text: bytes
    weight: float = 1.0
    calls: int = 0
    asked: int = 0
    ended: bool = True


@dataclass
class Counter:
    """The forward passes and the questions to the guide of one draw."""

    calls: int = 0
    asked: int = 0


@dataclass(frozen=True)
class Task:
    """A model, a prompt and a guide.

    >>> v = gv.ToyModel([b"a", b"b", b"</s>"], lambda tokens: [0, 0, 0], eos={2})
    >>> task = Task(v, "a", gv.guide(gv.regex("ab?"), v.vocabulary))
    >>> after = task.then(task.start, 0)
    >>> task.mask(after).tolist(), task.then(after, 0), task.then(after, 2).ended
    ([False, True, True], None, True)
    """

    model: Model
    prompt: str
    guide: Guide
    temperature: float = 1.0
    max_tokens: int = 200
    counter: Counter = field(default_factory=Counter, compare=False, repr=False)

    @cached_property
    def prompt_tokens(self) -> tuple[int, ...]:
        """The tokens of the prompt, checked as the decoding loop checks them."""
        return start(self.model, self.prompt, self.guide).tokens

    @property
    def start(self) -> Text:
        """The empty text."""
        return Text(state=self.guide.initial)

    def chances(self, text: Text) -> Floats:
        """The model's probability of each next token. One forward pass."""
        self.counter.calls += 1
        return softmax(self.model.logits([*self.prompt_tokens, *text.tokens]), self.temperature)

    def mask(self, text: Text) -> Any:
        """The legal tokens after a text."""
        self.counter.asked += 1
        return self.guide.mask(text.state)

    def then(self, text: Text, token: int) -> Text | None:
        """The text with one more token, or None if the token is illegal. It asks the guide for this token only."""
        self.counter.asked += 1
        try:
            after = replace(text, tokens=(*text.tokens, token), state=self.guide.advance(text.state, token))
        except IllegalToken:
            return None
        ended = token in self.guide.vocabulary.eos or is_complete(self.guide, after.state)
        return replace(after, ended=ended) if ended else after

    def is_open(self, text: Text) -> bool:
        """Whether a text may grow."""
        return not text.ended and len(text.tokens) < self.max_tokens

    def finish(self, text: Text, weight: float = 1.0) -> Draw:
        """The draw of a text; the counter begins anew."""
        words = [token for token in text.tokens if token not in self.guide.vocabulary.eos]
        data = b"".join(self.guide.vocabulary.pieces[token] for token in words)
        calls, asked = self.counter.calls, self.counter.asked
        self.counter.calls = self.counter.asked = 0
        return Draw(text.tokens, data, weight if text.ended else 0.0, calls, asked, text.ended)


def pick(chances: Floats, random: np.random.Generator) -> int:
    """A token with these probabilities."""
    return int(random.choice(len(chances), p=chances / chances.sum()))
