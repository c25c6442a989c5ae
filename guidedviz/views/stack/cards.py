"""Stacks that share their frames, as cards: all stacks of one state, and the stacks after several texts.

This is XGrammar's persistent stack (arXiv 2411.15100): a branch adds only the frames in which it differs, and stepping
back is an old pointer. A card is a frame, and its arrows lead to the frames that may lie below it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.frames import say_waits
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import Configuration, State
from guidedviz.machines.visible import counted, name_node, visible
from guidedviz.machines.work import reach
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import Figure, figure_of, heading, moved, rect, soft, wide, write
from guidedviz.views.layout.curves import head, write_path
from guidedviz.views.layout.layers import Extent, Link
from guidedviz.views.layout.placing import place
from guidedviz.views.machine.paths import check_pda, state_after
from guidedviz.views.machine.tape import EDGE

HIGH, LEAST = 36.0, 240.0  # of a card; the width of a picture
ROOM = 30  # characters of a line
MOST_TEXTS, TEXT_ROOM = 24, 16
MOST_DRAWN = 12  # frames of a state
BOTTOM, MISSING = 0, -1
ENDS = {BOTTOM: "bottom", MISSING: "⋮ more, not drawn"}
LOOKS: dict[str, dict[str, str | float]] = {  # of each kind of card; the others have no border
    "top": {"fill": "var(--gv-page)", "stroke": "var(--gv-orange)", "stroke_width": 2.4},
    "frame": {"fill": "var(--gv-page)", "stroke": "var(--gv-blue)"},
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
        return max(wide(shorten(self.words, ROOM), 13), wide(shorten(self.about, ROOM), 11)) + 20


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
    tops, frames = (sum(card.kind in kinds for card in cards.values()) for kinds in (("top",), ("top", "frame")))
    about = f"{counted(tops, 'top')}, {counted(frames, 'frame')}"
    return _draw(cards, "stacks", about, [f"stacks: {about}", *_say_cards(cards)])


def draw_branches(pda: PDA, texts: Sequence[bytes | str]) -> Figure:
    """The stacks after each of several texts; every frame is drawn once.

    >>> pairs = gv.grammar('root ::= "(" root ")" | "[" root "]" | "x"')
    >>> print(draw_branches(pairs, ["((", "((x", "((", "(["]).text)
    branches: 4 texts, 8 frames if each had a stack of its own, 4 kept
    1 ((: 2 frames, 2 new → 1
    2 ((x: 2 frames, 1 new → 3
    3 ((: 2 frames, 0 new, as after text 1 → 1
    4 ([: 2 frames, 1 new → 4
    ▸ 1 root n1 now ( [ or x → 2 root n4
      2 root n4 then ) → bottom
    ▸ 3 root n4 now ) → 2 root n4
    ▸ 4 root n2 now ( [ or x → 2 root n4
    """
    check_pda(pda, "draw_branches")
    expected = f"a list of 1 to {MOST_TEXTS} texts"
    if not 1 <= len(expect(texts, list | tuple, "draw_branches, texts", expected)) <= MOST_TEXTS:
        raise SettingError("draw_branches, texts", seen=f"{len(texts):,} texts", expected=expected)
    states = [state_after(pda, text) for text in texts]
    cards = _stack_cards(pda, states)
    places = {number: place for place, number in enumerate(cards, 1)}
    chips, lines, kept, copied = dict[int, StackCard](), list[str](), set[Configuration](), 0
    for number, (text, state) in enumerate(zip(texts, states, strict=True), 1):
        data = visible(to_bytes(text)) or "∅"
        tops = tuple(dict.fromkeys(top if top in cards else MISSING for top in _top_frames(pda, state)))
        frames = set(reach([(node, cell) for node, cells in state.tops for cell in cells], lambda f: pda.below(f[1])))
        new, first = len(frames - kept), states.index(state) + 1
        kept |= frames
        copied += len(frames)
        same = f"as after text {first}" if first < number else ""
        shown = data if len(data) <= TEXT_ROOM else "…" + data[1 - TEXT_ROOM :]
        about = same or f"{new:,} new, {len(frames) - new:,} shared"
        chips[MISSING - number] = StackCard("text", f"{number} {shown}", about, tops)
        said = f"{counted(len(frames), 'frame')}, {new:,} new{f', {same}' if same else ''}"
        lines.append(f"{number} {data[-40:]}: {said} → {' · '.join(str(places[top]) for top in tops) or 'bottom'}")
    about = f"{counted(len(texts), 'text')}, {copied:,} frames if each had a stack of its own, {len(kept):,} kept"
    return _draw(chips | cards, "branches", about, [f"branches: {about}", *lines, *_say_cards(cards)])


def _top_frames(pda: PDA, state: State) -> tuple[int, ...]:
    """The numbers of a state's top frames, that of the first stack first."""
    return tuple(frame.number for frame in pda.branches(state)[: sum(len(cells) for _, cells in state.tops)])


def _stack_cards(pda: PDA, states: Iterable[State]) -> dict[int, StackCard]:
    """The cards of the frames of these states; of a deep stack the uppermost."""
    held = tuple(states)
    frames = {frame.number: frame for state in held for frame in pda.branches(state)[:MOST_DRAWN]}
    tops = {number for state in held for number in _top_frames(pda, state)}
    cards = {}
    for number, frame in frames.items():
        kind, when = ("top", "now") if number in tops else ("frame", "then")
        below = tuple(n if n in frames or n == BOTTOM else MISSING for n in frame.below)
        words = f"{frame.rule} {name_node(frame.node)}"
        cards[number] = StackCard(kind, words, f"{when} {say_waits(pda.stacks, frame.node)}", below)
    ends = {under for card in cards.values() for under in card.below}
    return cards | {number: StackCard("end", words) for number, words in ENDS.items() if number in ends}


def _draw(cards: Cards, name: str, about: str, lines: Sequence[str]) -> Figure:
    """The cards in layers, laid out from the bottom to the right, then turned."""
    index = {number: place for place, number in enumerate(cards)}
    boxes = tuple(Extent(HIGH / 2, card.width / 2) for card in cards.values())
    links = tuple(Link(index[under], index[number]) for number, card in cards.items() for under in card.below)
    ends = [index[number] for number in (BOTTOM, MISSING) if number in cards]
    placed = place(boxes, links, *ends[:1])
    high = placed.width
    parts = [_pointer(tuple((y, high - x) for x, y in reversed(curve))) for curve in placed.curves]
    parts += [_card(card, y, high - x) for card, (x, y) in zip(cards.values(), placed.centres, strict=True)]
    width = max(placed.height + 2 * EDGE - 16, LEAST, 7.2 * len(name + about) + 40)
    inside = heading(EDGE, 20, name, about), moved(EDGE - 8, 24, *parts)
    return figure_of(width, high + 36, "\n".join(lines), *inside)


def _card(card: StackCard, x: float, y: float) -> Element:
    """A card around a point."""
    half, words = card.width / 2, shorten(card.words, ROOM)
    if card.kind not in LOOKS:
        ground = node("path", d=f"M{x - half:.1f},{y + 14:.1f}h{2 * half:.1f}", stroke="var(--gv-ink)", stroke_width=3)
        written = write(x, y + 4, words, 13, mono=True, text_anchor="middle")
        return written + ground if words == "bottom" else written
    box = rect(x - half, y - HIGH / 2, 2 * half, HIGH, 5, **LOOKS[card.kind])
    name = write(x, y - 2, words, 13, mono=True, text_anchor="middle")
    about = soft(x, y + 12, shorten(card.about, ROOM), 11, text_anchor="middle")
    return together([box, name, about])


def _pointer(curve: tuple[tuple[float, float], ...]) -> Element:
    """An arrow to a frame that may lie below."""
    path = node("path", d=write_path(curve), fill="none", stroke="var(--gv-soft)", stroke_width=1.4)
    return path + node("polygon", points=head(curve), fill="var(--gv-soft)")


def _say_cards(cards: Cards) -> Iterator[str]:
    """One line per card, numbered from the top, with the cards below it."""
    names = {n: f"{place} " * bool(card.about) + card.words for place, (n, card) in enumerate(cards.items(), 1)}
    for number, card in cards.items():
        if card.below:
            said = " ".join(filter(None, ["▸" if card.kind == "top" else " ", names[number], card.about]))
            yield f"{said} → {' · '.join(names[n] for n in card.below)}"
