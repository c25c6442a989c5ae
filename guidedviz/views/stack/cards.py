"""Stacks as cards: stacks that share their frames, and the film of one stack beside its automaton.

Shared frames are XGrammar's persistent stack (arXiv 2411.15100): all stacks of one state, and the stacks after several
texts. A branch adds only the frames in which it differs, and stepping back is an old pointer. A card is a frame, and
its arrows lead to the frames that may lie below it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.frames import say_waits
from guidedviz.machines.pushdown.moves import Moves, pushdown_moves
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import Configuration, State
from guidedviz.machines.visible import counted, name_node, visible
from guidedviz.machines.work import reach
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.views.figure import Figure, drawing, figure_of, heading, moved, rect, soft, wide, write
from guidedviz.views.layout.curves import Curve, head, write_path
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.layers import Extent, Link
from guidedviz.views.layout.placing import place
from guidedviz.views.layout.sketch import sketch_pda
from guidedviz.views.machine.film import MOST_FRAMES, FilmDrawings, check_watchable, pack_frame
from guidedviz.views.machine.highlight import UNLIT, Highlight, arrow_key
from guidedviz.views.machine.paths import check_pda, state_after
from guidedviz.views.machine.svg import STYLE, write_diagram
from guidedviz.views.machine.tape import CELL, EDGE, STRIP, mark_bytes, write_bytes
from guidedviz.views.stack.stack import CARD, write_card

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


# --- the film of a pushdown automaton: the text byte by byte, the automaton, and beside it the stack ---
#
# There is one frame per byte, call (push) and return (pop). Everything is laid out once; every part has a key, and a
# frame says which parts are visible.


GAP = 26.0
WIDTH, LEVEL, MOST_CARDS = 216.0, CARD + 4, 9
MOVES = {"call": ("push", "push ▲", "var(--gv-blue)"), "return": ("pop", "pop ▼", "var(--gv-green)")}
MORE = ".gv-machine.gv-taken path { opacity: 1; stroke-width: 4.2; } .gv-absent { visibility: hidden; }"


@dataclass(frozen=True)
class StackFrame:
    """The stack after one move; its last node is the current one."""

    pda: PDA = field(repr=False)
    text: bytes
    stack: tuple[int, ...]
    read: int = 0  # bytes of the text
    move: str = "start"  # read, call, return, end
    way: tuple[int, int] = (-1, -1)  # the nodes before and after the move
    words: str = ""


def stack_frames(pda: PDA, text: bytes | str) -> list[StackFrame]:
    """One frame per move of a deterministic pushdown automaton.

    >>> for frame in stack_frames(gv.grammar('root ::= "(" item ")"\\nitem ::= "x"'), "(x)"):
    ...     print(frame.words)
    The stack holds n0, the first node of root.
    Read ( (n0 to n1).
    Call item: pop n1, push n2 to go on there later, push n4.
    Read x (n4 to n5).
    Return: item ends at n5. Pop it; the text goes on at n2.
    Read ) (n2 to n3).
    Return: root ends at n3. Pop it; the stack is empty: the text is complete.
    """
    moves, ends = pushdown_moves(pda)
    words = f"The stack holds n0, the first node of {pda.nodes.names[0]}."
    frames = [frame := StackFrame(pda, to_bytes(text), (pda.nodes.starts[0],), words=words)]
    while frame.move != "end" and (frame.stack or frame.read < len(frame.text)):
        frames.append(frame := _move(frame, moves, ends))
        check_watchable("stack_frames", len(frames), "frames", "a shorter text", MOST_FRAMES)
    return frames


def _move(frame: StackFrame, moves: Moves, ends: frozenset[int]) -> StackFrame:
    """The next frame."""
    after = frame.text[frame.read : frame.read + 1]
    sign = visible(after)
    if not frame.stack:
        return replace(frame, move="end", words=f"The stack is empty, and {sign} is left. The text is refused.")
    *below, node = frame.stack
    rule, here = frame.pda.nodes.name_of(node), name_node(node)
    move = moves.get((node, after[0])) if after else None
    if move and move[0] == "read":
        words = f"Read {sign} ({here} to {name_node(move[1])})."
        read = frame.read + 1
        return replace(frame, stack=(*below, move[1]), read=read, move="read", way=(node, move[1]), words=words)
    if move:
        _, start, back = move
        called = frame.pda.nodes.name_of(start)
        words = f"Call {called}: pop {here}, push {name_node(back)} to go on there later, push {name_node(start)}."
        return replace(frame, stack=(*below, back, start), move="call", way=(node, start), words=words)
    if node not in ends:
        left = f"{here} cannot read {sign}, and {rule} cannot end there. The text is refused."
        done = f"{rule} cannot end at {here}. The text is not complete."
        return replace(frame, move="end", way=(node, -1), words=left if after else done)
    goes = f"the text goes on at {name_node(below[-1])}." if below else "the stack is empty"
    goes += "" if below or after else ": the text is complete."
    words = f"Return: {rule} ends at {here}. Pop it; {goes}".removesuffix(".") + "."
    return replace(frame, stack=tuple(below), move="return", way=(node, below[-1] if below else -1), words=words)


def build_stack_film(frames: Sequence[StackFrame]) -> FilmDrawings:
    """One drawing, and per frame the keys of its parts."""
    diagram = lay_out(sketch_pda(frames[0].pda))
    states, fixed = sorted(diagram.spots), list(map(arrow_key, diagram.sketch.arrows))
    sheet, keys = _draw_frames(frames, diagram, UNLIT, f"{frames[0].pda!r} and its stack")
    packed = []
    for frame, parts in zip(frames, keys, strict=True):
        taken = [f"{frame.way[0]}-{frame.way[1]}"] * (frame.move == "read")
        packed.append(pack_frame(states, [*fixed, *parts], frame.stack[-1:], taken, frame.words))
    return FilmDrawings((sheet,), tuple(packed))


def draw_stack_frame(frame: StackFrame) -> Figure:
    """A frame as a still picture.

    >>> frames = gv.views.stack_frames(gv.grammar('root ::= "(" item ")"\\nitem ::= "x"'), "(x)")
    >>> print(draw_stack_frame(frames[2]).text)
    Call item: pop n1, push n2 to go on there later, push n4.
    read (, left x)
    stack, top first: n4 item, n2 root
    """
    shown = [f"{name_node(at)} {frame.pda.nodes.name_of(at)}" for at in frame.stack[: -MOST_CARDS - 1 : -1]]
    more = len(frame.stack) - len(shown)
    said = [frame.words] * bool(frame.words)
    said += [f"read {visible(frame.text[: frame.read])}, left {visible(frame.text[frame.read :])}"] * bool(frame.text)
    said.append(f"stack, top first: {', '.join(shown) or 'empty'}" + f" … {more:,} more" * bool(more))
    text = "\n".join(said)
    arrows = frozenset([f"{frame.way[0]}-{frame.way[1]}"] * (frame.move == "read"))
    lit = Highlight(frozenset(frame.stack[-1:]), arrows=arrows)
    return Figure(_draw_frames([frame], lay_out(sketch_pda(frame.pda)), lit, text)[0], text, text)


def _draw_frames(
    frames: Sequence[StackFrame], diagram: Diagram, lit: Highlight, alt: str
) -> tuple[Element, list[dict[str, Element]]]:
    """The drawing of some frames, and per frame the parts that not all frames have."""
    text = frames[0].text
    top, left = EDGE + STRIP * bool(text), 2 * EDGE + diagram.width + GAP
    low = top + max(diagram.height, 38 + LEVEL * max(min(len(f.stack), MOST_CARDS) + 0.5 for f in frames))
    ways = {key: moved(EDGE, top, way) for key, way in _ways(diagram)}
    parts = [dict(_parts(frame, ways, left, top, low)) for frame in frames]
    fixed = [node("style", STYLE + MORE), moved(EDGE, top, write_diagram(diagram, lit)), *write_bytes(text)]
    fixed.append(node("path", d=f"M{left:g},{low:g}h{WIDTH:g}", stroke="var(--gv-ink)", stroke_width=3))
    fixed.append(write(left, top + 14, "stack", font_weight="bold"))
    every = {key: part for found in parts for key, part in found.items()}
    changing = [node("g", part, data_arrow=key) for key, part in every.items()]
    width = max(left + WIDTH, EDGE + CELL * len(text)) + EDGE
    return drawing(width, low + EDGE, *fixed, *changing, alt=alt), parts


def _parts(
    frame: StackFrame, ways: Mapping[str, Element], left: float, top: float, low: float
) -> Iterator[tuple[str, Element]]:
    """The marks of the bytes, the cards of the stack, and the word and the curve of a call or a return."""
    yield from mark_bytes(frame.text, frame.read)
    more = max(0, len(frame.stack) - MOST_CARDS)
    if words := f"⋮ {more:,} more" if more else "" if frame.stack else "empty":
        yield words, soft(left + WIDTH / 2, low - 8, words, text_anchor="middle")
    for level, at in enumerate(frame.stack[more:], 1):
        now = level == len(frame.stack) - more
        name, waits = f"{name_node(at)} {frame.pda.nodes.name_of(at)}", say_waits(frame.pda.stacks, at)
        card = write_card(name, f"{'now' if now else 'then'} {waits}", f"{level + more:,}", now, WIDTH)
        y = low - LEVEL * level - (LEVEL / 2 if more else 0)
        yield f"{'top' if now else 'card'} {level} {more} {at}", moved(left, y, card)
    if frame.move in MOVES:
        _, words, colour = MOVES[frame.move]
        yield frame.move, write(left + WIDTH, top + 14, words, 14, text_anchor="end", font_weight="bold", fill=colour)
        key = f"{frame.move} {frame.way[0]} {frame.way[1]}"
        yield key, ways.get(key, NOTHING)


def _ways(diagram: Diagram) -> Iterator[tuple[str, Element]]:
    """The curve of each call and of each return, by its key."""
    sketch = diagram.sketch
    nodes = {block.name: block.nodes for block in diagram.blocks}
    for n, jumps in diagram.jumps.items():
        arrow = sketch.arrows[n]
        first, ends = nodes[arrow.call][0], [at for at in nodes[arrow.call] if at in sketch.accepting]
        yield f"call {arrow.source} {first}", _way("call", jumps.call)
        for number, at in enumerate(ends):
            yield f"return {at} {arrow.target}", _way("return", jumps.returns[min(number, len(jumps.returns) - 1)])


def _way(move: str, curve: Curve) -> Element:
    kind = f"gv-{MOVES[move][0]}"
    tip = node("polygon", points=head(curve, 11, 6), class_=f"{kind}-head")
    return node("g", node("path", d=write_path(curve), class_=kind) + tip, class_="gv-machine gv-taken")
