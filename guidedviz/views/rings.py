"""Sets that lie inside each other, as frames: the regular sets inside the context-free ones.

Each frame has its name, what reads its texts, and some of its members; below the frames stands what none of them holds.
"""

from collections.abc import Iterator, Sequence

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.markup import Element
from guidedviz.views.figure import EDGE, Figure, bold, check_list, figure_of, rect, soft, write

Ring = tuple[str, str, str]  # the name of a set, what reads its texts, and some of its members

RING_WIDTH = 620.0
RING_WORDS = 62.0  # the height of the two lines of a frame
RING_GAP = 16.0  # between two frames
MOST_RINGS = 5
LONGEST_MEMBERS = 90  # characters of a line
RING_LENGTHS = (30, 30, LONGEST_MEMBERS)  # characters of a name, of what reads the set, and of its members
OUTSIDE_WORDS = 36.0
RING_PARTS = "three texts: a name, what reads the set, members"


def draw_rings(rings: Sequence[Ring], outside: str = "") -> Figure:
    """Sets as frames inside each other, the largest first; each with its name, what reads it, and some members.

    >>> print(draw_rings([("context-free", "a stack", "SQL"), ("regular", "states only", "dates")], "Python").text)
    context-free (a stack): SQL
      inside it regular (states only): dates
    outside: Python
    """
    expect(outside, str, "draw_rings, outside", "a text")
    check_list("draw_rings", rings, "sets", MOST_RINGS)
    short = [_read_ring(ring) for ring in rings]
    parts: list[Element] = []
    for depth, ring in enumerate(short):
        parts += _write_ring(depth, len(short), ring)
    height = EDGE + _height(0, len(short))
    outside = shorten(outside, LONGEST_MEMBERS)
    if outside:
        parts.append(write(2 * EDGE, height + 26, f"outside: {outside}"))
        height += OUTSIDE_WORDS
    return figure_of(2 * EDGE + RING_WIDTH, height + EDGE, "\n".join(_say_rings(short, outside)), *parts)


def _read_ring(ring: Ring) -> Ring:
    """The three texts of a set, cut to what has room."""
    words: Sequence[str] = expect(ring, list | tuple, "draw_rings, a set", RING_PARTS)
    if [type(one) for one in words] != [str, str, str]:
        raise SettingError("draw_rings, a set", seen=f"{len(words)} parts", expected=RING_PARTS)
    name, reader, members = map(shorten, ring, RING_LENGTHS)
    return name, reader, members


def _height(depth: int, count: int) -> float:
    """The height of a frame with all frames inside it."""
    inside = count - 1 - depth
    return RING_WORDS + inside * (RING_WORDS + RING_GAP)


def _write_ring(depth: int, count: int, ring: Ring) -> Iterator[Element]:
    name, reader, members = ring
    left = EDGE + depth * RING_GAP
    top = EDGE + depth * RING_WORDS
    width = RING_WIDTH - 2 * depth * RING_GAP
    yield rect(left, top, width, _height(depth, count), 12, fill="var(--gv-card)", stroke="var(--gv-soft)")
    yield bold(left + EDGE, top + 24, name)
    yield soft(left + EDGE + 10 + 8.2 * len(name), top + 24, reader)
    yield write(left + EDGE, top + 46, members)


def _say_rings(rings: Sequence[Ring], outside: str) -> Iterator[str]:
    for depth, (name, reader, members) in enumerate(rings):
        inside = "  inside it " if depth else ""
        yield f"{inside}{name} ({reader}): {members}"
    if outside:
        yield f"outside: {outside}"
