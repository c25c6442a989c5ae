"""A machine as text: one line per state that is drawn; and in DOT, the language of Graphviz."""

from typing import Any

from guidedviz.errors import shorten
from guidedviz.extras import need
from guidedviz.machines.visible import counted
from guidedviz.views.layout.arrow_words import say_arrow, say_arrow_in_full, say_ranges
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.sketch import Arrow, by_state, sketch_of
from guidedviz.views.machine.highlight import Highlight, arrow_key

ROWS = 40  # at most so many states have a line


def count_states(diagram: Diagram) -> str:
    """The number of states, of folded ones and, unless all are drawn, of drawn ones."""
    sketch, drawn, part = diagram.sketch, len(diagram.spots), ""
    every, kind = len(sketch.names), "state"
    if diagram.blocks:
        every, kind = sum(len(nodes) for _, nodes in sketch.rules), "node"
        part = f"{counted(len(sketch.rules), 'rule')}, "
    folded = f", {len(sketch.folded):,} of them folded" if sketch.folded else ""
    if drawn + len(sketch.folded) == every:
        return f"{part}{counted(every, kind)}{folded}"
    part = f"{len(diagram.blocks)} of {part}" if part else ""
    return f"{part}{drawn} of {counted(every, kind)}{folded}: those around the current one"


def say_machine(diagram: Diagram, lit: Highlight, about: str) -> str:
    """The diagram as text: one line per state that is drawn."""
    sketch, (_, out) = diagram.sketch, by_state(diagram.sketch.arrows)
    now = f", now in {', '.join(sketch.names[s] for s in sorted(lit.now))}" if lit.now else ""
    died = f", where {lit.cross[1]} cannot come" if lit.cross else ""
    heads = {nodes[0]: name for name, nodes in sketch.rules}
    counters = {rule: f", {said}" for rule, said in (*sketch.repeats, *lit.counts)}
    nodes = [node for _, nodes in sketch.rules for node in nodes] or range(len(sketch.names))
    every = [node for node in nodes if node not in sketch.folded]
    shown = [state for state in every if state in diagram.spots][:ROWS]
    long = max((len(shorten(sketch.names[state], 14)) for state in shown), default=0)
    lines = [f"machine: {about}{now}{died}"]
    for state in shown:
        lines += [heads[state] + counters.get(heads[state], "")] if state in heads else []
        marks = "●" if state in lit.now else "↩" if state in lit.back else " "
        marks += "→" if state == sketch.initial else " "
        marks += "◎" if state in sketch.accepting else " "
        ways = " · ".join(f"{_say_arrow(a, lit)} → {sketch.names[a.target]}" for a in out[state])
        groups = "".join(f" [{title}]" for title, states in sketch.groups if state in states)
        lines.append(f"{marks} {shorten(sketch.names[state], 14):<{long}}{groups}  {ways}".rstrip())
    left = len(every) - len(shown)
    return "\n".join(lines + [f"    … and {left:,} more"] * bool(left))


def _say_arrow(arrow: Arrow, lit: Highlight) -> str:
    if arrow.through or arrow.loop:
        return say_arrow(arrow) if arrow.loop else say_arrow_in_full(arrow)
    if not arrow.call:
        return say_ranges(arrow.ranges)
    times, key = dict(lit.calls), arrow_key(arrow)
    if key not in times:
        return f"calls {arrow.call}" + " (called last)" * (key in lit.last)
    return f"calls {arrow.call} (open{f' ×{times[key]}' * (times[key] > 1)})"


def to_dot(machine: Any) -> Any:
    """The machine as a `graphviz.Source`, with its DOT text in `.source`; a notebook shows it if `dot` is installed.

    >>> print(to_dot(gv.regex("[0-9]")).source.splitlines()[-2].strip())
    0 -> 1 [label="0-9"]
    """
    graphviz = need("graphviz", "lab", "to_dot")
    sketch = sketch_of(machine)
    graph = graphviz.Digraph(graph_attr={"rankdir": "LR"})
    graph.node("start", shape="point")
    for state, name in enumerate(sketch.names):
        graph.node(str(state), graphviz.escape(name), shape="double" * (state in sketch.accepting) + "circle")
    if sketch.names:
        graph.edge("start", str(sketch.initial))
    for arrow in sketch.arrows:
        words = arrow.call or say_ranges(arrow.ranges, 16)
        graph.edge(str(arrow.source), str(arrow.target), graphviz.escape(words))
    return graphviz.Source(graph.source)
