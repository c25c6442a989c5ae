"""The rules and calls of a grammar as SVG: one frame per rule, one box per call, and the curves there and back.

The page highlights a call, `data-arrow="node:rule"`, with the class `gv-open`, or `gv-last` for a last call, which is
not on the stack. A rule, `data-rule="name"`, is `gv-open` while it is on the stack and `gv-lit` while it is current.
"""

from __future__ import annotations

from collections.abc import Iterator

from guidedviz.markup import Element, node
from guidedviz.views.figure import wide, write
from guidedviz.views.layout.bezier import head, write_path
from guidedviz.views.layout.parts import Diagram, Label
from guidedviz.views.machine.highlight import Highlight, arrow_key

CALL_STYLE = """
.gv-machine .gv-frame { fill: var(--gv-page); stroke: var(--gv-line); stroke-width: 1.2; }
.gv-machine .gv-rule { fill: var(--gv-soft); font-weight: 700; }
.gv-machine .gv-block.gv-open .gv-frame { stroke: var(--gv-blue); stroke-width: 1.8; }
.gv-machine .gv-block.gv-open .gv-rule { fill: var(--gv-blue); }
.gv-machine .gv-block.gv-lit .gv-frame { stroke: var(--lit); stroke-width: 2.6; }
.gv-machine .gv-block.gv-lit .gv-rule { fill: var(--lit); }
.gv-machine .gv-count { fill: var(--gv-soft); }
.gv-machine .gv-block.gv-open .gv-count { fill: var(--gv-blue); }
.gv-machine .gv-block.gv-lit .gv-count { fill: var(--lit); font-weight: 700; }
.gv-machine .gv-box { fill: var(--gv-card); stroke: var(--gv-blue); stroke-width: 1.2; }
.gv-machine .gv-call .gv-label { stroke: none; }
.gv-machine .gv-times { fill: var(--gv-blue); font-weight: 700; }
.gv-machine .gv-call.gv-open rect.gv-box { fill: var(--gv-blue); }
.gv-machine .gv-call.gv-open path.gv-box { stroke: var(--gv-on); }
.gv-machine .gv-call.gv-open .gv-label { fill: var(--gv-on); font-weight: 700; }
.gv-machine .gv-call.gv-last .gv-box { stroke-width: 2.4; }
.gv-machine .gv-back .gv-disc { stroke: var(--gv-blue); stroke-width: 3; }
.gv-machine .gv-jumps { opacity: 0; pointer-events: none; }
.gv-machine.gv-few .gv-jumps { opacity: 0.35; }
.gv-machine .gv-call:is(.gv-open, .gv-last, :hover) .gv-jumps { opacity: 1; }
.gv-machine .gv-call.gv-last:not(:hover) :is(.gv-pop, .gv-pop-head) { display: none; }
.gv-machine .gv-call.gv-last:not(:hover) .gv-push { stroke-width: 1.1; }
.gv-machine .gv-push { fill: none; stroke: var(--gv-blue); stroke-width: 1.7; stroke-dasharray: 7 4; }
.gv-machine .gv-pop { fill: none; stroke: var(--gv-green); stroke-width: 2.2; stroke-dasharray: 0.1 4.4;
  stroke-linecap: round; }
.gv-machine .gv-push-head { fill: var(--gv-blue); }
.gv-machine .gv-pop-head { fill: var(--gv-green); }
"""


def write_blocks(diagram: Diagram, lit: Highlight) -> Iterator[Element]:
    """The frames of the rules, to be drawn first."""
    counters = dict(diagram.sketch.repeats) | dict(lit.counts)
    for block in diagram.blocks:
        kind = "gv-block" + " gv-open" * (block.name in lit.opened) + " gv-lit" * (block.name in lit.rules)
        size = {"x": block.x, "y": block.y, "width": block.width, "height": block.height, "rx": 8}
        name = write(block.x + 11, block.y + 18, block.name, 13, mono=True, class_="gv-rule")
        parts = [node("rect", **size, class_="gv-frame"), name]
        if block.name in counters:
            x = block.x + 23 + wide(block.name, 13)
            parts.append(write(x, block.y + 18, counters[block.name], 12, class_="gv-count"))
        yield node("g", *parts, class_=kind, data_rule=block.name)


def write_call(diagram: Diagram, n: int, label: Label, lit: Highlight) -> Element:
    """The arrow of a call, a box on it with the rule's name, and the curves to the rule and back."""
    arrow, (curve, _) = diagram.sketch.arrows[n], diagram.curves[n]
    key, path = arrow_key(arrow), write_path(curve)
    times, last = dict(lit.calls).get(key, 0), key in lit.last
    names = f"{diagram.sketch.names[arrow.source]} → {diagram.sketch.names[arrow.target]}"
    parts = [node("title", f"{names}: calls {arrow.call}"), *_ways(diagram, n)]
    parts += [node("path", d=path, class_="gv-reach"), node("path", d=path, class_="gv-line")]
    parts += [node("polygon", points=head(curve), class_="gv-head"), _box(label, times)]
    kind = "gv-arrow gv-call" + " gv-open" * bool(times) + " gv-last" * (last and not times)
    return node("g", *parts, class_=kind, data_arrow=key)


def _box(label: Label, times: int) -> Element:
    """A box with double sides, as for a subroutine in a flow chart, and how often the call is open."""
    half = wide(label.words, 12) / 2 + 9
    x, y = label.x - half, label.y - 10
    box = node("rect", x=x, y=y, width=2 * half, height=20, class_="gv-box")
    sides = node("path", d=f"M{x + 4:.1f},{y:.1f}v20M{x + 2 * half - 4:.1f},{y:.1f}v20", class_="gv-box")
    words = write(label.x, label.y + 4, label.words, 12, mono=True, class_="gv-label", text_anchor="middle")
    more = write(x + 2 * half + 2, y - 1, f"×{times}" if times > 1 else "", 12, class_="gv-times")
    return box + sides + words + more


def _ways(diagram: Diagram, n: int) -> list[Element]:
    """The curves to a rule's start (dashed) and from its ends (dotted); none for a rule that is not drawn."""
    jumps = diagram.jumps.get(n)
    if not jumps:
        return []
    ways = [("gv-push", jumps.call), *(("gv-pop", curve) for curve in jumps.returns)]
    drawn = [
        node("path", d=write_path(curve), class_=kind) + node("polygon", points=head(curve), class_=f"{kind}-head")
        for kind, curve in ways
    ]
    return [node("g", *drawn, class_="gv-jumps")]
