"""A token cut where the rule that reads it has ended: the rule decides the first bytes, the stack decides the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node
from guidedviz.tokens.repeats import ACCEPTED, DEPENDENT, say
from guidedviz.views.figure import Figure, drawing, heading, soft, wide, write
from guidedviz.views.machine.highlight import check_pda, state_after

EDGE, TOP, ROW, BOX = 16.0, 62.0, 34.0, 38.0
MOST = 12  # texts, and bytes of the token
DECIDED_BY_STACK = "context-dependent"
VERDICTS = {ACCEPTED: "accepted", DEPENDENT: DECIDED_BY_STACK}  # any other is rejected


class TextRead(NamedTuple):
    """A text, the rules that are open after it, and how many bytes of the token are read there."""

    text: str
    stack: str
    read: int


class TokenCut(NamedTuple):
    """A token at a node of a rule, how many bytes the rule reads, the verdict without the stack, and the texts."""

    data: bytes
    rule: str
    own: int
    verdict: str
    reads: tuple[TextRead, ...]


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
    reads = tuple(_read(pda, text, state, data) for text, state in zip(texts, states, strict=True))
    cut = TokenCut(data, pda.nodes.name_of(pda.places(states[0])[0]), *cut_token(pda, states[0], data), reads)
    return _draw(cut, _say(cut))


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


def _read(pda: PDA, text: str, state: State, data: bytes) -> TextRead:
    stack, count, here = " › ".join(reversed(pda.stack(state))), 0, pda.step(state, data[0])
    while here is not None:
        count += 1
        here = pda.step(here, data[count]) if count < len(data) else None
    return TextRead(visible(text.encode()), stack, count)


def _say(cut: TokenCut) -> str:
    parts = [f"{cut.rule} reads {visible(cut.data[: cut.own])}"] if cut.own else []
    parts += [f"the stack decides {visible(cut.data[cut.own :])}"] if cut.verdict == DECIDED_BY_STACK else []
    verdict = ", ".join(parts) + ": " * bool(parts) + cut.verdict
    lines = [f"Token {visible(cut.data)} at a node of {cut.rule}: {verdict}"]
    lines += [f"after {read.text}, stack {read.stack}: {_say_read(cut.data, read)}" for read in cut.reads]
    return "\n".join(lines)


def _say_read(data: bytes, read: TextRead) -> str:
    return "legal" if read.read == len(data) else f"illegal at {visible(data[read.read : read.read + 1])}"


def _draw(cut: TokenCut, said: str) -> Figure:
    texts, stacks = [shorten(read.text, 24) for read in cut.reads], [shorten(read.stack, 40) for read in cut.reads]
    first = EDGE + max(wide("the text so far"), *(wide(text) for text in texts)) + 22
    start = first + max(wide("open rules, outermost first", 12), *(wide(stack) for stack in stacks)) + 26
    end, split, ground = start + BOX * len(cut.data), start + BOX * cut.own, TOP + 52 + ROW * len(texts)
    about = f"{visible(cut.data)} at a node of the rule {cut.rule}: {cut.verdict}"
    parts = [heading(EDGE, 24, "a token, byte by byte", about)]
    parts += [soft(EDGE, TOP + 30, "the text so far"), soft(first, TOP + 30, "open rules, outermost first")]
    parts += _token(cut, start, split)
    for number, read in enumerate(cut.reads):
        y = TOP + 70 + ROW * number
        parts += [write(EDGE, y, texts[number], mono=True), write(first, y, stacks[number], mono=True)]
        for place in range(len(cut.data)):  # a tick where a byte is read, a cross where it is refused
            sign = "✓" if place < read.read else "✗" if place == read.read else "·"
            colour = {"✓": "blue", "✗": "orange", "·": "soft"}[sign]
            x, fill = start + BOX * (place + 0.5), f"var(--gv-{colour})"
            parts.append(write(x, y, sign, 15, text_anchor="middle", fill=fill))
        colour = f"var(--gv-{'blue' if read.read == len(cut.data) else 'orange'})"
        parts.append(write(end + 14, y, _say_read(cut.data, read), fill=colour, font_weight="bold"))
    if cut.verdict == DECIDED_BY_STACK:
        line = {"stroke": "var(--gv-ink)", "stroke_width": 2.5, "fill": "none"}
        parts.append(node("path", d=f"M{split:g} {TOP - 6:g}V{ground - 2:g}", **line))
        parts.append(soft(split, ground + 14, f"{cut.rule} has ended here", text_anchor="middle"))
    return Figure(drawing(max(end + 130, split + 240, 640.0), ground + 28, *parts, alt=said), said, said)


def _token(cut: TokenCut, start: float, split: float) -> Iterator[Element]:
    """The bytes of the token, and who decides them."""
    if cut.own:
        yield soft(split - 8, TOP - 8, f"{cut.rule} reads", text_anchor="end")
    if cut.verdict == DECIDED_BY_STACK:
        yield soft(split + 8, TOP - 8, "the stack decides")
    for place, byte in enumerate(cut.data):
        colour = f"var(--gv-{'blue' if place < cut.own else 'gold'})"
        look = {"fill": colour, "fill_opacity": 0.18, "stroke": colour, "stroke_width": 2}
        dash = {} if place < cut.own else {"stroke_dasharray": "4 3"}
        yield node("rect", x=start + BOX * place + 3, y=TOP + 6, width=BOX - 6, height=32, rx=4, **look, **dash)
        x, sign = start + BOX * (place + 0.5), visible(bytes([byte]))
        yield write(x, TOP + 27, sign, 15, mono=True, text_anchor="middle", font_weight="bold")
