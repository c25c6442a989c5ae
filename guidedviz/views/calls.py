"""The calls of a grammar as SVG: a frame a rule, a box on the line of a call, the ways there and back.

A page lights an open call by the class `gv-open` on its element, `data-arrow="node:rule"`; its ways there and back are
inside that. A call that was the last thing of its rule is not on the stack: it is `gv-last`. The frame of a rule,
`data-rule="name"`, is `gv-open` while the rule is on the stack and `gv-lit` while one is in it.
"""

from __future__ import annotations

import html
from collections.abc import Iterator

from guidedviz.views.bezier import head, write_path
from guidedviz.views.figure import node, wide, write
from guidedviz.views.light import Light, arrow_key
from guidedviz.views.spots import Block, Diagram, Label

CALL_STYLE = """
.gv-machine .gv-frame { fill: var(--gv-page); stroke: var(--gv-line); stroke-width: 1.2; }
.gv-machine .gv-rule { fill: var(--gv-soft); font-weight: 700; }
.gv-machine .gv-block.gv-open .gv-frame { stroke: var(--gv-blue); stroke-width: 1.8; }
.gv-machine .gv-block.gv-open .gv-rule { fill: var(--gv-blue); }
.gv-machine .gv-block.gv-lit .gv-frame { stroke: var(--lit); stroke-width: 2.6; }
.gv-machine .gv-block.gv-lit .gv-rule { fill: var(--lit); }
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


def write_blocks(diagram: Diagram, light: Light) -> Iterator[str]:
    """The frames of the rules, to lie under everything."""
    for block in diagram.blocks:
        kind = "gv-block" + " gv-open" * (block.name in light.opened) + " gv-lit" * (block.name in light.rules)
        yield node("g", _frame(block), _name(block), class_=kind, data_rule=block.name)


def _frame(block: Block) -> str:
    return node("rect", x=block.x, y=block.y, width=block.width, height=block.height, rx=8, class_="gv-frame")


def _name(block: Block) -> str:
    return write(block.x + 11, block.y + 18, block.name, 13, mono=True, class_="gv-rule")


def write_call(diagram: Diagram, n: int, label: Label, light: Light) -> str:
    """The line of a call, a box on it with the rule's name, and the ways of the call."""
    arrow, (curve, _) = diagram.sketch.arrows[n], diagram.curves[n]
    key, path = arrow_key(arrow), write_path(curve)
    times, last = dict(light.calls).get(key, 0), key in light.last
    names = f"{diagram.sketch.names[arrow.source]} → {diagram.sketch.names[arrow.target]}"
    parts = [node("title", html.escape(f"{names}: calls {arrow.call}")), *_ways(diagram, n)]
    parts += [node("path", d=path, class_="gv-reach"), node("path", d=path, class_="gv-line")]
    parts += [node("polygon", points=head(curve), class_="gv-head"), _box(label, times)]
    return node(
        "g",
        *parts,
        class_="gv-arrow gv-call" + " gv-open" * bool(times) + " gv-last" * (last and not times),
        data_arrow=key,
    )


def _box(label: Label, times: int) -> str:
    """A box with double sides, as a subroutine in a flow chart; how often the call is open stands at its corner."""
    half = wide(label.words, 12) / 2 + 9
    x, y = label.x - half, label.y - 10
    box = node("rect", x=x, y=y, width=2 * half, height=20, class_="gv-box")
    sides = node("path", d=f"M{x + 4:.1f},{y:.1f}v20M{x + 2 * half - 4:.1f},{y:.1f}v20", class_="gv-box")
    words = write(label.x, label.y + 4, label.words, 12, mono=True, class_="gv-label", text_anchor="middle")
    more = write(x + 2 * half + 2, y - 1, f"×{times}" if times > 1 else "", 11, class_="gv-times")
    return box + sides + words + more


def _ways(diagram: Diagram, n: int) -> list[str]:
    """Dashed to the called rule's start, dotted from its ends to the node after; there are none to a rule left out."""
    jumps = diagram.jumps.get(n)
    if not jumps:
        return []
    ways = [("gv-push", jumps.call), *(("gv-pop", curve) for curve in jumps.returns)]
    drawn = [
        node("path", d=write_path(curve), class_=kind) + node("polygon", points=head(curve), class_=f"{kind}-head")
        for kind, curve in ways
    ]
    return [node("g", *drawn, class_="gv-jumps")]
