"""A guide as a logits processor of transformers: `model.generate(**inputs, logits_processor=[gv.LogitsProcessor(g)])`.

transformers calls a processor once per token with all rows of the batch. Beam search reorders the rows, so the state of
a row is found by the row's tokens, never by its place or by the number of calls. Masks are as the engines exchange
them: one row of 32-bit words per text; token t is bit t % 32 of word t // 32. A row of 128,256 tokens takes 16 KB; as
float32 logits it takes 513 KB.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.decoding.trace import Trace
from guidedviz.errors import EmptyMask, GuidedVizError, SettingError, VocabularyError, quoted
from guidedviz.models.hub import to_numpy
from guidedviz.serving.recorded_rows import RecordedRows
from guidedviz.tokens.arrays import Ids, Mask, pack, unpack, words_of
from guidedviz.tokens.guide import Guide, check_guide

WORD_BITS = 32


def pack_masks(masks: Mask) -> Ids:
    """Masks [batch, vocabulary] as int32 words [batch, vocabulary / 32]; the bits beyond the last token are 0.

    >>> pack_masks(np.array([[True, False, True, *[False] * 30, True]])).tolist()
    [[5, 2]]
    """
    if not isinstance(masks, np.ndarray) or masks.ndim != 2 or masks.dtype != np.bool_:
        expected = "an array of bools [batch, vocabulary]"
        raise SettingError("pack_masks", seen=describe_array(masks), expected=expected, hint="np.stack(masks)")
    count, size = masks.shape
    packed = np.zeros((count, 4 * words_of(size)), np.uint8)
    bits = pack(masks)
    packed[:, : bits.shape[1]] = bits
    return packed.view("<i4").astype(np.int32, copy=False)


def apply_packed(logits: Any, packed: Any) -> Any:
    """The logits [batch, vocabulary] with minus infinity where a bit is 0: NumPy arrays, or tensors on any device.

    >>> apply_packed(np.array([[1.0, 2.0, 3.0]], np.float32), np.array([[5]], np.int32)).tolist()
    [[1.0, -inf, 3.0]]
    """
    shape = tuple(getattr(logits, "shape", ()))
    kind = str(getattr(packed, "dtype", ""))
    fits = len(shape) == 2 and kind in ("int32", "torch.int32")
    if not fits or tuple(packed.shape) != (shape[0], words_of(shape[1])):
        seen = f"logits {describe_array(logits)} and masks {describe_array(packed)}"
        expected = "logits [batch, vocabulary] and int32 [batch, vocabulary / 32]"
        raise SettingError("apply_packed", seen=seen, expected=expected, hint="pack_masks(masks)")
    if isinstance(logits, np.ndarray):
        bits_in_bytes = np.ascontiguousarray(packed, dtype="<i4").view(np.uint8)
        legal = unpack(bits_in_bytes, shape[1])
        return np.where(legal, logits, np.float32("-inf"))
    import torch

    words = torch.as_tensor(packed, device=logits.device)  # unpacked there: an eighth of the bytes of bools
    places = torch.arange(WORD_BITS, dtype=words.dtype, device=words.device)
    bits = words[..., None] >> places & 1
    legal = bits.flatten(1)[:, : shape[1]]
    return logits.masked_fill(legal == 0, float("-inf"))


def describe_array(value: Any) -> str:
    """The kind and the shape of an array or a tensor."""
    kind = getattr(value, "dtype", type(value).__name__)
    return f"{kind} {list(getattr(value, 'shape', ()))}"


Row = npt.NDArray[np.int64]
ALL_LEGAL = np.int32(-1)  # a word whose 32 tokens are all legal
KEPT_PLACES = 1024  # states per processor, at least four per row


class Place(NamedTuple):
    """Where a text stands: the guide's state while it is open."""

    kind: Literal["open", "ended", "illegal"]
    state: Hashable = None


