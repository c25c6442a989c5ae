"""The legend of a machine: the icon and the meaning of each shape that its diagram has."""

from textwrap import wrap

from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import rect, soft, wide, write, write_legend
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.sketch import Sketch
from guidedviz.views.machine.highlight import Highlight
from guidedviz.views.machine.svg import FEW_CALLS
from guidedviz.views.machine.tape import EDGE

LEAST_LEGEND = 620.0  # the legend of a narrower diagram may be this wide
ROW_HEIGHT = 20.0
LEGEND_LETTER = 6.6  # pixels per character, about
MOST_IN_FULL = 8  # shortened labels in full; the others have their tooltip
LINE_ICON = node("path", d="M1,0h17", class_="gv-line")
CROSS_ICON = node("path", d="M4,-5l10,10m0,-10l-10,10")
CALL_ICON = rect(0, -7, 18, 14, class_="gv-box") + node("path", d="M3,-7v14M15,-7v14", class_="gv-box")

Sign = tuple[object, Element, str]  # a sign is in the legend if the first of its three values is true


def write_machine_legend(diagram: Diagram, lit: Highlight, width: float) -> tuple[Element, float, float]:
    """The legend, the least width of the picture, and the y of the last line."""
    limit = max(width, LEAST_LEGEND)
    signs = _signs_of_states(diagram, lit) + _signs_of_calls(diagram, lit) + _signs_of_parts(diagram)
    shown = ((_icon("machine", icon), words) for there, icon, words in signs if there)
    parts, right, y = write_legend(shown, 0, 4, limit)
    short = [(label.words, label.full) for label in diagram.labels if label.words.endswith("…")]
    for words, full in list(dict.fromkeys(short))[:MOST_IN_FULL]:
        start = wide(words, 12) + 12
        parts.append(write(0, y + ROW_HEIGHT, words, 12, mono=True))
        for line in wrap(full, int((limit - start) / LEGEND_LETTER), break_on_hyphens=False):
            y += ROW_HEIGHT
            parts.append(soft(start, y, line))
    return together(parts), max(width, right + EDGE), y - 4


def _signs_of_states(diagram: Diagram, lit: Highlight) -> list[Sign]:
    """The start, the ends, and the path that is highlighted."""
    sketch = diagram.sketch
    start = "where a rule begins" if diagram.blocks else "start"
    end = "the rule may end here" if diagram.blocks else sketch.ring
    taken = "taken, byte by byte" if lit.numbers else "taken"
    has_epsilon = any(not arrow.ranges and not arrow.call for arrow in sketch.arrows)
    return [
        (sketch.initial in diagram.spots, LINE_ICON + _circle(3, "head", 3) + _tip("head"), start),
        (sketch.accepting & diagram.spots.keys(), _circle(7) + _circle(4.4, "ring"), end),
        (lit.now, _icon("lit", _circle(5.5)), "now"),
        (lit.arrows, _arrow_icon("on"), taken),
        (lit.cross, _icon("cross", CROSS_ICON), "refused here"),
        (has_epsilon, _arrow_icon("free"), "ε reads nothing"),
    ]


def _signs_of_calls(diagram: Diagram, lit: Highlight) -> list[Sign]:
    """The calls of a grammar, and their curves."""
    calls = any(arrow.call for arrow in diagram.sketch.arrows)
    jumps = diagram.jumps and (lit.calls or lit.last or len(diagram.jumps) <= FEW_CALLS)
    return [
        (calls, _icon("call", CALL_ICON), "calls a rule"),
        (lit.calls, _icon("call gv-open", CALL_ICON), "open: on the stack"),
        (lit.last, _icon("call gv-last", CALL_ICON), "last call of its rule: not on the stack"),
        (jumps, _jump_icon("push"), "push: to the rule's start"),
        (jumps, _jump_icon("pop"), "pop: back from its end"),
        (lit.back, _icon("back", _circle(5.5)), "where the caller continues"),
    ]


def _signs_of_parts(diagram: Diagram) -> list[Sign]:
    """What is folded, and what is not drawn in full."""
    sketch = diagram.sketch
    folded = any(map(sketch.is_chain, sketch.arrows))
    dots = any(spot.dot for spot in diagram.spots.values())
    return [
        (folded, _arrow_icon("chain"), say_thick(sketch)),
        (dots, _icon("dot", _circle(3.4)), "a state inside a run or a character"),
        (diagram.more, _icon("more", _circle(7)), "has neighbours that are not drawn"),
    ]


def say_thick(sketch: Sketch) -> str:
    """The meaning of a thick arrow."""
    said = "thick: bytes in a row without a choice"
    if any(arrow.folds_loop for arrow in sketch.arrows):
        said += ", or a loop with all its states"
    return f"{said}; {counted(len(sketch.folded), 'state')} inside" if sketch.folded else said


def _icon(kind: str, shape: Element) -> Element:
    return node("g", shape, class_=f"gv-{kind}")


def _arrow_icon(kind: str) -> Element:
    return _icon(kind, LINE_ICON + _tip("head"))


def _jump_icon(kind: str) -> Element:
    return node("path", d="M0,0h13", class_=f"gv-{kind}") + _tip(f"{kind}-head")


def _circle(radius: float, kind: str = "disc", x: float = 9) -> Element:
    return node("circle", cx=x, cy=0, r=radius, class_=f"gv-{kind}")


def _tip(kind: str) -> Element:
    return node("polygon", points="19,0 12,-3.2 12,3.2", class_=f"gv-{kind}")
