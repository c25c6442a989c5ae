"""A token cut where the rule that reads it has ended: the rule decides the first bytes, the stack decides the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack_graph import State
from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node
from guidedviz.tokens.split.context import ACCEPTED, DEPENDENT, say
from guidedviz.views.figure import Figure, drawing, heading, soft, wide, write
from guidedviz.views.machine.highlight import check_pda, state_after

EDGE, TOP, ROW, BOX, HIGH = 16.0, 62.0, 34.0, 38.0, 26.0
MOST = 12  # texts, and bytes of the token
VERDICTS = {ACCEPTED: "accepted", DEPENDENT: "context-dependent"}  # any other is rejected


class Read(NamedTuple):
    """A text, the rules that are open after it, and how many bytes of the token are read there."""

    text: str
    stack: str
    read: int


def draw_cut(pda: PDA, texts: Sequence[str], piece: bytes | str) -> Figure:
    """The bytes of a token after several texts that reach the same node with different stacks.

    >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= "*" [a-z]* "*"')
    >>> print(draw_cut(lists, ["<*a", "[*a"], "b*]").text)
    Token b*] at a node of item: item reads b*, the stack decides ]: context-dependent
    after <*a, stack root › item: illegal at ]
    after [*a, stack root › item: legal
    """
    check_pda(pda, "draw_cut")
    data = to_bytes(piece)
    expect(texts, list | tuple, "draw_cut, texts", "a list of texts")
    if not 0 < len(texts) <= MOST or not 0 < len(data) <= MOST:
        expected = f"1 to {MOST} texts and a token of 1 to {MOST} bytes"
        raise SettingError("draw_cut", seen=f"{len(texts)} texts, {len(data)} bytes", expected=expected)
    states = [state_after(pda, text) for text in texts]
    for text, state in zip(texts, states, strict=True):
        if pda.places(state) != pda.places(states[0]):
            expected = f"texts that end at the same node as {quoted(texts[0])}"
            raise SettingError("draw_cut, texts", seen=quoted(text), expected=expected)
    own, verdict = cut_token(pda, states[0], data)
    reads = [_read(pda, text, state, data) for text, state in zip(texts, states, strict=True)]
    rule = pda.nodes.name_of(pda.places(states[0])[0])
    said = _say(rule, data, own, verdict, reads)
    return _draw(rule, data, own, verdict, reads, said)


def cut_token(pda: PDA, state: State, data: bytes) -> tuple[int, str]:
    """How many bytes the rule reads on every stack, and the verdict that holds without the stack.

    >>> words = gv.grammar('root ::= "<" item ">"\\nitem ::= "*" [a-z]* "*"')
    >>> [cut_token(words, state_after(words, "<*"), data) for data in (b"bc", b"b*>", b"b>")]
    [(2, 'accepted'), (2, 'context-dependent'), (1, 'rejected')]
    """
    unknown = OpenStack(pda, expand=False)
    path: list[State | None] = [unknown.known(state, 0)]
    for byte in data:
        path.append(unknown.step(path[-1], byte) if path[-1] else None)
    shared = [place for place, reached in enumerate(path) if reached is not None and reached.clean]
    return shared[-1], VERDICTS.get(say(path[-1]), "rejected")


def _read(pda: PDA, text: str, state: State, data: bytes) -> Read:
    stack, count, here = " › ".join(reversed(pda.stack(state))), 0, pda.step(state, data[0])
    while here is not None:
        count += 1
        here = pda.step(here, data[count]) if count < len(data) else None
    return Read(text, stack, count)


def _say(rule: str, data: bytes, own: int, verdict: str, reads: Sequence[Read]) -> str:
    parts = [f"{rule} reads {visible(data[:own])}"] if own else []
    parts += [f"the stack decides {visible(data[own:])}"] if verdict == "context-dependent" else []
    lines = [f"Token {visible(data)} at a node of {rule}: {', '.join(parts)}{': ' if parts else ''}{verdict}"]
    lines += [f"after {visible(read.text.encode())}, stack {read.stack}: {_verdict(data, read)}" for read in reads]
    return "\n".join(lines)


def _verdict(data: bytes, read: Read) -> str:
    return "legal" if read.read == len(data) else f"illegal at {visible(data[read.read : read.read + 1])}"


def _draw(rule: str, data: bytes, own: int, verdict: str, reads: Sequence[Read], said: str) -> Figure:
    texts = [shorten(visible(read.text.encode()), 24) for read in reads]
    stacks = [shorten(read.stack, 40) for read in reads]
    first = EDGE + max(wide("the text so far"), *(wide(text) for text in texts)) + 22
    start = first + max(wide("open rules, outermost first", 12), *(wide(stack) for stack in stacks)) + 26
    end, ground = start + BOX * len(data), TOP + 52 + ROW * len(reads)
    parts = [heading(EDGE, 24, "a token, byte by byte", f"{visible(data)} at a node of the rule {rule}: {verdict}")]
    parts += [soft(EDGE, TOP + 30, "the text so far"), soft(first, TOP + 30, "open rules, outermost first")]
    parts += _token(data, own, rule, start, verdict)
    for number, read in enumerate(reads):
        y = TOP + 52 + ROW * number
        parts.append(write(EDGE, y + 18, texts[number], mono=True))
        parts.append(write(first, y + 18, stacks[number], mono=True))
        parts += _row(data, own, read, start, y)
        legal = read.read == len(data)
        colour = f"var(--gv-{'blue' if legal else 'orange'})"
        parts.append(write(end + 14, y + 18, _verdict(data, read), fill=colour, font_weight="bold"))
    if verdict == "context-dependent":
        x = start + BOX * own
        parts.append(
            node("path", d=f"M{x:g} {TOP - 6:g}V{ground - 2:g}", stroke="var(--gv-ink)", stroke_width=2.5, fill="none")
        )
        parts.append(soft(x, ground + 14, f"{rule} has ended here", text_anchor="middle"))
    width = max(end + 130, start + BOX * own + 240, 640.0)
    return Figure(drawing(width, ground + 28, *parts, alt=said), said, said)


def _token(data: bytes, own: int, rule: str, start: float, verdict: str) -> Iterator[Element]:
    """The bytes of the token, and who decides them."""
    if own:
        yield soft(start + BOX * own - 8, TOP - 8, f"{rule} reads", text_anchor="end")
    if verdict == "context-dependent":
        yield soft(start + BOX * own + 8, TOP - 8, "the stack decides")
    for place, byte in enumerate(data):
        left, colour = place < own, "blue" if place < own else "gold"
        look = {"fill": f"var(--gv-{colour})", "fill_opacity": 0.18, "stroke": f"var(--gv-{colour})"}
        dash = {} if left else {"stroke_dasharray": "4 3"}
        size = {"x": start + BOX * place + 3, "y": TOP + 6, "width": BOX - 6, "height": 32, "rx": 4}
        yield node("rect", **size, **look, stroke_width=2, **dash)
        middle = start + BOX * (place + 0.5)
        yield write(middle, TOP + 27, visible(bytes([byte])), 15, mono=True, text_anchor="middle", font_weight="bold")


def _row(data: bytes, own: int, read: Read, start: float, y: float) -> Iterator[Element]:
    """A sign per byte: a tick where it is read, a cross where it is refused, a dot where it is not reached."""
    for place in range(len(data)):
        sign = "✓" if place < read.read else "✗" if place == read.read else "·"
        colour = {"✓": "blue", "✗": "orange", "·": "soft"}[sign]
        x = start + BOX * (place + 0.5)
        yield write(x, y + 18, sign, 15, text_anchor="middle", fill=f"var(--gv-{colour})")
