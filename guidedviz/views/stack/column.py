"""The stack as a column, top first: the open rules, and what each waits for."""

from __future__ import annotations

from collections.abc import Sequence

from guidedviz.errors import shorten
from guidedviz.machines.pushdown.call_stack import Frame
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack_graph import State
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.views.figure import Figure, drawing, moved, soft, write
from guidedviz.views.machine.pushdown_highlight import state_after

WIDTH, EDGE, CARD, FOLD, MOST_CARDS = 252.0, 14.0, 42.0, 22.0, 12
OUTER = 2  # cards at the bottom of a folded stack


def draw_stack(pda: PDA, text: State | bytes | str) -> Figure:
    """The open rules at a state or after a text; of several stacks, the first.

    >>> print(draw_stack(gv.grammar('root ::= "[" root "]" | "x"'), "[[").text)
    stack: depth 2
    ▸ 2 root  now [ or x
      1 root  then ]
    ⏚ bottom
    """
    state = state_after(pda, text, "draw_stack")
    svg, height = write_stack(pda, state, WIDTH - 2 * EDGE)
    said = say_stack(pda, state)
    return Figure(drawing(WIDTH, height + 2 * EDGE, moved(EDGE, EDGE, svg), alt=said), said, said)


def fold_stack(frames: Sequence[Frame], depth: int, most: int) -> tuple[list[tuple[int, Frame]], int]:
    """At most `most` frames with their heights in the stack, and after how many of them the others are folded.

    >>> rows, inner = fold_stack([Frame("a", 0, "x", 0)] * 40, 40, 5)
    >>> [height for height, _ in rows], inner
    ([40, 39, 38, 2, 1], 3)
    """
    rows, inner = [(depth - place, frame) for place, frame in enumerate(frames)], most - OUTER
    if depth <= most:
        return rows, depth
    return rows[:inner] + (rows[-OUTER:] if len(rows) == depth else []), inner


def write_stack(pda: PDA, state: State, width: float, most: int = MOST_CARDS) -> tuple[Element, float]:
    """The column as part of a larger picture, and its height."""
    depth = pda.depth(state)
    rows, inner = fold_stack(pda.frames(state), depth, most)
    parts, y = [write(0, 11, "stack", font_weight="bold")], 24.0
    parts.append(soft(width, 11, f"depth {depth:,}", text_anchor="end"))
    if ways := say_ways(state):
        parts.append(soft(0, y + 5, ways))
        y += 18
    for place, (height, frame) in enumerate(rows):
        parts.append(moved(0, y, _card(frame, height, place == 0, width)))
        y += CARD + 4
        if place == inner - 1 and len(rows) < depth:
            more = f"⋮ {depth - len(rows):,} more"
            parts.append(soft(width / 2, y + 13, more, text_anchor="middle"))
            y += FOLD
    parts.append(node("path", d=f"M0,{y + 2:g}h{width:g}", stroke="var(--gv-ink)", stroke_width=3))
    hatch = "".join(f"M{x:g},{y + 4:g}l-5,6" for x in range(8, int(width), 10))
    parts.append(node("path", d=hatch, stroke="var(--gv-soft)", stroke_width=1))
    parts.append(soft(width, y + 26, say_ground(state), text_anchor="end"))
    return together(parts), y + 30


def _card(frame: Frame, height: int, now: bool, width: float) -> Element:
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4} if now else {"stroke": "var(--gv-blue)"}
    box = node("rect", x=0, y=0, width=width, height=CARD, rx=5, fill="var(--gv-page)", **line)
    name = write(22, 17, shorten(frame.rule, 22), 14, mono=True, font_weight="bold")
    mark = write(8, 17, "▸", 13, fill="var(--gv-orange)") if now else NOTHING
    waits = soft(22, 34, shorten(f"{'now' if now else 'then'} {frame.waits}", int(width / 6.4) - 6))
    return box + mark + name + waits + soft(width - 8, 17, f"{height:,}", text_anchor="end")


def say_ways(state: State) -> str:
    """In how many ways the text can be read, each with a stack of its own; nothing if there is one way.

    >>> pda = gv.json()
    >>> say_ways(pda.step(pda.initial, ord("1")))
    '2 ways to read this so far'
    """
    several = sum(len(cells) for _, cells in state.tops)
    return f"{several} ways to read this so far" if several > 1 else ""


def say_ground(state: State) -> str:
    """What is said of the bottom of a stack."""
    return "bottom · the text may end" if state.accepting else "bottom"


def say_stack(pda: PDA, state: State) -> str:
    """The column as text."""
    depth = pda.depth(state)
    rows, inner = fold_stack(pda.frames(state), depth, MOST_CARDS)
    wide = len(f"{depth:,}")
    ways = say_ways(state)
    lines = [f"stack: depth {depth:,}" + f" · {ways}" * bool(ways)]
    for place, (height, frame) in enumerate(rows):
        says = f"{'now' if not place else 'then'} {frame.waits}"
        lines.append(f"{'▸' if not place else ' '} {height:>{wide},} {frame.rule}  {says}")
    if len(rows) < depth:
        lines.insert(1 + inner, f"  ⋮ {depth - len(rows):,} more")
    return "\n".join([*lines, f"⏚ {say_ground(state)}"])
