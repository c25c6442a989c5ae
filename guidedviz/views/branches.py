"""Several texts and the stacks after them: a frame that they share stands once, so a step back is an old pointer.

The persistent stack of XGrammar (arXiv 2411.15100): a branch adds the frames at which it differs and no others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from guidedviz.errors import SettingError
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pda import PDA, State
from guidedviz.machines.stack import Standing
from guidedviz.machines.visible import counted, visible
from guidedviz.views.bezier import Point, straight, through
from guidedviz.views.figure import Figure, drawing, node, wide, write
from guidedviz.views.pda import check_pda, state_after
from guidedviz.views.shared_stacks import (
    BOTTOM,
    CARD,
    Plate,
    plate_width,
    say_plates,
    stack_plates,
    top_frames,
    write_plate,
    write_pointer,
)

EDGE, TOP, CHIP, ROW, GAP = 16.0, 62.0, 46.0, 70.0, 26.0
MOST_TEXTS = 24
ROOM = 16  # characters of a text
Spots = Mapping[int, Point]


@dataclass(frozen=True)
class Branch:
    """A text, the state after it, and how many frames it has and adds to those of the texts before it."""

    data: bytes
    known: int  # so many of its first bytes an earlier text has as well
    state: State
    tops: tuple[int, ...]  # the numbers of the frames that it points to
    frames: int
    new: int
    same: int  # the earlier text after which the machine is in the same state, from 1; 0 for none


def draw_branches(pda: PDA, texts: Sequence[bytes | str]) -> Figure:
    """The stacks after each of several texts, or after each step of one that goes back: every frame stands once.

    >>> from guidedviz.machines.pda import grammar
    >>> pairs = grammar('root ::= "(" root ")" | "[" root "]" | "x"')
    >>> print(draw_branches(pairs, ["((", "((x", "((", "(["]).text)
    branches: 4 texts, 8 frames if each had a stack of its own, 4 kept
    1 ((: 2 frames, 2 new → 1
    2 ((x: 2 frames, 1 new → 3
    3 ((: 2 frames, 0 new, as after text 1 → 1
    4 ([: 2 frames, 1 new → 4
    ▸ 1 root n1 now ( [ or x → 2 root n4
      2 root n4 then ) → bottom
    ▸ 3 root n4 now ) → 2 root n4
    ▸ 4 root n2 now ( [ or x → 2 root n4
    """
    check_pda(pda, "draw_branches")
    branches = build_branches(pda, texts)
    plates = stack_plates(pda, [branch.state for branch in branches])
    columns, heights = _columns(branches, plates), _heights(plates)
    spots, chips, width = _place(branches, plates, columns, heights)
    parts = []
    for number, plate in plates.items():
        foot = (spots[number][0], spots[number][1] + (CARD / 2 if plate.waits else 10))
        parts += [_pointer(foot, plates, spots, under, columns[number]) for under in plate.below]
    for column, (branch, (x, y)) in enumerate(zip(branches, chips, strict=True)):
        parts += [_pointer((x, y + CHIP), plates, spots, top, column) for top in branch.tops]
        parts.append(_chip(column + 1, branch, x, y))
    for number, plate in plates.items():  # over the pointers that run behind them
        parts.append(_ground(spots[number][1], width) if number == BOTTOM else write_plate(plate, *spots[number]))
    said = _say(branches, plates)
    high = max((y for _, y in spots.values()), default=TOP + CHIP) + CARD
    return Figure(drawing(width, high, *_title(branches), *parts, alt=said), said, said)


def build_branches(pda: PDA, texts: Sequence[bytes | str]) -> tuple[Branch, ...]:
    """The texts in their order, and what each adds."""
    if isinstance(texts, bytes | str) or not 1 <= len(texts) <= MOST_TEXTS:
        seen = "one text" if isinstance(texts, bytes | str) else f"{len(texts):,} texts"
        raise SettingError("draw_branches", seen=seen, expected=f"a list of 1 to {MOST_TEXTS} texts")
    branches: list[Branch] = []
    kept: set[Standing] = set()
    for text in texts:
        data, state = to_bytes(text), state_after(pda, text)
        frames = find_frames(pda, state)
        known = max((_common(data, branch.data) for branch in branches), default=0)
        same = next((n for n, branch in enumerate(branches, 1) if branch.state is state), 0)
        branches.append(Branch(data, known, state, top_frames(pda, state), len(frames), len(frames - kept), same))
        kept |= frames
    return tuple(branches)


def find_frames(pda: PDA, state: State) -> set[Standing]:
    """All frames of a state: a place and an open call each."""
    found = {(place, cell) for place, cells in state.tops for cell in cells}
    waiting = list(found)
    for _, cell in waiting:
        fresh = set(pda.below(cell)) - found
        found |= fresh
        waiting += fresh
    return found


def _common(a: bytes, b: bytes) -> int:
    """How many of their first bytes are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


# --- the places ---


def _columns(branches: Sequence[Branch], plates: Mapping[int, Plate]) -> dict[int, int]:
    """The first text that has a plate; what is drawn of it stands under that text."""
    columns: dict[int, int] = {}
    for column, branch in enumerate(branches):
        waiting = [top for top in branch.tops if top not in columns]
        for number in waiting:
            if number not in columns:
                columns[number] = column
                waiting += plates[number].below
    return columns


def _heights(plates: Mapping[int, Plate]) -> dict[int, int]:
    """How many plates lie below, by the shortest way down."""
    above = defaultdict(list)
    for number, plate in plates.items():
        for under in plate.below:
            above[under].append(number)
    heights = {number: 0 for number, plate in plates.items() if not plate.below}
    waiting = list(heights)
    for number in waiting:
        fresh = [upper for upper in above[number] if upper not in heights]
        heights |= dict.fromkeys(fresh, heights[number] + 1)
        waiting += dict.fromkeys(fresh)
    return heights


def _place(
    branches: Sequence[Branch], plates: Mapping[int, Plate], columns: Mapping[int, int], heights: Mapping[int, int]
) -> tuple[Spots, list[Point], float]:
    """Where the plates stand and where the texts, and how wide it all is."""
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number in plates:
        cells[columns[number], heights[number]].append(number)
    ground = TOP + CHIP + 34 + ROW * max(heights.values(), default=0)
    spots, chips, left = dict[int, Point](), list[Point](), EDGE
    for column, branch in enumerate(branches):
        rows = {height: row for (at, height), row in cells.items() if at == column}
        wides = [sum(plate_width(plates[number]) + GAP for number in row) - GAP for row in rows.values()]
        width = max([_chip_width(column + 1, branch), *wides])
        for height, row in rows.items():
            x = left + (width - sum(plate_width(plates[number]) + GAP for number in row) + GAP) / 2
            for number in row:
                half = plate_width(plates[number]) / 2
                spots[number], x = (x + half, ground - ROW * height), x + 2 * half + GAP
        chips.append((left + width / 2, TOP))
        left += width + GAP
    return spots, chips, max(left - GAP + EDGE, 560.0)


# --- the drawing ---


def _pointer(start: Point, plates: Mapping[int, Plate], spots: Spots, number: int, column: int) -> str:
    """Straight down to what stands below; to the side in a lane of the column's own, above the row of what it meets."""
    (x, y), (a, b), half = start, spots[number], plate_width(plates[number]) / 2
    roof = b - (CARD / 2 if plates[number].waits else 14)
    if number == BOTTOM:
        return write_pointer(straight(start, (x, b)))
    if abs(x - a) < half and y < roof:
        return write_pointer(straight(start, (x, roof)))
    lane, end = roof - 11 - 4 * (column % 4), a + (0.7 * half - 5 * (column % 3)) * (1 if x > a else -1)
    return write_pointer(through([start, (x, lane), (end, lane), (end, roof)]))


def _ground(y: float, width: float) -> str:
    """The bottom of all stacks."""
    line = node("path", d=f"M{EDGE:g},{y + 1.5:g}H{width - EDGE:g}", stroke="var(--gv-ink)", stroke_width=3)
    return line + write(EDGE, y + 18, "bottom", 13, mono=True)


def _title(branches: Sequence[Branch]) -> list[str]:
    head = write(EDGE, 24, "stacks that share their frames", 13, font_weight="bold")
    return [head, write(EDGE, 44, _say_counts(branches), 12, fill="var(--gv-soft)")]


def _chip_words(number: int, branch: Branch) -> tuple[str, str, str]:
    """Its number, what an earlier text has of it, and what is new."""
    old, new = (visible(part) for part in (branch.data[: branch.known], branch.data[branch.known :]))
    over = len(old) + len(new) - ROOM
    if over > 0:
        old, new = ("…" + old[over + 1 :], new) if over < len(old) else ("…", new[-ROOM + 1 :])
    return f"{number} ", old or "∅" * (not new), new


def _chip_width(number: int, branch: Branch) -> float:
    words = "".join(_chip_words(number, branch))
    return max(wide(words, 15) + 16, 6.6 * len(_added(branch)) + 16)


def _added(branch: Branch) -> str:
    if branch.same:
        return f"as after text {branch.same}"
    return f"{branch.new:,} new, {branch.frames - branch.new:,} shared"


def _chip(number: int, branch: Branch, x: float, y: float) -> str:
    width = _chip_width(number, branch)
    dash = {"stroke_dasharray": "4 3"} if branch.same else {}
    x -= width / 2
    size = {"x": x, "y": y, "width": width, "height": CHIP, "rx": 5}
    parts, at = [node("rect", **size, fill="var(--gv-card)", stroke="var(--gv-line)", **dash)], x + 8
    looks = {"fill": "var(--gv-soft)"}, {"fill": "var(--gv-soft)"}, {"font_weight": "bold"}
    for words, look in zip(_chip_words(number, branch), looks, strict=True):
        parts.append(write(at, y + 19, words, 15, mono=True, **look))
        at += wide(words, 15)
    return "".join(parts) + write(x + 8, y + 37, _added(branch), 12, fill="var(--gv-soft)")


def _say_counts(branches: Sequence[Branch]) -> str:
    copied, kept = (f"{sum(counts):,}" for counts in zip(*((b.frames, b.new) for b in branches), strict=True))
    texts = counted(len(branches), "text")
    return f"{texts}, {copied} frames if each had a stack of its own, {kept} kept"


def _say(branches: Sequence[Branch], plates: Mapping[int, Plate]) -> str:
    places = {number: place for place, number in enumerate(plates, 1)}
    lines = [f"branches: {_say_counts(branches)}"]
    for number, branch in enumerate(branches, 1):
        same = f", as after text {branch.same}" if branch.same else ""
        tops = " · ".join(str(places[top]) for top in branch.tops) or "bottom"
        text = visible(branch.data[-40:]) or "∅"
        lines.append(f"{number} {text}: {counted(branch.frames, 'frame')}, {branch.new:,} new{same} → {tops}")
    return "\n".join([*lines, *say_plates(plates).split("\n")[1:]])
