"""What jump-forward saves, by a cost model: a forced token needs no forward pass of its own.

A later pass still has to read the token. With a fraction f of the tokens forced, the speed-up is at most 1 / (1 - f);
the cost model adds the cost of reading, which grows with the rows that are read side by side.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from math import inf
from statistics import median
from typing import Annotated

from guidedviz.decoding.annotations import Between, Milliseconds, Share, check_number

FRACTIONS = tuple(at / 20 for at in range(20))  # the positions of the slider: 0, 0.05, ... 0.95
SliderPlace = Annotated[float, Between(0, FRACTIONS[-1])]
MarkedTokens = tuple[tuple[str, bool], ...]  # a text token by token, True where a token is fixed


def ideal(fraction: float) -> float:
    """The speed-up if forced tokens cost nothing.

    >>> ideal(0.75), ideal(1)
    (4.0, inf)
    """
    check_number(Share, fraction, "fraction")
    return 1 / (1 - fraction) if fraction < 1 else inf


def nearest_fraction(fraction: float) -> int:
    """The index in FRACTIONS of the nearest position.

    >>> nearest_fraction(0.7), nearest_fraction(0.0), nearest_fraction(0.949)
    (14, 0, 19)
    """
    check_number(SliderPlace, fraction, "fraction")
    return round(fraction * len(FRACTIONS))


def fixed_share(parts: MarkedTokens) -> float:
    """The share of the tokens that are fixed.

    >>> fixed_share((("{", True), ("x", False)))
    0.5
    """
    return sum(fixed for _, fixed in parts) / max(1, len(parts))


@dataclass(frozen=True)
class Cost:
    """The fixed cost of a forward pass and the cost per token that it reads; both grow with the number of rows.

    >>> cost = Cost(pass_ms=9.0, token_ms=1.0)
    >>> round(cost.speedup(0.75), 2), round(cost.speedup(0.75, rows=128), 2)
    (3.08, 1.05)
    """

    pass_ms: Milliseconds  # per pass, independent of the number of tokens
    token_ms: Milliseconds  # per token of each row
    row_ms: Milliseconds = 0.0  # per row and pass: the cached keys and values are read again
    put_ms: Milliseconds = 0.0  # per forced token, to find and append it, once for all rows

    def prices(self, rows: int = 1) -> tuple[float, float]:
        """The fixed milliseconds of a pass, and the milliseconds per token that it reads."""
        return self.pass_ms + self.row_ms * rows, self.put_ms + self.token_ms * rows

    def speedup(self, fraction: float, rows: int = 1) -> float:
        """The time without jump-forward divided by the time with it; both read the same tokens."""
        own, each = self.prices(rows)
        spent = own / ideal(fraction) + each
        return (own + each) / spent if spent else ideal(fraction)


def median_cost(costs: Iterable[Cost]) -> Cost:
    """The median of each constant.

    >>> median_cost([Cost(9.0, 1.0), Cost(8.0, 3.0), Cost(90.0, 2.0)])
    Cost(pass_ms=9.0, token_ms=2.0, row_ms=0.0, put_ms=0.0)
    """
    columns = zip(*map(astuple, costs), strict=True)
    return Cost(*map(median, columns))
