"""The exact distributions of a small task, and estimates from samples with a 95% interval each.

The target is the model's own distribution over whole texts, conditioned on the language: P(text | text is legal).
Masked decoding draws from another distribution, because a mask looks one token ahead and no further. Of a small task
all texts are a tree, with three probabilities each.

The weight of a masked draw is the product of its legal masses Z. The target gives a text its masked probability times
its weight, divided by the mean weight. So both distances follow from masked draws alone; no text is ever enumerated.
The labs import the samplers from here, too.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Self

import numpy as np

from guidedviz.decoding.samplers import Adaptive as Adaptive
from guidedviz.decoding.samplers import Asap as Asap
from guidedviz.decoding.samplers import Draw, Text
from guidedviz.decoding.samplers import Masked as Masked
from guidedviz.decoding.samplers import Particles as Particles
from guidedviz.decoding.samplers import Rejection as Rejection
from guidedviz.decoding.samplers import Task as Task
from guidedviz.decoding.sampling import Floats
from guidedviz.errors import SettingError
from guidedviz.files import shipped

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
        interval = f"{self.low:.2f} to {self.high:.2f}"
        return f"{self.value:.2f} ({interval})"


def share_of(hits: int, count: int) -> Estimate:
    """A share with Wilson's interval, which also holds near 0 and 1.

    >>> print(share_of(0, 120), share_of(60, 120))
    0.00 (0.00 to 0.03) 0.50 (0.41 to 0.59)
    """
    if not 0 <= hits <= count or count < 1:
        raise SettingError("share_of", seen=f"{hits} of {count}", expected="a part of at least 1")
    share = hits / count
    extra = NORMAL**2 / count
    middle = (share + extra / 2) / (1 + extra)
    variance = share * (1 - share) / count + extra / 4 / count
    half = NORMAL / (1 + extra) * sqrt(variance)
    low = max(0.0, middle - half)
    high = min(1.0, middle + half)
    return Estimate(share, low, high)


@dataclass(frozen=True)
class Rates:
    """A recorded table: what share of a model's outputs had a property, for each way in which it was asked."""

    about: Mapping[str, str]
    table: tuple[Mapping[str, Any], ...]
    examples: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def load(cls, name: str) -> Self:
        """A table that the project has recorded; `assets/smollm2` says how.

        >>> dates = Rates.load("smollm2/dates")
        >>> print(dates.shares("right")["mask"])
        0.46 (0.37 to 0.56)
        >>> Rates.load("smollm2/classes").examples[0]["way"]
        'dates: free'
        """
        file = shipped(f"traces/{name}.json")
        record = json.loads(file.read_text(encoding="utf-8"))
        return cls(record["about"], tuple(record["table"]), tuple(record.get("examples", ())))

    def shares(self, what: str) -> dict[str, Estimate]:
        """The share of the outputs with this property, by the way of asking."""
        rows = [row for row in self.table if row["what"] == what]
        return {row["way"]: share_of(row["hits"], row["of"]) for row in rows}

    def __repr__(self) -> str:
        model, _, _ = self.about["model"].partition(",")  # how its weights are stored is in `about`
        return f"RECORDED {self.about['date']} · {model}"


def total_variation_of(draws: Iterable[Draw]) -> Estimate:
    """The total variation between masked decoding and its target, from masked draws."""

    def measure(weights: Floats) -> Floats:
        relative: Floats = weights / weights.mean(-1, keepdims=True)
        distance: Floats = 0.5 * np.abs(1 - relative).mean(-1)
        return distance

    return _estimate(draws, measure)


def legal_of(draws: Iterable[Draw]) -> Estimate:
    """The probability that a text drawn without a mask is legal: the mean weight."""
    return _estimate(draws, lambda weights: weights.mean(-1))


def _estimate(draws: Iterable[Draw], measure: Callable[[Floats], Floats]) -> Estimate:
    """A measure of the weights, and its interval over resampled draws (bootstrap). The seed is fixed."""
    weights = np.array([draw.weight for draw in draws if draw.ended])
    if not len(weights) or not weights.all():
        raise SettingError("draws", seen=f"{len(weights)} finished texts", expected="weights above 0", hint="Masked")
    count = len(weights)
    places = np.random.default_rng(0).integers(count, size=(RESAMPLED, count))
    resampled = measure(weights[places])
    low, high = np.quantile(resampled, (0.025, 0.975)).tolist()
    return Estimate(float(measure(weights)), low, high)


MOST_EXACT_TEXTS = 20_000


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
    tree = _grow_branch(task, task.start, 1.0, 1.0, Counter())
    task.counter.clear()
    return _divide(tree, tree.conditioned or 1.0)


def _grow_branch(task: Task, text: Text, free: float, masked: float, found: Counter[str]) -> Branch:
    """The tree after a text. Its `conditioned` are not yet divided by the probability of the language."""
    if text.ended:
        found["texts"] += 1
        return Branch(text.tokens, task.output(text), free, masked, free)
    if not task.is_open(text) or found["texts"] > MOST_EXACT_TEXTS:
        limit = f"at most {MOST_EXACT_TEXTS:,} texts of at most {task.max_tokens} tokens"
        raise SettingError("all_texts", seen="more texts or longer ones", expected=limit, hint="draw samples")
    chances = task.chances(text)
    mask = task.mask(text)
    legal = float(chances[mask].sum())
    below = []
    for token in np.flatnonzero(mask & (chances > 0)).tolist():
        after = task.then(text, token)
        if after:
            share = float(chances[token])
            own = masked * share / legal
            grown = _grow_branch(task, after, free * share, own, found)
            if grown.conditioned:  # one without a text leads nowhere
                below.append(grown)
    masked = sum(one.masked for one in below)
    conditioned = sum(one.conditioned for one in below)
    illegal = free - sum(one.free for one in below)
    output = task.output(text)
    return Branch(text.tokens, output, free, masked, conditioned, max(0.0, illegal), tuple(below))


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
    texts = _leaves(branch(task))
    return tuple(sorted(texts, key=lambda text: -text.conditioned))


def _leaves(tree: Branch) -> list[Branch]:
    if not tree.branches:
        return [tree] if tree.conditioned else []
    return [leaf for one in reversed(tree.branches) for leaf in _leaves(one)]


def shares(draws: Iterable[Draw]) -> dict[tuple[int, ...], float]:
    """The share of each text among draws, by their weights."""
    totals = defaultdict[tuple[int, ...], float](float)
    for draw in draws:
        totals[draw.tokens] += draw.weight
    whole = sum(totals.values())
    return {tokens: weight / whole for tokens, weight in totals.items() if weight}


def total_variation(one: Mapping[Any, float], two: Mapping[Any, float]) -> float:
    """Half the sum of the differences: 0 for equal distributions, 1 for distributions that share no text.

    >>> total_variation({"a": 0.5, "b": 0.5}, {"a": 1.0})
    0.5
    """
    keys = one.keys() | two.keys()
    differences = [one.get(key, 0.0) - two.get(key, 0.0) for key in keys]
    return 0.5 * sum(map(abs, differences))
