"""A token that the rule reads in part: the stack decides the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guidedviz.errors import SettingError, quoted, shorten
from guidedviz.machines.machine import read_path, to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.machines.visible import name_node, visible
from guidedviz.markup import Element
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, classify
from guidedviz.views.figure import (
    EDGE,
    Figure,
    bold,
    centred,
    check_count,
    check_list,
    circle_at,
    figure_of,
    heading,
    rect,
    soft,
    soft_centred,
    soft_right,
    upright,
    wide,
    write,
)
from guidedviz.views.machine.highlight import state_after
from guidedviz.views.theme import paint

TOKEN_TOP = 62.0  # where the bytes of the token stand
TEXT_LINE = 34.0  # the height of a text
CUT_PITCH = 38.0
RETURN_PITCH = 68.0  # the column of return nodes
MOST_CUT = 12  # texts, bytes
READS_ON = "legal"
TEXTS_HEAD = "the text so far"
STACKS_HEAD = "open rules, and where each goes on"
DECIDED_BY_STACK = "context-dependent"
CUT_VERDICTS = {ACCEPTED: "accepted", DEPENDENT: DECIDED_BY_STACK}  # any other is rejected


@dataclass(frozen=True)
class CutToken:
    """A token at a node of a rule: the rule reads its first `own` bytes, then the verdict holds."""

    data: bytes
    rule: str
    own: int
    verdict: str

    @property
    def dependent(self) -> bool:
        """Whether the stack decides the rest."""
        return self.verdict == DECIDED_BY_STACK

    def __str__(self) -> str:
        parts = []
        if self.own:
            own = visible(self.data[: self.own])
            parts.append(f"{self.rule} reads {own}")
        if self.dependent:
            rest = visible(self.data[self.own :])
            parts.append(f"the stack decides {rest}")
        said = f"Token {visible(self.data)} at a node of {self.rule}: "
        if parts:
            said += f"{', '.join(parts)}: "
        return said + self.verdict


@dataclass(frozen=True)
class CutText:
    """A text, the stack after it, the node to which the machine returns, and how many bytes of the token follow."""

    text: str
    stack: str
    back: str
    read: int
    result: str

    def say(self, returns: bool) -> str:
        """The text in one line, with the return where the stack decides."""
        result = self.result
        if returns:
            result = f"returns to {self.back}, {self.result}"
        return f"after {self.text}, stack {self.stack}: {result}"


class CutColumns(NamedTuple):
    """Where the stacks begin, each byte, the part that the stack decides, and the end."""

    stacks: float
    places: list[float]
    split: float
    end: float


def draw_cut(pda: PDA, texts: Sequence[str], piece: bytes | str) -> Figure:
    """The bytes of a token after several texts that reach the same node with different stacks.

    Where the rule ends, the node is drawn to which the machine returns: it decides the next byte.

    >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= "*" [a-z]* "*"')
    >>> print(draw_cut(lists, ["<*a", "[*a"], "b*]").text)
    Token b*] at a node of item: item reads b*, the stack decides ]: context-dependent
    after <*a, stack root n3 › item n7: returns to n3, illegal at ]
    after [*a, stack root n4 › item n7: returns to n4, legal
    """
    data = to_bytes(piece)
    states = _check_texts(pda, texts, data)
    own, verdict = cut_token(pda, states[0], data)
    place = pda.places(states[0])[0]
    token = CutToken(data, pda.nodes.name_of(place), own, verdict)
    pairs = zip(texts, states, strict=True)
    lines = [_cut_text(pda, text, state, data) for text, state in pairs]
    said = [str(token)]
    said += [line.say(token.dependent) for line in lines]

    columns = _lay_columns(token, lines)
    low = TOKEN_TOP + 52 + TEXT_LINE * len(texts)
    about = f"{visible(data)} at a node of the rule {token.rule}: {verdict}"
    parts = [heading(EDGE, 24, "a token, byte by byte", about)]
    parts.append(soft(EDGE, TOKEN_TOP + 30, TEXTS_HEAD))
    parts.append(soft(columns.stacks, TOKEN_TOP + 30, STACKS_HEAD))
    parts += _write_token(token, columns)
    y = TOKEN_TOP + 70
    for line in lines:
        parts += _write_text(line, columns, y, token.dependent)
        y += TEXT_LINE
    if token.dependent:
        parts += _write_border(token.rule, columns.split, low)
    width = max(columns.end + 130, columns.split + 240, 640.0)
    return figure_of(width, low + 28, "\n".join(said), *parts)


def _lay_columns(token: CutToken, lines: Sequence[CutText]) -> CutColumns:
    texts = [TEXTS_HEAD, *(line.text for line in lines)]
    stacks = EDGE + max(map(wide, texts)) + 22
    widest = max(wide(line.stack) for line in lines)
    start = stacks + max(wide(STACKS_HEAD, 12), widest) + 26
    split = start + CUT_PITCH * token.own
    places = []
    for place in range(len(token.data)):
        if token.dependent and place == token.own:
            start += RETURN_PITCH
        places.append(start + CUT_PITCH * place)
    return CutColumns(stacks, places, split, places[-1] + CUT_PITCH)


def _check_texts(pda: PDA, texts: Sequence[str], data: bytes) -> list[State]:
    """The states after the texts, which are at one node."""
    check_list("draw_cut, texts", texts, "texts", MOST_CUT)
    check_count("draw_cut, piece", len(data), "bytes", MOST_CUT)
    states = [state_after(pda, text, "draw_cut") for text in texts]
    for text, state in zip(texts, states, strict=True):
        if pda.places(state) != pda.places(states[0]):
            expected = f"the same node as {quoted(texts[0])}"
            raise SettingError("draw_cut, texts", seen=quoted(text), expected=expected)
    return states


def _cut_text(pda: PDA, text: str, state: State, data: bytes) -> CutText:
    """What follows a text: its stack, and how far the token can be read."""
    frames = pda.frames(state)
    names = [f"{frame.rule} {name_node(frame.node)}" for frame in reversed(frames)]
    stack = " › ".join(names)
    back = "end"
    if len(frames) > 1:
        back = name_node(frames[1].node)
    read = len(read_path(pda, data, state)) - 1
    result = READS_ON
    if read < len(data):
        result = f"illegal at {visible(data[read : read + 1])}"
    shown = shorten(visible(text.encode()), 24)
    return CutText(shown, shorten(stack, 52), back, read, result)


def _write_token(token: CutToken, columns: CutColumns) -> Iterator[Element]:
    """The bytes of the token: a solid box is read by the rule, a dashed one by the stack."""
    if token.own:
        yield soft_right(columns.split - 8, TOKEN_TOP - 8, f"{token.rule} reads")
    look = {"fill": paint("blue"), "fill_opacity": 0.18, "stroke": paint("blue"), "stroke_width": 2}
    dashed = look | {"fill": paint("gold"), "stroke": paint("gold")}
    for place, x in enumerate(columns.places):
        if place == token.own:
            look = dashed
        dashes = "none" if place < token.own else "4 3"
        yield rect(x + 3, TOKEN_TOP + 6, CUT_PITCH - 6, 32, 4, **look, stroke_dasharray=dashes)
        sign = visible(token.data[place : place + 1])
        middle = x + CUT_PITCH / 2
        yield bold(middle, TOKEN_TOP + 27, sign, 15, mono=True, text_anchor="middle")


def _write_text(line: CutText, columns: CutColumns, y: float, returns: bool) -> Iterator[Element]:
    """A text with its stack, the bytes that can be read after it, and the return where the stack decides."""
    yield write(EDGE, y, line.text, mono=True)
    yield write(columns.stacks, y, line.stack, mono=True)
    yield from _write_reads(columns.places, y, line.read)
    if returns:
        yield from _write_return(columns.split + RETURN_PITCH / 2, y, line.back)
    colour = "blue" if line.result == READS_ON else "magenta"
    yield bold(columns.end + 14, y, line.result, fill=paint(colour))


def _write_reads(places: Sequence[float], y: float, read: int) -> Iterator[Element]:
    """A tick where a byte is read, a cross where it is refused; nothing is read after that."""
    for place, x in enumerate(places):
        middle = x + CUT_PITCH / 2
        if place < read:
            yield centred(middle, y, "✓", 15, fill="var(--gv-blue)")
        elif place == read:
            yield centred(middle, y, "✗", 15, fill="var(--gv-magenta)")


def _write_border(rule: str, x: float, low: float) -> Iterator[Element]:
    """The line between what the rule reads and what the stack decides."""
    yield soft(x + 8, TOKEN_TOP - 8, "the stack decides")
    yield soft(x + 8, TOKEN_TOP + 30, "returns to")
    yield upright(x, TOKEN_TOP - 6, low - TOKEN_TOP + 4, stroke="var(--gv-ink)", stroke_width=2.5)
    yield soft_centred(x, low + 14, f"{rule} has ended here")


def _write_return(x: float, y: float, back: str) -> Iterator[Element]:
    """The node to which the machine returns."""
    ring = {"fill": "var(--gv-page)", "stroke": "var(--gv-ink)", "stroke_width": 1.6}
    yield circle_at(x, y - 5, 15, **ring)
    yield centred(x, y - 1, back, 12)


def cut_token(pda: PDA, state: State, data: bytes) -> tuple[int, str]:
    """How many bytes the rule reads on every stack, and the verdict that holds without the stack.

    >>> words = gv.grammar('root ::= "<" item ">"\\nitem ::= "*" [a-z]* "*"')
    >>> [cut_token(words, state_after(words, "<*"), data) for data in (b"bc", b"b*>", b"b>")]
    [(2, 'accepted'), (2, 'context-dependent'), (1, 'rejected')]
    """
    unknown = UnknownBottom(pda, expand=False)
    reached: State | None = unknown.cut_to(state, 0)
    own = 0
    for read, byte in enumerate(data, 1):
        reached = unknown.step(reached, byte) if reached else None
        if reached and not reached.guessed:
            own = read
    return own, CUT_VERDICTS.get(classify(reached), "rejected")
