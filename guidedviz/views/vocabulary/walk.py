"""One lazy walk over the trie, level by level: how many nodes it asked about, and what it dropped with the refused."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log10

import numpy as np

from guidedviz.errors import expect
from guidedviz.machines.visible import visible_bytes
from guidedviz.markup import Element
from guidedviz.tokens.lazy import LazyWalk, Slice
from guidedviz.views.figure import EDGE, Figure, figure_of, moved, rect, soft, wide, write
from guidedviz.views.words import align, share

WALK_HINT = "gv.tokens.lazy_walk(machine, vocabulary, text)"
LEVEL_PITCH = 26.0
LEVELS_TOP = 92.0
MOST_LEVELS = 8  # rows
LEVEL_HEAD = ("byte", "live bytes", "live", "refused", "dropped", "tokens")
BARS_SPAN = 260.0


@dataclass(frozen=True)
class WalkLevel:
    """What a walk did with the nodes of one depth: the bytes of the live ones, and counts."""

    letters: bytes
    live: int
    refused: int
    dropped: int  # nodes below the refused ones, which were never asked
    tokens: int  # tokens that end at the live ones

    def words(self, depth: int) -> tuple[str, ...]:
        """The cells of its row."""
        letters = visible_bytes(self.letters, 5) if self.live else "–"
        numbers = (self.live, self.refused, self.dropped, self.tokens)
        return str(depth), letters, *map("{:,}".format, numbers)


def walk_levels_of(walk: LazyWalk) -> list[WalkLevel]:
    """The levels of the trie that a walk asked about.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> walk_levels_of(gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v))[0]
    WalkLevel(letters=b'23', live=2, refused=1, dropped=2, tokens=2)
    """
    trie = walk.trie
    ends = np.bincount(trie.node_of[trie.node_of >= 0], minlength=len(trie))
    found = []
    for low, high in zip(trie.levels[1:], trie.levels[2:], strict=False):
        live = walk.live[(low <= walk.live) & (walk.live < high)]
        cut = walk.cut[(low <= walk.cut) & (walk.cut < high)]
        if len(live) or len(cut):
            letters = bytes(np.unique(trie.byte[live]).tolist())
            dropped = int(trie.below[cut].sum())
            found.append(WalkLevel(letters, len(live), len(cut), dropped, int(ends[live].sum())))
    return found


def draw_walk(walk: LazyWalk) -> Figure:
    """A walk level by level: the live and the refused nodes at each depth, and what was dropped with these.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> print(draw_walk(gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v)).text)
    Lazy walk: 5 of 7 nodes asked about (71%): 3 live, 2 refused, 2 below these never asked; 3 of 7 tokens legal
    byte 1: 2 3; live 2, refused 1, dropped 2, tokens 2
    byte 2: 0; live 1, refused 0, dropped 0, tokens 1
    byte 3: –; live 0, refused 1, dropped 0, tokens 0
    """
    expect(walk, LazyWalk, "draw_walk", "a walk", WALK_HINT)
    levels = walk_levels_of(walk)
    total = say_walk(walk)
    lines = [f"Lazy walk: {total}"]
    parts = [write(EDGE, 24, "lazy walk", font_weight="bold"), soft(EDGE, 44, total)]
    if walk.part:
        said = _say_slice(walk.part, len(walk.trie) - 1)
        lines.append(said)
        parts.append(soft(EDGE, 64, said))
    shown = levels[:MOST_LEVELS]
    table = [level.words(number) for number, level in enumerate(shown, 1)]
    head, *rows = align([LEVEL_HEAD, *table], range(2, len(LEVEL_HEAD)))
    ten = BARS_SPAN / log10(max(10, len(walk.trie)))
    bars = EDGE + wide(head, 12) + 30
    parts.append(write(EDGE, LEVELS_TOP - 8, head, 12, mono=True, fill="var(--gv-soft)"))
    parts.append(soft(bars, LEVELS_TOP - 8, "live, and dashed refused and dropped (log.)"))
    for number, (row, level) in enumerate(zip(rows, shown, strict=True)):
        y = LEVELS_TOP + LEVEL_PITCH * (number + 0.7)
        parts += [write(EDGE, y, row, 12, mono=True), moved(bars, y, *_write_walk_bars(level, ten))]
    for depth, letters, *numbers in table:
        counts = ", ".join(map("{} {}".format, LEVEL_HEAD[2:], numbers))
        lines.append(f"byte {depth}: {letters}; {counts}")
    low = LEVELS_TOP + LEVEL_PITCH * len(shown) + EDGE
    if len(levels) > MOST_LEVELS:
        more = f"and {len(levels) - MOST_LEVELS} more levels"
        lines.append(more)
        parts.append(soft(EDGE, low + 8, more))
    width = max(bars + BARS_SPAN, 6.4 * len(total)) + 2 * EDGE
    return figure_of(width, low + EDGE, "\n".join(lines), *parts)


def say_walk(walk: LazyWalk) -> str:
    """The cost and the result of a walk in one line."""
    part = share(walk.asked / max(1, walk.nodes))
    asked = f"{walk.asked:,} of {walk.nodes:,} nodes asked about ({part})"
    counts = f"{len(walk.live) - 1:,} live, {len(walk.cut):,} refused, {walk.dropped:,} below these never asked"
    return f"{asked}: {counts}; {walk.legal:,} of {len(walk.vocabulary):,} tokens legal"


def _say_slice(part: Slice, nodes: int) -> str:
    said = f"slice “{part.name}”: {len(part):,} tokens legal at once, without a walk. "
    return f"{said}Below, the rest of the other tokens: {nodes:,} nodes"


def _write_walk_bars(level: WalkLevel, ten: float) -> Iterator[Element]:
    """The live nodes and, dashed, the refused ones with all below, on a logarithmic axis."""
    if level.live:
        width = max(2.0, ten * log10(level.live))
        yield rect(0, -11, width, 6, 1.5, fill="var(--gv-blue)")
    gone = level.refused + level.dropped
    if gone:
        width = max(2.0, ten * log10(gone))
        yield rect(0, -3, width, 6, 1.5, fill="none", stroke="var(--gv-orange)", stroke_dasharray="3 2")
