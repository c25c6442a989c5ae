"""When jump-forward pays: a forced token costs no pass of its own, though a pass still has to read it.

With a fraction f of the tokens forced, 1 / (1 - f) is the bound; the cost model puts a price on reading; what counts is
the clock of a live run. A record keeps all three.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from guidedviz.decoding.trace import Source
from guidedviz.errors import SettingError, TraceError

VERSION = 1
PLACES = tuple(place / 20 for place in range(20))  # of the slider: 0, 0.05, ... 0.95
Parts = tuple[tuple[str, bool], ...]  # a text in parts, True where it is fixed
Difference = Literal["same tokens", "same text, other tokens", "other text"]


def ideal(fraction: float) -> float:
    """The speed-up if forced tokens cost nothing.

    >>> ideal(0.75)
    4.0
    """
    if not 0 <= fraction < 1:
        raise SettingError("fraction", seen=repr(fraction), expected="0 up to, not including, 1")
    return 1 / (1 - fraction)


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
        return (own + each) / (own / ideal(fraction) + each)


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
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise TraceError(where, seen=str(error), expected="a file that Payoff.save wrote") from None
        version = data.get("guidedviz_payoff") if isinstance(data, dict) else None
        if version != VERSION:
            hint = "python -m guidedviz.bench jump --device cpu"
            raise TraceError(where, seen=f"version {version!r}", expected=f"version {VERSION}", hint=hint)
        try:
            read = {"cost": Cost(**data["cost"]), "runs": tuple(map(_read_run, data["runs"]))}
            read["previews"] = tuple(map(_read_parts, data["previews"]))
            record = cls(**{f.name: data[f.name] for f in fields(cls)} | read)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TraceError(where, seen=f"a damaged record ({error})", expected="all fields of a run") from None
        return record if record.source == "TOY" else replace(record, source="RECORDED")


def _read_run(data: dict[str, Any]) -> Timed:
    return Timed(**data | {"parts": _read_parts(data["parts"])})


def _read_parts(data: list[list[Any]]) -> Parts:
    return tuple((str(text), bool(fixed)) for text, fixed in data)
