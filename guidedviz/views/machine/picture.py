"""A machine as a figure: its diagram, in DOT, the language of Graphviz, and as a table of texts that it reads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from textwrap import wrap
from typing import Any, Literal

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.extras import need
from guidedviz.machines.machine import Machine, as_machine, read_path, to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element, node, together
from guidedviz.tokens.by_hand import GuidedFSM
from guidedviz.tokens.explain import expected_next
from guidedviz.views.figure import Figure, figure_of, moved, rect, soft, wide, write, write_legend
from guidedviz.views.layout.diagram import Diagram, lay_out
from guidedviz.views.layout.sketch import Arrow, Sketch, by_state, fold, fold_loops, say_arrow, say_ranges, sketch_of
from guidedviz.views.machine.highlight import FEW, STYLE, UNLIT, Highlight, arrow_key, state_after, write_diagram
from guidedviz.views.words import align, label

EDGE, CELL, STRIP = 14.0, 26.0, 50.0  # around a figure; one byte of a text above the machine, and all of it
TITLE_LINE = 20.0  # of the title
BOLD = 7.6  # pixels per character of the title, about
HIGHEST = 1000.0  # a taller machine is drawn smaller
WHOLE = 40  # states of a finite machine that is drawn whole by default
ABOVE = 40.0  # pixels above a machine inside a larger picture
MOST_OPEN = 4  # rules of a grammar inside a larger picture


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
        lit, inside = Highlight.of_state(machine, state), list(machine.places(state))
    elif at is not None:
        path = _check_path(sketch, at)
        lit, inside = Highlight.of_path(path, expect(died, str, "draw_machine, died", "a text")), path[-1:]
    else:
        lit = Highlight(sketch.lit, sketch.lit, sketch.lit_arrows)
    if folded is None:
        folded = not isinstance(machine, PDA) and len(sketch.names) > WHOLE
    diagram = _lay_out(sketch, lit, inside, folded, compact)
    return _sheet(diagram, lit, title or sketch.words, say_machine(diagram, lit, count_states(diagram)))


def _lay_out(
    sketch: Sketch, lit: Highlight, inside: Sequence[int], folded: bool, compact: bool | None = None
) -> Diagram:
    """The diagram; if folded, each chain and loop is one thick arrow, but those around the current state."""
    if folded:
        sketch = fold(fold_loops(sketch, lit.met | {*inside}), {*inside})
    return replace(lay_out(bare(sketch), inside[0] if inside else -1, compact), sketch=sketch)


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
    legend, width, lower = _write_legend(diagram, lit, max(width, min(NARROW, BOLD * len(title) + 2 * EDGE)))
    lines = wrap(title, int((width - 2 * EDGE) / BOLD), break_on_hyphens=False)
    top, (text_read, read) = 8.0 + TITLE_LINE * len(lines), diagram.sketch.tape
    parts = [node("style", STYLE)]
    if text_read:
        parts.append(moved(0, top - EDGE, *write_bytes(text_read), *dict(mark_bytes(text_read, read)).values()))
        top += STRIP - EDGE
    parts += [write(EDGE, TITLE_LINE * number, line, 13, font_weight="bold") for number, line in enumerate(lines, 1)]
    fit = f"translate({EDGE:g} {top:g}) scale({scale:.4g})"
    parts.append(node("g", body, transform=fit, class_="gv-on-page"))
    parts.append(moved(EDGE, top + height + 14, legend))
    return figure_of(width, top + height + lower + 30, text, *parts)


def draw_inside(machine: DFA, path: Sequence[int], width: float, height: float) -> tuple[Element, float]:
    """A finite machine inside a larger picture, and its height."""
    sketch, lit = sketch_of(machine), Highlight.of_path(path)
    diagram = _lay_out(sketch, lit, path[-1:], len(sketch.names) > WHOLE)
    return _fit_inside(diagram, lit, count_states(diagram), path[-1], width, height)


def draw_open_rules(pda: PDA, state: State, width: float, height: float) -> tuple[Element, float]:
    """The innermost open rules at a state, as part of a larger picture."""
    sketch, lit = sketch_of(pda), Highlight.of_state(pda, state)
    called = (key.partition(":")[2] for key, _ in lit.calls)
    wanted = list(dict.fromkeys([*sorted(lit.rules), *pda.stack(state), *called, sketch.rules[0][0]]))[:MOST_OPEN]
    rules = tuple(rule for rule in sketch.rules if rule[0] in wanted)
    at = pda.places(state)[0] if state.tops else -1
    said = f"the innermost {len(rules)} of {counted(len(sketch.rules), 'rule')}"
    return _fit_inside(lay_out(replace(sketch, rules=rules), at), lit, said, at, width, height)


def _fit_inside(
    diagram: Diagram, lit: Highlight, about: str, at: int, width: float, height: float
) -> tuple[Element, float]:
    """A diagram under its title, and its height: whole where it fits, else the part around a state."""
    wide, high = min(width, diagram.width), min(height - ABOVE, diagram.height)
    spot = diagram.spots.get(at)
    left, top = (spot.x - wide / 2, spot.y - high / 2) if spot else (0.0, 0.0)
    left, top = max(0.0, min(left, diagram.width - wide)), max(0.0, min(top, diagram.height - high))
    about += ", in part" if (wide, high) != (diagram.width, diagram.height) else ""
    part = node("svg", moved(0 - left, 0 - top, write_diagram(diagram, lit)), y=ABOVE, width=wide, height=high)
    now = shorten(" · ".join(diagram.sketch.names[state] for state in sorted(lit.now)), int((width - 80) / BOLD))
    title = write(0, 13, "machine", 13, font_weight="bold")
    said = write(width, 13, now, 13, fill="var(--gv-orange)", text_anchor="end", font_weight="bold")
    return node("style", STYLE) + title + said + soft(0, 32, shorten(about, int(width / 6.2))) + part, high + ABOVE


def bare(sketch: Sketch) -> Sketch:
    """The sketch without highlights and groups, so that all frames share one cached layout."""
    return replace(sketch, words="", lit=frozenset(), lit_arrows=frozenset(), groups=(), tape=(b"", 0))


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


# --- a text above a machine, one cell per byte ---


def write_bytes(text: bytes, cell: float = CELL, y: float = EDGE) -> list[Element]:
    """The cells, each with its byte."""
    parts = []
    for place, byte in enumerate(text):
        x, sign = EDGE + cell * place, visible(bytes([byte]))
        parts.append(rect(x, y, cell - 3, 26, 4, fill="var(--gv-card)", stroke="var(--gv-line)"))
        parts.append(write(x + cell / 2 - 1.5, y + 18, sign, 14, mono=True, text_anchor="middle"))
    return parts


def mark_bytes(text: bytes, read: int) -> Iterator[tuple[str, Element]]:
    """A line below the bytes that are read and a frame around the next one, each with a key."""
    if read:
        line = {"stroke": "var(--gv-blue)", "stroke_width": 3}
        yield f"read {read}", node("path", d=f"M{EDGE:g},{EDGE + 31:g}h{CELL * read - 3:g}", **line)
    if read < len(text):
        line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4}
        yield f"next {read}", rect(EDGE + CELL * read, EDGE, CELL - 3, 26, 4, fill="none", **line)


# --- the machine as text ---


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
        return say_arrow(arrow, whole=not arrow.loop)
    if not arrow.call:
        return say_ranges(arrow.ranges)
    times, key = dict(lit.calls), arrow_key(arrow)
    if key not in times:
        return f"calls {arrow.call}" + " (called last)" * (key in lit.last)
    return f"calls {arrow.call} (open{f' ×{times[key]}' * (times[key] > 1)})"


# --- the legend ---


NARROW = 620.0  # the legend of a narrower diagram may be this wide
ROW = 20.0
LETTER = 6.6  # pixels per character, about
MOST = 8  # shortened labels in full; the others have their tooltip
LINE = node("path", d="M1,0h17", class_="gv-line")
CROSS = node("path", d="M4,-5l10,10m0,-10l-10,10")
CALL = rect(0, -7, 18, 14, class_="gv-box")
CALL += node("path", d="M3,-7v14M15,-7v14", class_="gv-box")


def _write_legend(diagram: Diagram, lit: Highlight, width: float) -> tuple[Element, float, float]:
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


# --- several texts as a table: whether each is complete, a prefix, or illegal, and where ---


MOST_VERDICTS = 40  # texts of a table
BEFORE, AFTER = 28, 8  # characters shown on both sides of the place
VERDICT_ROW, SIZE = 26.0, 13
SIGNS = {"complete": ("✓", "green"), "a prefix": ("…", "blue"), "illegal": ("✗", "orange")}


@dataclass(frozen=True)
class TextVerdict:
    """How far a machine reads a text, and what it expects there."""

    verdict: Literal["complete", "a prefix", "illegal"]
    said: str
    read: bytes
    wrong: bytes = b""  # the character with the first illegal byte
    rest: bytes = b""

    @property
    def shown(self) -> tuple[str, str, str]:
        """What fits of the text before the wrong character, that character, and what fits after it."""
        if not self.wrong:
            return shorten(label(self.read), BEFORE + AFTER), "", ""
        before, after = visible(self.read), visible(self.rest)
        start = "…" * (len(before) > BEFORE) + before[-BEFORE:]
        return start, visible(self.wrong), after[:AFTER] + "…" * (len(after) > AFTER)


def judge_text(machine: Machine[Any], data: bytes) -> TextVerdict:
    """Read a text byte by byte, up to the first illegal one.

    >>> judge_text(gv.regex("[0-9]+"), b"12x").said, judge_text(gv.regex("[0-9]+"), b"12").said
    ('illegal at byte 2: expected 0-9 or the end', 'complete')
    """
    *read, state = read_path(machine, data)
    place, wanted = len(read), expected_next(machine, state)
    if place < len(data):
        end = place + 1
        while end < len(data) and 0x80 <= data[end] < 0xC0:
            end += 1
        said = f"illegal at byte {place}: expected {wanted}"
        return TextVerdict("illegal", said, data[:place], data[place:end], data[end:])
    if machine.is_accepting(state):
        return TextVerdict("complete", "complete", data)
    return TextVerdict("a prefix", f"a prefix: expected {wanted}", data)


def draw_verdicts(machine: Any, texts: Iterable[str | bytes]) -> Figure:
    """A table of texts: each is complete, a prefix, or illegal at a byte, which is marked with what was expected.

    It takes any machine: a regex, a grammar, a schema, or a `GuidedFSM`.

    >>> print(draw_verdicts(gv.regex("[0-9]+[.][0-9]+"), ["1.30", "1.", "1;30"]).text)
    1 of 3 texts is complete
    ✓ 1.30  complete
    … 1.    a prefix: expected 0-9
    ✗ 1;30  illegal at byte 1: expected . 0-9
    """
    machine = machine.machine() if isinstance(machine, GuidedFSM) else as_machine(machine, "draw_verdicts")
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise SettingError("draw_verdicts, texts", seen=type(texts).__name__, expected="a list of texts")
    found = [judge_text(machine, to_bytes(text)) for text in islice(texts, MOST_VERDICTS + 1)]
    if not 1 <= len(found) <= MOST_VERDICTS:
        seen = "more texts" if found else "no text"
        raise SettingError("draw_verdicts, texts", seen=seen, expected=f"1 to {MOST_VERDICTS} texts")
    complete = sum(one.verdict == "complete" for one in found)
    summary = f"{complete} of {counted(len(found), 'text')} {'is' if complete == 1 else 'are'} complete"
    cells = ["".join(one.shown) for one in found]
    second = EDGE + 52 + max(wide(shown, SIZE) for shown in cells)
    longest = max(len(shorten(one.said, 90)) for one in found)
    width = max(second + 7.4 * longest, 8.0 * len(summary) + EDGE) + EDGE
    rows = [_write_row(one, second, 34 + VERDICT_ROW * number, width) for number, one in enumerate(found)]
    head = write(EDGE, 20, summary, SIZE, font_weight="bold")
    lines = align([(f"{SIGNS[one.verdict][0]} {text}", one.said) for one, text in zip(found, cells, strict=True)], ())
    return figure_of(width, 44 + VERDICT_ROW * len(found), "\n".join([summary, *lines]), head, *rows)


def _write_row(one: TextVerdict, second: float, y: float, width: float) -> Element:
    sign, colour = SIGNS[one.verdict]
    before, wrong, after = one.shown
    x, base, fill = EDGE + 26, y + 18, f"var(--gv-{colour})"
    parts = [node("path", d=f"M{EDGE:g} {y:g}H{width - EDGE:.1f}", stroke="var(--gv-line)", stroke_width=1)]
    parts += [write(EDGE + 4, base, sign, SIZE, fill=fill, font_weight="bold")]
    parts += [write(x, base, before, SIZE, mono=True)]
    if wrong:
        left, size = x + wide(before, SIZE) + 3, wide(wrong, SIZE)
        parts.append(rect(left - 1.5, y + 4, size + 3, 19, 3, fill="none", stroke=fill, stroke_width=1.6))
        parts.append(write(left, base, wrong, SIZE, mono=True, fill=fill, font_weight="bold"))
        parts.append(write(left + size + 4, base, after, SIZE, mono=True, fill="var(--gv-soft)"))
    return node("g", *parts, write(second, base, shorten(one.said, 90), SIZE))
