"""Where a reader stands in a text of JSON, as a path: `$.items[2].name`.

The text may end anywhere. It is read loosely, because a text that a constraint refuses need not be JSON.
"""

import re

from guidedviz.errors import shorten
from guidedviz.machines.visible import visible

PARTS = re.compile(rb'(?P<string>"(?:[^"\\]|\\.)*")|(?P<open>".*)|(?P<sign>[{}\[\]:,])|[^\s"{}\[\]:,]+', re.DOTALL)
LONGEST_KEY = 40  # characters that are shown of a key
Open = list[str | int]  # per open object the key that is read, "" before it; per open array the number of the item


def json_path(text: bytes) -> str:
    r"""The path of the value that the end of a text belongs to; "" for a text that begins neither object nor array.

    >>> json_path(b'{"items": [1, {"a b": tru'), json_path(b'{"items": [1]'), json_path(b"3.14")
    ('$.items[1]["a b"]', '$', '')
    """
    if text.lstrip()[:1] not in (b"{", b"["):
        return ""
    places: Open = []
    string = ""
    ended = False
    for found in PARTS.finditer(text):
        part = found[0]
        ended = found.lastgroup == "string" or part in (b"}", b"]")
        if found.lastgroup == "string":
            string = visible(part[1:-1]).replace("␣", " ")
        elif found.lastgroup == "sign":
            read_sign(part, string, places)
    if ended and places and isinstance(places[-1], str):
        places.pop()
        places.append("")
    return "$" + "".join(map(path_part, places))


def read_sign(sign: bytes, string: str, places: Open) -> None:
    """Open, close or go on in an object or an array; `string` is the last string that was read."""
    if sign == b"{":
        places.append("")
    elif sign == b"[":
        places.append(0)
    elif not places:
        return
    elif sign in (b"}", b"]"):
        places.pop()
    elif sign == b":" and isinstance(places[-1], str):
        places[-1] = string
    elif sign == b",":
        last = places[-1]
        places[-1] = last + 1 if isinstance(last, int) else ""


def path_part(place: str | int) -> str:
    """A place as a part of a path.

    >>> path_part("name"), path_part("a b"), path_part(0), path_part("")
    ('.name', '["a b"]', '[0]', '')
    """
    if isinstance(place, int):
        return f"[{place}]"
    if not place:
        return ""
    return f".{shorten(place, LONGEST_KEY)}" if place.isidentifier() else f'["{shorten(place, LONGEST_KEY)}"]'
