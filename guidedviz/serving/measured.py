"""What schemas cost in each engine on a machine, and what a compile cache saved: a record for the simulations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, median

from guidedviz.decoding.records import Count, Milliseconds, Share, load_record, save_record
from guidedviz.errors import TraceError
from guidedviz.models.model import Source
from guidedviz.serving.scheduler import Costs


@dataclass(frozen=True)
class SchemaCost:
    """One schema in one engine."""

    schema: str
    compile_ms: Milliseconds  # and the first mask
    mask_ms: Milliseconds  # the median along a text
    mask_p99_ms: Milliseconds


@dataclass(frozen=True)
class EngineCost:
    """The schemas that an engine compiled within ten seconds, of those that it was given."""

    engine: str
    tried: Count
    schemas: tuple[SchemaCost, ...]

    @property
    def costs(self) -> list[tuple[float, float]]:
        """The milliseconds of a compile and of a mask per schema."""
        return [(one.compile_ms, one.mask_ms) for one in self.schemas]


@dataclass(frozen=True)
class PackedCost:
    """One row of the mask of a batch, in milliseconds."""

    device: str
    rows: Count
    pack_ms: Milliseconds
    apply_ms: Milliseconds


@dataclass(frozen=True)
class ForwardCost:
    """One forward pass of a batch of texts that read one token each."""

    model: str
    rows: Count
    ms: Milliseconds


@dataclass(frozen=True)
class CacheRun:
    """The same requests with one way of caching: from the request to its first mask."""

    name: str
    requests: Count
    hit_rate: Share
    p50_ms: Milliseconds
    p99_ms: Milliseconds
    total_ms: Milliseconds
    megabytes: Milliseconds


@dataclass(frozen=True, repr=False)
class Measured:
    """The record of `python -m bench serving`."""

    engines: tuple[EngineCost, ...]
    packed: tuple[PackedCost, ...]
    forward: tuple[ForwardCost, ...]
    cache: tuple[CacheRun, ...]
    vocabulary_size: Count
    device: str
    date: str
    source: Source = "LIVE"

    def __repr__(self) -> str:
        lines = [f"{self.source}, {self.date}: {self.device}, {self.vocabulary_size:,} tokens; medians"]
        for one in self.engines:
            done = f"{one.engine}: {len(one.schemas)} of {one.tried} schemas"
            if not one.schemas:
                lines.append(f"{done} in ten seconds each")
                continue
            first, later = (median(times) for times in zip(*one.costs, strict=True))
            times = f"compile and first mask {first:,.1f} ms, a mask {later:.4f} ms"
            lines.append(f"{done}, {times}, 100 tokens {first + 99 * later:,.1f} ms")
        return "\n".join(lines)

    def costs(self, engine: str) -> list[tuple[float, float]]:
        """The milliseconds of a compile and of a mask per schema, for `make_requests`."""
        found = {one.engine.split()[0]: one for one in self.engines}
        if engine not in found:
            raise TraceError("serving, engine", seen=repr(engine), expected=" or ".join(map(repr, found)))
        return found[engine].costs

    def server(self) -> Costs:
        """The costs of a server on this machine: a line through the measured passes, and the packed masks of a row."""
        rows, times = [one.rows for one in self.forward], [one.ms for one in self.forward]
        each, fixed = linear_regression(rows, times)
        apply = next(one.pack_ms + one.apply_ms for one in self.packed if one.device == "numpy")
        return Costs(forward=max(fixed, 0.0), row=max(each, 0.0), apply=apply)

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        save_record(self, path, indent=1)

    @classmethod
    def load(cls, path: str | Path) -> Measured:
        """Read a file that `save` wrote; the record is marked RECORDED."""
        return load_record(cls, path, hint="python -m bench serving")
