"""The kind of a piece, which names its region of the map: the first character decides."""

import unicodedata
from functools import lru_cache

NO_TEXT = "no text"


def kind(piece: bytes) -> str:
    """The kind of a piece's first character, or of the one after a leading blank.

    >>> [kind(p) for p in (b" the", b"42", b"\\n", "ж".encode(), b"\\xe4\\xb8", b"\\x80", b'{"', "é".encode())]
    ['␣a–z', '0–9', 'blanks', 'Cyrillic', 'CJK', 'inner bytes', 'signs', 'Latin']
    """
    if piece[:1] != b" " or len(piece) == 1:
        return _kind_of_start(piece[:4])
    name = _kind_of_start(piece[1:5])
    return name if name == "blanks" else f"␣{name}"


@lru_cache(maxsize=65536)
def _kind_of_start(start: bytes) -> str:
    """The kind of the first character; an incomplete one is completed to some character."""
    for end in (b"", b"\x80", b"\xbf", b"\x80\x80", b"\xbf\xbf", b"\x80\x80\x80", b"\xbf\xbf\xbf"):
        whole = start + end
        text = whole.decode("utf-8", "ignore")
        if text and whole.startswith(text[0].encode()):
            return _kind_of_character(text[0])
    return "inner bytes"


def _kind_of_character(character: str) -> str:
    if character.isascii():
        return _kind_of_ascii(character)
    if unicodedata.category(character)[0] not in "LM":
        return "signs"
    script = unicodedata.name(character, "other").split()[0].title()
    return script.replace("Cjk", "CJK")


def _kind_of_ascii(character: str) -> str:
    if character.isdigit():
        return "0–9"
    if character.islower():
        return "a–z"
    if character.isupper():
        return "A–Z"
    if character.isspace() or not character.isprintable():
        return "blanks"
    return "signs"
