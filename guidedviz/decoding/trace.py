"""Records: what one step of a decode did, all steps as a file, and where a decode stands between two steps.

Views draw nothing but records, so a run that was recorded on a large GPU replays on a laptop.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from guidedviz import lazy
from guidedviz.decoding.recording import End as End
from guidedviz.decoding.recording import How as How
from guidedviz.decoding.recording import expand
from guidedviz.decoding.records import (
    MOST_LIST,
    AtMost,
    Between,
    Count,
    LongText,
    Milliseconds,
    Share,
    load_record,
    save_record,
)
from guidedviz.decoding.sampling import Floats
from guidedviz.errors import TraceError, quoted
from guidedviz.machines.machine import read
from guidedviz.machines.names import is_name, split_names, without_names
from guidedviz.machines.visible import counted, visible
from guidedviz.models.model import Source
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide

END_IN_WORDS: dict[End, str] = {
    "eos": "the model ended its output (EOS)",
    "complete": "complete: nothing more may follow",
    "max_tokens": "stopped at the token limit",
    "context": "stopped: the context of the model is full",
    "stop": "stopped",
    "dead_end": "dead end: no token is legal here",
    "refused": "the constraint refuses the text here",
    "cut": "the text ends here and is not complete",
}
TRACE_HINT = "gv.record(model, prompt, guide)"  # how to make a trace
COLD = "T 0.00"  # in the changes of a step: nothing is drawn, the likeliest token is taken
CHOSEN = ("sampled", "inserted", "accepted", "given")  # from the probabilities of the model


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could have come next, and its probability at three points of the step."""

    token: Count
    piece: bytes
    raw: Share  # of the model itself: before bias, mask and temperature
    masked: Share  # after the mask
    legal: bool
    drawn: Share  # after bias, mask, temperature, top-k and top-p: the token is sampled from these


