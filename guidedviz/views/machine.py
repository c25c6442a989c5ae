"""A machine as a figure, and as DOT text for whoever has Graphviz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.fold import fold
from guidedviz.machines.nfa import NFA
from guidedviz.machines.pda import PDA, State
from guidedviz.machines.sketch import Sketch, sketch_dfa, sketch_nfa, sketch_pda
from guidedviz.machines.visible import counted
from guidedviz.views.arrows import say_arrow, say_ranges
from guidedviz.views.diagram import lay_out
from guidedviz.views.figure import Figure, drawing, node, shorten, write
from guidedviz.views.ink import STYLE, write_diagram
from guidedviz.views.legend import write_legend
from guidedviz.views.light import DARK, Light, light_path
from guidedviz.views.machine_words import count_states, say_machine
from guidedviz.views.pda import check_pda, light_state, state_after
from guidedviz.views.spots import Diagram
from guidedviz.views.words import reading

if TYPE_CHECKING:
    import graphviz

EDGE = 14.0
HIGHEST = 1000.0  # a taller machine is drawn smaller
MOST_OPEN = 4  # rules of a grammar inside a larger picture


def sketch_of(machine: Any) -> Sketch:
    """A sketch of whatever can be drawn.

    >>> from guidedviz.machines.regex import regex
    >>> sketch_of(regex("ab")).names
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
    if callable(getattr(machine, "sketch", None)):
        return _visible(machine.sketch())
    raise SettingError("draw_machine", seen=type(machine).__name__, expected="a machine", hint="gv.regex(text)")


def _visible(sketch: Sketch) -> Sketch:
    """A sketch whose words come from anywhere, in words that can be shown."""
    names = tuple(reading(name) or "∅" for name in sketch.names)
    groups = tuple((reading(title), states) for title, states in sketch.groups)
    return replace(sketch, names=names, groups=groups, words=reading(sketch.words))


def draw_machine(
    machine: Any,
    at: int | Sequence[int] | State | str | None = None,
    *,
    title: str = "",
    died: str = "",
    compact: bool | None = None,
    folded: bool = False,
) -> Figure:
    """A machine; `at` lights a state, or the way a text took, and `died` the byte it could not read. See also draw_pda.

    With `folded` a chain is one thick arrow, except the chain that one is in.

    >>> from guidedviz.machines.regex import regex
    >>> print(draw_machine(regex("[0-9]+x?"), at=[0, 1]).text)
    machine: 3 states, now in q1
     →  q0  0-9 → q1
    ● ◎ q1  0-9 → q1 · x → q2
      ◎ q2
    """
    if isinstance(machine, PDA):
        if at is not None and not isinstance(at, State | bytes | str):
            raise SettingError(
                "draw_machine, at", seen=type(at).__name__, expected="a state of this machine, or a text"
            )
        return draw_pda(machine, at, title=title, compact=compact, folded=folded)
    sketch = sketch_of(machine)
    path: list[Any] = list(at) if isinstance(at, Sequence) else [] if at is None else [at]
    for state in path:
        _check_state(sketch, state)
    light = light_path(path, died)
    if at is None:
        light = Light(sketch.lit, sketch.lit, sketch.lit_arrows)
    sketch = fold(sketch, {*path[-1:]}) if folded else sketch
    diagram = lay_out(bare(sketch), path[-1] if path else -1, compact)
    text = say_machine(sketch, light, count_states(diagram), shown=sorted(diagram.spots))
    return _sheet(replace(diagram, sketch=sketch), light, title or sketch.words, text)


def draw_pda(
    pda: PDA,
    state: State | bytes | str | None = None,
    *,
    title: str = "",
    compact: bool | None = None,
    folded: bool = False,
) -> Figure:
    """The rules of a grammar as automata; at a state, or after a text, with the calls that are open.

    >>> from guidedviz.machines.pda import grammar
    >>> print(draw_pda(grammar('root ::= "(" root ")" | "x"'), "(").text)
    machine: 1 rule, 4 nodes, now in n1
    root
     →  n0  ( → n1 · x → n2
    ●   n1  calls root → n3
      ◎ n2
        n3  ) → n2
    """
    check_pda(pda, "draw_pda")
    now = None if state is None else state_after(pda, state)
    places = pda.places(now) if now else ()
    sketch = fold(sketch_pda(pda), {*places}) if folded else sketch_pda(pda)
    light = light_state(pda, now) if now else DARK
    diagram = lay_out(sketch, places[0] if places else -1, compact)
    return _sheet(diagram, light, title, say_machine(sketch, light, count_states(diagram), shown=list(diagram.spots)))


