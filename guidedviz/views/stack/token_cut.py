"""A token cut where the rule that reads it has ended: the rule decides the first bytes, the stack decides the rest."""

from __future__ import annotations

from collections.abc import Sequence

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.visible import visible
from guidedviz.markup import node
from guidedviz.tokens.repeats import ACCEPTED, DEPENDENT, say
from guidedviz.views.figure import Figure, drawing, heading, soft, wide, write
from guidedviz.views.machine.highlight import check_pda, state_after

EDGE, TOP, ROW, BOX = 16.0, 62.0, 34.0, 38.0
MOST = 12  # texts, and bytes of the token
DECIDED_BY_STACK = "context-dependent"
VERDICTS = {ACCEPTED: "accepted", DEPENDENT: DECIDED_BY_STACK}  # any other is rejected


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
    rule, dependent = pda.nodes.name_of(pda.places(states[0])[0]), verdict == DECIDED_BY_STACK
    shown = [visible(text.encode()) for text in texts]
    stacks = [" › ".join(reversed(pda.stack(state))) for state in states]
    counts = [_count_read(pda, state, data) for state in states]
    results = ["legal" if n == len(data) else f"illegal at {visible(data[n : n + 1])}" for n in counts]
    parts = [f"{rule} reads {visible(data[:own])}"] * bool(own)
    parts += [f"the stack decides {visible(data[own:])}"] * dependent
    lines = [f"Token {visible(data)} at a node of {rule}: {', '.join(parts)}{': ' * bool(parts)}{verdict}"]
    lines += [f"after {row[0]}, stack {row[1]}: {row[2]}" for row in zip(shown, stacks, results, strict=True)]

    shown, stacks = [shorten(text, 24) for text in shown], [shorten(stack, 40) for stack in stacks]
    first = EDGE + max(map(wide, ["the text so far", *shown])) + 22
    start = first + max(wide("open rules, outermost first", 12), *map(wide, stacks)) + 26
    end, split, ground = start + BOX * len(data), start + BOX * own, TOP + 52 + ROW * len(texts)
    drawn = [heading(EDGE, 24, "a token, byte by byte", f"{visible(data)} at a node of the rule {rule}: {verdict}")]
    drawn += [soft(EDGE, TOP + 30, "the text so far"), soft(first, TOP + 30, "open rules, outermost first")]
    drawn += [soft(split - 8, TOP - 8, f"{rule} reads", text_anchor="end")] * bool(own)
    for place, byte in enumerate(data):  # a solid box is read by the rule, a dashed one by the stack
        colour = f"var(--gv-{'blue' if place < own else 'gold'})"
        look = {"fill": colour, "fill_opacity": 0.18, "stroke": colour, "stroke_width": 2}
        look |= {} if place < own else {"stroke_dasharray": "4 3"}
        x = start + BOX * place
        drawn.append(node("rect", x=x + 3, y=TOP + 6, width=BOX - 6, height=32, rx=4, **look))
        sign = visible(bytes([byte]))
        drawn.append(write(x + BOX / 2, TOP + 27, sign, 15, mono=True, text_anchor="middle", font_weight="bold"))
    for number, row in enumerate(zip(shown, stacks, counts, results, strict=True)):
        text, stack, count, result = row
        y = TOP + 70 + ROW * number
        drawn += [write(EDGE, y, text, mono=True), write(first, y, stack, mono=True)]
        for place in range(len(data)):  # a tick where a byte is read, a cross where it is refused
            sign, colour = ("✓", "blue") if place < count else ("✗", "orange") if place == count else ("·", "soft")
            x = start + BOX * (place + 0.5)
            drawn.append(write(x, y, sign, 15, text_anchor="middle", fill=f"var(--gv-{colour})"))
        colour = f"var(--gv-{'blue' if result == 'legal' else 'orange'})"
        drawn.append(write(end + 14, y, result, fill=colour, font_weight="bold"))
    if dependent:
        drawn.append(soft(split + 8, TOP - 8, "the stack decides"))
        way = f"M{split:g} {TOP - 6:g}V{ground - 2:g}"
        drawn.append(node("path", d=way, stroke="var(--gv-ink)", stroke_width=2.5))
        drawn.append(soft(split, ground + 14, f"{rule} has ended here", text_anchor="middle"))
    said = "\n".join(lines)
    return Figure(drawing(max(end + 130, split + 240, 640.0), ground + 28, *drawn, alt=said), said, said)


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


def _count_read(pda: PDA, state: State, data: bytes) -> int:
    """How many bytes can be read."""
    for count, byte in enumerate(data):
        if (after := pda.step(state, byte)) is None:
            return count
        state = after
    return len(data)
