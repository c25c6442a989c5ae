"""The film of a pushdown automaton: the text byte by byte, the automaton, and beside it the stack.

There is one frame per byte, call (push) and return (pop). Everything is laid out once; every part has a key, and a
frame says which parts are visible.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from guidedviz.errors import shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.moves import Moves, pushdown_moves
from guidedviz.machines.pushdown.pda import PDA, say_waits
from guidedviz.machines.visible import name_node, visible
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import (
    NEAR_EDGE,
    Figure,
    bold,
    check_count,
    drawing,
    moved,
    path_of,
    ruled,
    soft,
    soft_centred,
    soft_right,
)
from guidedviz.views.layout.curves import Curve, head, write_path
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.sketch import sketch_pda
from guidedviz.views.machine.film import MOST_FRAMES, FilmFrame, Reel, pack_frame
from guidedviz.views.machine.highlight import UNLIT, Highlight, arrow_key
from guidedviz.views.machine.svg import CELL, STRIP, STYLE, mark_bytes, write_bytes, write_diagram
from guidedviz.views.stack.stack_table import say_when, write_ground

BESIDE = 26.0  # between the automaton and the stack
STACK_WIDTH = 216.0
CARD_HIGH = 42.0
LEVEL = CARD_HIGH + 4
MOST_FILM_CARDS = 9
CARD_KEYS = ("card ", "top ")
STACK_MOVES = {"call": ("push", "push ▲", "var(--gv-blue)"), "return": ("pop", "pop ▼", "var(--gv-green)")}
FILM_STYLE = ".gv-machine.gv-taken path { opacity: 1; stroke-width: 4.2; } .gv-absent { visibility: hidden; }"


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

    @property
    def arrows(self) -> list[str]:
        """The key of the arrow that is read, if one is."""
        source, target = self.way
        if self.move == "read":
            return [f"{source}-{target}"]
        return []

    def name(self, node: int) -> str:
        """A node and its rule."""
        return f"{name_node(node)} {self.pda.nodes.name_of(node)}"


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
    stack = (pda.nodes.starts[0],)
    frame = StackFrame(pda, to_bytes(text), stack, words=words)
    frames = [frame]
    while frame.move != "end" and (frame.stack or frame.read < len(frame.text)):
        frame = _next_frame(frame, moves, ends)
        frames.append(frame)
        check_count("stack_frames", len(frames), "frames", MOST_FRAMES, "a shorter text")
    return frames


def _next_frame(frame: StackFrame, moves: Moves, ends: frozenset[int]) -> StackFrame:
    """The frame after the next move: a read, a call, a return, or the end."""
    after = frame.text[frame.read : frame.read + 1]
    sign = visible(after)
    if not frame.stack:
        return replace(frame, move="end", words=f"The stack is empty, and {sign} is left. The text is refused.")
    *below, node = frame.stack
    here = name_node(node)
    move = moves.get((node, after[0])) if after else None
    if move and move[0] == "read":
        _, to = move
        stack = (*below, to)
        words = f"Read {sign} ({here} to {name_node(to)})."
        read = frame.read + 1
        return replace(frame, stack=stack, read=read, move="read", way=(node, to), words=words)
    if move:
        _, start, back = move
        stack = (*below, back, start)
        called = frame.pda.nodes.name_of(start)
        later = f"push {name_node(back)} to go on there later"
        words = f"Call {called}: pop {here}, {later}, push {name_node(start)}."
        return replace(frame, stack=stack, move="call", way=(node, start), words=words)
    rule = frame.pda.nodes.name_of(node)
    if node in ends:
        return _return_frame(frame, f"Return: {rule} ends at {here}. Pop it;")
    words = f"{rule} cannot end at {here}. The text is not complete."
    if after:
        words = f"{here} cannot read {sign}, and {rule} cannot end there. The text is refused."
    return replace(frame, move="end", way=(node, -1), words=words)


def _return_frame(frame: StackFrame, words: str) -> StackFrame:
    """The frame after a return."""
    *below, node = frame.stack
    if below:
        words += f" the text goes on at {name_node(below[-1])}."
    elif frame.read < len(frame.text):
        words += " the stack is empty."
    else:
        words += " the stack is empty: the text is complete."
    to = below[-1] if below else -1
    return replace(frame, stack=tuple(below), move="return", way=(node, to), words=words)


def build_stack_film(frames: Sequence[StackFrame]) -> Reel:
    """One drawing, and per frame the keys of its parts."""
    diagram = lay_out(sketch_pda(frames[0].pda))
    states = sorted(diagram.spots)
    fixed = list(map(arrow_key, diagram.sketch.arrows))
    alt = f"{frames[0].pda!r} and its stack"
    sheet, keys = _draw_frames(frames, diagram, UNLIT, alt)
    packed = []
    for frame, parts in zip(frames, keys, strict=True):
        arrows = [*fixed, *parts]
        more: FilmFrame = {}
        if frame.move == "read":
            byte = frame.text[frame.read - 1 : frame.read]
            more["ride"] = visible(byte), frame.arrows
        if frame.move in STACK_MOVES:
            more["see"] = [key for key in parts if key.startswith(CARD_KEYS)][-2:]
        lit = frame.stack[-1:]
        packed.append(pack_frame(states, arrows, lit, frame.arrows, frame.words, **more))
    return [sheet], packed


def draw_stack_frame(frame: StackFrame) -> Figure:
    """A frame as a still picture.

    >>> frames = gv.views.stack_frames(gv.grammar('root ::= "(" item ")"\\nitem ::= "x"'), "(x)")
    >>> print(draw_stack_frame(frames[2]).text)
    Call item: pop n1, push n2 to go on there later, push n4.
    read (, left x)
    stack, top first: n4 item, n2 root
    """
    upper = frame.stack[-MOST_FILM_CARDS:]
    shown = [frame.name(node) for node in reversed(upper)]
    stack = f"stack, top first: {', '.join(shown) or 'empty'}"
    hidden = len(frame.stack) - len(shown)
    if hidden:
        stack += f" … {hidden:,} more"
    lines = []
    if frame.words:
        lines.append(frame.words)
    if frame.text:
        read = visible(frame.text[: frame.read])
        left = visible(frame.text[frame.read :])
        lines.append(f"read {read}, left {left}")
    text = "\n".join([*lines, stack])
    top = frozenset(frame.stack[-1:])
    lit = Highlight(top, arrows=frozenset(frame.arrows))
    diagram = lay_out(sketch_pda(frame.pda))
    sheet, _ = _draw_frames([frame], diagram, lit, text)
    return Figure(sheet, text, text)


def _draw_frames(
    frames: Sequence[StackFrame], diagram: Diagram, lit: Highlight, alt: str
) -> tuple[Element, list[dict[str, Element]]]:
    """The drawing of some frames, and per frame the parts that not all frames have."""
    text = frames[0].text
    top = NEAR_EDGE + STRIP if text else NEAR_EDGE
    left = 2 * NEAR_EDGE + diagram.width + BESIDE
    deepest = max(len(frame.stack) for frame in frames)
    levels = min(deepest, MOST_FILM_CARDS) + 0.5
    low = top + max(diagram.height, 38 + LEVEL * levels)
    curves = {key: moved(NEAR_EDGE, top, curve) for key, curve in _jump_curves(diagram)}
    parts = []
    for frame in frames:
        found = dict(mark_bytes(text, frame.read))
        found.update(_write_cards(frame, left, low))
        found.update(_write_move(frame, curves, left + STACK_WIDTH, top + 14))
        parts.append(found)
    machine = moved(NEAR_EDGE, top, write_diagram(diagram, lit))
    fixed = [node("style", STYLE + FILM_STYLE), machine, node("g", *write_bytes(text), data_part="tape")]
    fixed.append(ruled(left, low, STACK_WIDTH, stroke="var(--gv-ink)", stroke_width=3))
    fixed.append(bold(left, top + 14, "stack"))
    every = dict[str, Element]()
    for found in parts:
        every |= found
    changing = [node("g", part, data_arrow=key) for key, part in every.items()]
    right = max(left + STACK_WIDTH, NEAR_EDGE + CELL * len(text))
    sheet = drawing(right + NEAR_EDGE, low + NEAR_EDGE, *fixed, *changing, alt=alt)
    return sheet, parts


def _write_card(name: str, waits: str, height: str, now: bool, width: float) -> Element:
    """The card of a frame."""
    card = write_ground(width, CARD_HIGH, 17, now)
    card += bold(22, 17, shorten(name, 22), 14, mono=True)
    room = int(width / 6.4) - 6
    card += soft(22, 34, shorten(waits, room))
    return card + soft_right(width - 8, 17, height)


def _write_cards(frame: StackFrame, left: float, low: float) -> Iterator[tuple[str, Element]]:
    """The cards of the stack, and words where it is empty or not all is drawn."""
    hidden = max(0, len(frame.stack) - MOST_FILM_CARDS)
    words = f"⋮ {hidden:,} more" if hidden else "empty"
    if hidden or not frame.stack:
        middle = left + STACK_WIDTH / 2
        yield words, soft_centred(middle, low - 8, words)
        low -= LEVEL / 2
    for level, place in enumerate(frame.stack[hidden:], 1):
        height = level + hidden
        now = height == len(frame.stack)
        about = say_when(say_waits(frame.pda.stacks, place), now)
        name = frame.name(place)
        card = _write_card(name, about, f"{height:,}", now, STACK_WIDTH)
        kind = "top" if now else "card"
        key = f"{kind} {level} {hidden} {place}"
        yield key, moved(left, low - LEVEL * level, card)


def _write_move(frame: StackFrame, curves: Mapping[str, Element], x: float, y: float) -> Iterator[tuple[str, Element]]:
    """The word and the curve of a call or a return."""
    if frame.move in STACK_MOVES:
        _, words, colour = STACK_MOVES[frame.move]
        yield frame.move, bold(x, y, words, 14, text_anchor="end", fill=colour)
        source, target = frame.way
        key = f"{frame.move} {source} {target}"
        yield key, curves.get(key, NOTHING)


def _jump_curves(diagram: Diagram) -> Iterator[tuple[str, Element]]:
    """The curve of each call and of each return, by its key."""
    nodes = {block.name: block.nodes for block in diagram.blocks}
    for crossing, (call, *returns) in diagram.jumps.items():
        arrow = diagram.sketch.arrows[crossing]
        called = nodes[arrow.call]
        yield f"call {arrow.source} {called[0]}", _write_taken("call", call)
        ends = [end for end in called if end in diagram.sketch.accepting]
        for number, end in enumerate(ends):
            curve = returns[min(number, len(returns) - 1)]
            yield f"return {end} {arrow.target}", _write_taken("return", curve)


def _write_taken(move: str, curve: Curve) -> Element:
    kind = f"gv-{STACK_MOVES[move][0]}"
    line = path_of(write_path(curve), class_=kind)
    tip = node("polygon", points=head(curve, 11, 6), class_=f"{kind}-head")
    return node("g", line, tip, class_="gv-machine gv-taken")
