"""The film of a pushdown automaton: the text byte by byte, the automaton, and beside it the stack.

Everything is laid out once; every part has its key, and a frame says which parts are visible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.names import name_node
from guidedviz.machines.pushdown.call_stack import say_waits
from guidedviz.machines.pushdown.moves import Moves, pushdown_moves
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.visible import visible
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import Figure, drawing, moved, soft, write
from guidedviz.views.layout.curves import Curve, Diagram, head, write_path
from guidedviz.views.layout.diagram import lay_out
from guidedviz.views.layout.sketch import sketch_pda
from guidedviz.views.machine.films import FilmDrawings
from guidedviz.views.machine.highlight import UNLIT, Highlight, arrow_key
from guidedviz.views.machine.svg import STYLE, write_diagram

# The frames of a pushdown automaton that reads a text: one per byte, call (push) and return (pop).


MOST_FRAMES = 300


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
    first = StackFrame(pda, to_bytes(text), (pda.nodes.starts[0],))
    frames = [replace(first, words=f"The stack holds n0, the first node of {pda.nodes.names[0]}.")]
    for frame in _play(frames[0], moves, ends):
        frames.append(frame)
        if len(frames) > MOST_FRAMES:
            seen, expected = f"more than {MOST_FRAMES} frames", f"at most {MOST_FRAMES}"
            raise SettingError("stack_frames", seen=seen, expected=expected, hint="a shorter text")
    return frames


def _play(frame: StackFrame, moves: Moves, ends: frozenset[int]) -> Iterator[StackFrame]:
    """The frames after the first."""
    while frame.stack:
        frame = _move(frame, moves, ends)
        yield frame
        if frame.move == "end":
            return
    if frame.read < len(frame.text):
        sign = visible(frame.text[frame.read :][:1])
        yield replace(frame, move="end", words=f"The stack is empty, and {sign} is left. The text is refused.")


def _move(frame: StackFrame, moves: Moves, ends: frozenset[int]) -> StackFrame:
    """The next frame."""
    *below, node = frame.stack
    after = frame.text[frame.read : frame.read + 1]
    rule, here, sign = frame.pda.nodes.name_of(node), name_node(node), visible(after)
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


EDGE, CELL, STRIP, GAP = 14.0, 26.0, 50.0, 26.0
WIDTH, CARD, MOST_CARDS = 216.0, 34.0, 9
MOVES = {"call": ("push", "push ▲", "blue"), "return": ("pop", "pop ▼", "green")}
MORE = ".gv-machine.gv-taken path { opacity: 1; stroke-width: 4.2; } .gv-absent { visibility: hidden; }"


def build_stack_film(frames: Sequence[StackFrame]) -> FilmDrawings:
    """One drawing, and per frame the keys of its parts."""
    sheet = _Sheet(frames)
    fixed = list(map(arrow_key, sheet.diagram.sketch.arrows))
    packed: list[dict[str, Any]] = [
        {
            "drawing": 0,
            "states": sorted(sheet.diagram.spots),
            "arrows": [*fixed, *_keys(frame)],
            "lit": list(frame.stack[-1:]),
            "on": [f"{frame.way[0]}-{frame.way[1]}"] * (frame.move == "read"),
            "groups": [],
            "words": frame.words,
        }
        for frame in frames
    ]
    return FilmDrawings((sheet.draw(UNLIT, f"{frames[0].pda!r} and its stack"),), tuple(packed))


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
    lit = Highlight(frozenset(frame.stack[-1:]), arrows=frozenset({frame.way} if frame.move == "read" else ()))
    return Figure(_Sheet([frame]).draw(lit, text), text, text)


def _keys(frame: StackFrame) -> list[str]:
    """The parts of a frame that not all frames have."""
    keys = [f"read {place}" for place in range(frame.read)]
    keys += [f"next {frame.read}"] * (frame.read < len(frame.text))
    more = max(0, len(frame.stack) - MOST_CARDS)
    keys += [f"more {more}"] * bool(more)
    last = min(len(frame.stack), MOST_CARDS) - 1
    keys += [f"{'top' if n == last else 'card'} {n + bool(more)} {at}" for n, at in enumerate(frame.stack[more:])]
    keys += [] if frame.stack else ["empty"]
    return keys + ([frame.move, f"{frame.move} {frame.way[0]} {frame.way[1]}"] if frame.move in MOVES else [])


@dataclass(frozen=True)
class _Sheet:
    """The drawing of some frames."""

    frames: Sequence[StackFrame]

    @cached_property
    def pda(self) -> PDA:
        return self.frames[0].pda

    @cached_property
    def diagram(self) -> Diagram:
        return lay_out(sketch_pda(self.pda))

    def draw(self, lit: Highlight, alt: str) -> Element:
        text = self.frames[0].text
        top, left = EDGE + STRIP * bool(text), 2 * EDGE + self.diagram.width + GAP
        high = max(self.diagram.height, 38 + CARD * max(min(len(f.stack), MOST_CARDS + 1) for f in self.frames))
        parts = [node("style", STYLE + MORE), moved(EDGE, top, write_diagram(self.diagram, lit))]
        for place, byte in enumerate(text):
            parts += [_cell(place), write(_middle(place), 32, visible(bytes([byte])), 14, **MIDDLE)]
        parts.append(node("path", d=f"M{left:g},{top + high:g}h{WIDTH:g}", stroke="var(--gv-ink)", stroke_width=3))
        parts.append(write(left, top + 14, "stack", font_weight="bold"))
        ways = {key: moved(EDGE, top, way) for key, way in _ways(self.diagram)}
        for key in dict.fromkeys(key for frame in self.frames for key in _keys(frame)):
            kind, *numbers = key.split()
            inside = ways.get(key) or self._part(kind, list(map(int, numbers)), left, top, top + high)
            parts.append(node("g", inside, data_arrow=key))
        width = max(left + WIDTH, EDGE + CELL * len(text)) + EDGE
        return drawing(width, top + high + EDGE, *parts, alt=alt)

    def _part(self, kind: str, numbers: list[int], left: float, top: float, low: float) -> Element:
        match kind, numbers:
            case ("read" | "next") as which, [place]:
                return _mark_byte(place, which == "next")
            case "more", [count]:
                return soft(left + WIDTH / 2, low - 12, f"⋮ {count:,} more", text_anchor="middle")
            case "empty", []:
                return soft(left + WIDTH / 2, low - 12, "empty", text_anchor="middle")
            case ("top" | "card") as which, [level, at]:
                return self._card(at, which == "top", left, low - CARD * (level + 1))
            case move, []:
                _, words, colour = MOVES[move]
                return write(left + WIDTH, top + 14, words, 14, fill=f"var(--gv-{colour})", **END)
        return NOTHING

    def _card(self, at: int, now: bool, x: float, y: float) -> Element:
        line = {"stroke": "var(--gv-orange)", "stroke_width": 2.6} if now else {"stroke": "var(--gv-blue)"}
        box = node("rect", x=x, y=y, width=WIDTH, height=CARD - 4, rx=5, fill="var(--gv-page)", **line)
        name = write(x + 9, y + 20, name_node(at), 14, mono=True, font_weight="bold")
        about = f"{'in' if now else 'back in'} {shorten(self.pda.nodes.name_of(at), 12)}"
        return box + name + soft(x + 46, y + 20, shorten(f"{about}: {say_waits(self.pda, at)}", 27))


MIDDLE: dict[str, Any] = {"mono": True, "text_anchor": "middle"}
END: dict[str, Any] = {"text_anchor": "end", "font_weight": "bold"}


def _middle(place: int) -> float:
    return EDGE + CELL * place + CELL / 2 - 1.5


def _cell(place: int, **style: Any) -> Element:
    style = {"fill": "var(--gv-card)", "stroke": "var(--gv-line)"} | style
    return node("rect", x=EDGE + CELL * place, y=EDGE, width=CELL - 3, height=26, rx=4, **style)


def _mark_byte(place: int, following: bool) -> Element:
    """A byte that was read is underlined; the next byte has a frame and a triangle."""
    x = _middle(place)
    if not following:
        return node("path", d=f"M{x - 9:g},45h18", stroke="var(--gv-blue)", stroke_width=3)
    tip = node("polygon", points=f"{x:g},43 {x - 5:g},51 {x + 5:g},51", fill="var(--gv-orange)")
    return _cell(place, fill="none", stroke="var(--gv-orange)", stroke_width=2.4) + tip


def _ways(diagram: Diagram) -> Iterator[tuple[str, Element]]:
    """The curve of each call and of each return, by its key."""
    sketch = diagram.sketch
    nodes = {block.name: block.nodes for block in diagram.blocks}
    for n, jumps in diagram.jumps.items():
        arrow = sketch.arrows[n]
        first, ends = nodes[arrow.call][0], [at for at in nodes[arrow.call] if at in sketch.accepting]
        yield f"call {arrow.source} {first}", _way("call", jumps.call)
        for place, at in enumerate(ends):
            yield f"return {at} {arrow.target}", _way("return", jumps.returns[min(place, len(jumps.returns) - 1)])


def _way(move: str, curve: Curve) -> Element:
    kind = f"gv-{MOVES[move][0]}"
    tip = node("polygon", points=head(curve, 11, 6), class_=f"{kind}-head")
    return node("g", node("path", d=write_path(curve), class_=kind) + tip, class_="gv-machine gv-taken")
