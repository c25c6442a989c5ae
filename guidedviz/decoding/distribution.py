"""Texts of a model after a prompt, in the language of a guide: their exact distributions, samplers, and estimates.

The target is the model's own distribution over whole texts, conditioned on the language: P(text | text is legal).
Masked decoding draws from another distribution, because a mask looks one token ahead and no further.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import Any, Self

import numpy as np

from guidedviz.decoding.loop import start
from guidedviz.decoding.sampling import Floats, softmax
from guidedviz.decoding.trace import is_complete
from guidedviz.errors import IllegalToken, SettingError
from guidedviz.files import shipped
from guidedviz.models.model import Model
from guidedviz.tokens.arrays import Mask
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
            after = replace(text, tokens=(*text.tokens, token), state=self.guide.advance(text.state, token))
        except IllegalToken:
            return None
        ended = token in self.guide.vocabulary.eos or is_complete(self.guide, after.state)
        return replace(after, ended=ended) if ended else after

    def is_open(self, text: Text) -> bool:
        """Whether a text may grow."""
        return not text.ended and len(text.tokens) < self.max_tokens

    def output(self, text: Text) -> bytes:
        """The bytes of a text, without EOS."""
        vocabulary = self.guide.vocabulary
        return b"".join(vocabulary.pieces[token] for token in text.tokens if token not in vocabulary.eos)

    def finish(self, text: Text, weight: float = 1.0) -> Draw:
        """The draw of a text; the counter begins anew."""
        calls, asked = self.counter["calls"], self.counter["asked"]
        self.counter.clear()
        return Draw(text.tokens, self.output(text), weight if text.ended else 0.0, calls, asked, text.ended)


def pick(chances: Floats, random: np.random.Generator) -> int:
    """A token with these probabilities."""
    return int(random.choice(len(chances), p=chances / chances.sum()))


Grown = tuple[Text, float] | None  # a text with one more token, and its factor of the weight; None if there is none


def grow(task: Task, seed: int, draw_next: Callable[[Text, np.random.Generator], Grown]) -> Draw:
    """A text that grows by one token after the other; its weight is the product of their factors."""
    random, text, weight = np.random.default_rng(seed), task.start, 1.0
    while task.is_open(text) and (found := draw_next(text, random)):
        text, factor = found
        weight *= factor
    return task.finish(text, weight)


def draw_legal(task: Task, text: Text, chances: Floats, random: np.random.Generator) -> Grown:
    """The text with a token drawn by these chances, which are 0 for illegal ones, and their sum; None if all are 0."""
    return (task.then(text, pick(chances, random)) or text, float(chances.sum())) if chances.any() else None


# The exact distributions of a small task: all its texts as a tree, with three probabilities each.


MOST_TEXTS = 20_000


@dataclass(frozen=True)
class Branch:
    """All legal texts that begin with the same tokens: the sums of their probabilities.

    The three are: without a mask, under masked decoding, and conditioned on the language. `free` also counts what goes
    on with an illegal token; this part is `illegal`. A branch without branches is a whole text.
    """

    tokens: tuple[int, ...]
    text: bytes
    free: float
    masked: float
    conditioned: float
    illegal: float = 0.0
    branches: tuple["Branch", ...] = ()


def branch(task: Task) -> Branch:
    """All legal texts of a task as a tree, token by token.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: np.log([0.9, 0.1] if tokens[-1] == 0 else [0.5, 0.5]))
    >>> tree = branch(Task(toy, "b", gv.guide(gv.regex("ab|b[ab]"), toy.vocabulary)))
    >>> [(one.tokens, round(one.free, 2), round(one.illegal, 2), round(one.conditioned, 2)) for one in tree.branches]
    [((0,), 0.5, 0.45, 0.09), ((1,), 0.5, 0.0, 0.91)]
    """
    tree = _grow(task, task.start, 1.0, 1.0, Counter())
    task.counter.clear()
    return _divide(tree, tree.conditioned or 1.0)


def _grow(task: Task, text: Text, free: float, masked: float, found: Counter[str]) -> Branch:
    """The tree after a text. Its `conditioned` are not yet divided by the probability of the language."""
    if text.ended:
        found["texts"] += 1
        return Branch(text.tokens, task.output(text), free, masked, free)
    if not task.is_open(text) or found["texts"] > MOST_TEXTS:
        limit = f"at most {MOST_TEXTS:,} texts of at most {task.max_tokens} tokens"
        raise SettingError("all_texts", seen="more texts or longer ones", expected=limit, hint="draw samples")
    chances, mask, below = task.chances(text), task.mask(text), []
    legal = float(chances[mask].sum())
    for token in np.flatnonzero(mask & (chances > 0)).tolist():
        if after := task.then(text, token):
            share = float(chances[token])
            below.append(_grow(task, after, free * share, masked * share / legal, found))
    below = [one for one in below if one.conditioned]  # one without a text leads nowhere
    illegal = max(0.0, free - sum(one.free for one in below))
    sums = (sum(one.masked for one in below), sum(one.conditioned for one in below))
    return Branch(text.tokens, task.output(text), free, *sums, illegal, tuple(below))


def _divide(tree: Branch, whole: float) -> Branch:
    below = tuple(_divide(one, whole) for one in tree.branches)
    return replace(tree, conditioned=tree.conditioned / whole, branches=below)


def all_texts(task: Task) -> tuple[Branch, ...]:
    """All legal texts of a task, the likeliest first.

    >>> toy = gv.ToyModel([b"a", b"b", b"</s>"], lambda tokens: np.log([0.5, 0.3, 0.2]), eos={2})
    >>> for one in all_texts(Task(toy, "a", gv.guide(gv.regex("a|bb"), toy.vocabulary))):
    ...     print(one.text, *(round(p, 3) for p in (one.free, one.masked, one.conditioned)))
    b'a' 0.1 0.625 0.847
    b'bb' 0.018 0.375 0.153
    """
    return tuple(sorted(_leaves(branch(task)), key=lambda text: -text.conditioned))


def _leaves(tree: Branch) -> list[Branch]:
    if not tree.branches:
        return [tree] if tree.conditioned else []
    return [leaf for one in reversed(tree.branches) for leaf in _leaves(one)]


def shares(draws: Iterable[Draw]) -> dict[tuple[int, ...], float]:
    """The share of each text among draws, by their weights."""
    totals: dict[tuple[int, ...], float] = {}
    for draw in draws:
        totals[draw.tokens] = totals.get(draw.tokens, 0.0) + draw.weight
    whole = sum(totals.values())
    return {tokens: weight / whole for tokens, weight in totals.items() if weight} if whole else {}


def total_variation(one: Mapping[Any, float], two: Mapping[Any, float]) -> float:
    """Half the sum of the differences: 0 for equal distributions, 1 for distributions that share no text.

    >>> total_variation({"a": 0.5, "b": 0.5}, {"a": 1.0})
    0.5
    """
    return 0.5 * sum(abs(one.get(key, 0.0) - two.get(key, 0.0)) for key in one.keys() | two.keys())


# Samplers of whole texts: masked decoding, rejection, adaptive rejection of tokens, particles, and ASAp.
#
# Masked decoding is quick and draws from a distorted distribution; its weights tell by how much. The other four draw
# from the target, or come closer to it with more work. All count their forward passes.
#
# Papers: ASAp, arXiv 2405.21047; adaptive weighted rejection sampling (AWRS), arXiv 2504.05410; sequential Monte Carlo
# steering, arXiv 2306.03081.


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
        task, random = self.task, np.random.default_rng(seed)
        for _ in range(self.tries):
            text: Text | None = task.start
            while text is not None and task.is_open(text):
                text = task.then(text, pick(task.chances(text), random))
            if text is not None and text.ended:
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
                rest = place + 1 < len(order) and self.task.then(text, order[place + 1]) is not None
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
        task, random = self.task, np.random.default_rng(seed)
        texts, weights = [task.start] * self.count, np.ones(self.count)
        while any(map(task.is_open, texts)) and weights.any():
            known: dict[Text, Floats] = {}  # equal texts share a forward pass
            for place, text in enumerate(texts):
                if task.is_open(text):
                    if text not in known:
                        known[text] = task.masked(text)
                    found = draw_legal(task, text, known[text], random) or (replace(text, ended=True), 0.0)
                    texts[place] = found[0]
                    weights[place] *= found[1]
            texts, weights = resample(texts, weights, random)
        weights *= [text.ended for text in texts]
        if not weights.any():
            return task.finish(task.start, 0.0)
        return task.finish(texts[pick(weights, random)], float(weights.mean()))


def resample(texts: list[Text], weights: Floats, random: np.random.Generator) -> tuple[list[Text], Floats]:
    """Texts drawn by weight, all with the mean weight, if the weights are as uneven as if half of them were 0.

    >>> texts = [Text((token,)) for token in range(4)]
    >>> drawn, weights = resample(texts, np.array([0.0, 0.0, 0.8, 0.0]), np.random.default_rng(0))
    >>> [text.tokens for text in drawn], weights.tolist()
    ([(2,), (2,), (2,), (2,)], [0.2, 0.2, 0.2, 0.2])
    """
    if not weights.any() or weights.sum() ** 2 / (weights**2).sum() >= len(weights) / 2:
        return texts, weights
    ends = np.cumsum(weights) / weights.sum()
    places = np.searchsorted(ends, (random.random() + np.arange(len(weights))) / len(weights))
    return [texts[min(place, len(texts) - 1)] for place in places], np.full(len(weights), weights.mean())


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
        for end in range(len(found.tokens) - 1, -1, -1):
            below = found.tokens[: end + 1]
            if below in self.chances:
                self.hopes[found.tokens[:end]][found.tokens[end]] = float(self.chances[below] @ self.hopes[below])
        return replace(found, weight=float(found.ended))

    def hoped(self, text: Text) -> Floats:
        """The part of each token's probability that can still become legal, as far as is known."""
        if text.tokens not in self.chances:
            self.chances[text.tokens] = self.task.chances(text)
            self.hopes[text.tokens] = self.task.mask(text).astype(float)
        return self.chances[text.tokens] * self.hopes[text.tokens]


