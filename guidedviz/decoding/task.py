"""A task: a model, a prompt and a guide; the texts that grow in it token by token, and the work that this takes."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.decoding.loop import start
from guidedviz.decoding.point import is_complete
from guidedviz.decoding.sampling import Floats, softmax
from guidedviz.errors import IllegalToken
from guidedviz.models.model import Model
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.spelling import join_pieces


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
    counter: Counter[str] = field(default_factory=Counter, compare=False, repr=False)  # of the draw that has begun

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
        self.counter["calls"] += 1
        return softmax(self.model.logits([*self.prompt_tokens, *text.tokens]), self.temperature)

    def mask(self, text: Text) -> Mask:
        """The legal tokens after a text."""
        self.counter["asked"] += 1
        return self.guide.mask(text.state)

    def masked(self, text: Text) -> Floats:
        """The probabilities of the legal tokens, and 0 for all others."""
        return self.chances(text) * self.mask(text)

    def then(self, text: Text, token: int) -> Text | None:
        """The text with one more token, or None if the token is illegal. It asks the guide for this token only."""
        self.counter["asked"] += 1
        try:
            state = self.guide.advance(text.state, token)
        except IllegalToken:
            return None
        ended = token in self.guide.vocabulary.eos or is_complete(self.guide, state)
        return Text((*text.tokens, token), state, ended)

    def is_open(self, text: Text) -> bool:
        """Whether a text may grow."""
        return not text.ended and len(text.tokens) < self.max_tokens

    def output(self, text: Text) -> bytes:
        """The bytes of a text, without EOS."""
        vocabulary = self.guide.vocabulary
        tokens = (token for token in text.tokens if token not in vocabulary.eos)
        return join_pieces(vocabulary, tokens)

    def finish(self, text: Text, weight: float = 1.0) -> Draw:
        """The draw of a text; the counter begins anew."""
        weight = weight if text.ended else 0.0
        draw = Draw(text.tokens, self.output(text), weight, self.counter["calls"], self.counter["asked"], text.ended)
        self.counter.clear()
        return draw


def pick(chances: Floats, random: np.random.Generator) -> int:
    """A token with these probabilities."""
    return int(random.choice(len(chances), p=chances / chances.sum()))


Grown = tuple[Text, float] | None  # a text with one more token, and its factor of the weight; None if there is none


def grow(task: Task, seed: int, draw_next: Callable[[Text, np.random.Generator], Grown]) -> Draw:
    """A text that grows by one token after the other; its weight is the product of their factors."""
    random = np.random.default_rng(seed)
    text = task.start
    weight = 1.0
    while task.is_open(text):
        found = draw_next(text, random)
        if found is None:
            break
        text, factor = found
        weight *= factor
    return task.finish(text, weight)


def draw_legal(task: Task, text: Text, chances: Floats, random: np.random.Generator) -> Grown:
    """The text with a token drawn by these chances, which are 0 for illegal ones, and their sum; None if all are 0."""
    if not chances.any():
        return None
    longer = task.then(text, pick(chances, random)) or text
    return longer, float(chances.sum())
