"""A diagram with its highlights as SVG, for the still picture and for the live page.

Highlights are classes, and machine.css is their look. The page highlights a state (`data-state`), an arrow
(`data-arrow`) and a rule (`data-rule`). A call has the class `gv-open`, or `gv-last` for a last call, which is not on
the stack; a rule is `gv-open` while it is on the stack and `gv-lit` while it is current.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from guidedviz.errors import shorten
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import NEAR_EDGE, centred, circle_at, path_of, rect, ruled, wide, write
from guidedviz.views.layout.curves import Curve, head, straight, write_path
from guidedviz.views.layout.diagram import Diagram, Label, Spot
from guidedviz.views.layout.lay_out import CHIP_EDGE, FREE_END, short_name
from guidedviz.views.layout.room import call_box
from guidedviz.views.layout.sketch import CUT_GROUP, Arrow, Sketch, say_arrow_in_full
from guidedviz.views.machine.highlight import UNLIT, Highlight, arrow_ends, arrow_key
from guidedviz.views.theme import paint
from guidedviz.views.words import characters

STYLE = Path(__file__).with_name("machine.css").read_text(encoding="utf-8")
FEW_CALLS = 6  # the curves of so many are all drawn faintly; else only those of open calls
CUT_STYLE = Path(__file__).with_name("cut.css").read_text(encoding="utf-8")  # of a drawing with a part that is cut
SMALL_SIGNS = tuple(".,:;")  # as labels they are written large: a point and a comma must be told apart
GROUP_COLOURS = ("blue", "green", "gold", "ink", "sky")


def write_diagram(diagram: Diagram, lit: Highlight = UNLIT) -> Element:
    """The diagram as one element; a drawing that contains it needs STYLE as well."""
    spots = diagram.spots
    parts = [*write_blocks(diagram, lit)]
    starts = [block.nodes[0] for block in diagram.blocks]
    starts = starts or [diagram.sketch.initial]
    parts += [_write_start(spots[start]) for start in starts if start in spots]
    parts += [_write_labelled(diagram, label, lit) for label in diagram.labels]
    parts += [_write_state(diagram, state, lit) for state in sorted(spots)]
    if lit.cross and lit.cross[0] in spots:
        state, byte = lit.cross
        parts.append(_write_cross(spots[state], byte))
    few = len(diagram.jumps) <= FEW_CALLS
    return node("g", *parts, class_=classes("gv-machine", {"gv-few": few}))


def classes(first: str, others: Mapping[str, object]) -> str:
    """The first class, and those of the others of which the value is true.

    >>> classes("gv-state", {"gv-dot": False, "gv-lit": True})
    'gv-state gv-lit'
    """
    held = [name for name, holds in others.items() if holds]
    return " ".join([first, *held])


# --- lines and their labels ---


def _write_labelled(diagram: Diagram, label: Label, lit: Highlight) -> Element:
    """One arrow with its label, or one line with several arrows."""
    first = label.arrows[0]
    if label.call:
        return write_call(diagram, first, lit, label)
    if len(label.arrows) == 1:
        return _write_arrow(diagram, first, lit, _write_label(label))
    inside = [_write_arrow(diagram, n, lit) for n in label.arrows]
    keys = [arrow_key(diagram.sketch.arrows[n]) for n in label.arrows]
    kinds = {"gv-bundle": label.bundle, "gv-on": not lit.arrows.isdisjoint(keys)}
    return node("g", *inside, _write_label(label), class_=classes("gv-run", kinds))


def _write_arrow(diagram: Diagram, n: int, lit: Highlight, *label: Element) -> Element:
    arrow = diagram.sketch.arrows[n]
    parts = [_write_title(diagram.sketch, arrow), *_write_curve(diagram, n), *label]
    if n in diagram.number_places:
        x, y = diagram.number_places[n]
        said = _say_numbers(arrow, lit.numbers)
        look = {"class_": "gv-nth", "text_anchor": "middle", "font_size": 12}
        parts.append(node("text", said, x=x, y=y, **look))
    key = arrow_key(arrow)
    kinds = {"gv-free": not arrow.ranges, "gv-chain": diagram.sketch.is_chain(arrow)}
    kinds["gv-on"] = key in lit.arrows
    return node("g", *parts, class_=classes("gv-arrow", kinds), data_arrow=key)


def _write_curve(diagram: Diagram, n: int) -> list[Element]:
    """The line of an arrow, with a head unless it ends at a dot."""
    curve = diagram.curves[n]
    path = write_path(curve)
    parts = [path_of(path, class_="gv-reach"), path_of(path, class_="gv-line")]
    if not diagram.spots[diagram.sketch.arrows[n].target].dot:
        parts.append(_write_head(curve, "gv-head"))
    return parts


def _write_head(curve: Curve, kind: str) -> Element:
    return node("polygon", points=head(curve), class_=kind)


def _say_numbers(arrow: Arrow, numbers: Mapping[tuple[int, int], str]) -> str:
    """The numbers of the bytes that took an arrow; for a chain the first and the last."""
    last = arrow.through[-1] if arrow.through else arrow.source
    pairs = arrow_ends(arrow), (last, arrow.target)
    said = [numbers[pair] for pair in pairs if pair in numbers]
    return " … ".join(dict.fromkeys(said))


def _write_title(sketch: Sketch, arrow: Arrow) -> Element:
    source = sketch.names[arrow.source]
    target = sketch.names[arrow.target]
    return node("title", f"{source} → {target}: {say_arrow_in_full(arrow)}")


def _write_label(label: Label) -> Element:
    size = 20 if label.words in SMALL_SIGNS else 12
    words = _write_middle(label.x, label.y + 3, label.words, "gv-label", mono=True, size=size)
    parts = [node("title", label.full), words]
    if label.chip:
        half = wide(label.words, 12) / 2 + CHIP_EDGE
        parts.insert(1, rect(label.x - half, label.y - 9, 2 * half, 17, 8, class_="gv-chip"))
    return node("g", *parts)


def _write_middle(x: float, y: float, words: str, kind: str, mono: bool = False, size: float = 12) -> Element:
    """A short text around a place."""
    return write(x, y, words, size, mono=mono, class_=kind, text_anchor="middle")


# --- states ---


def _write_state(diagram: Diagram, state: int, lit: Highlight) -> Element:
    sketch = diagram.sketch
    spot = diagram.spots[state]
    groups = [title for title, states in sketch.groups if state in states]
    is_end = state in sketch.accepting
    parts = [_about_state(sketch, state, groups), _write_pill(spot, 0.0, "gv-disc")]
    if is_end:
        parts.append(_write_pill(spot, 3.5, "gv-ring"))
    if not spot.dot:
        name = short_name(sketch, state)
        parts.append(_write_middle(spot.x, spot.y + 4, name, "gv-name"))
    for number, (title, states) in enumerate(sketch.groups):
        if state in states - sketch.below_cut:
            parts.append(_write_tag(spot, number, title))
    kinds = {"gv-dot": spot.dot, "gv-may-end": is_end}
    kinds["gv-in-name"] = spot.in_name and state not in lit.now
    kinds["gv-more"] = state in diagram.more
    kinds["gv-lit"] = state in lit.now
    kinds["gv-met"] = state in lit.met - lit.now
    kinds["gv-back"] = state in lit.back
    kinds["gv-cut"] = state in sketch.cut
    kinds["gv-below-cut"] = state in sketch.below_cut
    return node("g", *parts, class_=classes("gv-state", kinds), data_state=state)


def _write_pill(spot: Spot, inset: float, kind: str) -> Element:
    rx = spot.rx - inset
    ry = spot.ry - inset
    return rect(spot.x - rx, spot.y - ry, 2 * rx, 2 * ry, ry, class_=kind)


def _about_state(sketch: Sketch, state: int, groups: list[str]) -> Element:
    said = [sketch.names[state]]
    if state == sketch.initial:
        said.append("the start")
    if state in sketch.accepting:
        said.append(sketch.ring_means)
    return node("title", " · ".join(said + groups))


def _write_tag(spot: Spot, number: int, title: str) -> Element:
    """The mark of a group: its colour and its first letters."""
    words = shorten(title, 3)
    x = spot.x + spot.rx * 0.8
    y = spot.y - spot.ry * 0.9
    half = max(9.0, wide(words, 12) / 2 + 4)
    colour = "magenta"
    if title != CUT_GROUP:
        colour = GROUP_COLOURS[number % len(GROUP_COLOURS)]
    line = {"stroke": paint(colour), "stroke_width": 2.4}
    back = rect(x - half, y - 9, 2 * half, 18, 9, fill="var(--gv-page)", **line)
    return back + _write_middle(x, y + 4, words, "gv-tag")


def _write_start(spot: Spot) -> Element:
    left = spot.x - spot.rx
    line = straight((left - FREE_END, spot.y), (left, spot.y))
    dot = circle_at(left - FREE_END, spot.y, 3.2, class_="gv-head")
    path = path_of(write_path(line), class_="gv-line")
    return node("g", dot, path, _write_head(line, "gv-head"), class_="gv-start")


def _write_cross(spot: Spot, byte: str) -> Element:
    x = spot.x + spot.rx + 9
    y = spot.y - spot.ry - 5
    corner = f"M{x - 5:.1f},{y - 5:.1f}"
    path = path_of(f"{corner}l10,10m0,-10l-10,10")
    words = write(x + 10, y + 4, byte, 12, mono=True, fill="var(--gv-magenta)")
    return node("g", path, words, class_="gv-cross")


# --- the rules and calls of a grammar ---


def write_blocks(diagram: Diagram, lit: Highlight) -> Iterator[Element]:
    """The frames of the rules, to be drawn first."""
    counters = dict(diagram.sketch.repeats) | dict(lit.counts)
    for block in diagram.blocks:
        base = block.y + 18
        frame = rect(block.x, block.y, block.width, block.height, 8, class_="gv-frame")
        parts = [frame, write(block.x + 11, base, block.name, mono=True, class_="gv-rule")]
        if block.name in counters:
            x = block.x + 23 + wide(block.name)
            parts.append(write(x, base, counters[block.name], 12, class_="gv-count"))
        kinds = {"gv-open": block.name in lit.opened, "gv-lit": block.name in lit.rules}
        yield node("g", *parts, class_=classes("gv-block", kinds), data_rule=block.name)


def write_call(diagram: Diagram, n: int, lit: Highlight, label: Label) -> Element:
    """The arrow of a call, a box on it with the rule's name, and the curves to the rule and back."""
    arrow = diagram.sketch.arrows[n]
    key = arrow_key(arrow)
    times = dict(lit.calls).get(key, 0)
    parts = [_write_title(diagram.sketch, arrow), *_write_jumps(diagram, n)]
    parts += _write_curve(diagram, n)
    parts.append(_write_box(label, times))
    kinds = {"gv-open": times, "gv-last": key in lit.last and not times}
    return node("g", *parts, class_=classes("gv-arrow gv-call", kinds), data_arrow=key)


