"""The layout of any machine: positions for the plan of what is drawn, from Graphviz or in layers.

The rules of a grammar are laid out one by one, each in a frame; the frames are packed, and curves lead from calls to
the frames and back.

No name covers another one, a call's box or a state. What is taken is painted into square cells: each name and state
with a number of its own, and each line. A name takes the free place near its arrow that has the fewest lines under it,
and a call the shortest bend that meets no name.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise, product
from math import ceil, cos, dist, pi, sin
from typing import NamedTuple

import numpy as np

from guidedviz.errors import shorten
from guidedviz.machines.work import grouped
from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Extent, Link, Point, along, bezier, cut, place, sample, straight
from guidedviz.views.layout.sketch import MANY, Bundle, Plan, Sketch, by_state, make_plan

Curves = dict[int, tuple[Curve, bool]]  # arrow number -> its curve, and whether it has a head


@dataclass(frozen=True)
class Spot:
    """The position of a state, half its size, and whether it is drawn as a dot."""

    x: float
    y: float
    rx: float
    ry: float
    dot: bool = False


@dataclass(frozen=True)
class Label:
    """The text on a line, and the arrows that it labels."""

    x: float
    y: float
    words: str
    full: str
    arrows: tuple[int, ...]
    bundle: bool = False  # the arrows overlap


@dataclass(frozen=True)
class Block:
    """The frame of a grammar rule: its name, and its nodes, the start first."""

    name: str
    nodes: tuple[int, ...]
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Jumps:
    """The curves of a call: to the start of the called rule, and from its ends back to the node after."""

    call: Curve
    returns: tuple[Curve, ...]


@dataclass(frozen=True)
class Diagram:
    """A sketch with positions; the states in `more` have neighbours that are not drawn."""

    sketch: Sketch
    spots: dict[int, Spot]
    curves: Curves
    labels: tuple[Label, ...]
    more: frozenset[int]
    width: float
    height: float
    counts: Mapping[int, Point]  # arrow number -> the place of its bytes' numbers
    blocks: tuple[Block, ...] = ()  # of a grammar: one per rule
    jumps: Mapping[int, Jumps] = field(default_factory=dict)  # number of a call arrow -> its curves


# --- the room in a drawing ---


GRAIN = 2.0  # pixels of a cell
AROUND = 400.0  # right of the diagram and below it
COUNT_WIDTH = 44.0  # of the numbers of the bytes that took an arrow


class Rect(NamedTuple):
    """A box by its sides; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float


def label_box(words: str, centre: Point) -> Rect:
    """The box of a label on an arrow."""
    (x, y), half = centre, wide(words, 12) / 2
    return Rect(x - half, y - 7, x + half, y + 6)


def call_box(label: Label) -> Rect:
    """The box around the name of a called rule, with room at its corner for how often the call is open."""
    half = wide(label.words, 12) / 2 + 9
    return Rect(label.x - half, label.y - 10, label.x + half, label.y + 10)


def count_box(place: Point) -> Rect:
    """The numbers of the bytes that took an arrow."""
    x, y = place
    return Rect(x - COUNT_WIDTH / 2, y - 9, x + COUNT_WIDTH / 2, y + 3)


