"""The decoding loop as one drawing that grows from lab to lab: text, model, logits, mask, probabilities, draw, append.

The row below the loop shows where the mask comes from. What a lab adds is marked as new.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from guidedviz.errors import SettingError, quoted
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import Figure, drawing, soft, write

PITCH, FIRST, WIDE, HIGH = 130.0, 66.0, 108.0, 44.0
ROWS = (78.0, 176.0, 244.0)  # the middles of the loop, of the row below it, and of the forced bytes
TOP = 28.0  # of the arrow that leads back
END = 5  # the column of the draw


@dataclass(frozen=True)
class LoopBox:
    """A box: its name, what it holds, its column and its row."""

    name: str
    about: str
    column: int
    row: int = 0

    @property
    def x(self) -> float:
        """The middle of the box."""
        return FIRST + PITCH * self.column

    @property
    def y(self) -> float:
        """The middle of the box."""
        return ROWS[self.row]


@dataclass(frozen=True)
class Added:
    """What a lab adds: the box between logits and probabilities, the row below it, what is new, and how it advances."""

    middle: tuple[str, str] | None
    below: tuple[tuple[str, str], ...]
    new: tuple[str, ...]
    advance: str = "advance"
    forced: bool = False


MASK = ("mask", "illegal: −∞")
RULES, STATE = ("grammar", "rules"), ("state", "node and stack")
PARTS = {
    "free": Added(None, (), ()),
    "bias": Added(("bias", "plus a constant"), (), ("bias",)),
    "static": Added(MASK, (("list of masks", "one per position"),), ("mask", "list of masks"), "next position"),
    "fsm": Added(MASK, (("transitions", "by hand"), ("state", "what is read")), ("transitions", "state")),
    "index": Added(
        MASK,
        (("regex", "a pattern"), ("machine", "reads bytes"), ("trie", "all tokens"), ("index", "state → tokens")),
        ("machine", "trie", "index"),
    ),
    "schema": Added(
        MASK,
        (("schema", "keys and types"), ("regex", "if finite"), ("machine", "reads bytes"), ("index", "× tokens")),
        ("schema",),
    ),
    "stack": Added(MASK, (RULES, ("PDA", "push and pop"), STATE), ("grammar", "PDA", "state")),
    "chart": Added(MASK, (RULES, ("lexer", "bytes to lexemes"), ("chart", "items per place")), ("lexer", "chart")),
    "split": Added(MASK, (RULES, ("token tables", "one per node"), ("stack", "decides the rest")), ("token tables",)),
    "walk": Added(MASK, (RULES, STATE, ("trie walk", "at each step")), ("trie walk",)),
    "production": Added(
        ("mask", "apply to all rows"),
        (("request", "schema"), ("cache", "or compile"), ("batch", "many rows"), ("packed mask", "beside the pass")),
        ("request", "cache", "batch", "packed mask"),
        "advance, roll back",
    ),
    "jump": Added(MASK, (("machine", "reads bytes"), ("state", "where it is")), ("forced bytes",), forced=True),
}


def draw_loop(part: str = "free") -> Figure:
    """The decoding loop with what one lab adds marked as new.

    Labs 00 to 10 show "free", "bias", "static", "fsm", "index", "schema", "stack", "chart", "split", "walk" and "jump",
    lab 13 shows "production".

    >>> print(draw_loop("fsm").text)
    the decoding loop: text → model → logits → mask → probabilities → draw → text
    the mask comes from: transitions → state
    new: transitions, state
    """
    if part not in PARTS:
        raise SettingError("draw_loop", seen=quoted(part), expected=f"one of {', '.join(PARTS)}")
    chosen = PARTS[part]
    first = (("text", "tokens so far"), ("model", "forward pass"), ("logits", "one per token"))
    loop = [LoopBox(*words, column) for column, words in enumerate(first)]
    loop += [LoopBox(*chosen.middle, 3)] if chosen.middle else []
    loop += [LoopBox("probabilities", "softmax", 4), LoopBox("draw", "one token", END)]
    below = [LoopBox(*words, 4 - len(chosen.below) + place, 1) for place, words in enumerate(chosen.below)]
    boxes = [*loop, *below, *([LoopBox("forced bytes", "no forward pass", 1, 2)] if chosen.forced else [])]
    lines = [*_loop_lines(loop), *_below_lines(below, chosen)]
    said = _say(loop, below, chosen)
    height = ROWS[len({box.row for box in boxes}) - 1] + 36
    shapes = (_draw_box(box, box.name in chosen.new) for box in boxes)
    return Figure(drawing(2 * FIRST + PITCH * END, height, *lines, *shapes, alt=said), said, said)


def _loop_lines(loop: list[LoopBox]) -> Iterable[Element]:
    for one, other in pairwise(loop):
        yield _arrow(f"M{one.x + WIDE / 2},{one.y}H{other.x - WIDE / 2 - 7}", other.x - WIDE / 2, other.y)
    first, last = loop[0], loop[-1]
    up = last.y - HIGH / 2
    yield _arrow(f"M{last.x},{up}V{TOP}H{first.x}V{up - 7}", first.x, up, turned=90)
    yield soft((first.x + last.x) / 2, TOP - 6, "append the token", text_anchor="middle")


def _below_lines(below: list[LoopBox], part: Added) -> Iterable[Element]:
    if not below:
        return
    for one, other in pairwise(below):
        yield _arrow(f"M{one.x + WIDE / 2},{one.y}H{other.x - WIDE / 2 - 7}", other.x - WIDE / 2, other.y)
    last, bottom = below[-1], ROWS[0] + HIGH / 2
    yield _arrow(f"M{last.x},{last.y - HIGH / 2}V{bottom + 7}", last.x, bottom, turned=-90)
    drawn, side = FIRST + PITCH * END, last.x + WIDE / 2
    yield _arrow(f"M{drawn},{bottom}V{last.y}H{side + 7}", side, last.y, turned=180)
    yield soft((drawn + side) / 2, last.y - 7, part.advance, text_anchor="middle")
    if part.forced:
        box, text = LoopBox("", "", 1, 2), LoopBox("", "", 0)
        start, right = last.y + HIGH / 2, box.x + WIDE / 2
        yield _arrow(f"M{last.x},{start}V{box.y}H{right + 7}", right, box.y, turned=180)
        yield soft((last.x + right) / 2, box.y - 7, "only one way on", text_anchor="middle")
        yield _arrow(f"M{box.x - WIDE / 2},{box.y}H{text.x}V{bottom + 7}", text.x, bottom, turned=-90)


def _arrow(path: str, x: float, y: float, turned: int = 0) -> Element:
    """A line with a head that ends at a point; the head points right, turned by some degrees."""
    line = node("path", d=path, fill="none", stroke="var(--gv-soft)", stroke_width=1.6)
    return line + node(
        "path", d="M0,0l-8,-4v8z", fill="var(--gv-soft)", transform=f"translate({x:g} {y:g}) rotate({turned})"
    )


def _draw_box(box: LoopBox, new: bool) -> Element:
    line = {"stroke": "var(--gv-orange)", "stroke_width": 3} if new else {"stroke": "var(--gv-soft)"}
    place = {"x": box.x - WIDE / 2, "y": box.y - HIGH / 2, "width": WIDE, "height": HIGH, "rx": 6}
    shape = node("rect", **place, fill="var(--gv-card)", **line)
    name = write(box.x, box.y - 3, box.name, 13, text_anchor="middle", font_weight="bold")
    about = soft(box.x, box.y + 13, box.about, 11, text_anchor="middle")
    mark: Any = {"text_anchor": "end", "font_weight": "bold", "fill": "var(--gv-orange)"}
    return shape + name + about + (write(box.x + WIDE / 2, box.y - HIGH / 2 - 5, "new", 11, **mark) if new else NOTHING)


def _say(loop: list[LoopBox], below: list[LoopBox], part: Added) -> str:
    lines = [f"the decoding loop: {' → '.join(box.name for box in loop)} → text"]
    if below:
        lines.append(f"the mask comes from: {' → '.join(box.name for box in below)}")
    if part.forced:
        lines.append("where only one way is left: state → forced bytes → text, without the model")
    return "\n".join([*lines, *([f"new: {', '.join(part.new)}"] if part.new else [])])