# Estimates from samples, each with a 95% interval: a share, and how far masked decoding is from its target.
#
# The weight of a masked draw is the product of its legal masses Z. The target gives a text its masked probability times
# its weight, divided by the mean weight. So both distances follow from masked draws alone; no text is ever enumerated.


NORMAL = 1.96  # standard deviations that hold 95% of a normal distribution
RESAMPLED = 1000


@dataclass(frozen=True)
class Estimate:
    """A number with the 95% interval around it."""

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def share_of(hits: int, count: int) -> Estimate:
    """A share with Wilson's interval, which also holds near 0 and 1.

    >>> print(share_of(0, 120), share_of(60, 120))
    0.00 (0.00 to 0.03) 0.50 (0.41 to 0.59)
    """
    if not 0 <= hits <= count or count < 1:
        raise SettingError("share_of", seen=f"{hits} of {count}", expected="a part of at least 1")
    share, extra = hits / count, NORMAL**2 / count
    middle = (share + extra / 2) / (1 + extra)
    half = NORMAL / (1 + extra) * sqrt(share * (1 - share) / count + extra / 4 / count)
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))


@dataclass(frozen=True)
class Rates:
    """A recorded table: what share of a model's outputs had a property, for each way in which it was asked."""

    about: Mapping[str, str]
    table: tuple[Mapping[str, Any], ...]

    @classmethod
    def load(cls, name: str) -> Self:
        """A table that the project has recorded; `assets/smollm2` says how.

        >>> dates = Rates.load("smollm2/dates")
        >>> print(dates.shares("right")["mask"])
        0.46 (0.37 to 0.56)
        """
        record = json.loads(shipped(f"traces/{name}.json").read_text(encoding="utf-8"))
        return cls(record["about"], tuple(record["table"]))

    def shares(self, what: str) -> dict[str, Estimate]:
        """The share of the outputs with this property, by the way of asking."""
        return {row["way"]: share_of(row["hits"], row["of"]) for row in self.table if row["what"] == what}

    def __repr__(self) -> str:
        return f"RECORDED {self.about['date']} · {self.about['model']} · {self.about['device']}"


def total_variation_of(draws: Iterable[Draw]) -> Estimate:
    """The total variation between masked decoding and its target, from masked draws."""
    return _estimate(draws, lambda weights: 0.5 * np.abs(1 - weights / weights.mean(-1, keepdims=True)).mean(-1))


def legal_of(draws: Iterable[Draw]) -> Estimate:
    """The probability that a text drawn without a mask is legal: the mean weight."""
    return _estimate(draws, lambda weights: weights.mean(-1))


def _estimate(draws: Iterable[Draw], measure: Callable[[Floats], Floats]) -> Estimate:
    """A measure of the weights, and its interval over resampled draws (bootstrap). The seed is fixed."""
    weights = np.array([draw.weight for draw in draws if draw.ended])
    if not len(weights) or not weights.all():
        raise SettingError("draws", seen=f"{len(weights)} finished texts", expected="weights above 0", hint="Masked")
    places = np.random.default_rng(0).integers(len(weights), size=(RESAMPLED, len(weights)))
    low, high = np.quantile(measure(weights[places]), (0.025, 0.975))
    return Estimate(float(measure(weights)), float(low), float(high))
