"""The settings of a decode. Their types and ranges are checked once, where they enter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guidedviz.decoding.records import MOST
from guidedviz.errors import SettingError, quoted
from guidedviz.tokens.jump import WAYS


@dataclass(frozen=True)
class Settings:
    """How tokens are chosen. Temperature 0 is greedy; top_k 0 keeps all tokens.

    >>> Settings(jump_forward=True).way, Settings(jump_forward="longest").way, Settings().way
    ('canonical', 'longest', '')
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    max_tokens: int = 200
    bias: Mapping[int, float] = field(default_factory=dict)
    jump_forward: bool | str = False
    draft: Any = None  # a draft of decoding/speculation

    def __post_init__(self) -> None:
        numbers = {
            "temperature": check_temperature(self.temperature),
            "top_k": check_whole("top_k", self.top_k, 0, MOST, "a whole number, 0 to keep all tokens"),
            "top_p": check_top_p(self.top_p),
            "seed": check_whole("seed", self.seed, 0, MOST, "a whole number from 0 up, of at most 128 bits"),
            "max_tokens": check_whole("max_tokens", self.max_tokens, 1, MOST, "a whole number from 1 up"),
            "bias": check_bias(self.bias, MOST),
        }
        for name, value in numbers.items():
            object.__setattr__(self, name, value)
        way = self.jump_forward
        if not isinstance(way, bool | str) or way not in (False, True, "", *WAYS):
            expected = "False, True, " + " or ".join(map(repr, WAYS))
            raise SettingError("jump_forward", seen=quoted(way), expected=expected)

    @property
    def way(self) -> str:
        """How jump-forward spells forced bytes; "" if the model is asked for every token."""
        return str(self.jump_forward or "") if self.jump_forward is not True else WAYS[0]

    @property
    def changes(self) -> str:
        """What besides the mask changes the probabilities that a token is drawn from.

        >>> Settings(temperature=0.5, top_k=40, bias={7: 2}).changes, Settings().changes
        ('bias · T 0.50 · top-k 40', '')
        """
        heat = [f"T {self.temperature:.2f}"] * (self.temperature != 1)
        return " · ".join(["bias"] * bool(self.bias) + heat + self.cuts)

    @property
    def cuts(self) -> list[str]:
        """How the tail of the distribution is cut.

        >>> Settings(top_k=40, top_p=0.9).cuts
        ['top-k 40', 'top-p 0.9']
        """
        return [f"top-k {self.top_k}"] * bool(self.top_k) + [f"top-p {self.top_p:g}"] * (self.top_p < 1)


def check_temperature(value: Any) -> float:
    """The temperature as a Python number."""
    return check_number("temperature", value, 0, 100, "a number from 0 (greedy) to 100")


def check_top_p(value: Any) -> float:
    """The share that top-p keeps, as a Python number."""
    return check_number("top_p", value, 5e-324, 1, "a number above 0, at most 1")


def check_bias(bias: Any, size: int) -> dict[int, float]:
    """A bias per token id, below `size`, in the range that OpenAI's `logit_bias` has."""
    if not isinstance(bias, Mapping):
        expected = "a mapping from token ids to numbers from -100 to 100"
        raise SettingError("bias", seen=quoted(bias), expected=expected, hint="bias={token: -100}")
    ids = f"a whole number from 0 to {size - 1}" if size < MOST else "a whole number from 0 up"
    tokens = [check_whole("token id in logit bias", token, 0, size - 1, ids) for token in bias]
    expected = "a number from -100 to 100"
    return {t: check_number(f"logit bias of token {t}", bias[t], -100, 100, expected) for t in tokens}


def check_whole(where: str, value: Any, low: int, high: int, expected: str) -> int:
    """A whole number as Python's int."""
    if not isinstance(value, int | np.integer):
        raise SettingError(where, seen=quoted(value), expected=expected)
    return int(check_number(where, value, low, high, expected))


def check_number(where: str, value: Any, low: float, high: float, expected: str) -> float:
    """A number of Python or NumPy as Python's own. Another type, NaN, or a value out of range is an error."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        raise SettingError(where, seen=quoted(value), expected=expected)
    number: float = value.item() if isinstance(value, np.generic) else value
    return number
