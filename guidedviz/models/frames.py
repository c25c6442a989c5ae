"""The binary bodies between a host and its students: token ids, rows of logits, and a vocabulary. All little-endian.

A row is sent as its largest logit (32 bits) and, for each token, the difference to it in 16 bits. Softmax needs only
differences, and small ones keep most digits: the likely tokens are the most exact. guidedviz/host/README.md has the
protocol.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from guidedviz.errors import SettingError, quoted
from guidedviz.files import parse_json
from guidedviz.models.chat import Prompt
from guidedviz.models.model import Array
from guidedviz.models.sandbox import LONGEST
from guidedviz.tokens.vocabulary import Vocabulary

ASK_HEAD = struct.Struct("<4siI")  # sign, first row (-1: only the last one), tokens
ROWS_HEAD = struct.Struct("<4sII")  # sign, rows, size of the vocabulary
VOCABULARY_HEAD = struct.Struct("<4sIII")  # sign, tokens, EOS ids, special ids
PROTOCOL = 2  # the version of the requests
JSON = "application/json"
OCTETS = "application/octet-stream"
LEAST_HALF = -65504.0  # the least finite 16-bit float


def body_type(path: str) -> str:
    """The type that the body of a request has: no form of a web page can send either of them."""
    return OCTETS if path in ("/v1/encode", "/v1/logits") else JSON


class Ask(NamedTuple):
    """A request for logits: the whole text as tokens, and the first place that a row is wanted for.

    >>> read_ask(pack_ask(Ask((5, 7), start=1)))
    Ask(tokens=(5, 7), start=1)
    """

    tokens: tuple[int, ...]
    start: int = -1

    @property
    def first(self) -> int:
        """The first place that a row is wanted for."""
        if self.start < 0:
            return len(self.tokens) - 1
        return self.start


def pack_ask(ask: Ask) -> bytes:
    """A request as bytes."""
    head = ASK_HEAD.pack(b"GVQ2", ask.start, len(ask.tokens))
    return head + pack_ids(ask.tokens)


def read_ask(body: bytes) -> Ask:
    """The request in a body; a body of another shape is refused.

    >>> read_ask(b"GET /")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: body of the request: saw 5 bytes, expected a head of 12 bytes that begins ...
    """
    if len(body) < ASK_HEAD.size or not body.startswith(b"GVQ2"):
        raise wrong_size("request", body, f"a head of {ASK_HEAD.size} bytes that begins with GVQ2")
    _, start, count = ASK_HEAD.unpack_from(body)
    if len(body) != ASK_HEAD.size + 4 * count:
        raise wrong_size("request", body, f"{ASK_HEAD.size + 4 * count} bytes for {count} tokens")
    tokens = np.frombuffer(body, "<i4", offset=ASK_HEAD.size)
    return Ask(tuple(tokens.tolist()), start)


def pack_rows(logits: Array) -> bytes:
    """Rows of logits as bytes."""
    finite = np.where(np.isfinite(logits), logits, -np.inf)
    largest = finite.max(axis=1).astype("<f4")
    largest[~np.isfinite(largest)] = 0
    apart = logits - largest[:, None]
    apart = np.where(np.isfinite(apart), np.maximum(apart, LEAST_HALF), apart)
    head = ROWS_HEAD.pack(b"GVR2", *logits.shape)
    return b"".join([head, largest.tobytes(), apart.astype("<f2").tobytes()])


def rows_bytes(count: int, size: int) -> int:
    """How many bytes so many rows take.

    >>> rows_bytes(2, 65) == len(pack_rows(np.zeros((2, 65), np.float32)))
    True
    """
    return ROWS_HEAD.size + count * (4 + 2 * size)


def unpack_rows(body: bytes, count: int, size: int) -> Array:
    """The rows in a body, which must be as many and as long as was asked for.

    >>> unpack_rows(pack_rows(np.array([[1.0, 3.0, 2.0]], np.float32)), 1, 3).tolist()
    [[1.0, 3.0, 2.0]]
    """
    head = ROWS_HEAD.pack(b"GVR2", count, size)
    if not body.startswith(head) or len(body) != rows_bytes(count, size):
        raise wrong_size("answer", body, f"{count} rows of {size} logits")
    largest = np.frombuffer(body, "<f4", count, len(head))
    apart = np.frombuffer(body, "<f2", count * size, len(head) + 4 * count)
    rows: Array = apart.reshape(count, size).astype(np.float32) + largest[:, None]
    return rows


def pack_ids(ids: Sequence[int]) -> bytes:
    """Token ids as bytes."""
    return np.array(ids, "<i4").tobytes()


def read_ids(body: bytes, size: int) -> list[int]:
    """The token ids in a body.

    >>> read_ids(pack_ids([3, 1]), size=4)
    [3, 1]
    """
    if len(body) % 4:
        raise wrong_size("answer", body, "four bytes per token id")
    ids: list[int] = np.frombuffer(body, "<i4").tolist()
    if ids and (min(ids) < 0 or max(ids) >= size):
        raise damaged_body("answer", f"ids from {min(ids)} to {max(ids)}", f"ids from 0 to {size - 1}")
    return ids


def read_prompt(body: bytes, size: int) -> Prompt:
    """The prompt in a body: JSON with its texts and special tokens in turn, and its tokens.

    >>> read_prompt(b'{"parts": ["", "<|user|>", "Hi"], "tokens": [1, 72]}', size=99)
    '<|user|>Hi'
    """
    try:
        said = parse_json(body, 2 * LONGEST)
        parts = said["parts"]
        tokens = read_ids(pack_ids(said["tokens"]), size)
        return Prompt("".join(parts), tokens, parts)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise damaged_body("answer", quoted(body), "the parts and the tokens of a prompt") from None


def pack_vocabulary(vocabulary: Vocabulary) -> bytes:
    """A vocabulary as bytes."""
    eos = sorted(vocabulary.eos)
    special = sorted(vocabulary.special)
    lengths = map(len, vocabulary.pieces)
    head = VOCABULARY_HEAD.pack(b"GVV2", len(vocabulary), len(eos), len(special))
    return b"".join([head, pack_ids([*eos, *special, *lengths]), *vocabulary.pieces])


def read_vocabulary(body: bytes) -> Vocabulary:
    """The vocabulary in a body.

    >>> words = Vocabulary([b"a", b"", b"</s>"], eos={2}, special={2})
    >>> read_vocabulary(pack_vocabulary(words)) == words
    True
    """
    head = VOCABULARY_HEAD.size
    if len(body) < head or not body.startswith(b"GVV2"):
        raise wrong_size("vocabulary", body, f"a head of {head} bytes that begins with GVV2")
    _, count, ends, specials = VOCABULARY_HEAD.unpack_from(body)
    numbers = count + ends + specials
    begin = head + 4 * numbers
    if len(body) < begin:
        raise wrong_size("vocabulary", body, f"{numbers} numbers")
    found = np.frombuffer(body, "<i4", numbers, head).astype(np.int64)
    eos, special, lengths = np.split(found, [ends, ends + specials])
    if count and (lengths.min() < 0 or begin + int(lengths.sum()) != len(body)):
        raise wrong_size("vocabulary", body, "as many bytes as its pieces have")
    pieces = []
    for length in lengths.tolist():
        pieces.append(body[begin : begin + length])
        begin += length
    return Vocabulary(pieces, eos=eos.tolist(), special=special.tolist())


def wrong_size(what: str, body: bytes, expected: str) -> SettingError:
    """The error for a body that is too short or too long."""
    return damaged_body(what, f"{len(body)} bytes", expected)


def damaged_body(what: str, seen: str, expected: str) -> SettingError:
    """The error for a body that cannot be read."""
    hint = "the same version of guidedviz in the kernel and on the host"
    return SettingError(f"body of the {what}", seen=seen, expected=expected, hint=hint)
