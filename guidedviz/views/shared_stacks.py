"""All stacks of a state at once, top first: where a grammar leaves several ways open, their tails are shared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from guidedviz.machines.pda import PDA, State
from guidedviz.machines.stack import SharedStack, say_waits
from guidedviz.machines.visible import counted
from guidedviz.views.bezier import Curve, head, write_path
from guidedviz.views.figure import Figure, drawing, node, shorten, wide, write
from guidedviz.views.layers import Box, Link
from guidedviz.views.layout import place
from guidedviz.views.pda import check_pda, state_after

EDGE = 14.0
CARD = 36.0
ROOM = 30  # characters of a line
FOLDED = 4  # frames in a row without a fork, beyond those at its ends, that are folded into one
BOTTOM = 0
MISSING = -1


@dataclass(frozen=True)
class Plate:
    """A frame as it is drawn, or a fold of many; `below` are numbers of plates."""

    words: str
    waits: str
    below: tuple[int, ...]
    top: bool = False
    fold: bool = False


def draw_shared_stacks(pda: PDA, text: State | bytes | str) -> Figure:
    """The stacks at a state, or after a text.

    >>> from guidedviz.machines.pda import grammar
    >>> both = grammar('root ::= "<" (a | b) ">"\\na ::= "(" x ")"\\nb ::= "(" x "]"\\nx ::= "1"+ "."')
    >>> print(draw_shared_stacks(both, "<(1").text)
    stacks: 2 tops, 5 frames
    ▸ 1 x n13 now . or 1 → 3 a n6
    ▸ 2 x n13 now . or 1 → 4 b n10
      3 a n6 then ) → 5 root n2
      4 b n10 then ] → 5 root n2
      5 root n2 then > → bottom
    """
    check_pda(pda, "draw_shared_stacks")
    state = state_after(pda, text)
    plates = stack_plates(pda, [state])
    boxes = tuple(
        Box(CARD / 2, plate_width(plate) / 2) for plate in plates.values()
    )  # laid out from left to right, then turned
    index = {number: n for n, number in enumerate(plates)}
    pairs = [(index[number], index[under]) for number, plate in plates.items() for under in plate.below]
    placed = place(boxes, tuple(Link(a, b) for a, b in pairs))
    centres = [(y, x) for x, y in placed.centres]
    parts = [write_pointer(tuple((y, x) for x, y in curve)) for curve in placed.curves]
    parts += [write_plate(plate, *centre) for plate, centre in zip(plates.values(), centres, strict=True)]
    said = say_plates(plates)
    head_line = write(EDGE, 20, "stacks", 13, font_weight="bold")
    head_line += write(EDGE + 54, 20, said.partition("\n")[0].removeprefix("stacks: "), 12, fill="var(--gv-soft)")
    body = node("g", *parts, transform=f"translate({EDGE - 8:g} 24)")
    width = max(placed.height + 2 * EDGE - 16, 240.0)
    return Figure(drawing(width, placed.width + 36, head_line, body, alt=said), said, said)


def top_frames(pda: PDA, state: State) -> tuple[int, ...]:
    """The numbers of a state's tops, the first stack's first."""
    return tuple(frame.number for frame in pda.branches(state)[: sum(len(cells) for _, cells in state.tops)])


def stack_plates(pda: PDA, states: Iterable[State]) -> dict[int, Plate]:
    """What is drawn of the frames: rows of them without a fork folded, the bottom and what is missing named."""
    held = tuple(states)
    shared = tuple({frame.number: frame for state in held for frame in pda.branches(state)}.values())
    frames = {frame.number: frame for frame in shared}
    tops = {number for state in held for number in top_frames(pda, state)}
    above: dict[int, int] = {}
    for frame in shared:
        for number in frame.below:
            above[number] = above.get(number, 0) + 1
    inside = {n for n, frame in frames.items() if above.get(n) == 1 and len(frame.below) == 1} - tops
    plates: dict[int, Plate] = {}
    skipped: set[int] = set()
    for number, frame in frames.items():
        if number in skipped:
            continue
        row = _row(frames, inside, number)
        below = tuple(n if n in frames or n == BOTTOM else MISSING for n in frame.below)
        if len(row) > FOLDED:
            skipped |= {*row}
            plates[row[0]] = Plate(f"⋮ {len(row)} more", "", _under(frames, row[-1]), fold=True)
            below = (row[0],)
        waits = f"{'now' if number in tops else 'then'} {say_waits(pda, frame.node)}"
        plates[number] = Plate(f"{frame.rule} n{frame.node}", waits, below, number in tops)
    ends = dict.fromkeys(n for plate in plates.values() for n in plate.below if n in (BOTTOM, MISSING))
    return plates | {
        n: Plate("⋮ more, not drawn" if n == MISSING else "bottom", "", (), fold=n == MISSING) for n in ends
    }


def _under(frames: Mapping[int, SharedStack], number: int) -> tuple[int, ...]:
    return tuple(n if n in frames or n == BOTTOM else MISSING for n in frames[number].below)


def _row(frames: Mapping[int, SharedStack], inside: set[int], number: int) -> list[int]:
    """The frames below one, as long as each has one above and one below; the last of them is left to be seen."""
    row: list[int] = []
    at = frames[number].below
    while len(at) == 1 and at[0] in inside and at[0] not in row:
        row.append(at[0])
        at = frames[at[0]].below
    return row[:-1]


def plate_width(plate: Plate) -> float:
    """In pixels."""
    return max(wide(shorten(plate.words, ROOM), 13), wide(shorten(plate.waits, ROOM), 11)) + 20


def write_plate(plate: Plate, x: float, y: float) -> str:
    """A plate around a point."""
    half = plate_width(plate) / 2
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4} if plate.top else {"stroke": "var(--gv-blue)"}
    words = write(x, y - 2 if plate.waits else y + 4, shorten(plate.words, ROOM), 13, mono=True, text_anchor="middle")
    if not plate.waits:
        ground = node("path", d=f"M{x - half:.1f},{y + 14:.1f}h{2 * half:.1f}", stroke="var(--gv-ink)", stroke_width=3)
        return words if plate.fold else words + ground
    box = {"x": x - half, "y": y - CARD / 2, "width": 2 * half, "height": CARD, "rx": 5}
    waits = write(x, y + 12, shorten(plate.waits, ROOM), 11, fill="var(--gv-soft)", text_anchor="middle")
    return node("rect", **box, fill="var(--gv-page)", **line) + words + waits


def write_pointer(curve: Curve) -> str:
    """From a frame to one that may lie below it."""
    path = node("path", d=write_path(curve), fill="none", stroke="var(--gv-soft)", stroke_width=1.4)
    return path + node("polygon", points=head(curve), fill="var(--gv-soft)")


def say_plates(plates: Mapping[int, Plate]) -> str:
    """A line a plate, numbered from the top, and what lies below it."""
    tops = sum(plate.top for plate in plates.values())
    frames = sum(bool(plate.below) and not plate.fold for plate in plates.values())
    lines = [f"stacks: {counted(tops, 'top')}, {counted(frames, 'frame')}"]
    names = {n: plate.words for n, plate in plates.items()}
    names |= {n: f"{place} {names[n]}" for place, n in enumerate(plates, 1) if plates[n].waits}
    for number, plate in plates.items():
        if plate.below:
            said = " ".join(filter(None, ["▸" if plate.top else " ", names[number], plate.waits]))
            lines.append(f"{said} → {' · '.join(names[n] for n in plate.below)}")
    return "\n".join(lines)
