"""The decoding loop as one drawing that grows from lab to lab: text, model, logits, mask, probabilities, draw, append.

The row below the loop shows where the mask comes from. What a lab adds is marked as new.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from guidedviz.errors import SettingError, quoted
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, bold, centred, figure_of, rect, soft_centred, write_polyline
from guidedviz.views.layout.curves import Point, head, straight

COLUMN_PITCH = 130.0
FIRST_COLUMN = 66.0
LOOP_BOX_WIDTH = 108.0
LOOP_BOX_HEIGHT = 44.0
LOOP_ROWS = (78.0, 176.0, 244.0)  # the middles of the loop, of the row below it, and of the forced bytes
BACK_TOP = 28.0  # of the arrow that leads back
LAST_COLUMN = 5  # that of the draw
NEW_COLOUR = "var(--gv-orange)"  # of what is new

Words = tuple[str, str]  # the name of a box, and what it holds


@dataclass(frozen=True)
class LoopBox:
    """A box with its words, its column and its row; its sides are where arrows start and end."""

    words: Words
    column: int
    row: int = 0

    def side(self, across: int, down: int) -> Point:
        """The middle of a side, or with zeros that of the box."""
        return self.x + across * LOOP_BOX_WIDTH / 2, self.y + down * LOOP_BOX_HEIGHT / 2

    @property
    def x(self) -> float:
        """The middle of its column."""
        return FIRST_COLUMN + COLUMN_PITCH * self.column

    @property
    def y(self) -> float:
        """The middle of its row."""
        return LOOP_ROWS[self.row]


@dataclass(frozen=True)
class Part:
    """What a lab adds: the row below the loop, what is new, the box before the probabilities, and how it advances."""

    below: tuple[Words, ...] = ()
    new: tuple[str, ...] = ()
    middle: tuple[Words, ...] = (("mask", "illegal: −∞"),)
    advance: str = "advance"
    forced: bool = False
    agent: bool = False  # what a call leads to


RULES_BOX = ("grammar", "rules")
REGEX_BOX = ("regex", "a pattern")
MACHINE_BOX = ("machine", "reads bytes")
STATE_BOX = ("state", "a stack of nodes")
DFA_BOX = ("DFA", "one state")
LOOP_PARTS = {
    "free": Part(middle=()),
    "bias": Part(new=("bias",), middle=(("bias", "plus a constant"),)),
    "static": Part((("list of masks", "one per position"),), ("mask", "list of masks"), advance="next position"),
    "fsm": Part((("transitions", "by hand"), ("state", "what was read")), ("transitions", "state")),
    "regex": Part((REGEX_BOX, ("NFA", "many states"), DFA_BOX), ("regex", "NFA", "DFA")),
    "index": Part((REGEX_BOX, DFA_BOX, ("trie", "all tokens"), ("index", "state → tokens")), ("trie", "index")),
    "schema": Part(
        (("schema", "keys and types"), ("regex", "fixed depth"), MACHINE_BOX, ("index", "× tokens")), ("schema",)
    ),
    "stack": Part((RULES_BOX, ("PDA", "push and pop"), STATE_BOX), ("grammar", "PDA", "state")),
    "chart": Part((RULES_BOX, ("lexer", "bytes to lexemes"), ("chart", "items per place")), ("lexer", "chart")),
    "split": Part((RULES_BOX, ("token tables", "one per node"), ("stack", "decides the rest")), ("token tables",)),
    "walk": Part((RULES_BOX, STATE_BOX, ("trie walk", "at each step")), ("trie walk",)),
    "jump": Part((MACHINE_BOX, ("state", "where it is")), ("forced bytes",), forced=True),
    "server": Part(
        (("schema", "of a request"), ("cache", "compiled once"), STATE_BOX, ("packed mask", "one bit per token")),
        ("cache", "packed mask"),
    ),
    "agent": Part((("turn", "think, then call"), STATE_BOX), ("turn", "tool", "messages"), agent=True),
}


def draw_loop(part: str = "free") -> Figure:
    """The decoding loop with what one lab adds marked as new.

    Labs 00 to 11 show "free", "bias", "static", "fsm", "regex", "index", "schema", "stack", "chart", "split", "walk"
    and "jump", lab 14 "server", and lab 15 "agent".

    >>> print(draw_loop("fsm").text)
    the decoding loop: text → model → logits → mask → probabilities → draw → text
    the mask comes from: transitions → state
    new: transitions, state
    """
    if part not in LOOP_PARTS:
        raise SettingError("draw_loop", seen=quoted(part), expected=f"one of {', '.join(LOOP_PARTS)}")
    chosen = LOOP_PARTS[part]
    start = (("text", "tokens so far"), ("model", "forward pass"), ("logits", "one per token"), *chosen.middle)
    loop = [LoopBox(words, column) for column, words in enumerate(start)]
    loop.append(LoopBox(("probabilities", "softmax"), LAST_COLUMN - 1))
    loop.append(LoopBox(("draw", "one token"), LAST_COLUMN))
    first = 4 - len(chosen.below)
    below = [LoopBox(words, first + place, 1) for place, words in enumerate(chosen.below)]
    boxes = [*loop, *below]
    pairs = [*pairwise(loop), *pairwise(below)]
    lines = [_write_lines(one.side(1, 0), other.side(-1, 0)) for one, other in pairs]
    lines += _write_back(loop[0], loop[-1])
    if below:
        up = below[-1].side(0, -1)
        lines.append(_write_lines(up, (up[0], LOOP_ROWS[0] + LOOP_BOX_HEIGHT / 2)))
        lines += _write_turn(loop[-1], below[-1], chosen.advance)
    if chosen.forced:
        forced = LoopBox(("forced bytes", "no forward pass"), 1, 2)
        boxes.append(forced)
        lines += _write_turn(below[-1], forced, "only one way on")
        lines.append(_write_lines(forced.side(-1, 0), (loop[0].x, forced.y), loop[0].side(0, 1)))
    if chosen.agent:
        messages = LoopBox(("messages", "and the result"), 0, 2)
        tool = LoopBox(("tool", "runs the call"), LAST_COLUMN, 2)
        boxes += [messages, tool]
        lines += _write_call(loop[0], loop[-1], messages, tool)
    height = LOOP_ROWS[max(box.row for box in boxes)] + 36
    shapes = [_write_loop_box(box, box.words[0] in chosen.new) for box in boxes]
    width = 2 * FIRST_COLUMN + COLUMN_PITCH * LAST_COLUMN
    return figure_of(width, height, _say_loop(loop, below, chosen), *lines, *shapes)


def _write_back(text: LoopBox, draw: LoopBox) -> Iterator[Element]:
    """The arrow from the draw back to the text."""
    right = draw.side(0, -1), (draw.x, BACK_TOP)
    left = (text.x, BACK_TOP), text.side(0, -1)
    yield _write_lines(*right, *left)
    yield _write_between(text, draw, BACK_TOP - 6, "append the token")


def _write_turn(one: LoopBox, other: LoopBox, words: str) -> Iterator[Element]:
    """The arrow from below a box to the right of another, and words above it."""
    yield _write_lines(one.side(0, 1), (one.x, other.y), other.side(1, 0))
    yield _write_between(other, one, other.y - 7, words)


def _write_call(text: LoopBox, draw: LoopBox, messages: LoopBox, tool: LoopBox) -> Iterator[Element]:
    """The arrows from a call over the tool and the messages to the text."""
    yield _write_lines(draw.side(0, 1), tool.side(0, -1))
    yield _write_lines(tool.side(-1, 0), messages.side(1, 0))
    yield _write_lines(messages.side(0, -1), text.side(0, 1))
    yield _write_between(messages, tool, tool.y - 7, "when a call ends: append its result, and write a new prompt")


def _write_lines(*points: Point) -> Element:
    """Straight lines with a head at the end."""
    path = write_polyline(points, stroke="var(--gv-soft)", stroke_width=1.6)
    tip = head(straight(*points[-2:]), 8, 4)
    return path + node("polygon", points=tip, fill="var(--gv-soft)")


def _write_between(one: LoopBox, other: LoopBox, y: float, words: str) -> Element:
    """Words in the middle between two boxes."""
    return soft_centred((one.x + other.x) / 2, y, words)


def _write_loop_box(box: LoopBox, new: bool) -> Element:
    left = box.x - LOOP_BOX_WIDTH / 2
    top = box.y - LOOP_BOX_HEIGHT / 2
    name, about = box.words
    line = {"stroke": NEW_COLOUR, "stroke_width": 3} if new else {"stroke": "var(--gv-soft)"}
    shape = rect(left, top, LOOP_BOX_WIDTH, LOOP_BOX_HEIGHT, 6, fill="var(--gv-card)", **line)
    shape += centred(box.x, box.y - 3, name, font_weight="bold")
    shape += soft_centred(box.x, box.y + 13, about, 11)
    if new:
        right = left + LOOP_BOX_WIDTH
        shape += bold(right, top - 5, "new", 11, text_anchor="end", fill=NEW_COLOUR)
    return shape


def _say_loop(loop: list[LoopBox], below: list[LoopBox], part: Part) -> str:
    lines = [f"the decoding loop: {' → '.join(box.words[0] for box in loop)} → text"]
    if below:
        lines.append(f"the mask comes from: {' → '.join(box.words[0] for box in below)}")
    if part.forced:
        lines.append("where only one way is left: state → forced bytes → text, without the model")
    if part.agent:
        lines.append("when a call ends: draw → tool → messages → text")
    if part.new:
        lines.append(f"new: {', '.join(part.new)}")
    return "\n".join(lines)
