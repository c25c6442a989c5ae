"""The kind of a piece, which names its region of the map: the first character decides."""

import unicodedata
from functools import lru_cache

NO_TEXT = "no text"


def kind(piece: bytes) -> str:
    """The kind of a piece's first character, or of the one after a leading blank.

    >>> [kind(p) for p in (b" the", b"42", b"\\n", "ж".encode(), b"\\xe4\\xb8", b"\\x80", b'{"', "é".encode())]
    ['␣a–z', '0–9', 'blanks', 'Cyrillic', 'CJK', 'inner bytes', 'signs', 'Latin']
    """
    blank = piece[:1] == b" " and len(piece) > 1
    name = _kind_of_start(piece[blank : blank + 4])
    return f"␣{name}" if blank and name != "blanks" else name


@lru_cache(maxsize=65536)
def _kind_of_start(start: bytes) -> str:
    """The kind of the first character; an incomplete one is completed to some character."""
    for end in (b"", b"\x80", b"\xbf", b"\x80\x80", b"\xbf\xbf", b"\x80\x80\x80", b"\xbf\xbf\xbf"):
        text = (start + end).decode("utf-8", "ignore")
        if text and (start + end).startswith(text[0].encode()):
            return _kind_of_character(text[0])
    return "inner bytes"


def _kind_of_character(character: str) -> str:
    if character.isascii():
        named = (("0–9", character.isdigit()), ("a–z", character.islower()), ("A–Z", character.isupper()))
        blank = character.isspace() or not character.isprintable()
        return next((name for name, holds in named if holds), "blanks" if blank else "signs")
    if unicodedata.category(character)[0] not in "LM":
        return "signs"
    script = unicodedata.name(character, "other").split()[0].title()
    return script.replace("Cjk", "CJK")
