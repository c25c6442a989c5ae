"""A layout that is too wide is wrapped, as text is: its boxes stand in lines below each other.

    a → b → c → d       becomes     a → b ┐
                                    ┌─────┘
                                    └ c → d

It is cut between two columns, where the fewest links cross. Each line of boxes is then placed alone, and a link between
two lines runs through a *lane* between them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import dist, inf

from guidedviz.views.layout.curves import Curve, Point, move, straight
from guidedviz.views.layout.placing import Extent, Layout, Link, place

SIDE = 12.0  # left of a line, where links turn
TURN = 9.0  # from a box to where its link turns
CORNER = 6.0  # of a turn, which is round
LANE = 10.0  # the height of a link between two lines
LABELLED = 20.0  # the same of one with a label
LABEL_HIGH = 8.0  # half of a label

Group = Sequence[int]  # boxes
Cost = tuple[int, int, float]  # the lines up to a column, the links between them, the width of the widest


def place_wrapped(boxes: tuple[Extent, ...], links: tuple[Link, ...], first: int, left: float, limit: float) -> Layout:
    """The layout of boxes; where it is wider than the limit, in lines."""
    placed = place(boxes, links, first, left)
    if placed.width <= limit:
        return placed
    columns = list_columns(placed, boxes)
    groups = choose_lines(columns, links, limit)
    line_of: dict[int, int] = {}
    for number, group in enumerate(groups):
        line_of |= dict.fromkeys(group, number)
    wrapping = Wrapping(boxes, links, line_of)
    lines = list(wrapping.place_lines(groups, first, left))
    return wrapping.join(lines)


# --- where the layout is cut ---


@dataclass(frozen=True)
class Column:
    """Boxes that stand over each other, and how far they reach."""

    boxes: Group
    start: float
    end: float


def list_columns(placed: Layout, boxes: Sequence[Extent]) -> list[Column]:
    """The columns of a layout from left to right."""
    spans = []
    for box, (x, _) in enumerate(placed.centres):
        half = boxes[box].rx
        spans.append((x - half, x + half, box))
    columns: list[Column] = []
    reach = -inf
    for start, end, box in sorted(spans):
        before: Group = ()
        if start < reach:
            last = columns.pop()
            before = last.boxes
            start = last.start
        reach = max(reach, end)
        columns.append(Column((*before, box), start, reach))
    return columns


def choose_lines(columns: Sequence[Column], links: Sequence[Link], limit: float) -> list[list[int]]:
    """The boxes in lines that fit: as few lines as possible, then as few links between them."""
    crossing = count_crossing(columns, links)
    best: list[Cost] = [(0, 0, 0.0)]
    cuts = [0]
    for stop in range(1, len(columns) + 1):
        found = []
        for start in range(stop):
            room = columns[stop - 1].end + 2 * SIDE
            if start:  # what stands left of the first column is in its line
                room -= columns[start].start
            if room <= limit or start == stop - 1:
                lines, crossed, widest = best[start]
                cost = (lines + 1, crossed + crossing[start], max(widest, room))
                found.append((cost, start))
        cost, start = min(found)
        best.append(cost)
        cuts.append(start)
    groups = []
    stop = len(columns)
    while stop:
        start = cuts[stop]
        groups.append([box for column in columns[start:stop] for box in column.boxes])
        stop = start
    return groups[::-1]


def count_crossing(columns: Sequence[Column], links: Sequence[Link]) -> list[int]:
    """How many links cross the gap before each column."""
    column_of: dict[int, int] = {}
    for number, column in enumerate(columns):
        column_of |= dict.fromkeys(column.boxes, number)
    crossing = [0 for _ in columns]
    for link in links:
        ends = (column_of[link.source], column_of[link.target])
        for cut in range(min(ends) + 1, max(ends) + 1):
            crossing[cut] += 1
    return crossing


# --- the lines below each other ---


@dataclass(frozen=True)
class WrappedLine:
    """A line of boxes, placed alone, and the links that stay in it; `y` says how far down it stands."""

    boxes: Group
    links: Group
    placed: Layout
    y: float

    @property
    def bottom(self) -> float:
        """Where the room below it begins."""
        return self.y + self.placed.height


@dataclass(frozen=True)
class Wrapping:
    """Boxes and links, and the line of each box."""

    boxes: tuple[Extent, ...]
    links: tuple[Link, ...]
    line_of: dict[int, int]

    def place_lines(self, groups: Sequence[Group], first: int, left: float) -> Iterator[WrappedLine]:
        """Each line placed alone, with room below it for the links to other lines."""
        y = 0.0
        for number, group in enumerate(groups):
            own = []
            for n, link in enumerate(self.links):
                if self.line_of[link.source] == self.line_of[link.target] == number:
                    own.append(n)
            new = {box: place for place, box in enumerate(group)}
            extents = tuple(self.boxes[box] for box in group)
            inside = []
            for n in own:
                source, target, label_width = self.links[n]
                inside.append(Link(new[source], new[target], label_width))
            start = new.get(first, 0)
            side = left if first in new else SIDE
            line = WrappedLine(group, own, place(extents, tuple(inside), start, side), y)
            yield line
            y = line.bottom + sum(lanes_of(self._below(number).values()).values())

    def _below(self, number: int) -> dict[int, Link]:
        """The links that run below a line: from it to the next, or past it."""
        found = {}
        for n, link in enumerate(self.links):
            source = self.line_of[link.source]
            target = self.line_of[link.target]
            if source != target and number == max(min(source, target), target - 1):
                found[n] = link
        return found

    def join(self, lines: Sequence[WrappedLine]) -> Layout:
        """The lines below each other, with the links between them."""
        centres: dict[int, Point] = {}
        curves: dict[int, Curve] = {}
        labels: dict[int, Point] = {}
        for line in lines:
            centres |= zip(line.boxes, move(line.placed.centres, 0, line.y), strict=True)
            labels |= zip(line.links, move(line.placed.labels, 0, line.y), strict=True)
            moved = [move(curve, 0, line.y) for curve in line.placed.curves]
            curves |= zip(line.links, moved, strict=True)
        for number, line in enumerate(lines):
            for n, low in self._find_lanes(number, line.bottom - SIDE / 2):
                curves[n] = self._lead(self.links[n], centres, low)
                labels[n] = ((curves[n][0][0] + curves[n][-1][0]) / 2, low - LABEL_HIGH)
        width = max(line.placed.width for line in lines) + TURN
        numbers = range(len(self.links))
        drawn = tuple(curves[n] for n in numbers)
        named = tuple(labels[n] for n in numbers)
        where = tuple(centres[box] for box in range(len(self.boxes)))
        return Layout(where, drawn, named, width, lines[-1].bottom)

    def _find_lanes(self, number: int, low: float) -> Iterator[tuple[int, float]]:
        """Each link below a line, and where its lane is."""
        between = self._below(number)
        for target, high in lanes_of(between.values()).items():
            low += high
            for n, link in between.items():
                if link.target == target:
                    yield n, low

    def _lead(self, link: Link, centres: dict[int, Point], low: float) -> Curve:
        """A link from the right of its source to the left of its target, by way of a lane between them."""
        x, y = centres[link.source]
        a, b = centres[link.target]
        start = x + self.boxes[link.source].rx
        end = a - self.boxes[link.target].rx
        right = start + TURN
        left = end - TURN
        return round_off([(start, y), (right, y), (right, low), (left, low), (left, b), (end, b)])


def lanes_of(links: Iterable[Link]) -> dict[int, float]:
    """Links to one box share a lane: per box the height of its lane."""
    lanes: dict[int, float] = {}
    for link in links:
        high = LABELLED if link.label_width else LANE
        lanes[link.target] = max(high, lanes.get(link.target, 0.0))
    return lanes


def round_off(points: Sequence[Point]) -> Curve:
    """Straight lines from point to point; the turns between them are round."""
    curve: Curve = tuple(points[:1])
    for corner, after in pairwise(points[1:]):
        begin = near(corner, curve[-1])
        end = near(corner, after)
        curve = (*curve, *straight(curve[-1], begin)[1:], corner, corner, end)
    return (*curve, *straight(curve[-1], points[-1])[1:])


def near(corner: Point, other: Point) -> Point:
    """The point near a corner where its turn begins or ends."""
    far = dist(corner, other) or 1.0
    share = min(CORNER / far, 0.5)
    x, y = corner
    a, b = other
    return x + (a - x) * share, y + (b - y) * share