class Room:
    """The cells of a drawing: which name or state takes each, and how many lines pass through it."""

    def __init__(self, width: float, height: float) -> None:
        size = int((height + AROUND) / GRAIN), int((width + AROUND) / GRAIN)
        self._owner, self._lines = np.zeros(size, np.int16), np.zeros(size, np.int16)
        self._taken = 0

    def take(self, box: Rect, margin: float = 0.0) -> None:
        """Take the room of a name or a state."""
        self._taken += 1
        left, top, right, bottom = box
        self._owner[_cells(Rect(left - margin, top - margin, right + margin, bottom + margin))] = self._taken

    def draw(self, curve: Curve) -> None:
        """Remember a line; a name may lie on it, but better does not."""
        steps = 2 + int(sum(dist(a, b) for a, b in pairwise(curve)) / GRAIN)
        self._lines[self._at(np.array(along(curve, np.linspace(0, 1, steps).tolist())))] += 1

    def _at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        columns, rows = np.moveaxis((points / GRAIN).astype(int), -1, 0)
        high, long = self._owner.shape
        return rows.clip(0, high - 1), columns.clip(0, long - 1)

    def is_free(self, box: Rect) -> bool:
        """Whether a box is inside the drawing and nothing is there yet."""
        return min(box.left, box.top) >= 0 and not self._owner[_cells(box)].any()

    def best(self, places: Iterable[Point], box: Callable[[Point], Rect]) -> Point | None:
        """Of the places where a box is free, one near the first with few lines under it; None if no place is free."""
        places = list(places)
        free = [place for place in places if self.is_free(box(place))]
        return min(free, key=lambda p: dist(places[0], p) + LINE * self._lines[_cells(box(p))].sum(), default=None)

    def bend(self, start: Spot, end: Spot) -> Curve:
        """Draw a short curve from state to state that passes through no other state and no name, if there is one."""
        first, last = np.add((start.x, start.y), PULLS)[:, None], np.add((end.x, end.y), PULLS)[None]
        both = np.broadcast_arrays(_rims(start, first), first, last, _rims(end, last))
        corners = np.stack(both, axis=2).reshape(-1, 4, 2)
        length = np.hypot(*np.moveaxis(np.diff(corners, axis=1), -1, 0)).sum(1)
        own, found = self._owner[self._at(np.array([(start.x, start.y), (end.x, end.y)]))], []
        for part in np.array_split(length.argsort(), PARTS):  # the shortest first
            at = self._at(BEND @ corners[part])
            owner = self._owner[at]
            struck = (owner > 0) & ~np.isin(owner, own)
            cost = length[part] + STRIKE * struck.sum(1) + ON_LINE * (self._lines[at] > 0).sum(1)
            found.append((float(cost.min()), corners[part[cost.argmin()]].tolist()))
            if not struck.any(1).all():
                break
        self.draw(curve := tuple(map(tuple, min(found)[1])))
        return curve


PARTS = 16  # in which the curves are tried
# from a state to the control point of its curve
PULLS = [(far * cos(pi * n / 8), far * sin(pi * n / 8)) for far in (40, 90, 170, 300, 450) for n in range(16)]
BEND = bezier(80)
STRIKE = 1000.0  # pixels of detour to keep a point of a curve off a name
ON_LINE = 6.0  # off a line


def _cells(box: Rect) -> tuple[slice, slice]:
    left, top = max(0, int(box.left / GRAIN)), max(0, int(box.top / GRAIN))
    return slice(top, max(top, ceil(box.bottom / GRAIN))), slice(left, max(left, ceil(box.right / GRAIN)))


def _rims(spot: Spot, toward: np.ndarray) -> np.ndarray:
    """The points on a state's border towards other points."""
    centre = np.array([spot.x, spot.y])
    way: np.ndarray = toward - centre
    size = np.hypot(way[..., :1] / spot.rx, way[..., 1:] / spot.ry)
    return centre + way / size


# --- names on arrows ---


SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)  # of a curve's length, where names may lie beside it
SHORT = 34.0  # an arrow shorter than this has no count
LINE = 10.0  # a cell of a line under a name counts as so many pixels of distance


def settle_names(
    sketch: Sketch, spots: Mapping[int, Spot], curves: Curves, labels: Sequence[Label], room: Room
) -> tuple[tuple[Label, ...], dict[int, Point]]:
    """The labels at free places, and the place of the count of every arrow that has room for one."""
    for spot, turn in product(spots.values(), (0.2, 0.5, 0.8, 1.1, 1.4)):  # a disc as a few boxes
        across, down = spot.rx - spot.ry + (spot.ry + 1.5) * cos(turn), (spot.ry + 1.5) * sin(turn)
        room.take(Rect(spot.x - across, spot.y - down, spot.x + across, spot.y + down))
    for curve, _ in curves.values():
        room.draw(curve)
    calls = [label for label in labels if sketch.arrows[label.arrows[0]].call]
    for label in calls:
        room.take(called := call_box(label))
        room.take(Rect(called.right + 1, called.top - 10, called.right + 22, called.top + 2))  # how often it is open
    settled = {label.arrows: label for label in calls}
    for label in labels:
        if label.arrows in settled:
            continue
        here, half, own = (label.x, label.y), wide(label.words, 12) / 2, [curves[n][0] for n in label.arrows[:3]]
        box = partial(label_box, label.words)
        near = [here, *(place for curve in own for place in beside(curve, half, 7.0))]
        x, y = room.best(near, box) or next((place for place in _ring(here) if room.is_free(box(place))), here)
        settled[label.arrows] = replace(label, x=x, y=y)
        room.take(box((x, y)))
    return tuple(settled[label.arrows] for label in labels), dict(_place_counts(sketch, room, curves))


