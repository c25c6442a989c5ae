"""A recording: what the page shows at every step, as compressed JSON.

It may come from a stranger, so all of it is checked when it is read: each field has a type, no field is unknown, and a
drawing has nothing but shapes.
"""

import gzip
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from guidedviz.decoding.records import Between, Count, read_value
from guidedviz.errors import TraceError
from guidedviz.files import parse_json
from guidedviz.markup import check_shapes
from guidedviz.models.model import Source

MOST = 32 << 20  # bytes of a recording when it is unpacked
MOST_VALUES = 1_000_000  # its numbers, texts and lists
MOST_TOKENS = 1 << 21  # of a vocabulary

How = Literal["sampled", "forced", "inserted", "accepted", "none"]
End = Literal["", "eos", "complete", "max_tokens", "context", "stop", "dead_end"]
Numbers = tuple[int, ...]
Texts = tuple[str, ...]
Shapes = Annotated[Any, check_shapes]
Size = Annotated[int, Between(0, MOST_TOKENS)]
# token, label, probability before and after, whether it is legal, and both probabilities as text
PackedRow = tuple[int, str, float, float, bool, str, str]


class PackedStack(TypedDict):
    """A state of a pushdown machine: what is lit in its drawing, and the frames of its stack."""

    name: str
    now: Numbers
    back: Numbers
    calls: tuple[tuple[str, int], ...]
    last: Texts
    rules: Texts
    counts: tuple[tuple[str, str], ...]
    depth: Count
    frames: tuple[tuple[int, str, str], ...]
    stacks: Count
    ends: bool


class PackedWay(TypedDict, total=False):
    """The states inside a token, and for a pushdown machine the arrows and the bytes."""

    path: Numbers
    taken: tuple[Texts, ...]
    bytes: Texts
    died: str


class PackedWhy(PackedWay):
    """Why a token is forbidden."""

    label: str
    reason: str
    rows: tuple[tuple[str, str, str, bool], ...]
    stack: Texts
    stacks: NotRequired[dict[int, PackedStack]]


class PackedStep(PackedWay):
    """A step as the page shows it."""

    token: int
    label: str
    how: How
    masked: float
    maskedText: str
    rows: tuple[PackedRow, ...]
    rest: tuple[float, float, str, str]
    legal: Count
    free: bool
    after: str
    mass: float
    massText: str
    state: str
    stack: Texts
    ms: tuple[float, float, float]
    times: tuple[str, str, str]
    end: End
    words: str
    dropped: str
    drawn: str
    back: Numbers
    drawing: NotRequired[Count]
    mask: NotRequired[Count]
    asked: NotRequired[Count | None]
    ranks: NotRequired[Numbers]
    whys: NotRequired[dict[int, PackedWhy]]


class PackedHead(TypedDict):
    """Where the steps come from."""

    source: Source
    about: str
    date: str
    prompt: str
    constraint: str
    vocabulary: Size
    live: bool
    speeds: Numbers


class PackedMachine(TypedDict):
    """Where a machine begins, and the drawing that shows it."""

    initial: int
    drawing: Count
    stack: bool


class PackedDrawing(TypedDict):
    """A drawing, and what it shows in words."""

    shapes: Shapes
    words: str


class PackedLand(TypedDict):
    """The layout of a vocabulary map."""

    count: Size
    width: Annotated[int, Between(1, 4096)]
    height: Annotated[int, Between(1, 4096)]
    moves: str
    borders: str
    places: tuple[tuple[str, int, int, float, float, float], ...]
    eos: Numbers
    chunk: Annotated[int, Between(1, MOST_TOKENS)]
    ways: str


class Neighbours(TypedDict):
    """The texts of neighbours on the map: id, label and bytes of each."""

    texts: tuple[Count, tuple[tuple[int, str, str], ...]]


class PackedMap(TypedDict):
    """The masks of the steps as bits, and the texts of tokens."""

    edited: None
    bits: dict[int, str]
    answers: tuple[Neighbours, ...]
    land: PackedLand


PackedRun = TypedDict(
    "PackedRun",
    {
        "cursor": Count,
        "ended": bool,
        "branches": tuple[tuple[int, int, str], ...],
        "stale": Numbers,
        "temperature": float,
        "seed": int,
        "top": tuple[float, str],
        "from": Count,
        "add": tuple[PackedStep, ...],
        "next": PackedStep | None,
        "machine": NotRequired[PackedMachine],
        "drawings": NotRequired[dict[int, PackedDrawing]],
        "stacks": NotRequired[dict[int, PackedStack]],
        "map": NotRequired[PackedMap],
        "head": PackedHead,
        "turn": Count,
        "playing": bool,
        "speed": float,
        "note": str,
        "why": None,
    },
)


def compress(shown: Mapping[str, Any]) -> str:
    """JSON, compressed, as text; the same recording always gives the same text."""
    data = json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b64encode(gzip.compress(data, 9, mtime=0)).decode()


def expand(recording: str, tokens: Sequence[int]) -> dict[str, Any]:
    """What `compress` packed, checked: it has the form of a run, and shows the steps with these tokens."""
    try:
        unpacker = zlib.decompressobj(31)
        data = unpacker.decompress(b64decode(recording, validate=True), MOST)
        if unpacker.unconsumed_tail:
            raise ValueError(f"more than {MOST >> 20} MB")
        shown: dict[str, Any] = parse_json(data, MOST_VALUES)
    except (ValueError, zlib.error, RecursionError) as error:
        raise TraceError("recording", seen=str(error)[:80], expected="what Trace.save wrote") from None
    read_value(PackedRun, shown, "recording")
    seen = [step["token"] for step in shown["add"]]
    if seen != list(tokens):
        raise TraceError("recording", seen=f"{len(seen)} other steps", expected=f"the {len(tokens)} steps of the trace")
    return shown
