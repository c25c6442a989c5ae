"""What the shapes of a diagram mean, below it: only those that are there."""

from __future__ import annotations

from collections.abc import Iterator

from guidedviz.machines.sketch import Sketch
from guidedviz.machines.visible import counted
from guidedviz.views.figure import node, write
from guidedviz.views.ink import FEW
from guidedviz.views.light import Light
from guidedviz.views.spots import Diagram

EDGE = 14.0

NARROW = 620.0  # a legend may be as wide, though the diagram is not
LINE = 20.0


def write_legend(diagram: Diagram, light: Light, width: float) -> tuple[str, float, float]:
    """The legend, how wide the picture is at least, and how far down its last line is."""
    limit, x, y, parts = max(width, NARROW), 0.0, 0.0, []
    for icon, words in _signs(diagram, light):
        long = 24 + 6.3 * len(words) + 20
        if x and x + long > limit:
            x, y = 0.0, y + LINE
        parts.append(node("g", *icon, transform=f"translate({x:g} {y:g})", class_="gv-machine"))
        parts.append(write(x + 24, y + 4, words, 12, fill="var(--gv-soft)"))
        x, width = x + long, max(width, x + long + EDGE)
    return "".join(parts), width, y


def _signs(diagram: Diagram, light: Light) -> Iterator[tuple[list[str], str]]:
    sketch, dots = diagram.sketch, [state for state, spot in diagram.spots.items() if spot.dot]
    line = node("path", d="M1,0h17", class_="gv-line")
    if sketch.initial in diagram.spots:
        yield (
            [line, node("circle", cx=3, cy=0, r=3, class_="gv-head"), _tip()],
            "where a rule begins" if diagram.blocks else "start",
        )
    if any(state in sketch.accepting for state in diagram.spots):
        yield (
            [_disc(7), node("circle", cx=9, cy=0, r=4.4, class_="gv-ring")],
            "the rule may end here" if diagram.blocks else "may end here",
        )
    if light.now:
        yield [node("g", _disc(5.5), class_="gv-lit")], "now"
    if light.arrows:
        yield [node("g", line, _tip(), class_="gv-on")], "taken" + ", byte by byte" * bool(light.numbers)
    if light.cross:
        yield [node("g", node("path", d="M4,-5l10,10m0,-10l-10,10"), class_="gv-cross")], "died here"
    if any(not arrow.ranges and not arrow.call for arrow in sketch.arrows):
        yield [node("g", line, _tip(), class_="gv-free")], "ε reads nothing"
    yield from _call_signs(diagram, light)
    if any(sketch.is_chain(arrow) for arrow in sketch.arrows):
        yield [node("g", line, _tip(), class_="gv-chain")], say_thick(sketch)
    if dots:
        yield (
            [node("g", node("circle", cx=9, cy=0, r=3.4, class_="gv-disc"), class_="gv-dot")],
            "a state inside a run or a character",
        )
    if diagram.more:
        yield [node("g", _disc(7), class_="gv-more")], "has neighbours that are not drawn"


def say_thick(sketch: Sketch) -> str:
    """What a thick arrow is."""
    folded = f"; {counted(len(sketch.folded), 'state')} inside" if sketch.folded else ""
    return f"thick: bytes in a row, nothing to decide in between{folded}"


def _disc(radius: float) -> str:
    return node("circle", cx=9, cy=0, r=radius, class_="gv-disc")


def _tip() -> str:
    return node("polygon", points="19,0 12,-3.2 12,3.2", class_="gv-head")


def _call_signs(diagram: Diagram, light: Light) -> Iterator[tuple[list[str], str]]:
    drawn = light.calls or light.last or len(diagram.jumps) <= FEW
    frame = node("rect", x=0, y=-7, width=18, height=14, class_="gv-box")
    box = frame + node("path", d="M3,-7v14M15,-7v14", class_="gv-box")
    if any(arrow.call for arrow in diagram.sketch.arrows):
        yield [node("g", box, class_="gv-call")], "calls a rule"
    if light.calls:
        yield [node("g", box, class_="gv-call gv-open")], "open: on the stack"
    if light.last:
        yield [node("g", box, class_="gv-call gv-last")], "was the last thing to do: not on the stack"
    if diagram.jumps and drawn:
        yield [_way("push")], "push: to the rule's start"
        yield [_way("pop")], "pop: back from its end"
    if light.back:
        yield [node("g", _disc(5.5), class_="gv-back")], "where it goes on"


def _way(kind: str) -> str:
    tip = node("polygon", points="19,0 12,-3.2 12,3.2", class_=f"gv-{kind}-head")
    return node("path", d="M0,0h13", class_=f"gv-{kind}") + tip