def beside(curve: Curve, half: float, high: float) -> Iterator[Point]:
    """Centres of a box of this size beside a curve, on both sides."""
    stops = along(curve, [share + part for share in SHARES for part in (-0.08, 0.0, 0.08)])
    for (a, b), (x, y), (c, d) in zip(stops[::3], stops[1::3], stops[2::3], strict=True):
        far = dist((a, b), (c, d)) or 1.0
        u, v = -(d - b) / far, (c - a) / far  # across the curve
        reach = abs(u) * half + abs(v) * high
        for gap, side in product((3.0, 9.0, 16.0), (-1, 1)):
            yield x + side * u * (reach + gap), y + side * v * (reach + gap)


def _ring(centre: Point) -> Iterator[Point]:
    """Places around a point, the nearest first."""
    for radius in range(6, int(AROUND), 6):
        count = 8 + radius // 8
        for angle in (2 * pi * number / count - pi / 2 for number in range(count)):
            yield centre[0] + radius * cos(angle), centre[1] + radius * sin(angle)


def _place_counts(sketch: Sketch, room: Room, curves: Curves) -> Iterator[tuple[int, Point]]:
    for n, (curve, _) in curves.items():
        arrow = sketch.arrows[n]
        long = arrow.source == arrow.target or dist(curve[0], curve[-1]) >= SHORT
        places = ((x, y + 3) for x, y in beside(curve, COUNT_WIDTH / 2, 6.0))  # of the baseline
        if long and not arrow.call and (place := room.best(places, count_box)):
            room.take(count_box(place))
            yield n, place


# --- the diagram ---


MOST_STATES = 300  # of a larger machine the neighbourhood of one state is drawn
MOST_ARROWS = 1200
NEAR = 40  # states in that neighbourhood
MOST_NODES = 150  # of a larger grammar the neighbourhood of one rule is drawn
NEAR_NODES = 70  # in that neighbourhood
LEAST_NODES = 6  # a smaller rule counts as so many
RADIUS = 16.0
BEYOND = "beyond ASCII"
FREE_END = 22.0  # from the start's dot to the first state
SHAPE = 2.2  # width by height of the whole
GAP, EDGE, TITLE = 12.0, 2.0, 20.0
MOST_RETURNS = 3  # for a rule with more ends, one return starts at its frame
CLEAR = 4.0  # pixels between a name and the curve of a call

Part = tuple[str, int]  # of a drawing: its kind, and the number of a state, a line, a bundle, or the arrow of a call


@lru_cache(maxsize=32)
def lay_out(sketch: Sketch, at: int = -1, compact: bool | None = None) -> Diagram:
    """The diagram of a sketch or, for a large machine, of the part around state `at`."""
    if sketch.rules:
        return _lay_out_rules(sketch, at, compact)
    return _lay_out_states(sketch, range(len(sketch.names)), at, compact)


def _nearest(start: int, near: Mapping[int, Iterable[int]], most: int, size: Mapping[int, int]) -> dict[int, None]:
    """The states or rules nearest to one, as many as fit; `size` is 1 where it says nothing."""
    found, room = {start: None}, most - size.get(start, 1)
    for one in (queue := [start]):
        for other in near.get(one, ()):
            if other not in found and size.get(other, 1) <= room:
                found[other], room = None, room - size.get(other, 1)
                queue.append(other)
    return found


# --- one machine, or one rule ---


