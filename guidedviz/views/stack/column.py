"""The stack of a pushdown machine as a column of cards, top first; of a deep stack the outer ones."""

from guidedviz.errors import shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.views.figure import moved, rect, soft, write

EDGE, CARD, FOLD, MOST_CARDS = 14.0, 42.0, 22.0, 12
OUTER = 2  # cards at the bottom of a folded stack
Row = tuple[str, str, str]  # a frame's height in the stack, its rule and what it waits for; a fold: "⋮", "" and words


def _rows(pda: PDA, state: State, most: int) -> list[Row]:
    """The frames, top first; of a deep stack the outer ones and how many are between them."""
    depth, frames = pda.depth(state), pda.frames(state)
    rows = [
        (f"{depth - place:,}", frame.rule, f"{'then' if place else 'now'} {frame.waits}")
        for place, frame in enumerate(frames)
    ]
    if depth <= most:
        return rows
    last = rows[-OUTER:] if len(rows) == depth else []  # of a very deep stack the machine lists the innermost frames
    first = rows[: most - OUTER]
    return [*first, ("⋮", "", f"{depth - len(first) - len(last):,} more"), *last]


def write_stack(pda: PDA, state: State, width: float, most: int) -> tuple[Element, float]:
    """The column as part of a larger picture, and its height."""
    parts, y = [write(0, 11, "stack", font_weight="bold")], 24.0
    parts.append(soft(width, 11, f"depth {pda.depth(state):,}", text_anchor="end"))
    if ways := say_ways(state):
        parts.append(soft(0, y + 5, ways))
        y += 18
    for place, (height, rule, waits) in enumerate(_rows(pda, state, most)):
        if rule:
            parts.append(moved(0, y, write_card(rule, waits, height, place == 0, width)))
            y += CARD + 4
        else:
            parts.append(soft(width / 2, y + 13, f"{height} {waits}", text_anchor="middle"))
            y += FOLD
    parts.append(node("path", d=f"M0,{y + 2:g}h{width:g}", stroke="var(--gv-ink)", stroke_width=3))
    parts.append(soft(width, y + 20, say_ground(state), text_anchor="end"))
    return together(parts), y + 24


def write_card(name: str, waits: str, height: str, now: bool, width: float) -> Element:
    """The card of a frame."""
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4} if now else {"stroke": "var(--gv-blue)"}
    box = rect(0, 0, width, CARD, 5, fill="var(--gv-page)", **line)
    mark = write(8, 17, "▸", 13, fill="var(--gv-orange)") if now else NOTHING
    name_line = write(22, 17, shorten(name, 22), 14, mono=True, font_weight="bold")
    about = soft(22, 34, shorten(waits, int(width / 6.4) - 6))
    return box + mark + name_line + about + soft(width - 8, 17, height, text_anchor="end")


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
    """The column as text.

    >>> from guidedviz.machines.machine import read
    >>> pda = gv.grammar('root ::= "[" root "]" | "x"')
    >>> print(say_stack(pda, read(pda, b"[[")))
    stack: depth 2
    ▸ 2 root  now [ or x
      1 root  then ]
    ⏚ bottom
    """
    depth, ways = f"{pda.depth(state):,}", say_ways(state)
    lines = [f"stack: depth {depth}" + f" · {ways}" * bool(ways)]
    for place, (height, rule, waits) in enumerate(_rows(pda, state, MOST_CARDS)):
        frame = f"{height:>{len(depth)}} {rule}  {waits}" if rule else f"{height} {waits}"
        lines.append(f"{' ' if place else '▸'} {frame}")
    return "\n".join([*lines, f"⏚ {say_ground(state)}"])
