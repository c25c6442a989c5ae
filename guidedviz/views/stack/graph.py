"""Stacks that share their frames: all stacks of one state, and the stacks after several texts.

This is XGrammar's persistent stack (arXiv 2411.15100): a branch adds only the frames in which it differs, and stepping
back is an old pointer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import Configuration, SharedFrame, State, say_waits
from guidedviz.machines.visible import counted, name_node, visible
from guidedviz.machines.work import reach
from guidedviz.markup import Element, node, together
from guidedviz.tokens.jump import shared_length
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, wide, write
from guidedviz.views.layout.curves import Curve, Point, head, straight, through, write_path
from guidedviz.views.layout.layers import Extent, Link, place
from guidedviz.views.machine.highlight import check_pda, state_after

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
    boxes = tuple(Extent(CARD / 2, card_width(card) / 2) for card in cards.values())  # laid out sideways, then turned
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


# --- several texts ---


SIDE, TOP, CHIP, ROW, GAP = 16.0, 62.0, 46.0, 70.0, 26.0
MOST_TEXTS = 24
TEXT_ROOM = 16  # characters of a text
Spots = Mapping[int, Point]


@dataclass(frozen=True)
class StackedText:
    """A text, the state after it, and the number of its frames, in total and new."""

    data: bytes
    known: int  # length of the longest prefix that it shares with an earlier text
    state: State
    tops: tuple[int, ...]  # the numbers of its top frames
    frames: int
    new: int
    same: int  # the number of an earlier text with the same state; 0 for none


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
    branches = build_branches(pda, texts)
    cards = stack_cards(pda, [branch.state for branch in branches])
    columns, heights = _columns(branches, cards), _heights(cards)
    spots, chips, width = _place(branches, cards, columns, heights)
    parts = []
    for number, card in cards.items():
        foot = (spots[number][0], spots[number][1] + (CARD / 2 if card.waits else 10))
        parts += [_pointer(foot, cards, spots, under, columns[number]) for under in card.below]
    for column, (branch, (x, y)) in enumerate(zip(branches, chips, strict=True)):
        parts += [_pointer((x, y + CHIP), cards, spots, top, column) for top in branch.tops]
        parts.append(_chip(column + 1, branch, x, y))
    for number, card in cards.items():  # on top of the pointers
        parts.append(_ground(spots[number][1], width) if number == BOTTOM else write_stack_card(card, *spots[number]))
    said = _say(branches, cards)
    high = max((y for _, y in spots.values()), default=TOP + CHIP) + CARD
    title = write(SIDE, 24, "stacks that share their frames", font_weight="bold")
    return Figure(drawing(width, high, title, soft(SIDE, 44, _say_counts(branches)), *parts, alt=said), said, said)


def build_branches(pda: PDA, texts: Sequence[bytes | str]) -> tuple[StackedText, ...]:
    """The texts in order, with the frames that each adds."""
    expected = f"a list of 1 to {MOST_TEXTS} texts"
    expect(texts, list | tuple, "draw_branches, texts", expected)
    if not 1 <= len(texts) <= MOST_TEXTS:
        raise SettingError("draw_branches, texts", seen=f"{len(texts):,} texts", expected=expected)
    branches: list[StackedText] = []
    kept: set[Configuration] = set()
    for text in texts:
        data, state = to_bytes(text), state_after(pda, text)
        frames = find_frames(pda, state)
        known = max((shared_length(data, branch.data) for branch in branches), default=0)
        same = next((n for n, branch in enumerate(branches, 1) if branch.state is state), 0)
        branches.append(StackedText(data, known, state, top_frames(pda, state), len(frames), len(frames - kept), same))
        kept |= frames
    return tuple(branches)


def find_frames(pda: PDA, state: State) -> set[Configuration]:
    """All frames of a state, as pairs of a node and an open call."""
    tops = ((place, cell) for place, cells in state.tops for cell in cells)
    return set(reach(tops, lambda frame: pda.below(frame[1])))


def _columns(branches: Sequence[StackedText], cards: Mapping[int, StackCard]) -> dict[int, int]:
    """The column of each card: that of the first text with this frame."""
    columns: dict[int, int] = {}
    for column, branch in enumerate(branches):
        for number in reach(branch.tops, lambda number: cards[number].below):
            columns.setdefault(number, column)
    return columns


def _heights(cards: Mapping[int, StackCard]) -> dict[int, int]:
    """The row of each card: the length of the shortest path to the bottom."""
    heights: dict[int, int] = {}
    row = {number for number, card in cards.items() if not card.below}
    while row:
        heights |= dict.fromkeys(row, len({*heights.values()}))
        row = {n for n, card in cards.items() if n not in heights and not row.isdisjoint(card.below)}
    return heights


def _place(
    branches: Sequence[StackedText],
    cards: Mapping[int, StackCard],
    columns: Mapping[int, int],
    heights: Mapping[int, int],
) -> tuple[Spots, list[Point], float]:
    """The positions of the cards and of the texts, and the total width."""
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number in cards:
        cells[columns[number], heights[number]].append(number)
    ground = TOP + CHIP + 34 + ROW * max(heights.values(), default=0)
    spots, chips, left = dict[int, Point](), list[Point](), SIDE
    for column, branch in enumerate(branches):
        rows = {height: row for (at, height), row in cells.items() if at == column}
        wides = [sum(card_width(cards[number]) + GAP for number in row) - GAP for row in rows.values()]
        width = max([_chip_width(column + 1, branch), *wides])
        for height, row in rows.items():
            x = left + (width - sum(card_width(cards[number]) + GAP for number in row) + GAP) / 2
            for number in row:
                half = card_width(cards[number]) / 2
                spots[number], x = (x + half, ground - ROW * height), x + 2 * half + GAP
        chips.append((left + width / 2, TOP))
        left += width + GAP
    return spots, chips, max(left - GAP + SIDE, 560.0)


def _pointer(start: Point, cards: Mapping[int, StackCard], spots: Spots, number: int, column: int) -> Element:
    """A pointer: straight down, or to the side in a lane of its column above the row of its target."""
    (x, y), (a, b), half = start, spots[number], card_width(cards[number]) / 2
    roof = b - (CARD / 2 if cards[number].waits else 14)
    if number == BOTTOM:
        return write_pointer(straight(start, (x, b)))
    if abs(x - a) < half and y < roof:
        return write_pointer(straight(start, (x, roof)))
    lane, end = roof - 11 - 4 * (column % 4), a + (0.7 * half - 5 * (column % 3)) * (1 if x > a else -1)
    return write_pointer(through([start, (x, lane), (end, lane), (end, roof)]))


def _ground(y: float, width: float) -> Element:
    """The bottom of all stacks."""
    line = node("path", d=f"M{SIDE:g},{y + 1.5:g}H{width - SIDE:g}", stroke="var(--gv-ink)", stroke_width=3)
    return line + write(SIDE, y + 18, "bottom", 13, mono=True)


def _chip_words(number: int, branch: StackedText) -> tuple[str, str, str]:
    """The number of a text, its known prefix and its new rest."""
    old, new = (visible(part) for part in (branch.data[: branch.known], branch.data[branch.known :]))
    over = len(old) + len(new) - TEXT_ROOM
    if over > 0:
        old, new = ("…" + old[over + 1 :], new) if over < len(old) else ("…", new[-TEXT_ROOM + 1 :])
    return f"{number} ", old or "∅" * (not new), new


def _chip_width(number: int, branch: StackedText) -> float:
    words = "".join(_chip_words(number, branch))
    return max(wide(words, 15) + 16, 6.6 * len(_added(branch)) + 16)


def _added(branch: StackedText) -> str:
    if branch.same:
        return f"as after text {branch.same}"
    return f"{branch.new:,} new, {branch.frames - branch.new:,} shared"


def _chip(number: int, branch: StackedText, x: float, y: float) -> Element:
    width = _chip_width(number, branch)
    dash = {"stroke_dasharray": "4 3"} if branch.same else {}
    x -= width / 2
    size = {"x": x, "y": y, "width": width, "height": CHIP, "rx": 5}
    parts, at = [node("rect", **size, fill="var(--gv-card)", stroke="var(--gv-line)", **dash)], x + 8
    looks = {"fill": "var(--gv-soft)"}, {"fill": "var(--gv-soft)"}, {"font_weight": "bold"}
    for words, look in zip(_chip_words(number, branch), looks, strict=True):
        parts.append(write(at, y + 19, words, 15, mono=True, **look))
        at += wide(words, 15)
    return together(parts) + soft(x + 8, y + 37, _added(branch))


def _say_counts(branches: Sequence[StackedText]) -> str:
    copied, kept = (f"{sum(counts):,}" for counts in zip(*((b.frames, b.new) for b in branches), strict=True))
    texts = counted(len(branches), "text")
    return f"{texts}, {copied} frames if each had a stack of its own, {kept} kept"


def _say(branches: Sequence[StackedText], cards: Mapping[int, StackCard]) -> str:
    places = {number: place for place, number in enumerate(cards, 1)}
    lines = [f"branches: {_say_counts(branches)}"]
    for number, branch in enumerate(branches, 1):
        same = f", as after text {branch.same}" if branch.same else ""
        tops = " · ".join(str(places[top]) for top in branch.tops) or "bottom"
        text = visible(branch.data[-40:]) or "∅"
        lines.append(f"{number} {text}: {counted(branch.frames, 'frame')}, {branch.new:,} new{same} → {tops}")
    return "\n".join([*lines, *say_cards(cards).split("\n")[1:]])
