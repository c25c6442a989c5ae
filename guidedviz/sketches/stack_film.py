"""The frames of a pushdown automaton that reads a text: one per byte, call (push) and return (pop)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from guidedviz.errors import SettingError
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA, Moves, pushdown_moves
from guidedviz.machines.visible import name_node, visible

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
