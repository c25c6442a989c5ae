"""The layout of any machine: positions for the plan of what is drawn.

The rules of a grammar are laid out one by one, each in a frame; the frames are packed, and curves lead from calls to
the frames and back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

from guidedviz.views.layout.curves import sample_curve
from guidedviz.views.layout.diagram import Block, Diagram, size_around
from guidedviz.views.layout.jumps import find_jumps, title_width
from guidedviz.views.layout.neighbourhood import choose_rules
from guidedviz.views.layout.plan import MOST_DISCS
from guidedviz.views.layout.sketch import Sketch
from guidedviz.views.layout.states import lay_out_states

FRAME_SHAPE = 2.2  # width by height of the whole
FRAME_GAP = 12.0
FRAME_EDGE = 2.0
FRAME_TITLE = 20.0


@lru_cache(maxsize=32)
def lay_out(sketch: Sketch, at: int = -1, compact: bool | None = None) -> Diagram:
    """The diagram of a sketch or, for a large machine, of the part around state `at`."""
    if sketch.rules:
        return _lay_out_rules(sketch, at, compact)
    return lay_out_states(sketch, range(len(sketch.names)), at, compact)


def _lay_out_rules(sketch: Sketch, at: int, compact: bool | None) -> Diagram:
    rules = choose_rules(sketch, at)
    if compact is None:
        compact = sum(len({*nodes} - sketch.folded) for _, nodes in rules) > MOST_DISCS
    inside = []
    frames = []
    for name, nodes in rules:
        part = lay_out_states(replace(sketch, initial=nodes[0]), nodes, at, compact)
        inside.append(part)
        width = max(part.width, title_width(sketch, name) + 24)
        frames.append(Block(name, nodes, 0, 0, width, part.height + FRAME_TITLE))
    whole = _join(sketch, inside, _pack_frames(frames))
    jumps = dict(find_jumps(whole))
    corners = [(whole.width, whole.height)]
    for found in jumps.values():
        corners += [sample_curve(curve).max(0) + FRAME_EDGE for curve in (found.call, *found.returns)]
    width, height = size_around(corners)
    return replace(whole, width=width, height=height, jumps=jumps)


def _join(sketch: Sketch, inside: Sequence[Diagram], blocks: Sequence[Block]) -> Diagram:
    """The diagrams of the rules as one, each in its frame."""
    corners = [(block.right + FRAME_EDGE, block.bottom + FRAME_EDGE) for block in blocks]
    whole = Diagram(sketch, {}, {}, (), frozenset(), *size_around(corners), {}, tuple(blocks))
    for part, block in zip(inside, blocks, strict=True):
        part = part.moved(block.x, block.y + FRAME_TITLE)
        whole = replace(
            whole,
            spots=whole.spots | part.spots,
            curves=whole.curves | part.curves,
            labels=whole.labels + part.labels,
            more=whole.more | part.more,
            counts={**whole.counts, **part.counts},
        )
    return whole


# --- the frames of the rules, packed ---


def _pack_frames(blocks: Sequence[Block]) -> list[Block]:
    """The frames in order, packed into the width that gives the best shape."""
    whole = sum(block.width + FRAME_GAP for block in blocks)
    widest = max(block.width for block in blocks)
    most_rows = min(8, len(blocks))
    limits = {max(widest, whole / rows) + 2 * FRAME_EDGE for rows in range(1, most_rows + 1)}
    ways = [_settle_frames(blocks, limit) for limit in sorted(limits)]
    return min(ways, key=_longer_side)


def _longer_side(blocks: Sequence[Block]) -> float:
    """The width or the height of packed frames, whichever is larger for the best shape."""
    return max(max(block.right, FRAME_SHAPE * block.bottom) for block in blocks)


def _settle_frames(blocks: Sequence[Block], limit: float) -> list[Block]:
    """Each block at the highest free position beside or below those before it."""
    settled: list[Block] = []
    for block in blocks:
        free = (placed for placed in _positions(block, settled, limit) if not _meets(placed, settled))
        settled.append(min(free, key=lambda placed: (placed.y, placed.x)))
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
