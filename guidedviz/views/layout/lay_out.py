"""The layout of any machine: positions for the plan of what is drawn.

The rules of a grammar are laid out one by one, each in a frame; the frames are packed, and curves lead from calls to
the frames and back.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from guidedviz.views.layout.curves import Point, sample
from guidedviz.views.layout.diagram import Block, Curves, Diagram, Label, Spot
from guidedviz.views.layout.jumps import find_jumps, title_width
from guidedviz.views.layout.neighbourhood import choose_rules
from guidedviz.views.layout.plan import MANY
from guidedviz.views.layout.sketch import Sketch
from guidedviz.views.layout.states import lay_out_states

SHAPE = 2.2  # width by height of the whole
GAP, EDGE, TITLE = 12.0, 2.0, 20.0


@lru_cache(maxsize=32)
def lay_out(sketch: Sketch, at: int = -1, compact: bool | None = None) -> Diagram:
    """The diagram of a sketch or, for a large machine, of the part around state `at`."""
    if sketch.rules:
        return _lay_out_rules(sketch, at, compact)
    return lay_out_states(sketch, range(len(sketch.names)), at, compact)


def _lay_out_rules(sketch: Sketch, at: int, compact: bool | None) -> Diagram:
    rules = choose_rules(sketch, at)
    if compact is None:
        compact = sum(node not in sketch.folded for _, nodes in rules for node in nodes) > MANY
    parts, frames = [], []
    for name, nodes in rules:
        parts.append(part := lay_out_states(replace(sketch, initial=nodes[0]), nodes, at, compact))
        width = max(part.width, title_width(sketch, name) + 24)
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
    jumps = dict(find_jumps(whole))
    low = [sample(curve).max(0) + EDGE for found in jumps.values() for curve in (found.call, *found.returns)]
    width, height = np.max([(width, height), *low], axis=0).tolist()
    return replace(whole, width=width, height=height, jumps=jumps)


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
