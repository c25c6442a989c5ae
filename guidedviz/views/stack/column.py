"""The stack of a pushdown machine as a column of cards, top first; of a deep stack the outer ones."""

from guidedviz.errors import shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.markup import Element, together
from guidedviz.views.figure import moved, rect, ruled, soft, soft_centred, soft_right, write

CARD_HIGH = 42.0
FOLD_HIGH = 22.0  # the line between the outer cards of a folded stack
MOST_SAID_FRAMES = 12  # frames in words
OUTER_CARDS = 2  # cards at the bottom of a folded stack
StackLine = tuple[str, str, str]  # a frame's height in the stack, its rule and what it waits for; a fold has no rule


def _list_frames(pda: PDA, state: State, most: int) -> list[StackLine]:
    """The frames, top first; of a deep stack the outer ones and how many are between them."""
    depth = pda.depth(state)
    rows = []
    for place, frame in enumerate(pda.frames(state)):
        when = "then" if place else "now"
        rows.append((f"{depth - place:,}", frame.rule, f"{when} {frame.waits}"))
    if depth <= most:
        return rows
    first = rows[: most - OUTER_CARDS]
    last = rows[-OUTER_CARDS:]
    if len(rows) < depth:  # of a very deep stack the machine lists the innermost frames
        last = []
    hidden = depth - len(first) - len(last)
    return [*first, ("⋮", "", f"{hidden:,} more"), *last]


def write_stack(pda: PDA, state: State, width: float, most: int) -> tuple[Element, float]:
    """The column as part of a larger picture, and its height."""
    parts = [write(0, 11, "stack", font_weight="bold")]
    parts.append(soft_right(width, 11, f"depth {pda.depth(state):,}"))
    y = 24.0
    ways = say_ways(state)
    if ways:
        parts.append(soft(0, y + 5, ways))
        y += 18
    for place, (height, rule, waits) in enumerate(_list_frames(pda, state, most)):
        if rule:
            parts.append(moved(0, y, write_card(rule, waits, height, place == 0, width)))
            y += CARD_HIGH + 4
        else:
            parts.append(soft_centred(width / 2, y + 13, f"{height} {waits}"))
            y += FOLD_HIGH
    parts.append(ruled(0, y + 2, width, stroke="var(--gv-ink)", stroke_width=3))
    parts.append(soft_right(width, y + 20, say_ground(state)))
    return together(parts), y + 24


def write_card(name: str, waits: str, height: str, now: bool, width: float) -> Element:
    """The card of a frame."""
    if now:
        card = rect(0, 0, width, CARD_HIGH, 5, fill="var(--gv-page)", stroke="var(--gv-orange)", stroke_width=2.4)
        card += write(8, 17, "▸", 13, fill="var(--gv-orange)")
    else:
        card = rect(0, 0, width, CARD_HIGH, 5, fill="var(--gv-page)", stroke="var(--gv-blue)")
    card += write(22, 17, shorten(name, 22), 14, mono=True, font_weight="bold")
    card += soft(22, 34, shorten(waits, int(width / 6.4) - 6))
    return card + soft_right(width - 8, 17, height)


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
    depth = f"{pda.depth(state):,}"
    title = f"stack: depth {depth}"
    ways = say_ways(state)
    if ways:
        title += f" · {ways}"
    lines = [title]
    for place, (height, rule, waits) in enumerate(_list_frames(pda, state, MOST_SAID_FRAMES)):
        frame = f"{height.rjust(len(depth))} {rule}  {waits}" if rule else f"{height} {waits}"
        lines.append(f"  {frame}" if place else f"▸ {frame}")
    return "\n".join([*lines, f"⏚ {say_ground(state)}"])
