"""Samplers of whole texts: masked decoding, rejection, adaptive rejection of tokens, particles, and ASAp.

A task is a model, a prompt and a guide; its texts grow token by token. Masked decoding is quick and draws from a
distorted distribution; its weights tell by how much. The other four draw from the target, or come closer to it with
more work. All count their forward passes.

Papers: ASAp, arXiv 2405.21047; adaptive weighted rejection sampling (AWRS), arXiv 2504.05410; sequential Monte Carlo
steering, arXiv 2306.03081.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.decoding.loop import start
from guidedviz.decoding.sampling import Floats, softmax
from guidedviz.decoding.trace import is_complete
from guidedviz.errors import IllegalToken
from guidedviz.models.model import Model
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import join_pieces


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
        calls = self.counter["calls"]
        asked = self.counter["asked"]
        self.counter.clear()
        return Draw(text.tokens, self.output(text), weight, calls, asked, text.ended)


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


@dataclass(frozen=True)
class Masked:
    """Masked decoding. The weight of a draw is the product of its legal masses Z: with it the draw is unbiased."""

    task: Task

    def draw(self, seed: int) -> Draw:
        """One text and its weight."""
        task = self.task
        return grow(task, seed, lambda text, random: draw_legal(task, text, task.masked(text), random))


@dataclass(frozen=True)
class Rejection:
    """Draw without a mask, and begin again at the first illegal token. Exact, and slow where legal texts are rare."""

    task: Task
    tries: int = 1000

    def draw(self, seed: int) -> Draw:
        """One text; its weight is 0 if no try was legal."""
        task = self.task
        random = np.random.default_rng(seed)
        for _ in range(self.tries):
            text: Text | None = task.start
            while text and task.is_open(text):
                text = task.then(text, pick(task.chances(text), random))
            if text and text.ended:
                return task.finish(text)
        return task.finish(task.start, 0.0)


@dataclass(frozen=True)
class Adaptive:
    """AWRS: draw a token without a mask, ask the guide for this token only, and leave it out if it is illegal.

    One more token is drawn and asked, to estimate Z without a mask. The weights are unbiased.
    """

    task: Task

    def draw(self, seed: int) -> Draw:
        """One text and its weight."""
        return grow(self.task, seed, lambda text, random: self.next_token(text, self.task.chances(text), random))

    def next_token(self, text: Text, chances: Floats, random: np.random.Generator) -> Grown:
        """The text with a legal token, and an unbiased estimate of the legal mass; None if no token is legal.

        Tokens come in the order of draws without putting back. If x is the first legal one, with share q of what was
        left, then Z is what was left times (q + (1 - q) times the legal share of the rest). The next token in this
        order estimates the legal share of the rest: 1 if it is legal, 0 if not.
        """
        order = draw_order(chances, random)
        left = 1.0
        for place, token in enumerate(order):
            after = self.task.then(text, token)
            if after is not None:
                share = min(1.0, chances[token] / left)
                others = order[place + 1 : place + 2]
                rest = float(any(self.task.then(text, other) for other in others))
                return after, left * (share + (1 - share) * rest)
            left -= float(chances[token])
        return None


def draw_order(chances: Floats, random: np.random.Generator) -> list[int]:
    """The tokens with any probability, in the order of draws without putting back."""
    with np.errstate(divide="ignore"):
        keys = np.log(chances) + random.gumbel(size=len(chances))
    order = np.argsort(-keys)
    tokens: list[int] = order[chances[order] > 0].tolist()
    return tokens


@dataclass(frozen=True)
class Particles:
    """Sequential Monte Carlo: several texts grow by masked decoding, and those with small weights are replaced.

    A draw is one of the texts, chosen by weight. With more particles the distribution comes closer to the target.
    """

    task: Task
    count: int = 8

    def draw(self, seed: int) -> Draw:
        """One text. Its weight is the estimate of P(legal), the mean weight of the particles."""
        task = self.task
        random = np.random.default_rng(seed)
        texts = [task.start for _ in range(self.count)]
        weights = np.ones(self.count)
        while any(map(task.is_open, texts)) and weights.any():
            self.extend(texts, weights, random)
            texts, weights = resample(texts, weights, random)
        weights *= [text.ended for text in texts]
        if not weights.any():
            return task.finish(task.start, 0.0)
        drawn = texts[pick(weights, random)]
        return task.finish(drawn, float(weights.mean()))

    def extend(self, texts: list[Text], weights: Floats, random: np.random.Generator) -> None:
        """Extend each open text by a legal token; where none is legal its weight becomes 0."""
        known: dict[Text, Floats] = {}  # equal texts share a forward pass
        for place, text in enumerate(texts):
            if not self.task.is_open(text):
                continue
            if text not in known:
                known[text] = self.task.masked(text)
            found = draw_legal(self.task, text, known[text], random)
            if found is None:
                found = replace(text, ended=True), 0.0
            texts[place], factor = found
            weights[place] *= factor


def resample(texts: list[Text], weights: Floats, random: np.random.Generator) -> tuple[list[Text], Floats]:
    """Texts drawn by weight, all with the mean weight, if the weights are as uneven as if half of them were 0.

    >>> texts = [Text((token,)) for token in range(4)]
    >>> drawn, weights = resample(texts, np.array([0.0, 0.0, 0.8, 0.0]), np.random.default_rng(0))
    >>> [text.tokens for text in drawn], weights.tolist()
    ([(2,), (2,), (2,), (2,)], [0.2, 0.2, 0.2, 0.2])
    """
    count = len(texts)
    if not weights.any():
        return texts, weights
    effective = weights.sum() ** 2 / (weights**2).sum()  # as many equal weights would be as uneven
    if effective >= count / 2:
        return texts, weights
    ends = np.cumsum(weights) / weights.sum()
    points = (random.random() + np.arange(count)) / count
    places = np.searchsorted(ends, points)
    drawn = [texts[min(place, count - 1)] for place in places]
    return drawn, np.full(count, weights.mean())


@dataclass(frozen=True)
class Asap:
    """ASAp: masked decoding that remembers, per text so far, how much of each token's probability can become legal.

    It begins with the mask (all of a legal token's probability) and corrects itself after each draw, so its draws
    converge to the target.
    """

    task: Task
    chances: dict[tuple[int, ...], Floats] = field(default_factory=dict, repr=False)
    hopes: dict[tuple[int, ...], Floats] = field(default_factory=dict, repr=False)

    def draw(self, seed: int) -> Draw:
        """One text; what it teaches is remembered for the next draw."""
        task = self.task
        found = grow(task, seed, lambda text, random: draw_legal(task, text, self.hoped(text), random))
        for end in range(len(found.tokens), 0, -1):
            below = found.tokens[:end]
            if below in self.chances:
                *above, token = below
                hope = self.chances[below] @ self.hopes[below]
                self.hopes[tuple(above)][token] = float(hope)
        return replace(found, weight=float(found.ended))

    def hoped(self, text: Text) -> Floats:
        """The part of each token's probability that can still become legal, as far as is known."""
        if text.tokens not in self.chances:
            self.chances[text.tokens] = self.task.chances(text)
            self.hopes[text.tokens] = self.task.mask(text).astype(float)
        return self.chances[text.tokens] * self.hopes[text.tokens]
