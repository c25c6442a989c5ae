"""Bytes as people read them: blanks and control characters get a sign, bytes that are no text get a number.

Machines, vocabularies and figures all name bytes; they name them here, so that they name them alike.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}  # those that most fonts have; other control characters go by their number
UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})  # Unicode categories that print as nothing


def visible(data: bytes) -> str:
    r"""Text for people; never raises and never hides a byte.

    >>> visible(b"a b\n"), visible("é".encode()), visible(b"\xe2\x82"), visible(b"")
    ('a␣b↵', 'é', '<0xE2><0x82>', '')
    """
    return "".join(_visible_parts(data))


def _visible_parts(data: bytes) -> Iterator[str]:
    while data:
        try:
            yield from map(_visible_character, data.decode("utf-8"))
            return
        except UnicodeDecodeError as error:
            yield from map(_visible_character, data[: error.start].decode("utf-8"))
            yield from map(byte_name, data[error.start : error.end])
            data = data[error.end :]


def byte_name(byte: int) -> str:
    """A byte by its number.

    >>> byte_name(226)
    '<0xE2>'
    """
    return f"<0x{byte:02X}>"


def _visible_character(character: str) -> str:
    category = unicodedata.category(character)
    if character in SIGNS:
        return SIGNS[character]
    if category == "Cc" and ord(character) < 128:
        return byte_name(ord(character))
    if category in UNSEEN:
        return f"<U+{ord(character):04X}>"
    return "◌" + character if category.startswith("M") else character


def byte_ranges(values: Iterable[int]) -> list[tuple[int, int]]:
    """A set of bytes as ranges, both ends included.

    >>> byte_ranges({48, 49, 50, 46})
    [(46, 46), (48, 50)]
    """
    ranges: list[tuple[int, int]] = []
    for value in sorted(set(values)):
        if ranges and value == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], value)
        else:
            ranges.append((value, value))
    return ranges


def visible_bytes(values: Iterable[int], limit: int = 8) -> str:
    """A set of bytes in words, ranges merged; at most `limit` of them are named.

    >>> visible_bytes(b".0123456789"), visible_bytes(b'"'), visible_bytes(range(256)), visible_bytes([])
    ('. 0-9', '"', 'any byte', 'nothing')
    """
    ranges = byte_ranges(values)
    if ranges in ([], [(0, 255)]):
        return "any byte" if ranges else "nothing"
    more = "" if len(ranges) <= limit else f" and {len(ranges) - limit} more"
    return " ".join(_visible_range(low, high) for low, high in ranges[:limit]) + more


def _visible_range(low: int, high: int) -> str:
    if high - low < 2:
        return " ".join(visible(bytes([value])) for value in range(low, high + 1))
    return f"{visible(bytes([low]))}-{visible(bytes([high]))}"


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "state"), counted(1200, "state")
    ('1 state', '1,200 states')
    """
    return f"{number:,} {what}" + "s" * (number != 1)
