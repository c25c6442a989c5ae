"""The mask beside the forward: once a token is chosen its state is known, and the mask needs nothing but the state.

So the device may compute the next logits while the CPU makes the mask for them (arXiv 2411.15100). A record holds when
each of the two began and ended, token by token, one after the other and side by side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.decoding.trace import Source, read_record
from guidedviz.errors import TraceError
from guidedviz.tokens.guide import Guide, Mask

VERSION = 1
Span = tuple[float, float]  # milliseconds from the start of a run


class Forward(Protocol):
    """A model on a device: `start` hands it a token and does not wait, `wait` gives when it ran."""

    def begin(self) -> None: ...  # a new text; its clock starts
    def start(self, token: int) -> None: ...
    def wait(self) -> Span: ...
    def choose(self, mask: Mask) -> int: ...  # the likeliest legal token


@dataclass(frozen=True, slots=True)
class Turn:
    """One token: when its forward and its mask began and ended, and when it was chosen."""

    forward: Span
    mask: Span
    chosen: float

    @property
    def overhead(self) -> float:
        """The milliseconds for which the logits had to wait for their mask."""
        return max(0.0, self.mask[1] - self.forward[1])


@dataclass(frozen=True, slots=True)
class Run:
    """One way to decode a text: by which engine, and whether the mask is made beside the forward."""

    engine: str
    beside: bool
    turns: tuple[Turn, ...]

    @property
    def overhead(self) -> float:
        """Milliseconds a token, the mean."""
        return fmean(turn.overhead for turn in self.turns)

    @property
    def per_token(self) -> float:
        """Milliseconds from token to token, the mean."""
        return self.turns[-1].chosen / len(self.turns)


@dataclass(frozen=True)
class Overlap:
    """Runs on the same tokens, and where they come from."""

    runs: tuple[Run, ...]
    model: str  # its shape, and what its weights are
    device: str
    date: str
    constraint: str
    vocabulary_size: int
    source: Source = "LIVE"

    def pair(self, engine: str = "") -> tuple[Run, Run]:
        """One after the other, and side by side; of the first engine if none is named."""
        engine = engine or self.runs[0].engine
        found = {run.beside: run for run in self.runs if run.engine == engine}
        if len(found) < 2:
            names = " or ".join(dict.fromkeys(repr(run.engine) for run in self.runs))
            raise TraceError("overlap, engine", seen=repr(engine), expected=names)
        return found[False], found[True]

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        data = {"guidedviz_overlap": VERSION, **asdict(self)}
        Path(path).write_text(json.dumps(data, indent=None, separators=(", ", ": ")) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Overlap:
        """Read a file that `save` wrote; what comes back is marked RECORDED unless it is a TOY."""
        where = f"overlap file {path}"
        data = read_record(path, "overlap", VERSION, hint="python -m guidedviz.bench overlap")
        try:
            runs = tuple(map(_read_run, data["runs"]))
            record = cls(**{f.name: data[f.name] for f in fields(cls)} | {"runs": runs})
        except (KeyError, TypeError, ValueError) as error:
            raise TraceError(where, seen=f"a damaged record ({error})", expected="all fields of a run") from None
        return record if record.source == "TOY" else replace(record, source="RECORDED")


def _read_run(data: Mapping[str, Any]) -> Run:
    turns = ((*map(float, turn["forward"]), *map(float, turn["mask"]), float(turn["chosen"])) for turn in data["turns"])
    return Run(str(data["engine"]), bool(data["beside"]), tuple(Turn((a, b), (c, d), e) for a, b, c, d, e in turns))


def record_runs(
    forward: Forward, guides: Mapping[str, Callable[[], Guide]], tokens: Sequence[int], rounds: int = 1
) -> tuple[Run, ...]:
    """Every engine one after the other and side by side, each time with a guide that has seen nothing yet.

    Of several rounds the quickest is kept: what slows a run down is another program.
    """
    rows = [(engine, beside) for engine in guides for beside in (False, True)]
    found = [
        [Run(engine, beside, time_turns(forward, guides[engine](), tokens, beside)) for engine, beside in rows]
        for _ in range(rounds)
    ]
    return tuple(min(runs, key=lambda run: run.per_token) for runs in zip(*found, strict=True))


def time_turns(forward: Forward, guide: Guide, tokens: Sequence[int], beside: bool) -> tuple[Turn, ...]:
    """Put these tokens one by one; the choice among the legal ones is made and timed, but a text is followed.

    So all runs read the same text, whatever a model of random weights would like.
    """
    turns, state, last = [], guide.initial, 0
    forward.begin()
    began = perf_counter()

    def make_mask(state: Hashable) -> tuple[Mask, Span]:
        start = perf_counter()
        mask = guide.mask(state)
        return mask, ((start - began) * 1e3, (perf_counter() - began) * 1e3)

    for token in tokens:
        forward.start(last)
        if beside:
            mask, made = make_mask(state)
            ran = forward.wait()
        else:
            ran = forward.wait()
            mask, made = make_mask(state)
        forward.choose(mask)
        turns.append(Turn(_rounded(ran), _rounded(made), round((perf_counter() - began) * 1e3, 4)))
        state, last = guide.advance(state, token), token
    return tuple(turns)


def _rounded(span: Span) -> Span:
    return round(span[0], 4), round(span[1], 4)


def choose_legal(logits: npt.NDArray[np.float32], mask: Mask) -> int:
    """The likeliest token among the legal ones.

    >>> choose_legal(np.array([3.0, 2.0, 1.0], dtype=np.float32), np.array([False, True, True]))
    1
    """
    return int(np.where(mask, logits, -np.inf).argmax())
