"""The names of special tokens as bytes: FF, the text, FE. No UTF-8 has these two bytes, so no text spells a name."""

import re

BEGIN = b"\xff"
END = b"\xfe"
SOME_NAME = "a\u00a0special\u00a0token"  # where none is named; one word
BYTE_SIGNS = {0xFF: "⟪", 0xFE: "⟫"}  # of the two bytes, where bytes are shown one by one
NAME = re.compile(b"\xff([^\xff\xfe]*)\xfe")


def name_bytes(text: str | bytes) -> bytes:
    """What a machine reads for a special token.

    >>> name_bytes("<think>")
    b'\\xff<think>\\xfe'
    """
    inside = text.encode() if isinstance(text, str) else text
    return BEGIN + inside + END


def has_surrogate(text: str) -> bool:
    """Whether UTF-8 cannot encode this text.

    >>> has_surrogate("\\ud800"), has_surrogate("é")
    (True, False)
    """
    return any("\ud800" <= char <= "\udfff" for char in text)


def write_surrogates(text: str) -> str:
    """The text, with each lone surrogate, which UTF-8 cannot encode, as its number.

    >>> write_surrogates("\\ud800é")
    '\\\\ud800é'
    """
    return text.encode(errors="backslashreplace").decode()


def is_name(piece: bytes) -> bool:
    """Whether these bytes are the name of a special token."""
    return NAME.fullmatch(piece) is not None


def is_free(piece: bytes) -> bool:
    """Whether none of these bytes stands around names."""
    return BEGIN not in piece and END not in piece


def is_text(piece: bytes) -> bool:
    """Whether these bytes are UTF-8.

    >>> is_text("é".encode()), is_text(b"\\xc3")
    (True, False)
    """
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def split_names(data: bytes) -> list[bytes]:
    """Texts and names of special tokens in turn, beginning with a text.

    >>> split_names(b"a" + name_bytes("<x>") + b"b"), split_names(b"ab")
    ([b'a', b'<x>', b'b'], [b'ab'])
    """
    return NAME.split(data)


def without_names(data: bytes) -> bytes:
    """The text without the names of special tokens.

    >>> without_names(b"a" + name_bytes("<x>") + b"b")
    b'ab'
    """
    return NAME.sub(b"", data)


def whole_names(data: bytes) -> bytes:
    r"""The bytes without a name at their end that is not complete.

    >>> whole_names(b"a\xff<x>\xfe\xff<y"), whole_names(b"ab")
    (b'a\xff<x>\xfe', b'ab')
    """
    begun = data.rfind(BEGIN)
    return data[:begun] if begun > data.rfind(END) else data
