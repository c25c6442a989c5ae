"""The highlighted parts of a diagram, by the machine's own numbers, and the diagram with them as SVG.

The SVG is for the still picture and for the live page; highlights are classes, and machine.css is their look. The page
highlights a state (`data-state`), an arrow (`data-arrow`) and a rule (`data-rule`). A call has the class `gv-open`, or
`gv-last` for a last call, which is not on the stack; a rule is `gv-open` while it is on the stack and `gv-lit` while it
is current.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from guidedviz.decoding.trace import Step, follows
from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.machine import read_path, to_bytes
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.frames import MOST_SHOWN
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import Cell, State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible
from guidedviz.machines.work import grouped, reach
from guidedviz.markup import Element, node
from guidedviz.views.figure import rect, wide, write
from guidedviz.views.layout.curves import Curve, head, straight, write_path
from guidedviz.views.layout.diagram import FREE_END, Diagram, Label, Spot, call_box, short_name
from guidedviz.views.layout.sketch import Arrow, Sketch, say_arrow


@dataclass(frozen=True)
class Highlight:
    """The current states, the path to them with the numbers of its bytes, and the open calls of a grammar."""

    now: frozenset[int] = frozenset()
    met: frozenset[int] = frozenset()
    arrows: frozenset[str] = frozenset()  # by their keys
    numbers: tuple[tuple[tuple[int, int], str], ...] = ()
    cross: tuple[int, str] | None = None  # the state where a text died, and the byte that it could not read
    calls: tuple[tuple[str, int], ...] = ()  # keys of open calls, with how often each is open
    last: frozenset[str] = frozenset()  # keys of last calls, which leave nothing on the stack
    back: frozenset[int] = frozenset()  # the nodes where the callers continue
    rules: frozenset[str] = frozenset()  # the current rules
    opened: frozenset[str] = frozenset()  # the rules on the stack
    counts: tuple[tuple[str, str], ...] = ()  # the open counted rules, each with its counter

    @classmethod
    def of_path(cls, path: Sequence[int], died: str = "") -> "Highlight":
        """The highlight of a path; its arrows are numbered if there are several.

        >>> Highlight.of_path([0, 1, 1]).numbers
        (((0, 1), '1'), ((1, 1), '2'))
        """
        numbers = grouped((pair, number) for number, pair in enumerate(pairwise(path), 1))
        several = len(path) - 1 + bool(died) > 1
        said = tuple((pair, say_numbers(found)) for pair, found in numbers.items() if several)
        cross = (path[-1], died) if died else None
        return cls(frozenset(path[-1:]), frozenset(path), frozenset(f"{a}-{b}" for a, b in numbers), said, cross)

    @classmethod
    def of_state(cls, pda: PDA, state: State) -> "Highlight":
        """The current nodes, the open calls, and the nodes where these continue.

        >>> pda = gv.grammar('root ::= "(" root ")" | "x"')
        >>> lit = Highlight.of_state(pda, state_after(pda, "(("))
        >>> sorted(lit.now), lit.calls, sorted(lit.back)
        ([1], (('1:root', 1),), [3])
        """
        nodes = pda.nodes
        calls: Counter[str] = Counter()
        ways: set[tuple[int, int]] = set()  # from a called rule to the one that is open now
        counts: dict[str, str] = {}
        back: set[int] = set()
        tops = [(at, cell) for at, cells in state.tops for cell in cells]
        for top in tops[:MOST_TOPS]:
            stack = list(islice(pda.stack_under(*top), MOST_SHOWN))
            back |= {after for after, _ in stack[1:]}
            calls |= Counter(key for (_, cell), (after, _) in pairwise(stack) for key in _callers(nodes, cell, after))
            for _, cell in stack:
                if bounds := nodes.counts[cell.rule]:
                    counts.setdefault(nodes.names[cell.rule], bounds.describe(cell.counts))
            ways |= {(cell.rule, nodes.rule_of[at]) for at, cell in stack}
        return cls(
            frozenset(pda.places(state)),
            calls=tuple(calls.items()),
            last=frozenset(key for way in ways for key in _last_calls(nodes, *way)),
            back=frozenset(back),
            rules=frozenset(nodes.name_of(at) for at, _ in state.tops),
            opened=frozenset(map(nodes.name_of, back)),
            counts=tuple(counts.items()),
        )


UNLIT = Highlight()


def say_numbers(numbers: Sequence[int]) -> str:
    """The steps that took an arrow, as its label.

    >>> say_numbers([1]), say_numbers([1, 2]), say_numbers([1, 2, 3, 4, 5])
    ('1', '1 2', '1 2 … 5')
    """
    return " ".join(map(str, numbers)) if len(numbers) <= 3 else f"{numbers[0]} {numbers[1]} … {numbers[-1]}"


def arrow_key(arrow: Arrow) -> str:
    """The key of an arrow on the page; it differs for arrows that read, that are free, and that call a rule.

    >>> arrow_key(Arrow(0, 1, ((97, 97),))), arrow_key(Arrow(0, 1, ())), arrow_key(Arrow(0, 1, (), "array"))
    ('0-1', '0~1', '0:array')
    """
    if arrow.call:
        return f"{arrow.source}:{arrow.call}"
    source, target = arrow_ends(arrow)
    return f"{source}{'-' if arrow.ranges else '~'}{target}"


def arrow_ends(arrow: Arrow) -> tuple[int, int]:
    """The states before and after an arrow's first byte; two chains between the same states differ in them.

    >>> arrow_ends(Arrow(0, 3, ((97, 97), (98, 98), (99, 99)), through=(1, 2)))
    (0, 1)
    """
    return arrow.source, arrow.through[0] if arrow.through else arrow.target


# --- a pushdown machine: of several stacks each is highlighted, down to its innermost forty calls ---


MOST_TOPS = 60


def check_pda(machine: object, where: str) -> None:
    """Refuse a machine without a stack.

    >>> check_pda(gv.regex("a"), "draw_stack_table")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_stack_table: saw DFA, expected a pushdown machine; try: gv.grammar(text)
    """
    expect(machine, PDA, where, "a pushdown machine", "gv.grammar(text)")


def state_after(pda: PDA, text: State | bytes | str, where: str = "text") -> State:
    """The state after a text, or the state itself; an error names the first byte that cannot be read.

    >>> state_after(gv.grammar('root ::= "a"*'), "ab")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: text, byte 1: saw b, expected a or its end
    """
    check_pda(pda, where)
    if isinstance(text, State):
        pda.is_accepting(text)  # raises for a state of another machine
        return text
    return states_along(pda, to_bytes(text))[-1]


def states_along(pda: PDA, data: bytes) -> tuple[State, ...]:
    """The state before the first byte of a text and after each; an error names the first byte that cannot be read."""
    path: tuple[State, ...] = read_path(pda, data)
    if (read := len(path) - 1) < len(data):
        top = pda.frames(path[-1])
        expected = top[0].waits if top else "the end"
        raise SettingError(f"text, byte {read}", seen=visible(data[read : read + 1]), expected=expected)
    return path


def taken_arrows(pda: PDA, state: State, byte: int) -> tuple[str, ...]:
    """The keys of the arrows that read a byte, at the state or at the start of a rule that it calls.

    >>> pda = gv.grammar('root ::= "(" root ")" | "x"')
    >>> taken_arrows(pda, state_after(pda, "("), ord("x"))
    ('0-2',)
    """
    reached = {at: None for place in pda.places(state) for at in free_places(pda.nodes, place)}
    edges = ((at, *edge) for at in reached for edge in pda.nodes.edges[at])
    return tuple(f"{at}-{pda.nodes.settled(target)}" for at, low, high, target in edges if low <= byte <= high)


def free_places(nodes: RuleNodes, start: int) -> list[int]:
    """The nodes that calls reach from a node without a byte, the node itself first."""

    def called(at: int) -> Iterator[int]:
        for rule, after in nodes.calls[at]:
            yield from (nodes.starts[rule], *[after] * (rule in nodes.skipped))

    return reach([start], called)


def _callers(nodes: RuleNodes, cell: Cell, after: int) -> Iterator[str]:
    """The keys of the calls that continue at this node."""
    for at in free_places(nodes, cell.node):
        if (cell.rule, after) in nodes.calls[at]:
            yield f"{at}:{nodes.names[cell.rule]}"


def _last_calls(nodes: RuleNodes, rule: int, target: int) -> tuple[str, ...]:
    """The keys of the last calls that lead from an open rule to the current one and are not on the stack."""
    came: dict[int, tuple[str, ...]] = {rule: ()}
    ends = (*nodes.starts[1:], len(nodes))
    for caller in (waiting := [rule]):
        for at in range(nodes.starts[caller], ends[caller]):
            for called, after in nodes.calls[at]:
                if after in nodes.last and not nodes.counts[called] and called not in came:
                    came[called] = (*came[caller], f"{at}:{nodes.names[called]}")
                    waiting.append(called)
    return came.get(target, ())


# --- the states of recorded steps ---


Drawable = DFA | PDA
StatePath = tuple[Any, ...]


def read_bytes(step: Step) -> bytes:
    """The bytes that a machine reads at a step; the end reads none."""
    return b"" if step.how == "none" or step.end == "eos" else step.piece


def recorded_paths(machine: Drawable, steps: Sequence[Step]) -> list[StatePath]:
    """The initial state, and the path of every step; each starts where the step that it follows ends."""
    paths: list[StatePath] = [(machine.initial,)]
    for step, place in zip(steps, follows(steps), strict=True):
        paths.append(read_path(machine, read_bytes(step), paths[place][-1]))
    return paths


# --- the diagram as SVG ---


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
    return node("title", f"{names}: {say_arrow(arrow, whole=True)}")


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
