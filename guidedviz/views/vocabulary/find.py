"""The search in a vocabulary: by text, by regex, by bytes, by id."""

import re

import numpy as np

from guidedviz.errors import SettingError, quoted
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import BLANK_SIGNS
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.vocabulary import Vocabulary

SEARCHES = "text, /regex/, 0xE2 82, #id"


def search_tokens(vocabulary: Vocabulary, query: str) -> Mask:
    """The mask of the tokens that match a query; visible signs such as ␣ stand for blanks.

    >>> v = Vocabulary([b" the", b"then", b"42", b"\\xe2\\x82"])
    >>> [np.flatnonzero(search_tokens(v, q)).tolist() for q in ("the", "␣", "/[0-9]+/", "0xE282", "#2", "")]
    [[0, 1], [0], [2], [3], [2], []]
    """
    if not query:
        return np.zeros(len(vocabulary), dtype=np.bool_)
    if re.fullmatch(r"#\d+", query):
        return np.asarray(np.arange(len(vocabulary)) == int(query[1:]))
    if len(query) > 2 and query[0] == query[-1] == "/":
        accepts = regex(query[1:-1]).accepts
        return np.fromiter(map(accepts, vocabulary.pieces), dtype=np.bool_)
    needle = _read_bytes(query)
    return np.fromiter((needle in piece for piece in vocabulary.pieces), dtype=np.bool_)


def read_signs(text: str) -> bytes:
    """Typed text as bytes; ␣ ↵ ⇥ and the other signs are replaced by the characters they stand for.

    >>> read_signs("a␣b↵")
    b'a b\\n'
    """
    characters = {ord(sign): character for character, sign in BLANK_SIGNS.items()}
    return text.translate(characters).encode("utf-8", "replace")


def _read_bytes(query: str) -> bytes:
    if not query.startswith("0x"):
        return read_signs(query)
    try:
        return bytes.fromhex(query[2:])
    except ValueError:
        hint = "two hex digits per byte, 0xE2 82"
        raise SettingError(f"search {quoted(query)}", seen="no bytes", expected=hint) from None
