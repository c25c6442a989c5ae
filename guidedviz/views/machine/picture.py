"""A machine as a figure, and in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.extras import need
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack_graph import State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.visible import counted
from guidedviz.markup import NOTHING, Element, node
from guidedviz.sketches.folded import fold, fold_loops
from guidedviz.sketches.sketch import Sketch, sketch_dfa, sketch_fsm, sketch_nfa, sketch_pda
from guidedviz.tokens.by_hand.fsm import GuidedFSM
from guidedviz.views.figure import Figure, drawing, moved, soft, write
from guidedviz.views.layout.diagram import lay_out
from guidedviz.views.layout.labels import say_arrow, say_ranges
from guidedviz.views.layout.parts import Diagram
from guidedviz.views.machine.description import count_states, say_machine
from guidedviz.views.machine.highlight import UNLIT, Highlight, highlight_path
from guidedviz.views.machine.legend import NARROW, write_legend
from guidedviz.views.machine.pushdown_highlight import highlight_state, state_after
from guidedviz.views.machine.svg import STYLE, write_diagram
from guidedviz.views.words import reading

if TYPE_CHECKING:
    import graphviz

EDGE = 14.0
LINE = 20.0  # of the title
BOLD = 7.6  # pixels per character of the title, about
HIGHEST = 1000.0  # a taller machine is drawn smaller
WHOLE = 40  # states of a finite machine that is drawn whole by default
READABLE = 0.62  # a machine inside a larger picture is not drawn smaller: a part of it is shown
MOST_OPEN = 4  # rules of a grammar inside a larger picture


def sketch_of(machine: Any, where: str = "draw_machine") -> Sketch:
    """The sketch of a machine; an error names the function that needed it.

    >>> sketch_of(gv.regex("ab")).names
    ('q0', 'q1', 'q2')
    """
    match machine:
        case Sketch():
            return _visible(machine)
        case DFA():
            return sketch_dfa(machine)
        case NFA():
            return sketch_nfa(machine)
        case PDA():
            return sketch_pda(machine)
        case GuidedFSM():
            return _visible(sketch_fsm(machine))
    raise SettingError(where, seen=type(machine).__name__, expected="a machine", hint="gv.regex(text)")


def _visible(sketch: Sketch) -> Sketch:
    """A sketch with printable names, wherever they come from."""
    names = tuple(reading(name) or "∅" for name in sketch.names)
    groups = tuple((reading(title), states) for title, states in sketch.groups)
    return replace(sketch, names=names, groups=groups, words=reading(sketch.words))


def draw_machine(
    machine: Any,
    at: int | Sequence[int] | State | bytes | str | None = None,
    *,
    title: str = "",
    died: str = "",
    compact: bool | None = None,
    folded: bool | None = None,
) -> Figure:
    """The states and arrows of a machine, or the rules of a grammar; with `at`, a state or a path is highlighted.

    For a grammar's machine `at` is a state or a text. `died` names the byte that the last state of a path cannot read.
    With `folded` a chain or a loop such as a JSON string is one thick arrow, unless the current state is inside it. By
    default a finite machine of more than 40 states is folded; with folded=False it is drawn whole.

    >>> print(draw_machine(gv.regex("[0-9]+x?"), at=[0, 1]).text)
    machine: 3 states, now in q1
     →  q0  0-9 → q1
    ● ◎ q1  0-9 → q1 · x → q2
      ◎ q2
    >>> print(draw_machine(gv.grammar('root ::= "(" root ")" | "x"'), "(").text)
    machine: 1 rule, 4 nodes, now in n1
    root
     →  n0  ( → n1 · x → n2
    ●   n1  calls root → n3
      ◎ n2
        n3  ) → n2
    """
    sketch, lit, inside = sketch_of(machine), UNLIT, list[int]()
    expect(title, str, "draw_machine, title", "a text")
    if isinstance(machine, PDA) and at is not None:
        state = state_after(machine, expect(at, State | bytes | str, "draw_machine, at", "a state or a text"))
        lit, inside = highlight_state(machine, state), list(machine.places(state))
    elif at is not None:
        path = _check_path(sketch, at)
        lit, inside = highlight_path(path, expect(died, str, "draw_machine, died", "a text")), path[-1:]
    else:
        lit = Highlight(sketch.lit, sketch.lit, sketch.lit_arrows)
    if folded is None:
        folded = not isinstance(machine, PDA) and len(sketch.names) > WHOLE
    sketch = _folded(sketch, lit, inside) if folded else sketch
    diagram = replace(lay_out(bare(sketch), inside[0] if inside else -1, compact), sketch=sketch)
    return _sheet(diagram, lit, title or sketch.words, say_machine(diagram, lit, count_states(diagram)))


def _folded(sketch: Sketch, lit: Highlight, inside: Sequence[int]) -> Sketch:
    """Each chain and loop as one thick arrow, but those around the current state."""
    return fold(fold_loops(sketch, lit.met | {*inside}), {*inside})


def _check_path(sketch: Sketch, at: Any) -> list[int]:
    path = list(at) if isinstance(at, Sequence) else [at]
    for state in path:
        if not isinstance(state, int) or isinstance(state, bool) or not 0 <= state < len(sketch.names):
            raise SettingError("draw_machine, at", seen=quoted(state), expected=f"0 to {len(sketch.names) - 1}")
    return path


def _sheet(diagram: Diagram, lit: Highlight, title: str, text: str) -> Figure:
    """A diagram as a figure, with its title above and a legend below."""
    body = write_diagram(diagram, lit)
    scale = min(1.0, HIGHEST / diagram.height)
    width, height = max(diagram.width * scale + 2 * EDGE, 260.0), diagram.height * scale
    legend, width, lower = write_legend(diagram, lit, max(width, min(NARROW, BOLD * len(title) + 2 * EDGE)))
    lines = wrap(title, int((width - 2 * EDGE) / BOLD), break_on_hyphens=False)
    top = 8.0 + LINE * len(lines)
    parts = [node("style", STYLE)]
    parts += [write(EDGE, LINE * number, line, 13, font_weight="bold") for number, line in enumerate(lines, 1)]
    fit = f"translate({EDGE:g} {top:g}) scale({scale:.4g})"
    parts.append(node("g", body, transform=fit, class_="gv-on-page"))
    parts.append(moved(EDGE, top + height + 14, legend))
    return Figure(drawing(width, top + height + lower + 30, *parts, alt=text), text, text)


def draw_inside(machine: Any, path: Sequence[int], width: float, height: float) -> tuple[Element, float]:
    """A finite machine inside a larger picture, and its height; of a large one the part around the current state."""
    sketch, lit, at = sketch_of(machine), highlight_path(path), path[-1:]
    if len(sketch.names) > WHOLE:
        sketch = _folded(sketch, lit, at)
    diagram = lay_out(bare(sketch), at[0] if at else -1)
    spot = diagram.spots.get(at[0] if at else -1)
    if spot is None or min(width / diagram.width, height / diagram.height) >= READABLE:
        return _fit_inside(diagram, lit, count_states(diagram), width, height)
    wide, high = diagram.width * READABLE, diagram.height * READABLE
    left = max(0.0, min(spot.x * READABLE - width / 2, wide - width))
    height = min(height, high)
    top = max(0.0, min(spot.y * READABLE - height / 2, high - height))
    fit = f"translate({0 - left:g} {0 - top:g}) scale({READABLE:g})"
    part = node("svg", node("g", write_diagram(diagram, lit), transform=fit), y=22, width=width, height=height)
    about = f"{count_states(diagram)}; the part around the current one"
    return _titled(part, diagram, lit, about, width), height + 26


def draw_open_rules(pda: PDA, state: State, width: float, height: float) -> tuple[Element, float]:
    """The innermost open rules at a state, as part of a larger picture."""
    sketch, lit = sketch_pda(pda), highlight_state(pda, state)
    called = (key.partition(":")[2] for key, _ in lit.calls)
    wanted = list(dict.fromkeys([*sorted(lit.rules), *pda.stack(state), *called, sketch.rules[0][0]]))[:MOST_OPEN]
    rules = tuple(rule for rule in sketch.rules if rule[0] in wanted)
    diagram = lay_out(replace(sketch, rules=rules), pda.places(state)[0] if state.tops else -1)
    said = f"{len(rules)} of {counted(len(sketch.rules), 'rule')}, the innermost that are open"
    return _fit_inside(diagram, lit, said, width, height)


def _fit_inside(diagram: Diagram, lit: Highlight, about: str, width: float, height: float) -> tuple[Element, float]:
    """A diagram under its title, scaled to fit, and its height."""
    scale = min(1.0, width / diagram.width, height / diagram.height)
    body = node("g", write_diagram(diagram, lit), transform=f"translate(0 22) scale({scale:.4g})")
    return _titled(body, diagram, lit, about, width), diagram.height * scale + 26


def _titled(body: Element, diagram: Diagram, lit: Highlight, about: str, width: float) -> Element:
    """A part of a diagram under its title and its current state."""
    now = " · ".join(diagram.sketch.names[state] for state in sorted(lit.now))
    title = write(0, 12, "machine", 13, font_weight="bold") + soft(66, 12, about, 13)
    said = write(width, 12, now, 13, fill="var(--gv-orange)", text_anchor="end", font_weight="bold") if now else NOTHING
    return node("style", STYLE) + title + said + body


def bare(sketch: Sketch) -> Sketch:
    """The sketch without highlights and groups, so that all frames share one cached layout."""
    return replace(sketch, words="", lit=frozenset(), lit_arrows=frozenset(), groups=())


def to_dot(machine: Any) -> graphviz.Source:
    """The machine as DOT text in `.source`; a notebook displays it if the program `dot` is installed.

    >>> print(to_dot(gv.regex("[0-9]")).source.splitlines()[-2].strip())
    0 -> 1 [label="0-9"]
    """
    graphviz = need("graphviz", "lab", "to_dot")
    sketch = sketch_of(machine)
    graph = graphviz.Digraph(graph_attr={"rankdir": "LR"})
    graph.node("start", shape="point")
    for state, name in enumerate(sketch.names):
        if state in sketch.folded:
            continue
        shape = "doublecircle" if state in sketch.accepting else "circle"
        graph.node(str(state), graphviz.escape(name), shape=shape)
    if sketch.names:
        graph.edge("start", str(sketch.initial))
    for arrow in sketch.arrows:
        words = say_arrow(arrow, whole=True) if arrow.through else arrow.call or say_ranges(arrow.ranges, 16)
        graph.edge(str(arrow.source), str(arrow.target), graphviz.escape(words))
    return graphviz.Source(graph.source)
