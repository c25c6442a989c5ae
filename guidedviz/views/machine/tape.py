"""A text above a machine, one cell per byte."""

from collections.abc import Iterator

from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import rect, write

EDGE = 14.0  # around a figure
CELL = 26.0  # one byte of a text above the machine
STRIP = 50.0  # all of the text


def write_bytes(text: bytes, cell: float = CELL, y: float = EDGE) -> list[Element]:
    """The cells, each with its byte."""
    parts = []
    for place, byte in enumerate(text):
        x = EDGE + cell * place
        sign = visible(bytes([byte]))
        parts.append(rect(x, y, cell - 3, 26, 4, fill="var(--gv-card)", stroke="var(--gv-line)"))
        middle = x + cell / 2 - 1.5
        parts.append(write(middle, y + 18, sign, 14, mono=True, text_anchor="middle"))
    return parts


def mark_bytes(text: bytes, read: int) -> Iterator[tuple[str, Element]]:
    """A line below the bytes that are read and a frame around the next one, each with a key."""
    if read:
        path = f"M{EDGE:g},{EDGE + 31:g}h{CELL * read - 3:g}"
        yield f"read {read}", node("path", d=path, stroke="var(--gv-blue)", stroke_width=3)
    if read < len(text):
        look = {"fill": "none", "stroke": "var(--gv-orange)", "stroke_width": 2.4}
        yield f"next {read}", rect(EDGE + CELL * read, EDGE, CELL - 3, 26, 4, **look)
