"""The decoding loop as one drawing that grows from lab to lab: text, model, logits, mask, probabilities, draw, append.

The row below the loop shows where the mask comes from. What a lab adds is marked as new.
"""

from dataclasses import dataclass
from itertools import pairwise

from guidedviz.errors import SettingError, quoted
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import Figure, figure_of, rect, soft, write
from guidedviz.views.layout.curves import Point, head, straight

PITCH, FIRST, WIDE, HIGH = 130.0, 66.0, 108.0, 44.0
ROWS = (78.0, 176.0, 244.0)  # the middles of the loop, of the row below it, and of the forced bytes
TOP = 28.0  # of the arrow that leads back
END = 5  # the column of the draw
LIT = "var(--gv-orange)"  # of what is new

Words = tuple[str, str]  # the name of a box, and what it holds


@dataclass(frozen=True)
class LoopBox:
    """A box with its words, its column and its row; its sides are where arrows start and end."""

    words: Words
    column: int
    row: int = 0

    def side(self, across: int, down: int) -> Point:
        """The middle of a side, or with zeros that of the box."""
        return FIRST + PITCH * self.column + across * WIDE / 2, ROWS[self.row] + down * HIGH / 2


@dataclass(frozen=True)
class Part:
    """What a lab adds: the row below the loop, what is new, the box before the probabilities, and how it advances."""

    below: tuple[Words, ...] = ()
    new: tuple[str, ...] = ()
    middle: tuple[Words, ...] = (("mask", "illegal: −∞"),)
    advance: str = "advance"
    forced: bool = False


RULES, REGEX, MACHINE = ("grammar", "rules"), ("regex", "a pattern"), ("machine", "reads bytes")
STATE, DFA = ("state", "node and stack"), ("DFA", "one state")
PARTS = {
    "free": Part(middle=()),
    "bias": Part(new=("bias",), middle=(("bias", "plus a constant"),)),
    "static": Part((("list of masks", "one per position"),), ("mask", "list of masks"), advance="next position"),
    "fsm": Part((("transitions", "by hand"), ("state", "what is read")), ("transitions", "state")),
    "regex": Part((REGEX, ("NFA", "many states"), DFA), ("regex", "NFA", "DFA")),
    "index": Part((REGEX, DFA, ("trie", "all tokens"), ("index", "state → tokens")), ("trie", "index")),
    "schema": Part((("schema", "keys and types"), ("regex", "if finite"), MACHINE, ("index", "× tokens")), ("schema",)),
    "stack": Part((RULES, ("PDA", "push and pop"), STATE), ("grammar", "PDA", "state")),
    "chart": Part((RULES, ("lexer", "bytes to lexemes"), ("chart", "items per place")), ("lexer", "chart")),
    "split": Part((RULES, ("token tables", "one per node"), ("stack", "decides the rest")), ("token tables",)),
    "walk": Part((RULES, STATE, ("trie walk", "at each step")), ("trie walk",)),
    "jump": Part((MACHINE, ("state", "where it is")), ("forced bytes",), forced=True),
}


def draw_loop(part: str = "free") -> Figure:
    """The decoding loop with what one lab adds marked as new.

    Labs 00 to 11 show "free", "bias", "static", "fsm", "regex", "index", "schema", "stack", "chart", "split", "walk"
    and "jump".

    >>> print(draw_loop("fsm").text)
    the decoding loop: text → model → logits → mask → probabilities → draw → text
    the mask comes from: transitions → state
    new: transitions, state
    """
    if part not in PARTS:
        raise SettingError("draw_loop", seen=quoted(part), expected=f"one of {', '.join(PARTS)}")
    chosen = PARTS[part]
    start = (("text", "tokens so far"), ("model", "forward pass"), ("logits", "one per token"), *chosen.middle)
    loop = [LoopBox(words, column) for column, words in enumerate(start)]
    loop += [LoopBox(("probabilities", "softmax"), END - 1), LoopBox(("draw", "one token"), END)]
    below = [LoopBox(words, 4 - len(chosen.below) + place, 1) for place, words in enumerate(chosen.below)]
    boxes, text, draw = [*loop, *below], loop[0], loop[-1]
    lines = [_arrow(one.side(1, 0), other.side(-1, 0)) for row in (loop, below) for one, other in pairwise(row)]
    lines.append(_arrow(draw.side(0, -1), (draw.side(0, 0)[0], TOP), (text.side(0, 0)[0], TOP), text.side(0, -1)))
    lines.append(_beside(text, draw, TOP - 6, "append the token"))
    if below:
        last = below[-1]
        (x, _), y = draw.side(0, 1), ROWS[1]
        lines += [_arrow(last.side(0, -1), (last.side(0, 0)[0], ROWS[0] + HIGH / 2))]
        lines += [_arrow(draw.side(0, 1), (x, y), last.side(1, 0)), _beside(last, draw, y - 7, chosen.advance)]
    if chosen.forced:
        boxes.append(forced := LoopBox(("forced bytes", "no forward pass"), 1, 2))
        (x, y), left = forced.side(0, 0), text.side(0, 1)
        lines += [_arrow(last.side(0, 1), (last.side(0, 0)[0], y), forced.side(1, 0))]
        lines += [_arrow(forced.side(-1, 0), (left[0], y), left), _beside(forced, last, y - 7, "only one way on")]
    height = ROWS[max(box.row for box in boxes)] + 36
    shapes = (_draw_box(box, box.words[0] in chosen.new) for box in boxes)
    return figure_of(2 * FIRST + PITCH * END, height, _say(loop, below, chosen), *lines, *shapes)


def _arrow(*points: Point) -> Element:
    """Straight lines with a head at the end."""
    line = "M" + "L".join(f"{x:g},{y:g}" for x, y in points)
    path = node("path", d=line, fill="none", stroke="var(--gv-soft)", stroke_width=1.6)
    return path + node("polygon", points=head(straight(*points[-2:]), 8, 4), fill="var(--gv-soft)")


def _beside(one: LoopBox, other: LoopBox, y: float, words: str) -> Element:
    """Words in the middle between two boxes."""
    return soft((one.side(0, 0)[0] + other.side(0, 0)[0]) / 2, y, words, text_anchor="middle")


def _draw_box(box: LoopBox, new: bool) -> Element:
    (x, y), (name, about) = box.side(0, 0), box.words
    line = {"stroke": LIT, "stroke_width": 3} if new else {"stroke": "var(--gv-soft)"}
    shape = rect(x - WIDE / 2, y - HIGH / 2, WIDE, HIGH, 6, fill="var(--gv-card)", **line)
    words = write(x, y - 3, name, 13, text_anchor="middle", font_weight="bold")
    words += soft(x, y + 13, about, 11, text_anchor="middle")
    mark = write(x + WIDE / 2, y - HIGH / 2 - 5, "new", 11, text_anchor="end", font_weight="bold", fill=LIT)
    return shape + words + (mark if new else NOTHING)


def _say(loop: list[LoopBox], below: list[LoopBox], part: Part) -> str:
    lines = [f"the decoding loop: {' → '.join(box.words[0] for box in loop)} → text"]
    if below:
        lines.append(f"the mask comes from: {' → '.join(box.words[0] for box in below)}")
    if part.forced:
        lines.append("where only one way is left: state → forced bytes → text, without the model")
    return "\n".join([*lines, *([f"new: {', '.join(part.new)}"] if part.new else [])])