@dataclass(frozen=True, slots=True)
class Refusal:
    """Where a constraint refuses a text that was given, and why."""

    token: Annotated[int, Between(-1)]  # that the text has there; EOS, or -1 without one, if the text ends too early
    byte: Count  # the first refused byte of the text
    path: LongText  # of the JSON value there, such as $.items[2]; "" in other texts
    reason: LongText
    instead: LongText = ""  # what the model writes there under the constraint, in visible characters

    @property
    def words(self) -> str:
        """The same in one line.

        >>> Refusal(7, 9, "$.age", "`x` cannot come, expected 0-9", "36}").words
        'byte 9, at $.age: `x` cannot come, expected 0-9; the model writes "36}" here'
        """
        place = f", at {self.path}" if self.path else ""
        instead = f'; the model writes "{self.instead}" here' if self.instead else ""
        return f"byte {self.byte}{place}: {self.reason}{instead}"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a decode: the chosen token, the candidates, and how long each part took.

    A step that only says how a decode ended (`stop`, `context`, `dead_end`, `refused`, `cut`) has no token: token -1,
    piece b"", how "none". The model is not asked for a forced token, so it has no candidates and no probabilities.
    """

    position: Count  # 0 for the first new token
    token: Annotated[int, Between(-1)]
    piece: bytes
    how: How
    raw: Share  # the probabilities of the chosen token, as in Candidate
    masked: Share
    drawn: Share
    candidates: Annotated[tuple[Candidate, ...], AtMost(MOST_LIST)]  # the likeliest, and always the chosen token
    legal: Count  # the number of tokens that the mask allows
    mass: Share  # Z: the sum of their raw probabilities
    state: str  # the machine's state before this token
    stack: Annotated[tuple[str, ...], AtMost(MOST_LIST)]  # its stack, top first; () for a machine without one
    forward_ms: Milliseconds  # with the passes of a draft
    mask_ms: Milliseconds
    sample_ms: Milliseconds
    end: End = ""  # why the decode ended with this step; "" if it goes on
    back: Count = 0  # how many tokens before this one it takes back
    # drafted tokens that were rejected here, and those that were to follow them
    dropped: Annotated[tuple[bytes, ...], AtMost(MOST_LIST)] = ()
    changes: str = ""  # what besides the mask changed the probabilities, such as "bias · T 0.50"
    # how far into the token's own share of the probability the random number fell; None where no number decided
    inside: Share | None = None
    refused: Refusal | None = None  # of a text that was given: why it cannot go on, or end, here
    # the candidates' probabilities after each of the `changes` but the last, which gives `drawn`
    stages: Annotated[tuple[Annotated[tuple[Share, ...], AtMost(MOST_LIST)], ...], AtMost(MOST_LIST)] = ()


@dataclass(frozen=True, repr=False)
class Trace:
    """All steps of a decode, and where they come from."""

    steps: tuple[Step, ...]
    prompt: LongText
    model: LongText
    device: LongText
    date: str  # ISO day, e.g. "2026-11-20"
    constraint: LongText  # in words; "" for none
    seed: Count
    temperature: Annotated[float, Between(0, 100)]
    vocabulary_size: Count
    source: Source = "LIVE"
    recording: str = field(default="", compare=False, repr=False)  # what the page shows at every step, compressed
    guide: Any = field(default=None, compare=False, repr=False, metadata={"kept": False})  # that of a run in memory
    # of a chat prompt: its plain texts and its special tokens in turn
    prompt_parts: Annotated[tuple[str, ...], AtMost(MOST_LIST)] = ()

    version: ClassVar[int] = 3  # of its files: 1 had no recording, 2 had drawings as SVG
    older_names: ClassVar[dict[str, str]] = {"parts": "prompt_parts"}  # of fields in its files

    def __repr__(self) -> str:
        end = self.steps[-1].end if self.steps else ""
        ended = f", {end}" if end else ""
        return f"Trace({quoted(self.model)}, {counted(len(self.steps), 'step')}, {quoted(self.text)}{ended})"

    _repr_html_ = lazy.show_html

    def rows(self) -> list[dict[str, Any]]:
        """The steps as rows of a table, for `pandas.DataFrame(trace.rows())`.

        `p` is the token's own probability, `p_masked` that after the mask and `Z` the legal mass. A step that only says
        how the run ended has no token, and a forced one no probability: None.
        """
        return [row_of(step) for step in self.steps]

    @property
    def text(self) -> str:
        """The output's text, without special tokens."""
        return self.output.decode("utf-8", "replace")

    @property
    def output(self) -> bytes:
        """The output's bytes, without special tokens."""
        return without_names(self._bytes)

    @property
    def parts(self) -> tuple[str, ...]:
        """The output's texts and the special tokens between them in turn, as the parts of a prompt."""
        return tuple(part.decode("utf-8", "replace") for part in split_names(self._bytes))

    @property
    def _bytes(self) -> bytes:
        """The bytes of the tokens in the output; of EOS only the name, if the machine has read it."""
        return b"".join(step.piece for step in standing(self.steps) if step.end != "eos" or is_name(step.piece))

    @property
    def tokens(self) -> tuple[int, ...]:
        """The output's tokens without those that were taken back."""
        return tuple(s.token for s in standing(self.steps) if s.how != "none")

    @property
    def refusal(self) -> Refusal | None:
        """Where the constraint refuses the text, of a trace of `gv.inspect_text`; None if it does not."""
        return self.steps[-1].refused if self.steps else None

    @property
    def passes(self) -> int:
        """The number of forward passes. One that judges a draft ends with a sampled token, or ends the text."""
        after = [*(s.how for s in self.steps[1:]), "none"]
        ends = ("forced", "inserted", "none")
        passes = 0
        for step, then in zip(self.steps, after, strict=False):
            if step.how in ("sampled", "inserted") or (step.how == "accepted" and then in ends):
                passes += 1
        return passes

    @property
    def drafted(self) -> tuple[int, int]:
        """How many drafted tokens were accepted, and how many there were."""
        accepted = sum(s.how == "accepted" for s in self.steps)
        return accepted, accepted + sum(len(s.dropped) for s in self.steps)

    @property
    def prefilled(self) -> int:
        """The forced tokens that the model read with a later token; it never reads those at the end."""
        last = max((number for number, s in enumerate(self.steps) if s.how in CHOSEN), default=0)
        return sum(s.how == "forced" for s in self.steps[:last])

    @cached_property
    def shown(self) -> dict[str, Any]:
        """What the page shows at every step, as the recording has it; it is checked once. Empty without a recording."""
        if not self.recording:
            return {}
        return expand(self.recording, [step.token for step in self.steps])

    def save(self, path: str | Path) -> None:
        """Write as JSON, with what the page shows of the guide."""
        kept = self
        if self.guide is not None:
            kept = replace(self, recording=lazy.load_writer().recording_of(self))
        save_record(kept, path, indent=1)

    def page(self, path: str | Path, step: int = 0) -> None:
        """Write a page in one file that plays the run in any browser, without a kernel and without a network.

        It opens after `step` tokens; `#step=8` at the end of its address opens it elsewhere.
        """
        lazy.load_writer().save_page(self, path, step)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` wrote. The trace is marked RECORDED unless it is a TOY."""
        return load_record(cls, path, hint="give the path of a saved trace, or record it again", check=check_steps)


def is_likeliest(step: Step) -> bool:
    """Whether the token was taken as the likeliest: temperature 0."""
    return step.how == "sampled" and COLD in step.changes


def row_of(step: Step) -> dict[str, Any]:
    """A step as a row of a table."""
    chosen = step.how in CHOSEN
    asked = bool(step.candidates)
    return {
        "position": step.position,
        "token": None if step.token < 0 else step.token,
        "text": visible(step.piece),
        "how": "likeliest" if is_likeliest(step) else step.how,
        "p": step.raw if chosen else None,
        "p_masked": step.masked if chosen else None,
        "p_drawn": step.drawn if chosen else None,
        "legal": step.legal if asked else None,
        "Z": step.mass if asked else None,
        "state": step.state,
        "depth": len(step.stack),
        "forward_ms": step.forward_ms,
        "mask_ms": step.mask_ms,
        "sample_ms": step.sample_ms,
        "back": step.back,
        "end": step.end,
    }


def check_steps(trace: Trace) -> None:
    """Refuse steps whose fields do not fit each other, and a recording that is none of these steps."""
    size = 0
    last = len(trace.steps) - 1
    for at, step in enumerate(trace.steps):
        misfits = [*_misfits(step, size, at == last), *_strange_tokens(step, trace.vocabulary_size)]
        if misfits:
            name, seen, expected = misfits[0]
            raise TraceError(f"steps[{at}].{name}", seen=quoted(seen), expected=expected)
        size += 1 - step.back
    joined = "".join(trace.prompt_parts)
    if trace.prompt_parts and joined != trace.prompt:
        raise TraceError("parts", seen=quoted(joined), expected="the texts and special tokens of the prompt")
    _ = trace.shown  # what is read is checked


Misfit = tuple[str, Any, str]  # the name of a field, its value, and what was expected


def _misfits(step: Step, size: int, is_last: bool) -> Iterator[Misfit]:
    """The fields of a step that do not fit the steps before it and each other."""
    is_none = step.how == "none"
    if step.back > size:
        yield "back", step.back, f"at most the {size} tokens that stand"
    if step.end and not is_last:
        yield "end", step.end, "an end in the last step only"
    if is_none != (step.token < 0):
        yield "how", step.how, "'none' exactly where the token is -1"
    for shares in step.stages:
        if len(shares) != len(step.candidates):
            yield "stages", len(shares), f"a number for each of {len(step.candidates)} candidates"
    if is_none and not step.end:
        yield "end", step.end, "an end where no token was chosen"


def _strange_tokens(step: Step, ids: int) -> Iterator[Misfit]:
    """A chosen token that is no candidate, and ids beyond the vocabulary."""
    tokens = {candidate.token for candidate in step.candidates}
    if step.how in CHOSEN and step.token not in tokens:
        yield "candidates", sorted(tokens), f"token {step.token} too"
    if max({step.token} | tokens) >= ids:
        yield "token", step.token, "ids of the vocabulary"


def taken_back(steps: Sequence[Step]) -> list[list[int]]:
    """For each step the places of the steps whose tokens it takes back."""
    found: list[list[int]] = []
    kept: list[int] = []  # the places of the steps that stand
    for place, step in enumerate(steps):
        end = len(kept) - step.back
        found.append(kept[end:])
        kept[end:] = [place]
    return found


def standing_places(steps: Sequence[Step]) -> list[int]:
    """The places of the steps whose tokens are in the output, without those that a later step took back."""
    kept: list[int] = []
    for place, step in enumerate(steps):
        kept[len(kept) - step.back :] = [place]
    return kept


def standing(steps: Sequence[Step]) -> list[Step]:
    """The steps at these places."""
    return [steps[place] for place in standing_places(steps)]


def tokens_before(steps: Sequence[Step]) -> list[int]:
    """For each step the number of steps whose tokens come before its own: all, if none is taken back."""
    before: list[int] = []
    for place, gone in enumerate(taken_back(steps)):
        before.append(before[gone[0]] if gone else place)
    return before


SHOWN_CANDIDATES = 12  # candidates kept in a step
NO_TOKEN = -1
NO_CANDIDATE = Candidate(NO_TOKEN, b"", 0.0, 0.0, False, 0.0)


@dataclass(frozen=True)
class Point:
    """Where a decode stands: all tokens, the guide's state before each new token and now, and forced tokens to come."""

    tokens: tuple[int, ...]
    states: tuple[Any, ...]
    ahead: tuple[int, ...] = ()  # the rest of a forced run
    pending: tuple["Pending", ...] = ()  # later steps of the same forward pass, which has judged a draft

    @property
    def state(self) -> Any:
        """The guide's state now."""
        return self.states[-1]

    @property
    def position(self) -> int:
        """The number of new tokens."""
        return len(self.states) - 1

    @property
    def output(self) -> tuple[int, ...]:
        """The new tokens."""
        return self.tokens[len(self.tokens) - self.position :]

    def back(self, count: int) -> "Point":
        """The point before the last `count` tokens."""
        tokens = self.tokens[: len(self.tokens) - count]
        states = self.states[: len(self.states) - count]
        return Point(tokens, states)

    def then(self, token: int, state: Hashable, ahead: tuple[int, ...] = ()) -> "Point":
        """The point after one more token."""
        return Point((*self.tokens, token), (*self.states, state), ahead)


class Pending(NamedTuple):
    """A step that is computed and not taken, the point after it, and the settings it was computed with."""

    step: Step
    after: Point
    settings: Any


def start_watch() -> Callable[[], float]:
    """A stopwatch: each call gives the milliseconds since the call before."""
    since = perf_counter()

    def lap() -> float:
        nonlocal since
        before = since
        since = perf_counter()
        return (since - before) * 1000

    return lap


Measured = tuple[Floats, Mask, Floats]  # per token: the model's own probability, legal or not, what is drawn from
NOTHING_MEASURED: Measured = (np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0))


def make_step(
    guide: Guide,
    point: Point,
    token: int = NO_TOKEN,
    how: How = "none",
    measured: Measured = NOTHING_MEASURED,
    dropped: Iterable[int] = (),
    stages: Iterable[Floats] = (),
    **more: Any,
) -> Step:
    """The record of a step from a point; without a token it only says how the decode ended. `more` are other fields."""
    pieces = guide.reads.pieces
    raw, mask, drawn = measured
    mass = 1.0 if len(mask) and mask.all() else float(raw[mask].sum())  # exactly 1 where nothing is forbidden

    def candidate(t: int) -> Candidate:
        legal = bool(mask[t])
        masked = 0.0
        if legal and mass:
            masked = float(raw[t]) / mass
        return Candidate(t, pieces[t], float(raw[t]), masked, legal, float(drawn[t]))

    candidates = tuple(map(candidate, _likeliest(raw, mask, drawn, token)))
    chosen = next((one for one in candidates if one.token == token), NO_CANDIDATE)
    times = {"forward_ms": 0.0, "mask_ms": 0.0, "sample_ms": 0.0}
    return Step(
        position=point.position, token=token, piece=_written(guide, point, token), how=how,
        raw=chosen.raw, masked=chosen.masked, drawn=chosen.drawn, candidates=candidates,
        legal=int(mask.sum()), mass=mass, state=guide.label(point.state), stack=guide.stack(point.state),
        dropped=tuple(pieces[t] for t in dropped),
        stages=tuple(tuple(float(chances[c.token]) for c in candidates) for chances in stages), **(times | more),
    )  # fmt: skip


def _written(guide: Guide, point: Point, token: int) -> bytes:
    """What a token writes: its bytes, or the name of a special one; of an EOS the name only if the machine reads it."""
    if token == NO_TOKEN:
        return b""
    piece = guide.reads.pieces[token]
    if token not in guide.vocabulary.eos or not is_name(piece) or guide.machine is None:
        return piece
    at = guide.at(point.state)
    is_read = at is not None and read(guide.machine, piece, at) is not None
    return piece if is_read else guide.vocabulary.pieces[token]


def _likeliest(raw: Floats, mask: Mask, drawn: Floats, token: int) -> list[int]:
    """The likeliest tokens of all and of the legal ones, those that a bias lifts, and the chosen one, by raw chance."""
    legal = np.flatnonzero(mask)
    ranks = [(raw, np.arange(len(raw)), SHOWN_CANDIDATES), (raw, legal, SHOWN_CANDIDATES // 2)]
    if drawn.any() and raw[drawn.argmax()] < raw[legal].max():
        ranks.append((drawn, legal, SHOWN_CANDIDATES // 2))
    shown = {token} if len(raw) and token != NO_TOKEN else set()  # a forced token was not measured
    for odds, ids, count in ranks:
        if len(ids) > count:
            ids = ids[np.argpartition(-odds[ids], count - 1)[:count]]
        shown |= set(ids.tolist())
    return sorted(shown, key=lambda t: (-raw[t], t))


# When and why a decode ends.


def find_end(guide: Guide, after: Point, max_tokens: int) -> End:
    """Why the decode ends at this point; "" if it goes on."""
    if after.tokens[-1] in guide.vocabulary.eos:
        return "eos"
    if is_complete(guide, after.state):
        return "complete"
    return "max_tokens" if after.position >= max_tokens else ""


def is_complete(guide: Guide, state: Any) -> bool:
    """Whether the text may end here and nothing may follow, not even EOS."""
    return guide.is_accepting(state) and not guide.mask(state).any()
