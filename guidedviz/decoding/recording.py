"""A recording: what the page shows at every step, as compressed JSON, and the forms of its parts.

A recording may come from a stranger, so all of it is checked when it is read: each field has a type, no field is
unknown, and a drawing has nothing but shapes. `assets/messages.py` has the forms that only live messages have, and
writes the types of the page's scripts from all.
"""

import gzip
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from guidedviz.decoding.records import MOST_LIST, AtMost, Between, Count, LongText, read_value, to_plain
from guidedviz.errors import TraceError
from guidedviz.files import parse_json
from guidedviz.markup import check_shapes
from guidedviz.models.model import Source

MOST_UNPACKED = 32 << 20  # bytes of a recording when it is unpacked
MOST_RECORDED_VALUES = 1_000_000  # its numbers, texts and lists
MOST_VOCABULARY_IDS = 1 << 21  # of a vocabulary

How = Literal["sampled", "forced", "inserted", "accepted", "given", "none"]
End = Literal["", "eos", "complete", "max_tokens", "context", "stop", "dead_end", "refused", "cut"]
ShortList = AtMost(MOST_LIST)
WholeNumbers = Annotated[tuple[int, ...], ShortList]
Texts = Annotated[tuple[str, ...], ShortList]
CheckedShapes = Annotated[Any, check_shapes]
TokenCount = Annotated[int, Between(0, MOST_VOCABULARY_IDS)]


class PackedRow(NamedTuple):
    """One candidate: its probability before and after the mask, each as a number and in words."""

    token: int
    label: str
    raw: float
    drawn: float
    legal: bool
    rawText: str
    drawnText: str


class PackedFrame(NamedTuple):
    """An open rule on a stack, and what it waits for."""

    id: int
    rule: str
    waits: str


class PackedBranching(NamedTuple):
    """The frame where another stack leaves the first one, and its rules from there on."""

    id: int
    words: str


Frames = Annotated[tuple[PackedFrame, ...], ShortList]


class PackedStackState(TypedDict):
    """A state of a pushdown machine: what is lit in its drawing, and the frames of its stack, top first.

    `others` are the frames of each other stack, down to the one where it leaves this stack. `exits` are the nodes that
    may read the next byte: those of `now`, and what follows them over calls that may read nothing.
    """

    name: str
    now: WholeNumbers
    exits: NotRequired[WholeNumbers]
    back: WholeNumbers
    calls: Annotated[tuple[tuple[str, int], ...], ShortList]
    last: Texts
    rules: Texts
    counts: Annotated[tuple[tuple[str, str], ...], ShortList]
    depth: Count
    frames: Frames
    others: NotRequired[Annotated[tuple[Frames, ...], ShortList]]
    ways: str  # in how many ways the text can be read, where there are several
    branches: NotRequired[Annotated[tuple[PackedBranching, ...], ShortList]]  # of an older recording
    ground: str  # what is said of the bottom


class PackedWay(TypedDict, total=False):
    """The states inside a token, and for a pushdown machine the arrows and the bytes."""

    path: WholeNumbers
    taken: Annotated[tuple[Texts, ...], ShortList]
    bytes: Texts
    died: str


class PackedByte(NamedTuple):
    """One byte of a forbidden token, where the machine stood, and what became of it."""

    byte: str
    state: str
    fate: str
    died: bool


class PackedWhy(PackedWay):
    """Why a token is forbidden."""

    label: str
    reason: str
    rows: Annotated[tuple[PackedByte, ...], ShortList]
    stack: Texts
    stacks: NotRequired[Annotated[dict[int, PackedStackState], ShortList]]


class PackedStep(PackedWay):
    """A step as the page shows it.

    `changes` names what beside the mask changed the probabilities that it was drawn from, such as "bias"; `names` are
    the tokens in it that are special ones, as the machine reads them; `back` are the places of the steps whose tokens
    it takes back; `mask` and `asked` are numbers of masks on the map. `others` are all tokens without a row, the legal
    and the forbidden ones; `inside` says where in its share the token was drawn. `stages` are the probabilities after
    each of the `changes` but the last, first those of the rows, then those of all other legal tokens in one. `refused`
    is the likeliest forbidden token and the byte of it that has no way on; an EOS has "end" in its place. Where bytes
    were read before that one, `refusedIn` has the state after them, and these bytes. In a counted repeat, `counted` has
    how many characters of it were read before that byte, and how many it has at most. `reads` has for each row what is
    read of a forbidden token before the byte that has no way on.
    """

    token: int
    label: str
    how: How
    masked: float
    maskedText: str
    rows: Annotated[tuple[PackedRow, ...], ShortList]
    rest: NotRequired[tuple[float, float, str, str]]  # of an older recording
    others: NotRequired[Annotated[tuple[PackedRow, ...], ShortList]]
    inside: NotRequired[float | None]
    stages: NotRequired[Annotated[tuple[Annotated[tuple[float, ...], ShortList], ...], ShortList]]
    legal: Count
    free: NotRequired[bool]  # of an older recording
    after: str
    changes: NotRequired[str]
    mass: float
    massText: str
    state: str
    stack: Texts
    ms: tuple[float, float, float]
    times: tuple[str, str, str]
    end: End
    words: str
    dropped: str
    names: NotRequired[WholeNumbers]
    drawn: NotRequired[str]
    back: WholeNumbers
    drawing: NotRequired[Count]
    mask: NotRequired[Count]
    asked: NotRequired[Count | None]
    ranks: NotRequired[WholeNumbers]
    refused: NotRequired[tuple[int, str] | None]
    refusedIn: NotRequired[tuple[int, str]]
    counted: NotRequired[tuple[int, int]]
    reads: NotRequired[Texts]
    whys: NotRequired[Annotated[dict[int, PackedWhy], ShortList]]


