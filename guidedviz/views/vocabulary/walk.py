"""One lazy walk over the trie, level by level: how many nodes it asked about, and what it dropped with the refused."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log10

import numpy as np

from guidedviz.errors import expect
from guidedviz.machines.visible import visible_bytes
from guidedviz.markup import Element
from guidedviz.tokens.lazy import LazyWalk
from guidedviz.views.figure import Figure, figure_of, moved, rect, soft, wide, write
from guidedviz.views.words import align, share

WALK_HINT = "gv.tokens.lazy_walk(machine, vocabulary, text)"
EDGE = 16.0
ROW, TOP = 26.0, 92.0
LEVELS = 8  # rows, at most
HEAD = ("byte", "live bytes", "live", "refused", "dropped", "tokens")
WIDE = 260.0  # the bars


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
        numbers = (self.live, self.refused, self.dropped, self.tokens)
        return str(depth), visible_bytes(self.letters, 5) if self.live else "–", *map("{:,}".format, numbers)


def walk_levels_of(walk: LazyWalk) -> list[WalkLevel]:
    """The levels of the trie that a walk asked about.

    >>> v = gv.Vocabulary([b"2", b"3", b"20", b"202", b"a", b"ab", b"abc"])
    >>> walk_levels_of(gv.tokens.lazy_walk(gv.regex("[0-9]{2}"), v))[0]
    WalkLevel(letters=b'23', live=2, refused=1, dropped=2, tokens=2)
    """
    trie, found = walk.trie, []
    ends = np.bincount(trie.node_of[trie.node_of >= 0], minlength=len(trie))
    for low, high in zip(trie.levels[1:], trie.levels[2:], strict=False):
        live, cut = (nodes[(low <= nodes) & (nodes < high)] for nodes in (walk.live[1:], walk.cut))
        letters, dropped = bytes(np.unique(trie.byte[live]).tolist()), int(trie.below[cut].sum())
        found.append(WalkLevel(letters, len(live), len(cut), dropped, int(ends[live].sum())))
    return [level for level in found if level.live or level.refused]


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
    levels, total = walk_levels_of(walk), say_walk(walk)
    lines = [f"Lazy walk: {total}", *_say_slice(walk)]
    parts = [write(EDGE, 24, "lazy walk", font_weight="bold"), soft(EDGE, 44, total)]
    parts += [soft(EDGE, 64, words) for words in _say_slice(walk)]
    table = [level.words(number) for number, level in enumerate(levels[:LEVELS], 1)]
    head, *rows = align([HEAD, *table], range(2, len(HEAD)))
    ten, bars = WIDE / log10(max(10, len(walk.trie))), EDGE + wide(head, 12) + 30
    parts += [write(EDGE, TOP - 8, head, 12, mono=True, fill="var(--gv-soft)")]
    parts += [soft(bars, TOP - 8, "live, and dashed refused and dropped (log.)")]
    for number, (row, level, words) in enumerate(zip(rows, levels, table, strict=False)):
        y = TOP + ROW * (number + 0.7)
        parts += [write(EDGE, y, row, 12, mono=True), moved(bars, y, *_draw_bars(level, ten))]
        told = ", ".join(f"{name} {word}" for name, word in zip(HEAD[2:], words[2:], strict=True))
        lines.append(f"byte {words[0]}: {words[1]}; {told}")
    more = [f"and {len(levels) - LEVELS} more levels"] * (len(levels) > LEVELS)
    high = TOP + ROW * min(len(levels), LEVELS) + EDGE
    parts += [soft(EDGE, high + 8, words) for words in more]
    return figure_of(max(bars + WIDE, 6.4 * len(total)) + 2 * EDGE, high + EDGE, "\n".join([*lines, *more]), *parts)


def say_walk(walk: LazyWalk) -> str:
    """The cost and the result of a walk in one line."""
    asked, live = share(walk.asked / max(1, walk.nodes)), len(walk.live) - 1
    counts = f"{live:,} live, {len(walk.cut):,} refused, {walk.dropped:,} below these never asked"
    legal = f"{walk.legal:,} of {len(walk.vocabulary):,} tokens legal"
    return f"{walk.asked:,} of {walk.nodes:,} nodes asked about ({asked}): {counts}; {legal}"


def _say_slice(walk: LazyWalk) -> Iterator[str]:
    if walk.part:
        said = f"slice “{walk.part.name}”: {len(walk.part):,} tokens legal at once, without a walk. "
        yield said + f"Below, the rest of the other tokens: {len(walk.trie) - 1:,} nodes"


def _draw_bars(level: WalkLevel, ten: float) -> Iterator[Element]:
    """The live nodes and, dashed, the refused ones with all below, on a logarithmic axis."""
    for y, nodes, look in (
        (-11, level.live, {"fill": "var(--gv-blue)"}),
        (-3, level.refused + level.dropped, {"fill": "none", "stroke": "var(--gv-orange)", "stroke_dasharray": "3 2"}),
    ):
        if nodes:
            yield rect(0, y, max(2.0, ten * log10(nodes)), 6, 1.5, **look)
