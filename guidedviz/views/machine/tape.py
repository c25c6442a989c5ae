"""A text above a machine, one cell per byte."""

from collections.abc import Iterator

from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import rect, write

EDGE, CELL, STRIP = 14.0, 26.0, 50.0  # around a figure; one byte of a text above the machine, and all of it


def write_bytes(text: bytes, cell: float = CELL, y: float = EDGE) -> list[Element]:
    """The cells, each with its byte."""
    parts = []
    for place, byte in enumerate(text):
        x, sign = EDGE + cell * place, visible(bytes([byte]))
        parts.append(rect(x, y, cell - 3, 26, 4, fill="var(--gv-card)", stroke="var(--gv-line)"))
        parts.append(write(x + cell / 2 - 1.5, y + 18, sign, 14, mono=True, text_anchor="middle"))
    return parts


def mark_bytes(text: bytes, read: int) -> Iterator[tuple[str, Element]]:
    """A line below the bytes that are read and a frame around the next one, each with a key."""
    if read:
        line = {"stroke": "var(--gv-blue)", "stroke_width": 3}
        yield f"read {read}", node("path", d=f"M{EDGE:g},{EDGE + 31:g}h{CELL * read - 3:g}", **line)
    if read < len(text):
        line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4}
        yield f"next {read}", rect(EDGE + CELL * read, EDGE, CELL - 3, 26, 4, fill="none", **line)
