"""The legend of a machine: the icon and the meaning of each shape that its diagram has."""

from textwrap import wrap

from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import rect, soft, wide, write, write_legend
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.sketch import Sketch
from guidedviz.views.machine.highlight import Highlight
from guidedviz.views.machine.svg import FEW
from guidedviz.views.machine.tape import EDGE

NARROW = 620.0  # the legend of a narrower diagram may be this wide
ROW = 20.0
LETTER = 6.6  # pixels per character, about
MOST = 8  # shortened labels in full; the others have their tooltip
LINE = node("path", d="M1,0h17", class_="gv-line")
CROSS = node("path", d="M4,-5l10,10m0,-10l-10,10")
CALL = rect(0, -7, 18, 14, class_="gv-box")
CALL += node("path", d="M3,-7v14M15,-7v14", class_="gv-box")


def write_machine_legend(diagram: Diagram, lit: Highlight, width: float) -> tuple[Element, float, float]:
    """The legend, the least width of the picture, and the y of the last line."""
    limit = max(width, NARROW)
    signs = ((_kind("machine", icon), words) for icon, words in _signs(diagram, lit))
    parts, right, y = write_legend(signs, 0, 4, limit)
    short = dict.fromkeys((label.words, label.full) for label in diagram.labels if label.words.endswith("…"))
    for words, full in list(short)[:MOST]:
        start = wide(words, 12) + 12
        for number, line in enumerate(wrap(full, int((limit - start) / LETTER), break_on_hyphens=False)):
            y += ROW
            parts += [write(0, y, words, 12, mono=True)] * (not number) + [soft(start, y, line)]
    return together(parts), max(width, right + EDGE), y - 4


def _signs(diagram: Diagram, lit: Highlight) -> list[tuple[Element, str]]:
    """The icon and the meaning of each shape in the diagram."""
    sketch, rules = diagram.sketch, bool(diagram.blocks)
    calls = any(arrow.call for arrow in sketch.arrows)
    ways = diagram.jumps and (lit.calls or lit.last or len(diagram.jumps) <= FEW)
    start, end = ("where a rule begins", "the rule may end here") if rules else ("start", sketch.ring)
    signs = (
        (sketch.initial in diagram.spots, LINE + _circle(3, "head", 3) + _tip("head"), start),
        (not sketch.accepting.isdisjoint(diagram.spots), _circle(7) + _circle(4.4, "ring"), end),
        (lit.now, _kind("lit", _circle(5.5)), "now"),
        (lit.arrows, _arrow("on"), "taken" + ", byte by byte" * bool(lit.numbers)),
        (lit.cross, _kind("cross", CROSS), "refused here"),
        (any(not arrow.ranges and not arrow.call for arrow in sketch.arrows), _arrow("free"), "ε reads nothing"),
        (calls, _kind("call", CALL), "calls a rule"),
        (lit.calls, _kind("call gv-open", CALL), "open: on the stack"),
        (lit.last, _kind("call gv-last", CALL), "last call of its rule: not on the stack"),
        (ways, _way("push"), "push: to the rule's start"),
        (ways, _way("pop"), "pop: back from its end"),
        (lit.back, _kind("back", _circle(5.5)), "where the caller continues"),
        (any(map(sketch.is_chain, sketch.arrows)), _arrow("chain"), say_thick(sketch)),
        (any(s.dot for s in diagram.spots.values()), _kind("dot", _circle(3.4)), "a state inside a run or a character"),
        (diagram.more, _kind("more", _circle(7)), "has neighbours that are not drawn"),
    )
    return [(icon, words) for there, icon, words in signs if there]


def say_thick(sketch: Sketch) -> str:
    """The meaning of a thick arrow."""
    folded = f"; {counted(len(sketch.folded), 'state')} inside" if sketch.folded else ""
    loops = any(arrow.folds_loop for arrow in sketch.arrows)
    return f"thick: bytes in a row without a choice{', or a loop with all its states' * loops}{folded}"


def _kind(kind: str, icon: Element) -> Element:
    return node("g", icon, class_=f"gv-{kind}")


def _arrow(kind: str) -> Element:
    return _kind(kind, LINE + _tip("head"))


def _circle(radius: float, kind: str = "disc", x: float = 9) -> Element:
    return node("circle", cx=x, cy=0, r=radius, class_=f"gv-{kind}")


def _tip(kind: str) -> Element:
    return node("polygon", points="19,0 12,-3.2 12,3.2", class_=f"gv-{kind}")


def _way(kind: str) -> Element:
    return node("path", d="M0,0h13", class_=f"gv-{kind}") + _tip(f"{kind}-head")
