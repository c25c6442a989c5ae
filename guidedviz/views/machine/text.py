"""A machine as text: one line per state that is drawn; and in DOT, the language of Graphviz."""

from collections.abc import Sequence
from typing import Any

from guidedviz.extras import need
from guidedviz.machines.visible import counted
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.lay_out import short_name
from guidedviz.views.layout.sketch import Arrow, Sketch, by_state, say_arrow, say_arrow_in_full, say_ranges, sketch_of
from guidedviz.views.machine.highlight import Highlight, arrow_key

MOST_LINES = 40  # at most so many states have a line


def say_size(diagram: Diagram) -> str:
    """The number of states, of folded ones and, unless all are drawn, of drawn ones."""
    sketch = diagram.sketch
    drawn = len(diagram.spots)
    states = len(sketch.names)
    kind = "state"
    rules = ""
    if diagram.blocks:
        states = sum(len(nodes) for _, nodes in sketch.rules)
        kind = "node"
        rules = f"{counted(len(sketch.rules), 'rule')}, "
    folded = ""
    if sketch.folded:
        folded = f", {len(sketch.folded):,} of them folded"
    if drawn + len(sketch.folded) == states:
        return f"{rules}{counted(states, kind)}{folded}"
    if rules:
        rules = f"{len(diagram.blocks)} of {rules}"
    size = f"{drawn} of {counted(states, kind)}{folded}"
    return f"{rules}{size}: those around the current one"


def say_machine(diagram: Diagram, lit: Highlight, about: str) -> str:
    """The diagram as text: one line per state that is drawn."""
    sketch = diagram.sketch
    lines = [f"machine: {about}{_say_now(sketch, lit)}"]
    heads = _heads_of_rules(sketch, lit)
    every = _order_of_states(sketch)
    shown = [state for state in every if state in diagram.spots][:MOST_LINES]
    names = [short_name(sketch, state) for state in shown]
    long = max(map(len, names), default=0)
    _, out = by_state(sketch.arrows)
    for state, name in zip(shown, names, strict=True):
        lines += heads.get(state, ())
        mark = _mark(sketch, lit, state)
        said = _say_state(sketch, lit, state, out[state])
        lines.append(f"{mark} {name:<{long}}{said}".rstrip())
    left = len(every) - len(shown)
    if left:
        lines.append(f"    … and {left:,} more")
    return "\n".join(lines)


def _order_of_states(sketch: Sketch) -> list[int]:
    """All states but the folded ones, those of a grammar by their rules."""
    order = [node for _, nodes in sketch.rules for node in nodes]
    states = order or range(len(sketch.names))
    return [state for state in states if state not in sketch.folded]


def _heads_of_rules(sketch: Sketch, lit: Highlight) -> dict[int, list[str]]:
    """By the first node of a rule, the line above it: the rule's name and its counter."""
    counters = dict(sketch.repeats) | dict(lit.counts)
    heads = {}
    for name, nodes in sketch.rules:
        counter = f", {counters[name]}" if name in counters else ""
        heads[nodes[0]] = [f"{name}{counter}"]
    return heads


def _say_now(sketch: Sketch, lit: Highlight) -> str:
    """The current states, and the byte that could not be read there."""
    said = ""
    if lit.now:
        names = [sketch.names[state] for state in sorted(lit.now)]
        said = f", now in {', '.join(names)}"
    if lit.cross:
        return f"{said}, where {lit.cross[1]} cannot come"
    return said


def _mark(sketch: Sketch, lit: Highlight, state: int) -> str:
    """Whether a state is current, where the machine starts and where a text may end."""
    current = "↩" if state in lit.back else " "
    if state in lit.now:
        current = "●"
    start = "→" if state == sketch.initial else " "
    end = "◎" if state in sketch.accepting else " "
    return current + start + end


def _say_state(sketch: Sketch, lit: Highlight, state: int, arrows: Sequence[Arrow]) -> str:
    """The groups of a state, and its arrows."""
    groups = [f" [{title}]" for title, states in sketch.groups if state in states]
    said = []
    for arrow in arrows:
        target = sketch.names[arrow.target]
        said.append(f"{_say_arrow(arrow, lit)} → {target}")
    return f"{''.join(groups)}  {' · '.join(said)}"


def _say_arrow(arrow: Arrow, lit: Highlight) -> str:
    if arrow.times:
        return say_arrow(arrow)
    if arrow.through:
        return say_arrow_in_full(arrow)
    if not arrow.call:
        return say_ranges(arrow.ranges)
    key = arrow_key(arrow)
    times = dict(lit.calls).get(key)
    if times:
        open_times = "open" if times == 1 else f"open ×{times}"
        return f"calls {arrow.call} ({open_times})"
    said = f"calls {arrow.call}"
    return f"{said} (called last)" if key in lit.last else said


def to_dot(machine: Any) -> Any:
    """The machine as a `graphviz.Source`, with its DOT text in `.source`; a notebook shows it if `dot` is installed.

    >>> print(gv.to_dot(gv.regex("[0-9]")).source.splitlines()[-2].strip())
    0 -> 1 [label="0-9"]
    """
    graphviz = need("graphviz", "lab", "to_dot")
    sketch = sketch_of(machine)
    graph = graphviz.Digraph(graph_attr={"rankdir": "LR"})
    graph.node("start", shape="point")
    for state, name in enumerate(sketch.names):
        shape = "doublecircle" if state in sketch.accepting else "circle"
        graph.node(str(state), graphviz.escape(name), shape=shape)
    if sketch.names:
        graph.edge("start", str(sketch.initial))
    for arrow in sketch.arrows:
        words = arrow.call or say_ranges(arrow.ranges, 16)
        graph.edge(str(arrow.source), str(arrow.target), graphviz.escape(words))
    return graphviz.Source(graph.source)
