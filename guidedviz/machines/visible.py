"""Bytes as readable text: blanks get a symbol, control characters and invalid bytes get a number.

Machines, vocabularies and figures use these functions to show bytes, and to name states for people.
"""

import codecs
import unicodedata
from collections.abc import Collection, Iterable
from itertools import islice, starmap

from guidedviz.machines.ranges import byte_ranges

BLANK_SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}  # symbols that most fonts have; other control characters get a number
INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})  # Unicode categories without a visible glyph


def visible(data: bytes) -> str:
    r"""Readable text that shows every byte; this function never raises an error.

    >>> visible(b"a b\n"), visible("é".encode()), visible(b"\xe2\x82"), visible(b"")
    ('a␣b↵', 'é', '<0xE2><0x82>', '')
    """
    return "".join(map(_visible_character, data.decode("utf-8", "guidedviz.visible")))


def _name_bytes(error: UnicodeError) -> tuple[str, int]:
    """The numbers of bytes that are not UTF-8, and where the text goes on."""
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    return "".join(map(byte_name, wrong)), error.end


codecs.register_error("guidedviz.visible", _name_bytes)


def byte_name(byte: int) -> str:
    """The hexadecimal number of a byte.

    >>> byte_name(226)
    '<0xE2>'
    """
    return f"<0x{byte:02X}>"


def _visible_character(character: str) -> str:
    category = unicodedata.category(character)
    if character in BLANK_SIGNS:
        return BLANK_SIGNS[character]
    if category == "Cc" and ord(character) < 128:
        return byte_name(ord(character))
    if category in INVISIBLE:
        return f"<U+{ord(character):04X}>"
    return "◌" + character if category.startswith("M") else character


def visible_bytes(values: Iterable[int], limit: int = 8) -> str:
    """A set of bytes as text, with at most `limit` ranges.

    >>> visible_bytes(b".0123456789"), visible_bytes(b'"'), visible_bytes(range(256)), visible_bytes([])
    ('. 0-9', '"', 'any byte', 'nothing')
    """
    ranges = byte_ranges(values)
    if not ranges:
        return "nothing"
    if ranges == [(0, 255)]:
        return "any byte"
    words = list(starmap(_visible_range, ranges[:limit]))
    if len(ranges) > limit:
        words.append(f"and {len(ranges) - limit} more")
    return " ".join(words)


def _visible_range(low: int, high: int) -> str:
    first = visible(bytes([low]))
    last = visible(bytes([high]))
    if low == high:
        return first
    return f"{first} {last}" if high == low + 1 else f"{first}-{last}"


def counted(number: int, what: str) -> str:
    """A number and a noun, plural if needed.

    >>> counted(1, "state"), counted(1200, "state")
    ('1 state', '1,200 states')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


NAMED_NODES = 3  # nodes in the name of one state


def name_state(number: int) -> str:
    """A state of a DFA; the page writes it in the same way in `shared/elements.js`.

    >>> name_state(3)
    'q3'
    """
    return f"q{number}"


def name_node(number: int) -> str:
    """A node of a grammar's rules, or a state of an NFA.

    >>> name_node(5)
    'n5'
    """
    return f"n{number}"


def name_nodes(nodes: Collection[int]) -> str:
    """A state of a pushdown machine, named by its current nodes; its stack is shown beside the name.

    >>> name_nodes([5]), name_nodes([5, 8]), name_nodes(range(7)), name_nodes([])
    ('n5', 'n5 n8', 'n0 n1 n2 …', 'end')
    """
    names = list(map(name_node, islice(nodes, NAMED_NODES)))
    if len(nodes) > NAMED_NODES:
        names.append("…")
    return " ".join(names) or "end"
