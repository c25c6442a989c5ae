"""The layout of any machine. The rules of a grammar are laid out one by one, each in a frame, and the frames packed."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from guidedviz.sketches.sketch import Arrow, Sketch
from guidedviz.views.figure import wide
from guidedviz.views.layout.bezier import Curve, Point, sample
from guidedviz.views.layout.boxes import Rect, call_box, label_box, title_box
from guidedviz.views.layout.flat import lay_out_flat
from guidedviz.views.layout.parts import Block, Diagram, Jumps, Label, Spot
from guidedviz.views.layout.plan import MANY
from guidedviz.views.layout.ways import Ways

MOST_NODES = 150  # of a larger grammar the neighbourhood of one rule is drawn
MOST_RULES = 24
NEAR_NODES = 70  # in that neighbourhood
NEAR_RULES = 10
SHAPE = 2.2  # width by height of the whole
GAP, EDGE, TITLE = 12.0, 2.0, 20.0
MOST_RETURNS = 3  # for a rule with more ends, one return starts at its frame


@lru_cache(maxsize=32)
def lay_out(sketch: Sketch, at: int = -1, compact: bool | None = None) -> Diagram:
    """The diagram of a sketch or, for a large machine, of the part around state `at`."""
    return _lay_out_rules(sketch, at, compact) if sketch.rules else lay_out_flat(sketch, at, compact)


def _lay_out_rules(sketch: Sketch, at: int, compact: bool | None) -> Diagram:
    chosen = choose_rules(sketch, at)
    if compact is None:
        compact = sum(_count_nodes(sketch, rule) for rule in chosen) > MANY
    parts = [_lay_out_rule(sketch, rule, at, compact) for rule in chosen]
    blocks = _pack([_frame(sketch, rule, part) for rule, part in zip(chosen, parts, strict=True)])
    spots: dict[int, Spot] = {}
    curves: dict[int, tuple[Curve, bool]] = {}
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
    ways = Ways(_list_names(sketch, labels, blocks), spots.values(), width, height)
    jumps = dict(_jumps(sketch, blocks, spots, curves, ways))
    points = [p for found in jumps.values() for curve in (found.call, *found.returns) for p in sample(curve)]
    width = max([width, *(x + EDGE for x, _ in points)])
    height = max([height, *(y + EDGE for _, y in points)])
    return Diagram(sketch, spots, curves, tuple(labels), exits, more, width, height, blocks, jumps, counts)


def choose_rules(sketch: Sketch, at: int = -1) -> tuple[int, ...]:
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


def _lay_out_rule(sketch: Sketch, rule: int, at: int, compact: bool) -> Diagram:
    """One rule laid out as a machine of its own, with the grammar's state numbers."""
    _, nodes = sketch.rules[rule]
    place = {node: n for n, node in enumerate(nodes)}
    numbers = [n for n, arrow in enumerate(sketch.arrows) if arrow.source in place]
    arrows = [sketch.arrows[n] for n in numbers]
    own = Sketch(
        tuple(sketch.names[node] for node in nodes),
        tuple(_renumber(arrow, place) for arrow in arrows),
        0,
        frozenset(place[node] for node in nodes if node in sketch.accepting),
        opened=frozenset(place[node] for node in nodes if node in sketch.opened),
    )
    flat = lay_out_flat(own, place.get(at, 0), compact)
    return replace(
        flat,
        spots={nodes[n]: spot for n, spot in flat.spots.items()},
        curves={numbers[n]: curve for n, curve in flat.curves.items()},
        labels=tuple(replace(label, arrows=tuple(numbers[n] for n in label.arrows)) for label in flat.labels),
        exits=frozenset(numbers[n] for n in flat.exits),
        counts={numbers[n]: place for n, place in flat.counts.items()},
        more=frozenset(nodes[n] for n in flat.more),
    )


def _renumber(arrow: Arrow, place: Mapping[int, int]) -> Arrow:
    through = tuple(place[node] for node in arrow.through)
    return replace(arrow, source=place[arrow.source], target=place[arrow.target], through=through)


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
    return min((_settle(blocks, limit) for limit in sorted(limits)), key=_size)


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


def _size(blocks: Sequence[Block]) -> float:
    return max(*(b.x + b.width for b in blocks), *(SHAPE * (b.y + b.height) for b in blocks))


def _list_names(sketch: Sketch, labels: Sequence[Label], blocks: Sequence[Block]) -> list[Rect]:
    """The boxes of all names outside the states."""
    calls = [label for label in labels if sketch.arrows[label.arrows[0]].call]
    others = [label_box(label.x, label.y, label.words) for label in labels if label not in calls]
    titles = [title_box(block, _title_width(sketch, block.name)) for block in blocks]
    return [*titles, *map(call_box, calls), *others]


def _jumps(
    sketch: Sketch, blocks: Sequence[Block], spots: Mapping[int, Spot], curves: Mapping[int, object], ways: Ways
) -> Iterator[tuple[int, Jumps]]:
    """The curves of every call whose arrow and rule are both drawn."""
    named = {block.name: block for block in blocks}
    for n, arrow in enumerate(sketch.arrows):
        if n in curves and arrow.call in named:
            yield n, _jump(sketch, arrow, named[arrow.call], spots, ways)


def _jump(sketch: Sketch, arrow: Arrow, block: Block, spots: Mapping[int, Spot], ways: Ways) -> Jumps:
    source, after = spots[arrow.source], spots[arrow.target]
    edge = Spot(block.x, block.y + block.height / 2, 0.1, 0.1)  # stands for a start that is not drawn
    ends = [spots[node] for node in block.nodes if node in sketch.accepting and node in spots]
    if len(ends) > MOST_RETURNS:
        ends = [replace(edge, x=block.x + block.width)]
    return Jumps(ways.lead(source, spots.get(block.nodes[0], edge)), tuple(ways.lead(end, after) for end in ends))