def _write_box(label: Label, times: int) -> Element:
    """A box with double sides, as for a subroutine in a flow chart, and how often the call is open."""
    x, y, right, low = call_box(label)
    box = rect(x, y, right - x, low - y, class_="gv-box")
    sides = "".join(f"M{side:.1f},{y:.1f}v20" for side in (x + 4, right - 4))
    more = f"×{times}" if times > 1 else ""
    words = _write_middle(label.x, label.y + 4, label.words, "gv-label", mono=True)
    opened = write(right + 2, y - 1, more, 12, class_="gv-times")
    return together([box, path_of(sides, class_="gv-box"), words, opened])


def _write_jumps(diagram: Diagram, n: int) -> list[Element]:
    """The curves to a rule's start (dashed) and from its ends (dotted); none for a rule that is not drawn."""
    drawn = list[Element]()
    for curve in diagram.jumps.get(n, ()):
        kind = "gv-pop" if drawn else "gv-push"
        drawn.append(path_of(write_path(curve), class_=kind))
        drawn.append(_write_head(curve, f"{kind}-head"))
    return [node("g", *drawn, class_="gv-jumps")] if drawn else []


# --- a text above a machine, one cell per byte ---


CELL = 26.0  # one byte of a text above the machine
STRIP = 50.0  # all of the text


def write_bytes(text: bytes, cell: float = CELL, y: float = NEAR_EDGE) -> list[Element]:
    """A cell per byte, and the characters over their bytes."""
    look = {"fill": "var(--gv-card)", "stroke": "var(--gv-line)"}
    parts = [rect(NEAR_EDGE + cell * place, y, cell - 3, 26, 4, **look) for place in range(len(text))]
    for middle, sign in characters(text, cell):
        parts.append(centred(NEAR_EDGE + cell * middle - 1.5, y + 18, sign, 14, mono=True))
    return parts


def mark_bytes(text: bytes, read: int) -> Iterator[tuple[str, Element]]:
    """A line below the bytes that are read and a frame around the next one, each with a key."""
    if read:
        line = {"stroke": "var(--gv-blue)", "stroke_width": 3}
        below = ruled(NEAR_EDGE, NEAR_EDGE + 31, CELL * read - 3, **line)
        yield f"read {read}", below
    if read < len(text):
        look = {"fill": "none", "stroke": "var(--gv-orange)", "stroke_width": 2.4}
        x = NEAR_EDGE + CELL * read
        frame = rect(x, NEAR_EDGE, CELL - 3, 26, 4, **look)
        yield f"next {read}", frame