def _lay_out_states(sketch: Sketch, among: Collection[int], at: int, compact: bool | None) -> Diagram:
    """The diagram of the states of a machine or of a rule or, if they are many, of those around `at`."""
    keep = frozenset(_choose_states(sketch, among, at if at in among else sketch.initial))
    plan = make_plan(sketch, keep, compact)
    boxes = _boxes(sketch, plan)
    if not boxes:
        return Diagram(sketch, {}, {}, (), frozenset(), 60, 40, {})
    links, number = _links(sketch, plan), {part: n for n, part in enumerate(boxes)}
    ways = tuple(Link(number[a], number[b], room) for a, b, room in links.values())
    placed = place(tuple(boxes.values()), ways, number.get(("state", sketch.initial), 0))
    by = FREE_END + 8  # to the right: space for the start arrow
    centres = {part: (x + by, y) for part, (x, y) in zip(boxes, placed.centres, strict=True)}
    rooms = {part: (x + by, y) for part, (x, y) in zip(links, placed.labels, strict=True)}
    lines = {part: tuple((x + by, y) for x, y in line) for part, line in zip(links, placed.curves, strict=True)}
    spots = {state: Spot(*centres["state", state], *boxes["state", state]) for state in plan.discs}
    curves, labels = _draw_lines(plan, spots, lines, rooms)
    for n, bundle in enumerate(plan.bundles):
        spots |= _bundle_spots(bundle, centres["bundle", n])
        curves |= _bundle_curves(sketch, bundle, spots, lines["into", n], lines["from", n])
        full = "a character beyond ASCII: two to four bytes"
        labels.append(Label(*rooms["into", n], BEYOND, full, bundle.arrows, True))
    for n in plan.calls:
        centre, before, after, rule = centres["call", n], lines["before", n], lines["after", n], sketch.arrows[n].call
        curves[n] = before + straight(before[-1], centre)[1:] + straight(centre, after[0])[1:] + after[1:], True
        labels.append(Label(*centre, call_words(rule), f"calls {rule}", (n,)))
    ends = [(arrow.source, arrow.target) for arrow in sketch.arrows]
    more = frozenset(a if a in keep else b for a, b in ends if (a in keep) != (b in keep))
    settled, counts = settle_names(sketch, spots, curves, labels, Room(placed.width + by, placed.height))
    names = [label_box(label.words, (label.x, label.y)) for label in settled]
    names += [count_box(place) for place in counts.values()]
    low = [(placed.width + by, placed.height), *((name.right + 2, name.bottom + 2) for name in names)]
    low += [(spot.x + spot.rx + 8, spot.y + spot.ry + 8) for spot in spots.values()]
    low += [tuple(sample(curve).max(0) + 8) for curve, _ in curves.values()]
    width, height = np.max(low, axis=0).tolist()
    return Diagram(sketch, spots, curves, settled, more, width, height, counts)


