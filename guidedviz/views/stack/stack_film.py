"""The film of a pushdown automaton: the text byte by byte, the automaton, and beside it the stack.

There is one frame per byte, call (push) and return (pop). Everything is laid out once; every part has a key, and a
frame says which parts are visible.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.frames import say_waits
from guidedviz.machines.pushdown.moves import Moves, pushdown_moves
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.visible import name_node, visible
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import Figure, drawing, moved, soft, write
from guidedviz.views.layout.curves import Curve, head, write_path
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.sketch import sketch_pda
from guidedviz.views.machine.film import MOST_FRAMES, FilmDrawings, check_watchable, pack_frame
from guidedviz.views.machine.highlight import UNLIT, Highlight, arrow_key
from guidedviz.views.machine.svg import STYLE, write_diagram
from guidedviz.views.machine.tape import CELL, EDGE, STRIP, mark_bytes, write_bytes
from guidedviz.views.stack.column import CARD, write_card

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
