"""When jump-forward pays: a forced token costs no pass of its own, though a pass still has to read it.

With a fraction f of the tokens forced, 1 / (1 - f) is the bound; the cost model puts a price on reading; what counts is
the clock of a live run. A record keeps all three.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from math import inf, isfinite
from numbers import Real
from pathlib import Path
from typing import Any, Literal, get_args

from guidedviz.decoding.trace import Source, read_record
from guidedviz.errors import GuidedVizError, SettingError, TraceError

VERSION = 1
PLACES = tuple(place / 20 for place in range(20))  # of the slider: 0, 0.05, ... 0.95
Parts = tuple[tuple[str, bool], ...]  # a text in parts, True where it is fixed
Difference = Literal["same tokens", "same text, other tokens", "other text"]


def ideal(fraction: float) -> float:
    """The speed-up if forced tokens cost nothing.

    >>> ideal(0.75), ideal(1)
    (4.0, inf)
    """
    if not _is_share(fraction, 1.0):
        raise SettingError("fraction", seen=repr(fraction), expected="0 to 1")
    return 1 / (1 - fraction) if fraction < 1 else inf


def find_place(fraction: float) -> int:
    """The place of the slider nearest to a share.

    >>> find_place(0.7), find_place(0.0), find_place(0.949)
    (14, 0, 19)
    """
    if not _is_share(fraction, PLACES[-1]):
        raise SettingError("fraction", seen=repr(fraction), expected=f"0 to {PLACES[-1]}")
    return round(fraction * len(PLACES))


def _is_share(value: object, most: float) -> bool:
    return isinstance(value, Real) and 0 <= float(value) <= most


def fixed_share(parts: Parts) -> float:
    """How many of the tokens are fixed.

    >>> fixed_share((("{", True), ("x", False)))
    0.5
    """
    return sum(fixed for _, fixed in parts) / max(1, len(parts))


@dataclass(frozen=True)
class Passes:
    """How many tokens each pass reads: one that is chosen, and the fixed ones before it; `rest` needs no pass."""

    read: tuple[int, ...]
    rest: int


def group_passes(parts: Parts, made: int | None = None) -> Passes:
    """The passes of jump-forward over a text; if tokens were cut anew, those that were `made` share its tokens.

    >>> text = (("{", True), ("x", False), ("y", False), ("}", True))
    >>> group_passes(text)
    Passes(read=(2, 1), rest=1)
    >>> group_passes(text, made=1)
    Passes(read=(3,), rest=1)
    """
    ends = [0, *(end for end, (_, fixed) in enumerate(parts, 1) if not fixed)]
    free = len(ends) - 1
    made = free if made is None else made
    shared = [ends[free * at // max(1, made)] for at in range(made + 1)]
    return Passes(tuple(end - begin for begin, end in pairwise(shared)), len(parts) - shared[-1])


@dataclass(frozen=True)
class Cost:
    """What a pass costs by itself, and what each token that it reads adds; both grow with the rows.

    >>> cost = Cost(pass_ms=9.0, token_ms=1.0)
    >>> round(cost.speedup(0.75), 2), round(cost.speedup(0.75, rows=128), 2)
    (3.08, 1.05)
    """

    pass_ms: float  # whatever it reads
    token_ms: float  # for a token of each row
    row_ms: float = 0.0  # for each row whatever is read: what is kept of its text is read again
    put_ms: float = 0.0  # to find and to put a forced token, once for all rows

    def prices(self, rows: int = 1) -> tuple[float, float]:
        """Milliseconds of a pass by itself, and of each token that it reads."""
        return self.pass_ms + self.row_ms * rows, self.put_ms + self.token_ms * rows

    def speedup(self, fraction: float, rows: int = 1) -> float:
        """As many tokens are read with jump-forward as without, in fewer passes."""
        own, each = self.prices(rows)
        spent = own / ideal(fraction) + each
        return (own + each) / spent if spent else ideal(fraction)


@dataclass(frozen=True)
class Timed:
    """One live run both ways, greedily, after the prompt has been read."""

    asked: float  # the fraction that the schema was built for
    fraction: float  # as it came out: forced tokens among all
    rows: int  # texts side by side
    naive_ms: float
    jump_ms: float
    naive_passes: int
    jump_passes: int
    prefilled: int  # forced tokens that passes read
    tokens: int  # of the run with jump-forward
    parts: Parts  # its text, token by token, True where forced
    difference: Difference  # from the run without

    @property
    def speedup(self) -> float:
        """How many times as fast, a token: without jump-forward a text may be spelled in more of them."""
        return (self.naive_ms / self.naive_passes) / (self.jump_ms / self.tokens)


@dataclass(frozen=True)
class Payoff:
    """Live runs at some places of the slider, and where they come from."""

    cost: Cost
    runs: tuple[Timed, ...]
    previews: tuple[Parts, ...]  # of the task at each place
    model: str
    device: str
    date: str  # ISO day
    way: str  # how a forced run was spelled
    source: Source = "LIVE"

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        data = {"guidedviz_payoff": VERSION, **asdict(self)}
        Path(path).write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Payoff:
        """Read a file that `save` wrote; what comes back is marked RECORDED unless it is a TOY."""
        where = f"payoff file {path}"
        data = read_record(path, "payoff", VERSION, hint="python -m guidedviz.bench jump --device cpu")
        try:
            record = cls(**{field.name: data[field.name] for field in fields(cls)} | _read(data))
        except GuidedVizError as error:
            raise TraceError(f"{where}, {error.where}", seen=error.seen, expected=error.expected) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise TraceError(where, seen=f"a damaged record ({error})", expected="all fields of a run") from None
        return record if record.source == "TOY" else replace(record, source="RECORDED")


def _read(data: dict[str, Any]) -> dict[str, Any]:
    """What is more than a word; a figure that cannot be is named."""
    previews = tuple(_read_parts(parts, f"preview {at}") for at, parts in enumerate(data["previews"]))
    _check("previews", len(previews), len(previews) == len(PLACES), f"{len(PLACES)}, one for each place of the slider")
    for name in ("model", "device", "date", "way"):
        _check(name, data[name], isinstance(data[name], str), "a text")
    _check("source", data["source"], data["source"] in get_args(Source), " or ".join(get_args(Source)))
    runs = tuple(_read_run(run, f"run {at}") for at, run in enumerate(data["runs"]))
    return {"cost": _read_cost(data["cost"]), "runs": runs, "previews": previews}


def _read_cost(data: dict[str, Any]) -> Cost:
    for name, figure in data.items():
        _check(f"cost, {name}", figure, _is_figure(figure), "a number from 0")
    cost = Cost(**data)
    _check("cost", "only zeros", sum(cost.prices()) > 0, "a pass or a token that costs something")
    return cost


def _read_run(data: dict[str, Any], where: str) -> Timed:
    run = Timed(**data | {"parts": _read_parts(data["parts"], where)})
    _check(f"{where}, asked", run.asked, run.asked in PLACES, f"a place of the slider: 0, 0.05, ... {PLACES[-1]}")
    _check(f"{where}, fraction", run.fraction, _is_figure(run.fraction) and run.fraction <= 1, "0 to 1")
    for name in ("naive_ms", "jump_ms"):
        figure = data[name]
        _check(f"{where}, {name}", figure, _is_figure(figure) and figure > 0, "a number above 0")
    for name, least in {"rows": 1, "naive_passes": 1, "jump_passes": 0, "prefilled": 0, "tokens": 1}.items():
        figure = data[name]
        is_count = type(figure) is int and figure >= least
        _check(f"{where}, {name}", figure, is_count, f"a whole number from {least}")
    known = get_args(Difference)
    _check(f"{where}, difference", run.difference, run.difference in known, " or ".join(map(repr, known)))
    return run


def _read_parts(data: list[list[Any]], where: str) -> Parts:
    parts = tuple((text, fixed) for text, fixed in data)
    _check(where, "no tokens", bool(parts), "a text token by token")
    for text, fixed in parts:
        is_part = isinstance(text, str) and isinstance(fixed, bool)
        _check(where, [text, fixed], is_part, "a token's text, and whether it is fixed")
    return parts


def _is_figure(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value) and value >= 0


def _check(where: str, seen: Any, holds: bool, expected: str) -> None:
    if not holds:
        raise SettingError(where, seen=seen if isinstance(seen, str) else repr(seen), expected=expected)