class PackedTurn(TypedDict):
    """A turn of a conversation: what the model said, and what the template added after it, such as results."""

    said: Texts
    read: Texts


class PackedTalk(TypedDict):
    """The turns of a conversation, each as texts and special tokens in turn; the steps are those of turn `now`."""

    turns: Annotated[tuple[PackedTurn, ...], ShortList]
    now: Count


class PackedHead(TypedDict):
    """Where the steps come from; `parts` are the texts and the special tokens of a chat prompt in turn.

    `free` is True if no constraint was given. In a conversation of several turns `talk` has them, and `parts` are those
    of the first prompt. On a live stage `asked` is the text of the prompt that may be edited, and `models` are those
    that may be chosen, the present one first.
    """

    source: Source
    about: str
    date: str
    prompt: LongText
    parts: NotRequired[Texts]
    talk: NotRequired[PackedTalk]
    constraint: LongText
    free: NotRequired[bool]
    asked: NotRequired[LongText]
    models: NotRequired[Texts]
    vocabulary: TokenCount
    live: bool
    speeds: Annotated[tuple[float, ...], ShortList]


class PackedMachine(TypedDict):
    """Where a machine begins, and the drawing that shows it."""

    initial: int
    drawing: Count
    stack: bool


class PackedDrawing(TypedDict):
    """A drawing, and what it shows in words; of a grammar each rule has one of its own, and is named."""

    shapes: CheckedShapes
    words: str
    rule: NotRequired[str]


class PackedPlace(NamedTuple):
    """A place on the map: its first rank, the rank after its last, its middle, and the cells it is wide."""

    name: str
    start: int
    stop: int
    x: float
    y: float
    room: float


class PackedLand(TypedDict):
    """The layout of a vocabulary map."""

    count: TokenCount
    width: Annotated[int, Between(1, 4096)]
    height: Annotated[int, Between(1, 4096)]
    moves: str
    borders: str
    places: tuple[PackedPlace, ...]
    eos: WholeNumbers
    chunk: Annotated[int, Between(1, MOST_VOCABULARY_IDS)]
    ways: str


class PackedToken(NamedTuple):
    """A token of the vocabulary."""

    id: int
    label: str
    bytes: str


class PackedTexts(TypedDict):
    """The texts of neighbours on the map, with the number of their chunk."""

    texts: tuple[Count, tuple[PackedToken, ...]]


class PackedRecordedMap(TypedDict):
    """The masks of the steps as bits, and the texts of tokens."""

    edited: NotRequired[None]  # of an older recording
    bits: dict[int, str]
    answers: tuple[PackedTexts, ...]
    land: PackedLand


class PackedBranch(NamedTuple):
    """A run that was left: the steps that it shares with the current run, and those after them as a number and text."""

    same: int
    steps: int
    text: str


class PackedPlayer(TypedDict):
    """The cursor, and the settings of the next step."""

    cursor: Count
    ended: bool
    branches: tuple[PackedBranch, ...]
    stale: tuple[int, ...]
    temperature: float
    seed: int
    top_k: NotRequired[int]
    top_p: NotRequired[float]
    repetition_penalty: NotRequired[float]


PackedSteps = TypedDict("PackedSteps", {"from": Count, "add": tuple[PackedStep, ...], "next": PackedStep | None})


class PackedStage(PackedPlayer):
    """What a stage shows beside the steps; `turn` is the last move of the page that was heard."""

    turn: Count
    playing: bool
    speed: float
    note: str
    drawings: NotRequired[dict[int, PackedDrawing]]
    stacks: NotRequired[dict[int, PackedStackState]]


class PackedRun(PackedSteps, PackedStage):
    """A whole run, as a recording keeps it."""

    top: tuple[float, str]
    machine: NotRequired[PackedMachine]
    map: NotRequired[PackedRecordedMap]
    head: PackedHead
    why: None


def compress(shown: Any) -> str:
    """JSON, compressed, as text; the same recording always gives the same text."""
    packed = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=to_plain)
    data = packed.encode("utf-8", "replace")
    return b64encode(gzip.compress(data, 9, mtime=0)).decode()


def decompress(text: str, where: str, expected: str) -> Any:
    """What `compress` packed, of a bounded size."""
    try:
        unpacker = zlib.decompressobj(31)
        data = unpacker.decompress(b64decode(text, validate=True), MOST_UNPACKED)
        if unpacker.unconsumed_tail:
            raise ValueError(f"more than {MOST_UNPACKED >> 20} MB")
        return parse_json(data, MOST_RECORDED_VALUES)
    except (ValueError, zlib.error, RecursionError) as error:
        raise TraceError(where, seen=str(error)[:80], expected=expected) from None


def expand(recording: str, tokens: Sequence[int]) -> dict[str, Any]:
    """A recording, checked: it has the form of a run, and shows the steps with these tokens."""
    shown: dict[str, Any] = decompress(recording, "recording", "what Trace.save wrote")
    read_value(PackedRun, shown, "recording")
    seen = [step["token"] for step in shown["add"]]
    if seen != list(tokens):
        raise TraceError("recording", seen=f"{len(seen)} other steps", expected=f"the {len(tokens)} steps of the trace")
    return shown
