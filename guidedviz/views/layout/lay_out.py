"""The layout of any machine: positions for the plan of what is drawn.

First the boxes of states, bundles and calls are placed with the lines between them. Then each arrow gets its curve, and
each state inside a run or a bundle its dot. The rules of a grammar are laid out one by one, each in a frame; the frames
are packed, and curves lead from calls to the frames and back.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import dist, inf

from guidedviz.errors import shorten
from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import Curve, Point, cut, sample_curve, straight
from guidedviz.views.layout.diagram import Block, Curves, Diagram, Label, Spot, Spots, size_around
from guidedviz.views.layout.jumps import find_jumps, title_width
from guidedviz.views.layout.placing import Extent, Layout, Link
from guidedviz.views.layout.plan import MOST_DISCS, Bundle, Plan, choose_rules, choose_states, make_plan
from guidedviz.views.layout.room import Room, label_box, number_box, place_numbers, settle_names
from guidedviz.views.layout.sketch import Arrow, DrawnRule, Sketch
from guidedviz.views.layout.wrap import place_wrapped

FRAME_SHAPE = 2.2  # the best width by height of the whole
FRAME_GAP = 12.0
FRAME_EDGE = 2.0
FRAME_TITLE = 20.0
WIDEST_RULE = 440.0  # of a rule that is drawn alone: on the page of a run it stands beside the next token


@lru_cache(maxsize=32)
def lay_out(sketch: Sketch, at: int = -1, compact: bool | None = None) -> Diagram:
    """The diagram of a sketch or, for a large machine, of the part around state `at` (-1: around its start).

    With `compact` the states inside runs and bundles are dots. By default they are dots in a grammar of many states; in
    another machine those inside bundles always are, and those inside runs if there are many states.
    """
    if sketch.rules:
        return _lay_out_rules(sketch, at, compact)
    return lay_out_states(sketch, range(len(sketch.names)), at, compact)


def lay_out_rule(sketch: Sketch, rule: DrawnRule, at: int = -1) -> Diagram:
    """One rule of a grammar without a frame; its runs are lines of dots, and a long row is wrapped."""
    _, nodes = rule
    alone = replace(sketch, initial=nodes[0], rules=())
    return lay_out_states(alone, nodes, at, True, WIDEST_RULE)


def _lay_out_rules(sketch: Sketch, at: int, compact: bool | None) -> Diagram:
    rules = choose_rules(sketch, at)
    if compact is None:
        sizes = [len({*nodes} - sketch.folded) for _, nodes in rules]
        compact = sum(sizes) > MOST_DISCS
    inside = []
    frames = []
    for name, nodes in rules:
        part = lay_out_states(replace(sketch, initial=nodes[0]), nodes, at, compact)
        inside.append(part)
        width = max(part.width, title_width(sketch, name) + 24)
        height = part.height + FRAME_TITLE
        frames.append(Block(name, nodes, 0, 0, width, height))
    whole = _join(sketch, inside, _pack_frames(frames))
    jumps = dict(find_jumps(whole))
    corners = [(whole.width, whole.height)]
    for found in jumps.values():
        corners += [sample_curve(curve).max(0) + FRAME_EDGE for curve in found]
    width, height = size_around(corners)
    return replace(whole, width=width, height=height, jumps=jumps)


def _join(sketch: Sketch, inside: Sequence[Diagram], blocks: Sequence[Block]) -> Diagram:
    """The diagrams of the rules as one, each in its frame."""
    spots: Spots = {}
    curves: Curves = {}
    labels: tuple[Label, ...] = ()
    more = frozenset[int]()
    number_places = dict[int, Point]()
    for part, block in zip(inside, blocks, strict=True):
        part = part.moved(block.x, block.y + FRAME_TITLE)
        spots |= part.spots
        curves |= part.curves
        labels += part.labels
        more |= part.more
        number_places.update(part.number_places)
    size = size_around((block.right + FRAME_EDGE, block.bottom + FRAME_EDGE) for block in blocks)
    return Diagram(sketch, spots, curves, labels, more, *size, number_places, tuple(blocks))


# --- the frames of the rules, packed ---


def _pack_frames(blocks: Sequence[Block]) -> list[Block]:
    """The frames in order, packed into the width that gives the best shape: the longer side is as short as can be."""
    whole = sum(block.width + FRAME_GAP for block in blocks)
    widest = max(block.width for block in blocks)
    most_rows = min(8, len(blocks))
    widths = {max(widest, whole / rows) for rows in range(1, most_rows + 1)}
    limits = [width + 2 * FRAME_EDGE for width in sorted(widths)]
    ways = [_settle_frames(blocks, limit) for limit in limits]

    def longer_side(packed: Sequence[Block]) -> float:
        right = max(block.right for block in packed)
        bottom = max(block.bottom for block in packed)
        return max(right, FRAME_SHAPE * bottom)

    return min(ways, key=longer_side)


def _settle_frames(blocks: Sequence[Block], limit: float) -> list[Block]:
    """Each block at the highest free position beside or below those before it."""
    settled: list[Block] = []
    for block in blocks:
        places = _positions(block, settled, limit)
        free = [placed for placed in places if not _meets(placed, settled)]
        highest = min(free, key=lambda placed: (placed.y, placed.x))
        settled.append(highest)
    return settled


def _positions(block: Block, settled: Sequence[Block], limit: float) -> Iterator[Block]:
    """A block at the edge, right of each other block or below it."""
    lefts = [FRAME_EDGE, *(other.right + FRAME_GAP for other in settled)]
    tops = [FRAME_EDGE, *(other.bottom + FRAME_GAP for other in settled)]
    for x, y in product(lefts, tops):
        if x == FRAME_EDGE or x + block.width <= limit:
            yield replace(block, x=x, y=y)


def _meets(block: Block, others: Sequence[Block]) -> bool:
    """Whether a block is too near to another one."""
    right = block.right + FRAME_GAP
    bottom = block.bottom + FRAME_GAP
    for other in others:
        across = block.x < other.right + FRAME_GAP and other.x < right
        if across and block.y < other.bottom + FRAME_GAP and other.y < bottom:
            return True
    return False


# --- one machine, or one rule ---


RADIUS = 16.0
BUNDLE_COLUMN = 18.0  # from dot to dot in a bundle, to the right
BUNDLE_ROW = 14.0  # and down
BUNDLE_DOT = 3.4  # its radius
CHIP_EDGE = 5.0  # left and right of the name of a special token
BEYOND = "beyond ASCII"
BEYOND_IN_FULL = "a character beyond ASCII: two to four bytes"
FREE_END = 22.0  # from the start's dot to the first state
BEFORE_START = FREE_END + 8  # left of all boxes

Boxed = int | Bundle | Arrow  # what has a box: a state, a bundle, or a call


def lay_out_states(
    sketch: Sketch, among: Collection[int], at: int, compact: bool | None, widest: float = inf
) -> Diagram:
    """The diagram of the states of a machine or of a rule or, if they are many, of those around `at`."""
    start = at if at in among else sketch.initial
    keep = choose_states(sketch, among, start)
    plan = make_plan(sketch, keep, compact)
    boxes = dict(_sized_boxes(sketch, plan))
    number = {part: n for n, part in enumerate(boxes)}
    links = []
    for source, target, space in _lines_between(sketch, plan):
        links.append(Link(number[source], number[target], space))
    first = number.get(sketch.initial, 0)
    placed = place_wrapped(tuple(boxes.values()), tuple(links), first, BEFORE_START, widest)
    spots, curves, labels = _draw_parts(sketch, plan, boxes, placed)
    room = Room(placed.width, placed.height)
    settled = settle_names(spots, curves, labels, room)
    number_places = dict(place_numbers(sketch, curves, room))
    names = [label_box(label.words, (label.x, label.y)) for label in settled]
    names += map(number_box, number_places.values())
    corners = [(placed.width, placed.height)]
    corners += [(name.right + 2, name.bottom + 2) for name in names]
    more = _cut_off(sketch, keep)
    return Diagram(sketch, spots, curves, settled, more, *size_around(corners), number_places)


def _cut_off(sketch: Sketch, keep: Set[int]) -> frozenset[int]:
    """The drawn states with neighbours that are not drawn."""
    found = set[int]()
    for arrow in sketch.arrows:
        if (arrow.source in keep) != (arrow.target in keep):
            found |= keep & {arrow.source, arrow.target}
    return frozenset(found)


# --- boxes and the lines between them ---


def _sized_boxes(sketch: Sketch, plan: Plan) -> Iterator[tuple[Boxed, Extent]]:
    """The size of each state, bundle and call."""
    for state in plan.discs:
        ring = 3.5 if state in sketch.accepting else 0.0
        name = wide(short_name(sketch, state), 12)
        half = max(RADIUS, name / 2 + 7)
        yield state, Extent(half + ring, RADIUS + ring)
    for bundle in plan.bundles:
        rows = max(map(len, bundle.columns))
        columns = len(bundle.columns)
        yield bundle, Extent(BUNDLE_COLUMN / 2 * columns + 4, BUNDLE_ROW / 2 * rows + 4)
    for n in plan.calls:
        call = sketch.arrows[n]
        words = wide(call_words(call), 12)
        yield call, Extent(words / 2 + 9, 11.0)


def _lines_between(sketch: Sketch, plan: Plan) -> Iterator[tuple[Boxed, Boxed, float]]:
    """The lines between the boxes, each with space for a label; a bundle and a call have one in and one out.

    `_draw_parts` takes them in the same order.
    """
    for line in plan.lines:
        first = sketch.arrows[line.arrows[0]]
        last = sketch.arrows[line.arrows[-1]]
        dots = min(240.0, 7.0 * len(line.dots))
        label = wide(line.words, 12) + 8
        if line.chip:
            dots = 0.0
            label += 2 * CHIP_EDGE
        yield first.source, last.target, max(label, dots)
    for bundle in plan.bundles:
        yield bundle.source, bundle, wide(BEYOND, 12) + 8
        yield bundle, bundle.target, 0.0
    for n in plan.calls:
        call = sketch.arrows[n]
        yield call.source, call, 0.0
        yield call, call.target, 0.0


def call_words(call: Arrow) -> str:
    """The name of a called rule, cut to fit its box."""
    return shorten(call.call, 18)


def short_name(sketch: Sketch, state: int) -> str:
    """The name of a state, cut to fit its disc."""
    return shorten(sketch.names[state], 14)


# --- the arrows on a line, and the states inside a run or a bundle ---


def _draw_parts(
    sketch: Sketch, plan: Plan, boxes: Mapping[Boxed, Extent], placed: Layout
) -> tuple[Spots, Curves, list[Label]]:
    """The spots of all states, the curves of all arrows, and their labels."""
    centres = dict(zip(boxes, placed.centres, strict=True))
    lines = zip(placed.curves, placed.labels, strict=True)  # in the order of _lines_between
    spots: Spots = {}
    for state in plan.discs:
        spots[state] = Spot(*centres[state], *boxes[state])
    curves: Curves = {}
    labels = []
    for line in plan.lines:
        curve, middle = next(lines)
        labels.append(_draw_line(line, curve, middle, spots, curves))
    for bundle in plan.bundles:
        way_in, middle = next(lines)
        way_out, _ = next(lines)
        spots |= _bundle_spots(bundle, centres[bundle])
        curves |= _bundle_curves(sketch, bundle, spots, way_in, way_out)
        label = Label(BEYOND, BEYOND_IN_FULL, bundle.arrows, bundle=True)
        labels.append(_place_label(label, middle))
    for n in plan.calls:
        call = sketch.arrows[n]
        before, _ = next(lines)
        after, _ = next(lines)
        centre = centres[call]
        through = straight(before[-1], centre, after[0])
        curves[n] = before + through[1:] + after[1:]
        label = Label(call_words(call), f"calls {call.call}", (n,), call=True)
        labels.append(_place_label(label, centre))
    return spots, curves, labels


def _place_label(label: Label, centre: Point) -> Label:
    x, y = centre
    return replace(label, x=x, y=y)


def _draw_line(line: Label, curve: Curve, centre: Point, spots: Spots, curves: Curves) -> Label:
    """The label of a line; its arrows get their curves, and the states between them their spots."""
    parts = cut(curve, len(line.arrows)) if line.dots else [curve]
    curves |= zip(line.arrows, parts, strict=True)
    first = parts[0]
    length = dist(first[0], first[-1])
    size = max(1.6, min(3.6, length * 0.36))
    for state, part in zip(line.dots, parts, strict=False):  # there is one dot fewer than parts
        x, y = part[-1]
        spots[state] = Spot(x, y, size, size, dot=True, in_name=line.chip)
    x, y = centre
    return _place_label(line, (x, y - 3) if line.dots else centre)


def _bundle_spots(bundle: Bundle, centre: Point) -> Spots:
    """The states of a bundle as dots in columns."""
    spots = {}
    x, middle = centre
    left = x - BUNDLE_COLUMN / 2 * (len(bundle.columns) - 1)
    for column, states in enumerate(bundle.columns):
        x = left + BUNDLE_COLUMN * column
        above = (len(states) - 1) / 2
        for row, state in enumerate(states):
            y = middle + BUNDLE_ROW * (row - above)
            spots[state] = Spot(x, y, BUNDLE_DOT, BUNDLE_DOT, dot=True)
    return spots


def _bundle_curves(sketch: Sketch, bundle: Bundle, spots: Spots, way_in: Curve, way_out: Curve) -> Curves:
    """Arrows into a bundle share one line, and so do those out of it."""
    found: Curves = {}
    for n in bundle.arrows:
        arrow = sketch.arrows[n]
        source = spots[arrow.source]
        target = spots[arrow.target]
        start = (source.x, source.y)
        end = (target.x, target.y)
        if not source.dot:
            inside = straight(way_in[-1], end)
            found[n] = way_in + inside[1:]
        elif target.dot:
            found[n] = straight(start, end)
        else:
            inside = straight(start, way_out[0])
            found[n] = inside + way_out[1:]
    return found
