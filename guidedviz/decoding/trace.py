"""Records: what one step of a decode did, and the whole of it as a file.

Views and tests live on these alone, so a lesson recorded on a large GPU replays on a laptop.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from guidedviz.errors import TraceError

VERSION = 1
How = Literal["sampled", "forced", "inserted", "none"]
End = Literal["", "eos", "complete", "max_tokens", "stop", "dead_end"]
Source = Literal["LIVE", "RECORDED", "TOY"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could have come next: its probability before the mask (raw), after it (masked), and the one that
    the draw went by: masked, then temperature, top-k and top-p (drawn)."""

    token: int
    piece: bytes
    raw: float
    masked: float
    legal: bool
    drawn: float


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was chosen out of what, and how long it took.

    A step that only says how a decode ended (`stop`, `dead_end`) chose nothing: token -1, piece b"", how "none". For a
    forced one the model was not asked: it has no candidates and no probabilities.
    """

    position: int  # 0 for the first new token
    token: int
    piece: bytes
    how: How
    raw: float  # probability of the chosen token before the mask
    masked: float  # and after it
    drawn: float  # and after temperature, top-k and top-p as well: what the draw went by
    candidates: tuple[Candidate, ...]  # the likeliest, by raw probability; the chosen one is always among them
    legal: int  # how many tokens the mask left
    mass: float  # Z: the raw probability that the mask left
    state: str  # the machine's state before this token
    stack: tuple[str, ...]  # its stack, top first; () for a machine without one
    forward_ms: float
    mask_ms: float
    sample_ms: float
    end: End = ""  # why the decode ended with this step; "" if it goes on
    back: int = 0  # tokens before this one that it takes back


@dataclass(frozen=True)
class Trace:
    """All steps of a decode and what is needed to say where they come from."""

    steps: tuple[Step, ...]
    prompt: str
    model: str
    device: str
    date: str  # ISO day, e.g. "2026-11-20"
    constraint: str  # in words; "" for none
    seed: int
    temperature: float
    vocabulary_size: int
    source: Source = "LIVE"

    @property
    def text(self) -> str:
        """The output so far, EOS left out."""
        return self.output.decode("utf-8", "replace")

    @property
    def output(self) -> bytes:
        """The output's bytes, EOS left out."""
        return b"".join(s.piece for s in standing(self.steps) if s.end != "eos")

    @property
    def tokens(self) -> tuple[int, ...]:
        """The output's tokens, without those that were taken back."""
        return tuple(s.token for s in standing(self.steps) if s.how != "none")

    @property
    def passes(self) -> int:
        """How often the model was asked for a token."""
        return sum(s.how in ("sampled", "inserted") for s in self.steps)

    @property
    def prefilled(self) -> int:
        """The forced tokens that the model read, several in one pass; those at the end of a text it never reads."""
        last = max((number for number, s in enumerate(self.steps) if s.how in ("sampled", "inserted")), default=0)
        return sum(s.how == "forced" for s in self.steps[:last])

    def save(self, path: str | Path) -> None:
        """Write as JSON; bytes are kept as Latin-1 text, so that the file can be read."""
        data = {"guidedviz_trace": VERSION, **asdict(self)}
        text = json.dumps(data, indent=1, ensure_ascii=False, default=lambda b: b.decode("latin-1"))
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a file that `save` wrote; what comes back is marked RECORDED unless it is a TOY."""
        where = f"trace file {path}"
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise TraceError(
                where, seen=error.strerror or "no such file", hint="give the path of a saved trace"
            ) from None
        except ValueError as error:
            raise TraceError(where, seen=f"no JSON ({error})", expected="a file that Trace.save wrote") from None
        version = data.get("guidedviz_trace") if isinstance(data, dict) else None
        if version != VERSION:
            hint = "record it again with this version of guidedviz"
            raise TraceError(where, seen=f"version {version!r}", expected=f"version {VERSION}", hint=hint)
        try:
            steps = tuple(_read_step(s) for s in data["steps"])
            trace = cls(**{f.name: data[f.name] for f in fields(cls)} | {"steps": steps})
        except (KeyError, TypeError, AttributeError, UnicodeError) as error:
            raise TraceError(where, seen=f"a damaged record ({error})", expected="all fields of a step") from None
        return trace if trace.source == "TOY" else replace(trace, source="RECORDED")


def read_record(path: str | Path, kind: str, version: int, hint: str) -> dict[str, Any]:
    """What a kind of record, "overlap" or "payoff", wrote as JSON, if it is of this version."""
    where = f"{kind} file {path}"
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TraceError(where, seen=str(error), expected=f"a file that {kind.title()}.save wrote") from None
    found = data.get(f"guidedviz_{kind}") if isinstance(data, dict) else None
    if found != version:
        raise TraceError(where, seen=f"version {found!r}", expected=f"version {version}", hint=hint)
    return dict(data)


def standing(steps: Sequence[Step]) -> list[Step]:
    """The steps whose tokens are in the output: without those that a later one took back."""
    kept: list[Step] = []
    for step in steps:
        del kept[len(kept) - step.back :]
        kept.append(step)
    return kept


def follows(steps: Sequence[Step]) -> list[int]:
    """After how many of the steps each one's token comes: all before it, if none is taken back."""
    places: list[int] = []
    kept: list[int] = []  # the numbers of those that stand, from 1
    for number, step in enumerate(steps, 1):
        del kept[len(kept) - step.back :]
        places.append(kept[-1] if kept else 0)
        kept.append(number)
    return places


def _read_step(data: dict[str, Any]) -> Step:
    candidates = tuple(Candidate(**c | {"piece": c["piece"].encode("latin-1")}) for c in data["candidates"])
    piece = data["piece"].encode("latin-1")
    return Step(**data | {"candidates": candidates, "stack": tuple(data["stack"]), "piece": piece})