def _choose_states(sketch: Sketch, among: Collection[int], start: int) -> Collection[int]:
    """All unfolded states or, if there are many, those nearest to one."""
    states, inside = [state for state in among if state not in sketch.folded], frozenset(among)
    arrows = [arrow for arrow in sketch.arrows if arrow.source in inside]
    if len(states) <= MOST_STATES and len(arrows) <= MOST_ARROWS:
        return states
    into, out = by_state(arrows)
    ahead = {state: [arrow.target for arrow in found] for state, found in out.items()}
    behind = {state: [arrow.source for arrow in found] for state, found in into.items()}
    return _nearest(start, ahead, NEAR * 2 // 3, {}) | _nearest(start, behind, NEAR // 3, {})


def _boxes(sketch: Sketch, plan: Plan) -> dict[Part, Extent]:
    """The size of each state, bundle and call."""
    boxes: dict[Part, Extent] = {}
    for state in plan.discs:
        ring = 3.5 if state in sketch.accepting else 0.0
        half = max(RADIUS, wide(short_name(sketch, state), 12) / 2 + 7)
        boxes["state", state] = Extent(half + ring, RADIUS + ring)
    for n, bundle in enumerate(plan.bundles):
        boxes["bundle", n] = Extent(9.0 * len(bundle.columns) + 4, 7.0 * max(map(len, bundle.columns)) + 4)
    for n in plan.calls:
        boxes["call", n] = Extent(wide(call_words(sketch.arrows[n].call), 12) / 2 + 9, 11.0)
    return boxes


def _links(sketch: Sketch, plan: Plan) -> dict[Part, tuple[Part, Part, float]]:
    """The lines between them: from part to part, with space for a label."""
    links: dict[Part, tuple[Part, Part, float]] = {}
    for n, line in enumerate(plan.lines):
        first, last = sketch.arrows[line.arrows[0]], sketch.arrows[line.arrows[-1]]
        room = max(wide(line.label, 12) + 8, min(240.0, 7.0 * len(line.dots)))
        links["line", n] = ("state", first.source), ("state", last.target), room
    for n, bundle in enumerate(plan.bundles):
        links["into", n] = ("state", bundle.source), ("bundle", n), wide(BEYOND, 12) + 8
        links["from", n] = ("bundle", n), ("state", bundle.target), 0.0
    for n in plan.calls:
        links["before", n] = ("state", sketch.arrows[n].source), ("call", n), 0.0
        links["after", n] = ("call", n), ("state", sketch.arrows[n].target), 0.0
    return links


def call_words(rule: str) -> str:
    """The name of a called rule, cut to fit its box."""
    return shorten(rule, 18)


def short_name(sketch: Sketch, state: int) -> str:
    """The name of a state, cut to fit its disc."""
    return shorten(sketch.names[state], 14)


def _draw_lines(
    plan: Plan, spots: dict[int, Spot], lines: Mapping[Part, Curve], rooms: Mapping[Part, Point]
) -> tuple[Curves, list[Label]]:
    """The curve of each arrow on a line, and the labels; the dots of the lines get their spots."""
    curves: Curves = {}
    labels = []
    for n, line in enumerate(plan.lines):
        curve, (x, y) = lines["line", n], rooms["line", n]
        parts = cut(curve, len(line.arrows)) if line.dots else [curve]
        curves |= {n: (part, n == line.arrows[-1]) for n, part in zip(line.arrows, parts, strict=True)}
        size = max(1.6, min(3.6, dist(parts[0][0], parts[0][-1]) * 0.36))
        spots |= {dot: Spot(*part[-1], size, size, True) for dot, part in zip(line.dots, parts, strict=False)}
        labels.append(Label(x, y - 3 * bool(line.dots), line.label, line.full, line.arrows))
    return curves, labels


def _bundle_spots(bundle: Bundle, centre: Point) -> dict[int, Spot]:
    x, y = centre[0] - 9.0 * (len(bundle.columns) - 1), centre[1]
    return {
        state: Spot(x + 18 * column, y + 14 * (row - (len(states) - 1) / 2), 3.4, 3.4, True)
        for column, states in enumerate(bundle.columns)
        for row, state in enumerate(states)
    }


def _bundle_curves(sketch: Sketch, bundle: Bundle, spots: dict[int, Spot], way_in: Curve, way_out: Curve) -> Curves:
    """Arrows into a bundle share one line, and so do those out of it."""
    found: Curves = {}
    for n in bundle.arrows:
        a, b = spots[sketch.arrows[n].source], spots[sketch.arrows[n].target]
        if a.dot and b.dot:
            found[n] = straight((a.x, a.y), (b.x, b.y)), False
        elif a.dot:
            found[n] = straight((a.x, a.y), way_out[0]) + way_out[1:], True
        else:
            found[n] = way_in + straight(way_in[-1], (b.x, b.y))[1:], False
    return found


# --- the rules of a grammar ---


def _lay_out_rules(sketch: Sketch, at: int, compact: bool | None) -> Diagram:
    rules = _choose_rules(sketch, at)
    if compact is None:
        compact = sum(node not in sketch.folded for _, nodes in rules for node in nodes) > MANY
    parts, frames = [], []
    for name, nodes in rules:
        parts.append(part := _lay_out_states(replace(sketch, initial=nodes[0]), nodes, at, compact))
        width = max(part.width, _title_width(sketch, name) + 24)
        frames.append(Block(name, nodes, 0, 0, width, part.height + TITLE))
    blocks = _pack(frames)
    spots: dict[int, Spot] = {}
    curves: Curves = {}
    labels: list[Label] = []
    counts: dict[int, Point] = {}
    for part, block in zip(parts, blocks, strict=True):
        x, y = block.x, block.y + TITLE
        spots |= {node: replace(spot, x=spot.x + x, y=spot.y + y) for node, spot in part.spots.items()}
        curves |= {n: (tuple((a + x, b + y) for a, b in curve), head) for n, (curve, head) in part.curves.items()}
        labels += [replace(label, x=label.x + x, y=label.y + y) for label in part.labels]
        counts |= {n: (a + x, b + y) for n, (a, b) in part.counts.items()}
    more = frozenset().union(*(part.more for part in parts))
    width, height = np.max([(b.x + b.width + EDGE, b.y + b.height + EDGE) for b in blocks], axis=0).tolist()
    whole = Diagram(sketch, spots, curves, tuple(labels), more, width, height, counts, blocks)
    jumps = dict(_jumps(whole))
    low = [sample(curve).max(0) + EDGE for found in jumps.values() for curve in (found.call, *found.returns)]
    width, height = np.max([(width, height), *low], axis=0).tolist()
    return replace(whole, width=width, height=height, jumps=jumps)


def _choose_rules(sketch: Sketch, at: int) -> list[tuple[str, tuple[int, ...]]]:
    """All rules or, for a large grammar, those nearest by calls to the rule of a node, in the grammar's order."""
    size = {n: max(LEAST_NODES, len({*nodes} - sketch.folded)) for n, (_, nodes) in enumerate(sketch.rules)}
    if sum(size.values()) <= MOST_NODES:
        return [*sketch.rules]
    rule_of = {node: rule for rule, (_, nodes) in enumerate(sketch.rules) for node in nodes}
    number = {name: rule for rule, (name, _) in enumerate(sketch.rules)}
    calls = [(rule_of[arrow.source], number[arrow.call]) for arrow in sketch.arrows if arrow.call]
    near = grouped(pair for caller, called in calls for pair in ((caller, called), (called, caller)))
    return [sketch.rules[rule] for rule in sorted(_nearest(rule_of.get(at, 0), near, NEAR_NODES, size))]


def _title_width(sketch: Sketch, name: str) -> float:
    """The width of a rule's name and its counter, with room for "now ..."."""
    counter = dict(sketch.repeats).get(name, "")
    return wide(name, 13) + bool(counter) * (wide(f"{counter}, now 0000 to 0000", 12) + 12)


def _pack(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The frames in order, packed into the width that gives the best shape."""
    whole, widest = sum(block.width + GAP for block in blocks), max(block.width for block in blocks)
    limits = {max(widest, whole / rows) + 2 * EDGE for rows in range(1, min(8, len(blocks)) + 1)}
    ways = (_settle(blocks, limit) for limit in sorted(limits))
    return min(ways, key=lambda way: max(max(b.x + b.width, SHAPE * (b.y + b.height)) for b in way))


def _settle(blocks: Sequence[Block], limit: float) -> tuple[Block, ...]:
    """Each block at the highest free position beside or below those before it."""
    settled: list[Block] = []
    for block in blocks:
        lefts = [EDGE, *(other.x + other.width + GAP for other in settled)]
        tops = [EDGE, *(other.y + other.height + GAP for other in settled)]
        places = (replace(block, x=x, y=y) for y in tops for x in lefts if x == EDGE or x + block.width <= limit)
        free = (placed for placed in places if not any(_meet(placed, other) for other in settled))
        settled.append(min(free, key=lambda placed: (placed.y, placed.x)))
    return tuple(settled)


def _meet(a: Block, b: Block) -> bool:
    across = a.x < b.x + b.width + GAP and b.x < a.x + a.width + GAP
    return across and a.y < b.y + b.height + GAP and b.y < a.y + a.height + GAP


def _jumps(diagram: Diagram) -> Iterator[tuple[int, Jumps]]:
    """The curves of every call whose arrow and rule are both drawn."""
    sketch, spots, room = diagram.sketch, diagram.spots, Room(diagram.width, diagram.height)
    for block in diagram.blocks:
        left, top = block.x + 11, block.y + 7  # of its title
        room.take(Rect(left, top, left + _title_width(sketch, block.name), top + 15), CLEAR)
    for label in diagram.labels:
        is_call = sketch.arrows[label.arrows[0]].call
        room.take(call_box(label) if is_call else label_box(label.words, (label.x, label.y)), CLEAR)
    for spot in spots.values():
        if not spot.dot:
            room.take(Rect(spot.x - spot.rx, spot.y - spot.ry, spot.x + spot.rx, spot.y + spot.ry), CLEAR / 2)
    for curve, _ in diagram.curves.values():
        room.draw(curve)
    named = {block.name: block for block in diagram.blocks}
    for n, arrow in enumerate(sketch.arrows):
        if n not in diagram.curves or arrow.call not in named:
            continue
        block = named[arrow.call]
        edge = Spot(block.x, block.y + block.height / 2, 0.1, 0.1)  # stands for a start that is not drawn
        ends = [spots[node] for node in block.nodes if node in sketch.accepting and node in spots]
        if len(ends) > MOST_RETURNS:
            ends = [replace(edge, x=block.x + block.width)]
        call = room.bend(spots[arrow.source], spots.get(block.nodes[0], edge))
        yield n, Jumps(call, tuple(room.bend(end, spots[arrow.target]) for end in ends))