def _sheet(diagram: Diagram, light: Light, said: str, text: str) -> Figure:
    """A diagram as a figure: a title above, below it what the shapes mean."""
    body = write_diagram(diagram, light)
    scale = min(1.0, HIGHEST / diagram.height)
    width, height = max(diagram.width * scale + 2 * EDGE, 260.0), diagram.height * scale
    top = 28.0 if said else 8.0
    parts = [node("style", STYLE)]
    parts += [write(EDGE, 20, said, 13, font_weight="bold")] if said else []
    fit = f"translate({EDGE:g} {top:g}) scale({scale:.4g})"
    parts.append(node("g", body, transform=fit, style="--gv-under:var(--gv-page)"))
    legend, width, lower = write_legend(diagram, light, width)
    parts.append(node("g", legend, transform=f"translate({EDGE:g} {top + height + 14:g})"))
    return Figure(drawing(width, top + height + lower + 30, *parts, alt=text), text, text)


def draw_inside(machine: Any, path: Sequence[int], width: float, height: float) -> tuple[str, float]:
    """A machine as a part of a larger picture, made to fit; and how high it became."""
    sketch = sketch_of(machine)
    diagram = lay_out(bare(sketch), path[-1] if path else -1)
    return _fit_inside(diagram, light_path(path), count_states(diagram), width, height)


def draw_open_rules(pda: PDA, state: State, width: float, height: float) -> tuple[str, float]:
    """The innermost rules that are open at a state, as a part of a larger picture."""
    sketch, light = sketch_pda(pda), light_state(pda, state)
    called = (key.partition(":")[2] for key, _ in light.calls)
    wanted = list(dict.fromkeys([*sorted(light.rules), *pda.stack(state), *called, sketch.rules[0][0]]))[:MOST_OPEN]
    rules = tuple(rule for rule in sketch.rules if rule[0] in wanted)
    diagram = lay_out(replace(sketch, rules=rules), pda.places(state)[0] if state.tops else -1)
    said = f"{len(rules)} of {counted(len(sketch.rules), 'rule')}, the innermost that are open"
    return _fit_inside(diagram, light, said, width, height)


def _fit_inside(diagram: Diagram, light: Light, about: str, width: float, height: float) -> tuple[str, float]:
    """A diagram under its title, made to fit; and how high it became."""
    scale = min(1.0, width / diagram.width, height / diagram.height)
    body = node("g", write_diagram(diagram, light), transform=f"translate(0 22) scale({scale:.4g})")
    now = " · ".join(diagram.sketch.names[state] for state in sorted(light.now))
    title = write(0, 12, "machine", 13, font_weight="bold") + write(66, 12, about, 13, fill="var(--gv-soft)")
    said = write(width, 12, now, 13, fill="var(--gv-orange)", text_anchor="end", font_weight="bold") if now else ""
    return node("style", STYLE) + title + said + body, diagram.height * scale + 26


def bare(sketch: Sketch) -> Sketch:
    """Only what decides where things stand, so that frames share one layout."""
    return replace(sketch, words="", lit=frozenset(), lit_arrows=frozenset(), groups=())


def _check_state(sketch: Sketch, state: Any) -> None:
    if not isinstance(state, int) or isinstance(state, bool) or not 0 <= state < len(sketch.names):
        expected = f"0 to {len(sketch.names) - 1}"
        raise SettingError("draw_machine, at", seen=shorten(repr(state), 40), expected=expected)


def to_dot(machine: Any) -> graphviz.Digraph:
    """The machine as DOT, for tools that read it; needs no Graphviz until it is rendered.

    >>> from guidedviz.machines.regex import regex
    >>> print(to_dot(regex("[0-9]")).source.splitlines()[-2].strip())
    0 -> 1 [label="0-9"]
    """
    import graphviz

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
    return graph
