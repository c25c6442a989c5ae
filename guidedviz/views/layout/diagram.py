"""The layout of any machine: positions for the plan of what is drawn, from Graphviz or in layers.

The rules of a grammar are laid out one by one, each in a frame; the frames are packed, and curves lead from calls to
the frames and back.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import dist

from guidedviz.errors import shorten
from guidedviz.views.figure import wide
from guidedviz.views.layout.curves import (
    Block,
    Curve,
    Diagram,
    Jumps,
    Label,
    Point,
    Spot,
    above_middle,
    cut,
    sample,
    straight,
)
from guidedviz.views.layout.layers import Extent, Link, place
from guidedviz.views.layout.plan import MANY, ArrowLine, Bundle, Plan, make_plan, say_ranges
from guidedviz.views.layout.routes import Rect, Router, call_box, count_box, label_box, rim, settle_names, title_box
from guidedviz.views.layout.sketch import Arrow, Sketch

MOST_STATES = 300  # of a larger machine the neighbourhood of one state is drawn
MOST_ARROWS = 1200
NEAR = 40  # states in that neighbourhood
MOST_NODES = 150  # of a larger grammar the neighbourhood of one rule is drawn
MOST_RULES = 24
NEAR_NODES = 70  # in that neighbourhood
NEAR_RULES = 10
RADIUS = 16.0
BEYOND = "beyond ASCII"
FREE_END = 22.0  # from the start's dot to the first state
SHAPE = 2.2  # width by height of the whole
GAP, EDGE, TITLE = 12.0, 2.0, 20.0
MOST_RETURNS = 3  # for a rule with more ends, one return starts at its frame

Part = tuple[str, int]  # of a drawing: its kind, and the number of a state, a line, a bundle, or the arrow of a call
Boxes = Mapping[Part, Extent]
Links = Mapping[Part, tuple[Part, Part, float]]  # from part to part, with space for a label
Curves = dict[int, tuple[Curve, bool]]  # arrow number -> its curve, and whether it has a head
SEVERAL_BYTES = "a character beyond ASCII: two to four bytes"


@lru_cache(maxsize=32)
def lay_out(sketch: Sketch, at: int = -1, compact: bool | None = None) -> Diagram:
    """The diagram of a sketch or, for a large machine, of the part around state `at`."""
    if sketch.rules:
        return _lay_out_rules(sketch, at, compact)
    return _lay_out_states(sketch, range(len(sketch.names)), at, compact)


# --- one machine, or one rule ---


def _lay_out_states(sketch: Sketch, among: Collection[int], at: int, compact: bool | None) -> Diagram:
    """The diagram of the states of a machine or of a rule or, if they are many, of those around `at`."""
    keep = frozenset(_choose_states(sketch, among, at if at in among else sketch.initial))
    plan = make_plan(sketch, keep, compact)
    boxes = _boxes(sketch, plan)
    if not boxes:
        return Diagram(sketch, {}, {}, (), frozenset(), frozenset(), 60, 40)
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
        labels.append(Label(*rooms["into", n], BEYOND, SEVERAL_BYTES, bundle.arrows, True))
    for n in plan.calls:
        centre, before, after, rule = centres["call", n], lines["before", n], lines["after", n], sketch.arrows[n].call
        curves[n] = before + straight(before[-1], centre)[1:] + straight(centre, after[0])[1:] + after[1:], True
        labels.append(Label(*centre, call_words(rule), f"calls {rule}", (n,)))
    for group in plan.exits:
        curves |= dict(_exits(sketch, group, spots))
        labels.append(_exit_label(sketch, group, curves))
    exits = frozenset(n for group in plan.exits for n in group)
    ends = [(arrow.source, arrow.target) for arrow in sketch.arrows]
    more = frozenset(a if a in keep else b for a, b in ends if (a in keep) != (b in keep))
    settled, counts = settle_names(sketch, spots, curves, labels, exits)
    names = [label_box(label.x, label.y, label.words) for label in settled]
    names += [count_box(*point) for point in counts.values()]
    extent = _size(spots, curves, names, placed.width + by, placed.height)
    return Diagram(sketch, spots, curves, settled, exits, more, *extent, counts=counts)


def _choose_states(sketch: Sketch, among: Collection[int], start: int) -> Collection[int]:
    """All unfolded states or, if there are many, those nearest to one."""
    states, inside = [state for state in among if state not in sketch.folded], frozenset(among)
    arrows = [arrow for arrow in sketch.arrows if arrow.source in inside]
    if len(states) <= MOST_STATES and len(arrows) <= MOST_ARROWS:
        return states
    ahead, behind = defaultdict(list), defaultdict(list)
    for arrow in arrows:
        ahead[arrow.source].append(arrow.target)
        behind[arrow.target].append(arrow.source)
    return _around(start, ahead, NEAR * 2 // 3) | _around(start, behind, NEAR // 3)


def _around(start: int, near: Mapping[int, list[int]], most: int) -> set[int]:
    """The `most` states nearest to one."""
    found, waiting = {start}, deque([start])
    while waiting and len(found) < most:
        new = [state for state in dict.fromkeys(near[waiting.popleft()]) if state not in found][: most - len(found)]
        found.update(new)
        waiting.extend(new)
    return found


def _boxes(sketch: Sketch, plan: Plan) -> Boxes:
    """The size of each state, bundle and call."""
    boxes = {("state", state): _box(sketch, state) for state in plan.discs}
    boxes |= {
        ("bundle", n): Extent(9.0 * len(bundle.columns) + 4, 7.0 * max(map(len, bundle.columns)) + 4)
        for n, bundle in enumerate(plan.bundles)
    }
    return boxes | {("call", n): Extent(wide(call_words(sketch.arrows[n].call), 12) / 2 + 9, 11.0) for n in plan.calls}


def _links(sketch: Sketch, plan: Plan) -> Links:
    """The lines between them."""
    links: dict[Part, tuple[Part, Part, float]] = {}
    ends = [(sketch.arrows[line.arrows[0]].source, sketch.arrows[line.arrows[-1]].target) for line in plan.lines]
    for n, (line, (a, b)) in enumerate(zip(plan.lines, ends, strict=True)):
        links["line", n] = ("state", a), ("state", b), _room(line)
    owner = {dot: ends[n] for n, line in enumerate(plan.lines) for dot in line.dots}
    for n, group in enumerate(plan.exits):  # an invisible line keeps the target near, unless another line does so
        (a, b), target = owner[sketch.arrows[group[0]].source], sketch.arrows[group[0]].target
        if target in plan.discs and (a, target) not in ends and (b, target) not in ends:
            links["exit", n] = ("state", b), ("state", target), 0.0
    for n, bundle in enumerate(plan.bundles):
        links["into", n] = ("state", bundle.source), ("bundle", n), wide(BEYOND, 12) + 8
        links["from", n] = ("bundle", n), ("state", bundle.target), 0.0
    for n in plan.calls:
        links["before", n] = ("state", sketch.arrows[n].source), ("call", n), 0.0
        links["after", n] = ("call", n), ("state", sketch.arrows[n].target), 0.0
    return links


def _box(sketch: Sketch, state: int) -> Extent:
    ring = 3.5 if state in sketch.accepting else 0.0
    return Extent(max(RADIUS, wide(short_name(sketch, state), 12) / 2 + 7) + ring, RADIUS + ring)


def call_words(rule: str) -> str:
    """The name of a called rule, cut to fit its box."""
    return shorten(rule, 18)


def short_name(sketch: Sketch, state: int) -> str:
    """The name of a state, cut to fit its disc."""
    return shorten(sketch.names[state], 14)


def _room(line: ArrowLine) -> float:
    words = wide(line.label, 12) + 8 if line.label else 0.0
    return max(words, min(240.0, 7.0 * len(line.dots))) if line.dots else words


def _draw_lines(
    plan: Plan, spots: dict[int, Spot], lines: Mapping[Part, Curve], rooms: Mapping[Part, Point]
) -> tuple[Curves, list[Label]]:
    """The curve of each arrow on a line, and the labels; the dots of the lines get their spots."""
    curves: Curves = {}
    labels = []
    for n, line in enumerate(plan.lines):
        curve, room = lines["line", n], rooms["line", n]
        parts = cut(curve, len(line.arrows)) if line.dots else [curve]
        curves |= {n: (part, n == line.arrows[-1]) for n, part in zip(line.arrows, parts, strict=True)}
        size = max(1.6, min(3.6, dist(parts[0][0], parts[0][-1]) * 0.36))
        spots |= {dot: Spot(*part[-1], size, size, True) for dot, part in zip(line.dots, parts, strict=False)}
        if line.label:
            x, y = room if room != curve[0] else above_middle(curve)
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
        arrow = sketch.arrows[n]
        a, b = spots[arrow.source], spots[arrow.target]
        if a.dot:
            end = way_out[0] if not b.dot else (b.x, b.y)
            found[n] = straight((a.x, a.y), end) + (() if b.dot else way_out[1:]), not b.dot
        else:
            found[n] = way_in + straight(way_in[-1], (b.x, b.y))[1:], False
    return found


def _exits(sketch: Sketch, group: Sequence[int], spots: dict[int, Spot]) -> Iterator[tuple[int, tuple[Curve, bool]]]:
    """Nested arcs from the dots of a run to one target."""
    for n in group:
        arrow = sketch.arrows[n]
        dot, target = spots[arrow.source], spots[arrow.target]
        far = target.x - dot.x
        deep = 0.22 * abs(far) + 14
        turn = (target.x - 0.25 * far, target.y + deep)
        yield n, (((dot.x, dot.y), (dot.x + 0.25 * far, dot.y + deep), turn, rim(target, turn)), n == group[-1])


def _exit_label(sketch: Sketch, group: Sequence[int], curves: Curves) -> Label:
    ranges = sketch.arrows[group[0]].ranges
    x, y = max(sample(curves[group[0]][0]), key=lambda point: point[1])
    return Label(x, y + 9, shorten(say_ranges(ranges), 16), say_ranges(ranges, 64, whole=True), tuple(group))


def _size(
    spots: dict[int, Spot], curves: Curves, names: list[Rect], width: float, height: float
) -> tuple[float, float]:
    """The size of the diagram, with all curves and names inside."""
    points = [point for curve, _ in curves.values() for point in sample(curve)]
    right = [*(x + 8 for x, _ in points), *(s.x + s.rx + 8 for s in spots.values()), *(n.right + 2 for n in names)]
    low = [*(y + 8 for _, y in points), *(s.y + s.ry + 8 for s in spots.values()), *(n.bottom + 2 for n in names)]
    return max([width, *right]), max([height, *low])


# --- the rules of a grammar ---


def _lay_out_rules(sketch: Sketch, at: int, compact: bool | None) -> Diagram:
    chosen = _choose_rules(sketch, at)
    if compact is None:
        compact = sum(_count_nodes(sketch, rule) for rule in chosen) > MANY
    nodes = [sketch.rules[rule][1] for rule in chosen]
    parts = [_lay_out_states(replace(sketch, initial=own[0]), own, at, compact) for own in nodes]
    blocks = _pack([_frame(sketch, rule, part) for rule, part in zip(chosen, parts, strict=True)])
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
    exits, more = (frozenset().union(*sets) for sets in ([p.exits for p in parts], [p.more for p in parts]))
    width = max(block.x + block.width for block in blocks) + EDGE
    height = max(block.y + block.height for block in blocks) + EDGE
    ways = Router(_list_names(sketch, labels, blocks), spots.values(), width, height)
    jumps = dict(_jumps(sketch, blocks, spots, curves, ways))
    points = [p for found in jumps.values() for curve in (found.call, *found.returns) for p in sample(curve)]
    width = max([width, *(x + EDGE for x, _ in points)])
    height = max([height, *(y + EDGE for _, y in points)])
    return Diagram(sketch, spots, curves, tuple(labels), exits, more, width, height, blocks, jumps, counts)


def _choose_rules(sketch: Sketch, at: int) -> tuple[int, ...]:
    """All rules or, for a large grammar, those nearest by calls to the rule of a node, in the grammar's order."""
    every = range(len(sketch.rules))
    if sum(_count_nodes(sketch, rule) for rule in every) <= MOST_NODES and len(every) <= MOST_RULES:
        return tuple(every)
    rule_of = {node: rule for rule, (_, nodes) in enumerate(sketch.rules) for node in nodes}
    number = {name: rule for rule, (name, _) in enumerate(sketch.rules)}
    near: dict[int, list[int]] = defaultdict(list)
    for arrow in sketch.arrows:
        if arrow.call:
            near[rule_of[arrow.source]].append(number[arrow.call])
            near[number[arrow.call]].append(rule_of[arrow.source])
    found: dict[int, None] = {rule_of.get(at, 0): None}
    waiting, room = deque(found), NEAR_NODES - _count_nodes(sketch, rule_of.get(at, 0))
    while waiting and len(found) < NEAR_RULES:
        for rule in dict.fromkeys(near[waiting.popleft()]):
            size = _count_nodes(sketch, rule)
            if rule not in found and size <= room and len(found) < NEAR_RULES:
                found[rule] = None
                waiting.append(rule)
                room -= size
    return tuple(sorted(found))