class LogitsProcessor:
    """Sets the logits of illegal tokens to minus infinity.

    A text begins where the prompts end: at the width of the first call. A call with rows that do not continue the rows
    before begins new texts. After EOS a row is left as it is. A row with an illegal token, such as a beam of
    probability 0, may only end.

    With `record` it keeps what it saw: `traces` has one trace per row, for `gv.stage` and `gv.diagnose`. A processor
    never sees the last token, and it does not know which beams survive: `processor.read(output)` takes both from what
    `generate` returned. The probabilities are those before temperature, top-k and top-p.

    >>> import numpy as np
    >>> g = gv.guide(gv.regex("[ab]c"), gv.Vocabulary([b"a", b"b", b"c", b"</s>"], eos={3}))
    >>> processor, logits = gv.LogitsProcessor(g), np.zeros((1, 4), np.float32)
    >>> processor(np.array([[2, 2]]), logits).tolist(), processor(np.array([[2, 2, 0]]), logits).tolist()
    ([[0.0, 0.0, -inf, -inf]], [[-inf, -inf, 0.0, -inf]])
    """

    def __init__(self, guide: Guide, record: bool = False) -> None:
        check_guide(guide, "LogitsProcessor")
        self.guide = guide
        self._recorded = RecordedRows(guide) if record else None
        self._start = 0  # where the texts begin
        self._known: OrderedDict[bytes, Place] = OrderedDict()  # by the tokens of a row

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores [rows, vocabulary] of the next token after each row of ids."""
        rows = _as_rows(input_ids)
        if len(getattr(scores, "shape", ())) != 2:
            raise SettingError("LogitsProcessor, scores", seen=quoted(scores), expected="logits [rows, vocabulary]")
        if not all(self._is_continued(row) for row in rows):
            self._start = rows.shape[1]
            self._known.clear()
            if self._recorded:
                self._recorded.begin(self._start, f"torch · {getattr(scores, 'device', 'cpu')}")
        places = list(map(self._place, rows))
        if self._recorded:
            states = {number: place.state for number, place in enumerate(places) if place.kind == "open"}
            values = to_numpy(scores) if hasattr(scores, "cpu") else scores
            self._recorded.see(rows.tolist(), states, values)
        size = scores.shape[-1]
        packed = np.empty((len(rows), words_of(size)), np.int32)
        for number, place in enumerate(places):
            packed[number] = pack_row(self.guide, place, size)
        while len(self._known) > max(KEPT_PLACES, 4 * len(rows)):
            self._known.popitem(last=False)
        return apply_packed(scores, packed)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """One trace per row of the last `generate`; without `read` its last token is missing, unless it was forced."""
        return self._rows.traces()

    def read(self, output: Any) -> tuple[Trace, ...]:
        """The traces of what `generate` returned: with the last tokens, and of beams those that survived."""
        self._rows.rows = _as_rows(getattr(output, "sequences", output)).tolist()
        return self._rows.traces()

    @property
    def _rows(self) -> RecordedRows:
        if self._recorded is None:
            hint = "gv.LogitsProcessor(guide, record=True)"
            raise SettingError("LogitsProcessor.traces", seen="a processor that records nothing", hint=hint)
        return self._recorded

    def _is_continued(self, row: Row) -> bool:
        """Is a row one of the call before, or one with one more token?"""
        before = row[:-1]
        return row.tobytes() in self._known or before.tobytes() in self._known

    def _place(self, row: Row) -> Place:
        """Where a row stands: read on from its longest beginning that was seen."""
        place = Place("open", self.guide.initial)
        end = self._start
        for length in range(len(row), self._start - 1, -1):
            found = self._known.get(row[:length].tobytes())
            if found:
                place = found
                end = length
                break
        for token in row[end:].tolist():
            place = read_token(self.guide, place, token)
        self._known[row.tobytes()] = place
        self._known.move_to_end(row.tobytes())
        return place


def _as_rows(input_ids: Any) -> Row:
    """The ids [rows, tokens] as NumPy has them."""
    try:
        found = input_ids.cpu() if hasattr(input_ids, "cpu") else input_ids
        rows: Row = np.asarray(found, dtype=np.int64)
    except (TypeError, ValueError):
        rows = np.zeros(0, np.int64)
    if rows.ndim != 2:
        raise SettingError("LogitsProcessor, input_ids", seen=quoted(input_ids), expected="token ids [rows, tokens]")
    return rows


def read_token(guide: Guide, place: Place, token: int) -> Place:
    """Where a text stands after one more token."""
    if place.kind != "open":
        return place
    try:
        after = guide.advance(place.state, token)
    except GuidedVizError:  # an illegal token, or no token of this vocabulary
        return Place("illegal")
    if token in guide.vocabulary.eos:
        return Place("ended")
    return Place("open", after)


def pack_row(guide: Guide, place: Place, size: int) -> Ids | np.int32:
    """The packed mask of a row with so many logits; those beyond the vocabulary are illegal."""
    vocabulary = guide.vocabulary
    if size < len(vocabulary):
        raise VocabularyError(
            "LogitsProcessor",
            seen=f"{size:,} logits per row",
            expected=f"at least the {len(vocabulary):,} of the guide's vocabulary",
            hint="a guide for this model's vocabulary: gv.Vocabulary.from_tokenizer(tokenizer)",
        )
    if place.kind == "ended" or (place.kind == "illegal" and not vocabulary.eos):
        return ALL_LEGAL
    mask = np.zeros((1, size), np.bool_)
    if place.kind == "illegal":
        mask[0, list(vocabulary.eos)] = True
    else:
        mask[0, : len(vocabulary)] = guide.mask(place.state)
    if not mask.any():
        raise _no_token(guide, place.state)
    packed: Ids = pack_masks(mask)[0]
    return packed


def _no_token(guide: Guide, state: Hashable) -> EmptyMask:
    """The error of a state without a legal token."""
    hint = "gv.diagnose on a run of gv.record"
    if guide.is_accepting(state):
        hint = "a vocabulary with an eos token, so that a complete text can end"
    seen = f"no legal token in state {guide.label(state)}"
    return EmptyMask("LogitsProcessor", seen=seen, expected="one or more", hint=hint)
