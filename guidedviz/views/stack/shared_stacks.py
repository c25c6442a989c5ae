"""All stacks of a state, top first; where a grammar allows several parses, they share their tails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from guidedviz.errors import shorten
from guidedviz.machines.names import name_node
from guidedviz.machines.pushdown.call_stack import SharedFrame, say_waits
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack_graph import State
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, wide, write
from guidedviz.views.layout.bezier import Curve, head, write_path
from guidedviz.views.layout.layers import Box, Link
from guidedviz.views.layout.positions import place
from guidedviz.views.machine.pushdown_highlight import state_after

EDGE, CARD = 14.0, 36.0
ROOM = 30  # characters of a line
FOLDED = 4  # longer rows of frames without a fork are folded into one card
BOTTOM, MISSING = 0, -1


@dataclass(frozen=True)
class StackCard:
    """A frame, or a fold of several; `below` are numbers of cards."""

    words: str
    waits: str
    below: tuple[int, ...]
    top: bool = False
    fold: bool = False


def draw_shared_stacks(pda: PDA, text: State | bytes | str) -> Figure:
    """The stacks at a state or after a text.

    >>> both = gv.grammar('root ::= "<" (a | b) ">"\\na ::= "(" x ")"\\nb ::= "(" x "]"\\nx ::= "1"+ "."')
    >>> print(draw_shared_stacks(both, "<(1").text)
    stacks: 2 tops, 5 frames
    ▸ 1 x n13 now . or 1 → 3 a n6
    ▸ 2 x n13 now . or 1 → 4 b n10
      3 a n6 then ) → 5 root n2
      4 b n10 then ] → 5 root n2
      5 root n2 then > → bottom
    """
    cards = stack_cards(pda, [state_after(pda, text, "draw_shared_stacks")])
    boxes = tuple(Box(CARD / 2, card_width(card) / 2) for card in cards.values())  # laid out sideways, then turned
    index = {number: n for n, number in enumerate(cards)}
    pairs = [(index[number], index[under]) for number, card in cards.items() for under in card.below]
    placed = place(boxes, tuple(Link(a, b) for a, b in pairs))
    centres = [(y, x) for x, y in placed.centres]
    parts = [write_pointer(tuple((y, x) for x, y in curve)) for curve in placed.curves]
    parts += [write_stack_card(card, *centre) for card, centre in zip(cards.values(), centres, strict=True)]
    said = say_cards(cards)
    title = heading(EDGE, 20, "stacks", said.partition("\n")[0].removeprefix("stacks: "))
    width = max(placed.height + 2 * EDGE - 16, 240.0)
    return Figure(drawing(width, placed.width + 36, title, moved(EDGE - 8, 24, *parts), alt=said), said, said)


def top_frames(pda: PDA, state: State) -> tuple[int, ...]:
    """The numbers of a state's top frames, that of the first stack first."""
    return tuple(frame.number for frame in pda.branches(state)[: sum(len(cells) for _, cells in state.tops)])


def stack_cards(pda: PDA, states: Iterable[State]) -> dict[int, StackCard]:
    """The cards of all frames of these states; long rows without a fork are folded."""
    held = tuple(states)
    frames = {frame.number: frame for state in held for frame in pda.branches(state)}
    tops = {number for state in held for number in top_frames(pda, state)}
    above = Counter(number for frame in frames.values() for number in frame.below)
    inside = {n for n, frame in frames.items() if above[n] == 1 and len(frame.below) == 1} - tops
    cards: dict[int, StackCard] = {}
    skipped: set[int] = set()
    for number, frame in frames.items():
        if number in skipped:
            continue
        row = _row(frames, inside, number)
        below = _under(frames, number)
        if len(row) > FOLDED:
            skipped |= {*row}
            cards[row[0]] = StackCard(f"⋮ {len(row)} more", "", _under(frames, row[-1]), fold=True)
            below = (row[0],)
        waits = f"{'now' if number in tops else 'then'} {say_waits(pda, frame.node)}"
        cards[number] = StackCard(f"{frame.rule} {name_node(frame.node)}", waits, below, number in tops)
    ends = dict.fromkeys(n for card in cards.values() for n in card.below if n in (BOTTOM, MISSING))
    said = {BOTTOM: "bottom", MISSING: "⋮ more, not drawn"}
    return cards | {n: StackCard(said[n], "", (), fold=n == MISSING) for n in ends}


def _under(frames: Mapping[int, SharedFrame], number: int) -> tuple[int, ...]:
    return tuple(n if n in frames or n == BOTTOM else MISSING for n in frames[number].below)


def _row(frames: Mapping[int, SharedFrame], inside: set[int], number: int) -> list[int]:
    """The frames below one that can be folded: each has one above and one below; the last stays visible."""
    row: list[int] = []
    at = frames[number].below
    while len(at) == 1 and at[0] in inside and at[0] not in row:
        row.append(at[0])
        at = frames[at[0]].below
    return row[:-1]


def card_width(card: StackCard) -> float:
    """The width of a card in pixels."""
    return max(wide(shorten(card.words, ROOM), 13), wide(shorten(card.waits, ROOM), 11)) + 20


def write_stack_card(card: StackCard, x: float, y: float) -> Element:
    """A card around a point."""
    half = card_width(card) / 2
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4} if card.top else {"stroke": "var(--gv-blue)"}
    words = write(x, y - 2 if card.waits else y + 4, shorten(card.words, ROOM), 13, mono=True, text_anchor="middle")
    if not card.waits:
        ground = node("path", d=f"M{x - half:.1f},{y + 14:.1f}h{2 * half:.1f}", stroke="var(--gv-ink)", stroke_width=3)
        return words if card.fold else words + ground
    box = {"x": x - half, "y": y - CARD / 2, "width": 2 * half, "height": CARD, "rx": 5}
    waits = soft(x, y + 12, shorten(card.waits, ROOM), 11, text_anchor="middle")
    inside = node("rect", **box, fill="var(--gv-page)", **line) + words + waits
    return node("g", inside, **({"data_newest": ""} if card.top else {}))


def write_pointer(curve: Curve) -> Element:
    """An arrow from a frame to one that may lie below it."""
    path = node("path", d=write_path(curve), fill="none", stroke="var(--gv-soft)", stroke_width=1.4)
    return path + node("polygon", points=head(curve), fill="var(--gv-soft)")


def say_cards(cards: Mapping[int, StackCard]) -> str:
    """One line per card, numbered from the top, with the cards below it."""
    tops = sum(card.top for card in cards.values())
    frames = sum(bool(card.below) and not card.fold for card in cards.values())
    lines = [f"stacks: {counted(tops, 'top')}, {counted(frames, 'frame')}"]
    names = {n: card.words for n, card in cards.items()}
    names |= {n: f"{place} {names[n]}" for place, n in enumerate(cards, 1) if cards[n].waits}
    for number, card in cards.items():
        if card.below:
            said = " ".join(filter(None, ["▸" if card.top else " ", names[number], card.waits]))
            lines.append(f"{said} → {' · '.join(names[n] for n in card.below)}")
    return "\n".join(lines)
