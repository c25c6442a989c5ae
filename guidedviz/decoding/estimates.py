"""Estimates from samples, each with a 95% interval: a share, and how far masked decoding is from its target.

The weight of a masked draw is the product of its legal masses Z. The target gives a text its masked probability times
its weight, divided by the mean weight. So both distances follow from masked draws alone; no text is ever enumerated.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Self

import numpy as np

from guidedviz.decoding.sampling import Floats
from guidedviz.decoding.task import Draw
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
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


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
    places = np.random.default_rng(0).integers(len(weights), size=(RESAMPLED, len(weights)))
    low, high = np.quantile(measure(weights[places]), (0.025, 0.975))
    return Estimate(float(measure(weights)), float(low), float(high))