def _count_nodes(sketch: Sketch, rule: int) -> int:
    """How many nodes of a rule are drawn."""
    return sum(node not in sketch.folded for node in sketch.rules[rule][1])


def _frame(sketch: Sketch, rule: int, part: Diagram) -> Block:
    name, nodes = sketch.rules[rule]
    return Block(name, nodes, 0, 0, max(part.width, _title_width(sketch, name) + 24), part.height + TITLE)


def _title_width(sketch: Sketch, name: str) -> float:
    """The width of a rule's name and its counter, with room for "now ..."."""
    counter = dict(sketch.repeats).get(name, "")
    return wide(name, 13) + bool(counter) * (wide(f"{counter}, now 0000 to 0000", 12) + 12)


def _pack(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The frames in order, packed into the width that gives the best shape."""
    whole, widest = sum(block.width + GAP for block in blocks), max(block.width for block in blocks)
    limits = {max(widest, whole / rows) + 2 * EDGE for rows in range(1, min(8, len(blocks)) + 1)}
    return min((_settle(blocks, limit) for limit in sorted(limits)), key=_packed_size)


def _settle(blocks: Sequence[Block], limit: float) -> tuple[Block, ...]:
    """Each block at the highest free position beside or below those before it."""
    settled: list[Block] = []
    for block in blocks:
        lefts = [EDGE, *(other.x + other.width + GAP for other in settled)]
        tops = [EDGE, *(other.y + other.height + GAP for other in settled)]
        places = ((y, x) for y in tops for x in lefts if x == EDGE or x + block.width <= limit)
        y, x = min(place for place in places if _is_free(settled, block, *place))
        settled.append(replace(block, x=x, y=y))
    return tuple(settled)


def _is_free(settled: Sequence[Block], block: Block, y: float, x: float) -> bool:
    return all(
        x >= other.x + other.width + GAP
        or other.x >= x + block.width + GAP
        or y >= other.y + other.height + GAP
        or other.y >= y + block.height + GAP
        for other in settled
    )


def _packed_size(blocks: Sequence[Block]) -> float:
    return max(*(b.x + b.width for b in blocks), *(SHAPE * (b.y + b.height) for b in blocks))


def _list_names(sketch: Sketch, labels: Sequence[Label], blocks: Sequence[Block]) -> list[Rect]:
    """The boxes of all names outside the states."""
    calls = [label for label in labels if sketch.arrows[label.arrows[0]].call]
    others = [label_box(label.x, label.y, label.words) for label in labels if label not in calls]
    titles = [title_box(block, _title_width(sketch, block.name)) for block in blocks]
    return [*titles, *map(call_box, calls), *others]


def _jumps(
    sketch: Sketch, blocks: Sequence[Block], spots: Mapping[int, Spot], curves: Mapping[int, object], ways: Router
) -> Iterator[tuple[int, Jumps]]:
    """The curves of every call whose arrow and rule are both drawn."""
    named = {block.name: block for block in blocks}
    for n, arrow in enumerate(sketch.arrows):
        if n in curves and arrow.call in named:
            yield n, _jump(sketch, arrow, named[arrow.call], spots, ways)


def _jump(sketch: Sketch, arrow: Arrow, block: Block, spots: Mapping[int, Spot], ways: Router) -> Jumps:
    source, after = spots[arrow.source], spots[arrow.target]
    edge = Spot(block.x, block.y + block.height / 2, 0.1, 0.1)  # stands for a start that is not drawn
    ends = [spots[node] for node in block.nodes if node in sketch.accepting and node in spots]
    if len(ends) > MOST_RETURNS:
        ends = [replace(edge, x=block.x + block.width)]
    return Jumps(ways.lead(source, spots.get(block.nodes[0], edge)), tuple(ways.lead(end, after) for end in ends))
