"""The stack as a column, top first: which rules are open, and where each goes on."""

from __future__ import annotations

from collections.abc import Sequence

from guidedviz.machines.pda import PDA, State
from guidedviz.machines.stack import Frame
from guidedviz.views.figure import Figure, drawing, node, shorten, write
from guidedviz.views.pda import check_pda, state_after

WIDTH = 252.0
EDGE = 14.0
CARD = 42.0
FOLD = 22.0
MOST_CARDS = 12
OUTER = 2  # of a deeper stack: so many at the bottom, the others at the top


def draw_stack(pda: PDA, text: State | bytes | str) -> Figure:
    """The open rules at a state, or after a text; of several stacks the first.

    >>> from guidedviz.machines.pda import grammar
    >>> print(draw_stack(grammar('root ::= "[" root "]" | "x"'), "[[").text)
    stack: depth 2
    ▸ 2 root  now [ or x
      1 root  then ]
    ⏚ bottom
    """
    check_pda(pda, "draw_stack")
    state = state_after(pda, text)
    svg, height = write_stack(pda, state, WIDTH - 2 * EDGE)
    body, said = node("g", svg, transform=f"translate({EDGE:g} {EDGE:g})"), say_stack(pda, state)
    return Figure(drawing(WIDTH, height + 2 * EDGE, body, alt=said), said, said)


def fold_stack(frames: Sequence[Frame], depth: int, most: int) -> tuple[list[tuple[int, Frame]], int]:
    """So many frames at most, with their heights in the stack, and after how many of them the rest is folded.

    >>> rows, inner = fold_stack([Frame("a", 0, "x", 0)] * 40, 40, 5)
    >>> [height for height, _ in rows], inner
    ([40, 39, 38, 2, 1], 3)
    """
    rows, inner = [(depth - place, frame) for place, frame in enumerate(frames)], most - OUTER
    if depth <= most:
        return rows, depth
    return rows[:inner] + (rows[-OUTER:] if len(rows) == depth else []), inner


def write_stack(pda: PDA, state: State, width: float, most: int = MOST_CARDS) -> tuple[str, float]:
    """The column as a part of a larger picture, and how high it became."""
    depth = pda.depth(state)
    rows, inner = fold_stack(pda.frames(state), depth, most)
    title = write(0, 11, "stack", 13, font_weight="bold")
    title += write(width, 11, _about(pda, state), 12, fill="var(--gv-soft)", text_anchor="end")
    parts, y = [title], 24.0
    for place, (height, frame) in enumerate(rows):
        parts.append(node("g", _card(frame, height, place == 0, width), transform=f"translate(0 {y:g})"))
        y += CARD + 4
        if place == inner - 1 and len(rows) < depth:
            more = f"⋮ {depth - len(rows):,} more"
            parts.append(write(width / 2, y + 13, more, 12, fill="var(--gv-soft)", text_anchor="middle"))
            y += FOLD
    parts.append(node("path", d=f"M0,{y + 2:g}h{width:g}", stroke="var(--gv-ink)", stroke_width=3))
    parts.append(node("path", d=_hatch(width, y + 4), stroke="var(--gv-soft)", stroke_width=1))
    parts.append(write(width, y + 26, _ground(state), 12, fill="var(--gv-soft)", text_anchor="end"))
    return "".join(parts), y + 30


def _card(frame: Frame, height: int, now: bool, width: float) -> str:
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4} if now else {"stroke": "var(--gv-blue)"}
    box = node("rect", x=0, y=0, width=width, height=CARD, rx=5, fill="var(--gv-page)", **line)
    room = int(width / 6.4) - 6
    says = f"{'now' if now else 'then'} {frame.waits}"
    name = write(22, 17, shorten(frame.rule, 22), 14, mono=True, font_weight="bold")
    mark = write(8, 17, "▸", 13, fill="var(--gv-orange)") if now else ""
    waits = write(22, 34, shorten(says, room), 12, fill="var(--gv-soft)")
    number = write(width - 8, 17, f"{height:,}", 12, fill="var(--gv-soft)", text_anchor="end")
    return node("g", box, mark, name, waits, number)


def _hatch(width: float, y: float) -> str:
    """The ground that a stack stands on."""
    return "".join(f"M{x:g},{y:g}l-5,6" for x in range(8, int(width), 10))


def _about(pda: PDA, state: State) -> str:
    several = sum(len(cells) for _, cells in state.tops)
    return f"depth {pda.depth(state):,}" + (f" · first of {several}" if several > 1 else "")


def _ground(state: State) -> str:
    return "bottom · the text may end" if state.accepting else "bottom"


def say_stack(pda: PDA, state: State) -> str:
    """The column in words."""
    depth = pda.depth(state)
    rows, inner = fold_stack(pda.frames(state), depth, MOST_CARDS)
    wide = len(f"{depth:,}")
    lines = [f"stack: {_about(pda, state)}"]
    for place, (height, frame) in enumerate(rows):
        says = f"{'now' if not place else 'then'} {frame.waits}"
        lines.append(f"{'▸' if not place else ' '} {height:>{wide},} {frame.rule}  {says}")
    if len(rows) < depth:
        lines.insert(1 + inner, f"  ⋮ {depth - len(rows):,} more")
    return "\n".join([*lines, f"⏚ {_ground(state)}"])
