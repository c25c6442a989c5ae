"""Stacks that share their frames, as cards: all stacks of one state, and the stacks after several texts.

This is XGrammar's persistent stack (arXiv 2411.15100): a branch adds only the frames in which it differs, and stepping
back is an old pointer. A card is a frame, and its arrows lead to the frames that may lie below it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from guidedviz.errors import shorten
from guidedviz.machines.graph import reach
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA, SharedFrame, say_waits
from guidedviz.machines.pushdown.stack import Configuration, State
from guidedviz.machines.visible import counted, name_node, visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import (
    NEAR_EDGE,
    Figure,
    Style,
    centred,
    check_list,
    figure_of,
    heading,
    moved,
    path_of,
    rect,
    ruled,
    soft_centred,
    wide,
)
from guidedviz.views.layout.curves import head, write_path
from guidedviz.views.layout.placing import Extent, Link, place
from guidedviz.views.machine.highlight import state_after
from guidedviz.views.stack.stack_table import FRAME_LOOKS, say_when

FRAME_HIGH = 36.0  # of a card
LEAST_WIDTH = 240.0  # of a picture
LINE_ROOM = 30  # characters of a line
MOST_BRANCH_TEXTS = 24
TEXT_END = 16  # characters of a text
MOST_DRAWN = 12  # frames of a state
BOTTOM = 0  # the numbers of cards that are no frames
NOT_DRAWN = -1
CARD_ENDS = {BOTTOM: "bottom", NOT_DRAWN: "⋮ more, not drawn"}
CARD_LOOKS: dict[str, Style] = {  # of each kind of card; the others have no border
    "top": FRAME_LOOKS[True],
    "frame": FRAME_LOOKS[False],
    "text": {"fill": "var(--gv-card)", "stroke": "var(--gv-line)"},
}


@dataclass(frozen=True)
class StackCard:
    """A frame, the bottom, or a text; `below` are the numbers of the cards that it points to."""

    kind: str
    words: str
    about: str = ""
    below: tuple[int, ...] = ()

    @property
    def width(self) -> float:
        """The width in pixels."""
        words = wide(shorten(self.words, LINE_ROOM))
        about = wide(shorten(self.about, LINE_ROOM), 11)
        return max(words, about) + 20


Cards = Mapping[int, StackCard]


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
    cards = _stack_cards(pda, [state_after(pda, text, "draw_shared_stacks")])
    kinds = [card.kind for card in cards.values()]
    tops = kinds.count("top")
    frames = tops + kinds.count("frame")
    about = f"{counted(tops, 'top')}, {counted(frames, 'frame')}"
    return _draw_cards(cards, "stacks", about, [f"stacks: {about}", *_say_cards(cards)])


def draw_branches(pda: PDA, texts: Sequence[bytes | str]) -> Figure:
    """The stacks after each of several texts; every frame is drawn once.

    >>> pairs = gv.grammar('root ::= "(" root ")" | "[" root "]" | "x"')
    >>> print(draw_branches(pairs, ["((", "((x", "((", "(["]).text)
    branches: 4 texts, 8 frames if each had a stack of its own, 4 kept
    1 ((: 2 new, 0 shared → 1
    2 ((x: 1 new, 1 shared → 3
    3 ((: as after text 1 → 1
    4 ([: 1 new, 1 shared → 4
    ▸ 1 root n1 now ( [ or x → 2 root n4
      2 root n4 then ) → bottom
    ▸ 3 root n4 now ) → 2 root n4
    ▸ 4 root n2 now ( [ or x → 2 root n4
    """
    check_list("draw_branches, texts", texts, "texts", MOST_BRANCH_TEXTS)
    states = [state_after(pda, text, "draw_branches") for text in texts]
    cards = _stack_cards(pda, states)
    places = {number: str(place) for place, number in enumerate(cards, 1)}
    chips: dict[int, StackCard] = {}
    lines = []
    kept = set[Configuration]()
    copied = 0
    for number, (text, state) in enumerate(zip(texts, states, strict=True), 1):
        frames = set(reach(state.configurations, lambda frame: pda.stacks.list_below(frame[1])))
        new = len(frames - kept)
        kept |= frames
        copied += len(frames)
        about = f"{new:,} new, {len(frames) - new:,} shared"
        first = states.index(state) + 1
        if first < number:
            about = f"as after text {first}"
        below = tuple(dict.fromkeys(_cards_of(cards, _top_frames(pda, state))))
        data = visible(to_bytes(text)) or "∅"
        end = data
        if len(data) > TEXT_END:
            end = "…" + data[1 - TEXT_END :]
        chips[NOT_DRAWN - number] = StackCard("text", f"{number} {end}", about, below)
        leads = " · ".join(map(places.__getitem__, below)) or "bottom"
        lines.append(f"{number} {data[-40:]}: {about} → {leads}")
    count = counted(len(texts), "text")
    about = f"{count}, {copied:,} frames if each had a stack of its own, {len(kept):,} kept"
    lines = [f"branches: {about}", *lines, *_say_cards(cards)]
    return _draw_cards(chips | cards, "branches", about, lines)


def _top_frames(pda: PDA, state: State) -> list[int]:
    """The numbers of a state's top frames, that of the first stack first."""
    return [frame.number for frame in pda.branches(state)[: len(state.configurations)]]


def _stack_cards(pda: PDA, states: Sequence[State]) -> dict[int, StackCard]:
    """The cards of the frames of these states; of a deep stack the uppermost."""
    frames = dict[int, SharedFrame]()
    tops = set[int]()
    for state in states:
        frames |= {frame.number: frame for frame in pda.branches(state)[:MOST_DRAWN]}
        tops.update(_top_frames(pda, state))
    known = {BOTTOM, *frames}
    cards = {}
    for number, frame in frames.items():
        is_top = number in tops
        words = f"{frame.rule} {name_node(frame.node)}"
        waits = say_when(say_waits(pda.stacks, frame.node), is_top)
        kind = "top" if is_top else "frame"
        cards[number] = StackCard(kind, words, waits, _cards_of(known, frame.below))
    below = {number for card in cards.values() for number in card.below}
    for number, words in CARD_ENDS.items():
        if number in below:
            cards[number] = StackCard("end", words)
    return cards


def _cards_of(known: Collection[int], numbers: Iterable[int]) -> tuple[int, ...]:
    """The cards with these numbers; one card stands for all frames that are not drawn."""
    return tuple(n if n in known else NOT_DRAWN for n in numbers)


def _draw_cards(cards: Cards, name: str, about: str, lines: Sequence[str]) -> Figure:
    """The cards in layers, laid out from the bottom to the right, then turned."""
    index = {number: place for place, number in enumerate(cards)}
    boxes = tuple(Extent(FRAME_HIGH / 2, card.width / 2) for card in cards.values())
    links = list[Link]()
    for number, card in cards.items():
        links += [Link(index[under], index[number]) for under in card.below]
    ends = [index[number] for number in CARD_ENDS if number in cards]
    placed = place(boxes, tuple(links), *ends[:1])
    high = placed.width
    parts = []
    line = {"fill": "none", "stroke": "var(--gv-soft)", "stroke_width": 1.4}
    for curve in placed.curves:
        turned = tuple((y, high - x) for x, y in reversed(curve))
        parts.append(path_of(write_path(turned), **line))
        parts.append(node("polygon", points=head(turned), fill="var(--gv-soft)"))
    for card, (x, y) in zip(cards.values(), placed.centres, strict=True):
        parts += _write_frame(card, y, high - x)
    words = 7.2 * len(name + about) + 40
    width = max(placed.height + 2 * NEAR_EDGE - 16, LEAST_WIDTH, words)
    title = heading(NEAR_EDGE, 20, name, about)
    body = moved(NEAR_EDGE - 8, 24, *parts)
    return figure_of(width, high + 36, "\n".join(lines), title, body)


def _write_frame(card: StackCard, x: float, y: float) -> Iterator[Element]:
    """A card around a point; the ends of stacks have no border."""
    half = card.width / 2
    words = shorten(card.words, LINE_ROOM)
    if card.kind in CARD_LOOKS:
        look = CARD_LOOKS[card.kind]
        top = y - FRAME_HIGH / 2
        yield rect(x - half, top, 2 * half, FRAME_HIGH, 5, **look)
        yield centred(x, y - 2, words, mono=True)
        yield soft_centred(x, y + 12, shorten(card.about, LINE_ROOM), 11)
        return
    yield centred(x, y + 4, words, mono=True)
    if words == CARD_ENDS[BOTTOM]:
        yield ruled(x - half, y + 14, card.width, stroke="var(--gv-ink)", stroke_width=3)


def _say_cards(cards: Cards) -> Iterator[str]:
    """One line per card, numbered from the top, with the cards below it."""
    names = {}
    for line, (number, card) in enumerate(cards.items(), 1):
        names[number] = card.words
        if card.about:
            names[number] = f"{line} {card.words}"
    for number, card in cards.items():
        if card.below:
            mark = "▸" if card.kind == "top" else " "
            said = f"{names[number]} {card.about}"
            leads = " · ".join(names[n] for n in card.below)
            yield f"{mark} {said} → {leads}"
