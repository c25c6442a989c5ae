"""A diagram with its highlights as SVG, for the still picture and for the live page.

Highlights are classes, and machine.css is their look. The page highlights a state (`data-state`), an arrow
(`data-arrow`) and a rule (`data-rule`). A call has the class `gv-open`, or `gv-last` for a last call, which is not on
the stack; a rule is `gv-open` while it is on the stack and `gv-lit` while it is current.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from guidedviz.errors import shorten
from guidedviz.markup import Element, node
from guidedviz.views.figure import rect, wide, write
from guidedviz.views.layout.arrow_words import say_arrow_in_full
from guidedviz.views.layout.curves import Curve, head, straight, write_path
from guidedviz.views.layout.diagram import Diagram, Label, Spot
from guidedviz.views.layout.room import call_box
from guidedviz.views.layout.sketch import Arrow, Sketch
from guidedviz.views.layout.states import FREE_END, short_name
from guidedviz.views.machine.highlight import UNLIT, Highlight, arrow_ends, arrow_key

STYLE = Path(__file__).with_name("machine.css").read_text(encoding="utf-8")
FEW = 6  # with so few calls the curves of all are drawn faintly; else only those of open calls
GROUPS = ("blue", "green", "gold", "orange", "sky")


def write_diagram(diagram: Diagram, lit: Highlight = UNLIT) -> Element:
    """The diagram as one element; a drawing that contains it needs STYLE as well."""
    firsts = [block.nodes[0] for block in diagram.blocks] or [diagram.sketch.initial]
    starts = (_start(diagram.spots[first]) for first in firsts if first in diagram.spots)
    lines = (_labelled(diagram, label, lit) for label in diagram.labels)
    states = (_state(diagram, state, spot, lit) for state, spot in sorted(diagram.spots.items()))
    cross = (_cross(diagram.spots[at], byte) for at, byte in [lit.cross] if at in diagram.spots) if lit.cross else ()
    few = " gv-few" if len(diagram.jumps) <= FEW else ""
    return node("g", *write_blocks(diagram, lit), *starts, *lines, *states, *cross, class_="gv-machine" + few)


def _labelled(diagram: Diagram, label: Label, lit: Highlight) -> Element:
    """One arrow with its label, or one line with several arrows."""
    if len(label.arrows) == 1:
        arrow = diagram.sketch.arrows[label.arrows[0]]
        return (write_call if arrow.call else _arrow)(diagram, label.arrows[0], lit, label)
    inside = [_arrow(diagram, n, lit) for n in label.arrows]
    on = any(arrow_key(diagram.sketch.arrows[n]) in lit.arrows for n in label.arrows)
    kind = "gv-run" + " gv-bundle" * label.bundle + " gv-on" * on
    return node("g", *inside, _write_label(label), class_=kind)


def _arrow(diagram: Diagram, n: int, lit: Highlight, label: Label | None = None) -> Element:
    arrow, (curve, headed) = diagram.sketch.arrows[n], diagram.curves[n]
    parts = [_title(diagram.sketch, arrow), *_line(curve, headed)]
    parts += [_write_label(label)] if label else []
    if n in diagram.counts:
        x, y = diagram.counts[n]
        said = _numbers(arrow, dict(lit.numbers))
        parts.append(node("text", said, x=x, y=y, class_="gv-nth", text_anchor="middle", font_size=12))
    kind = "gv-arrow" + " gv-free" * (not arrow.ranges) + " gv-chain" * diagram.sketch.is_chain(arrow)
    kind += " gv-on" * (arrow_key(arrow) in lit.arrows)
    return node("g", *parts, class_=kind, data_arrow=arrow_key(arrow))


def _line(curve: Curve, headed: bool) -> list[Element]:
    path = write_path(curve)
    parts = [node("path", d=path, class_="gv-reach"), node("path", d=path, class_="gv-line")]
    return parts + [node("polygon", points=head(curve), class_="gv-head")] * headed


def _numbers(arrow: Arrow, numbers: Mapping[tuple[int, int], str]) -> str:
    """The numbers of the bytes that took an arrow; for a chain the first and the last."""
    last = (arrow.through[-1] if arrow.through else arrow.source), arrow.target
    return " … ".join(dict.fromkeys(numbers[pair] for pair in (arrow_ends(arrow), last) if pair in numbers))


def _title(sketch: Sketch, arrow: Arrow) -> Element:
    names = f"{sketch.names[arrow.source]} → {sketch.names[arrow.target]}"
    return node("title", f"{names}: {say_arrow_in_full(arrow)}")


def _write_label(label: Label) -> Element:
    title = node("title", label.full)
    words = write(label.x, label.y + 3, label.words, 12, mono=True, class_="gv-label", text_anchor="middle")
    return node("g", title, words)


def _state(diagram: Diagram, state: int, spot: Spot, lit: Highlight) -> Element:
    sketch, ends = diagram.sketch, state in diagram.sketch.accepting
    kind = "gv-state" + " gv-dot" * spot.dot + " gv-may-end" * ends + " gv-more" * (state in diagram.more)
    kind += " gv-lit" if state in lit.now else " gv-met" if state in lit.met else ""
    kind += " gv-back" * (state in lit.back)
    parts = [node("title", _about(sketch, state)), _pill(spot, 0.0, "gv-disc")]
    parts += [_pill(spot, 3.5, "gv-ring")] * ends
    if not spot.dot:
        name = short_name(sketch, state)
        parts.append(write(spot.x, spot.y + 4, name, 12, class_="gv-name", text_anchor="middle"))
    parts += [_tag(spot, n, title) for n, (title, states) in enumerate(sketch.groups) if state in states]
    return node("g", *parts, class_=kind, data_state=state)


def _pill(spot: Spot, inset: float, kind: str) -> Element:
    rx, ry = spot.rx - inset, spot.ry - inset
    return rect(spot.x - rx, spot.y - ry, 2 * rx, 2 * ry, ry, class_=kind)


def _about(sketch: Sketch, state: int) -> str:
    said = [sketch.names[state]] + ["the start"] * (state == sketch.initial)
    said += [sketch.ring] * (state in sketch.accepting)
    return " · ".join(said + [title for title, states in sketch.groups if state in states])


def _tag(spot: Spot, number: int, title: str) -> Element:
    """The mark of a group: its colour and its first letters."""
    words = shorten(title, 3)
    x, y, half = spot.x + spot.rx * 0.8, spot.y - spot.ry * 0.9, max(9.0, wide(words, 12) / 2 + 4)
    colour = f"var(--gv-{GROUPS[number % len(GROUPS)]})"
    back = rect(x - half, y - 9, 2 * half, 18, 9, fill="var(--gv-page)", stroke=colour, stroke_width=2.4)
    return back + write(x, y + 4, words, 12, class_="gv-tag", text_anchor="middle")


def _start(spot: Spot) -> Element:
    line = straight((spot.x - spot.rx - FREE_END, spot.y), (spot.x - spot.rx, spot.y))
    dot = node("circle", cx=line[0][0], cy=spot.y, r=3.2, class_="gv-head")
    path = node("path", d=write_path(line), class_="gv-line")
    return node("g", dot, path, node("polygon", points=head(line), class_="gv-head"), class_="gv-start")


def _cross(spot: Spot, byte: str) -> Element:
    x, y = spot.x + spot.rx + 9, spot.y - spot.ry - 5
    path = node("path", d=f"M{x - 5:.1f},{y - 5:.1f}l10,10m0,-10l-10,10")
    return node("g", path, write(x + 10, y + 4, byte, 12, mono=True, fill="var(--gv-orange)"), class_="gv-cross")


# --- the rules and calls of a grammar ---


def write_blocks(diagram: Diagram, lit: Highlight) -> Iterator[Element]:
    """The frames of the rules, to be drawn first."""
    counters = dict(diagram.sketch.repeats) | dict(lit.counts)
    for block in diagram.blocks:
        kind = "gv-block" + " gv-open" * (block.name in lit.opened) + " gv-lit" * (block.name in lit.rules)
        name = write(block.x + 11, block.y + 18, block.name, 13, mono=True, class_="gv-rule")
        parts = [rect(block.x, block.y, block.width, block.height, 8, class_="gv-frame"), name]
        if block.name in counters:
            x = block.x + 23 + wide(block.name, 13)
            parts.append(write(x, block.y + 18, counters[block.name], 12, class_="gv-count"))
        yield node("g", *parts, class_=kind, data_rule=block.name)


def write_call(diagram: Diagram, n: int, lit: Highlight, label: Label) -> Element:
    """The arrow of a call, a box on it with the rule's name, and the curves to the rule and back."""
    arrow, (curve, _) = diagram.sketch.arrows[n], diagram.curves[n]
    key = arrow_key(arrow)
    times, last = dict(lit.calls).get(key, 0), key in lit.last
    parts = [_title(diagram.sketch, arrow), *_ways(diagram, n), *_line(curve, True), _box(label, times)]
    kind = "gv-arrow gv-call" + " gv-open" * bool(times) + " gv-last" * (last and not times)
    return node("g", *parts, class_=kind, data_arrow=key)


def _box(label: Label, times: int) -> Element:
    """A box with double sides, as for a subroutine in a flow chart, and how often the call is open."""
    x, y, right, low = call_box(label)
    box = rect(x, y, right - x, low - y, class_="gv-box")
    sides = node("path", d=f"M{x + 4:.1f},{y:.1f}v20M{right - 4:.1f},{y:.1f}v20", class_="gv-box")
    words = write(label.x, label.y + 4, label.words, 12, mono=True, class_="gv-label", text_anchor="middle")
    more = write(right + 2, y - 1, f"×{times}" if times > 1 else "", 12, class_="gv-times")
    return box + sides + words + more


def _ways(diagram: Diagram, n: int) -> list[Element]:
    """The curves to a rule's start (dashed) and from its ends (dotted); none for a rule that is not drawn."""
    if n not in diagram.jumps:
        return []
    jumps = diagram.jumps[n]
    drawn = []
    for kind, curve in [("gv-push", jumps.call), *(("gv-pop", curve) for curve in jumps.returns)]:
        drawn.append(node("path", d=write_path(curve), class_=kind))
        drawn.append(node("polygon", points=head(curve), class_=f"{kind}-head"))
    return [node("g", *drawn, class_="gv-jumps")]
