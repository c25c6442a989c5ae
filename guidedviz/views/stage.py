"""The stage as a still picture of a trace.

What it says stands in the packed steps, as on the page; this file only places it: where the run comes from, the text,
two panels (the machine with its stack, and the next token), and a line with the place in the run. A map is as wide as
the picture and stands above the next token.
"""

from collections.abc import Sequence

from guidedviz.decoding.recording import PackedStep
from guidedviz.decoding.trace import ENDS, TRACE_HINT, Step, Trace, follows
from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted
from guidedviz.markup import node
from guidedviz.tokens.split import Split
from guidedviz.views.badge import say_badge, write_badge
from guidedviz.views.charts.next_token import say_next, write_next
from guidedviz.views.figure import Drawn, Figure, drawing, moved, rect, soft, write
from guidedviz.views.machine.paths import recorded_paths
from guidedviz.views.machine.picture import draw_inside, draw_open_rules
from guidedviz.views.stack.column import say_stack, write_stack
from guidedviz.views.strip import (
    EDGE,
    GAP,
    INNER,
    PAD,
    WIDTH,
    _pack,
    _place,
    _quote,
    _row,
    _say_prompt,
    _strip,
    _summary,
    _title,
)
from guidedviz.views.vocabulary.atlas import atlas
from guidedviz.views.vocabulary.kinds import legal_kinds, say_kinds, say_mask, split_kinds
from guidedviz.views.vocabulary.map import write_map

LEFT, STACK = 442.0, 166.0  # the panel of the machine, and the stack in it
LEAST, CARD = 352.0, 46.0  # the height that a machine may take, and that of a frame of the stack


def draw_stage(
    trace: Trace,
    cursor: int | None = None,
    machine: DFA | PDA | None = None,
    split: Split | None = None,
    stack: bool = False,
) -> Figure:
    """The whole stage after `cursor` steps (all by default), with the machine that guided it if given.

    The distribution is that of the next token or, after the last step, of the last one.
    `split` shows the map of its tokens at that step where there is no machine; with `stack` the map takes the place of
    the machine, and shows which tokens asked the stack.
    """
    expect(trace, Trace, "draw_stage", "a trace", TRACE_HINT)
    expect(machine, DFA | PDA | None, "draw_stage, machine", "a finite or pushdown machine")
    expect(split, Split | None, "draw_stage, split", "a split", "gv.tokens.build_split(machine, vocabulary)")
    expect(cursor, int | None, "draw_stage, cursor", "a number of steps")
    cursor = len(trace.steps) if cursor is None else max(0, min(cursor, len(trace.steps)))
    steps = _pack(trace)
    words = steps[cursor - 1]["words"] if cursor else "at the prompt" if steps else "no step yet"
    parts = [_header(trace), _strip(steps, trace, cursor, words)]
    told = [f"{_place(trace, cursor)} · {words}"]
    place = min(cursor, len(steps) - 1)  # of the step whose distribution is shown: the next one, or the last one
    if split is not None and (machine is None or stack):
        machine = None
        drawn, said = _map(split, trace.steps, place, stack)
        parts.append(_row(("map", INNER, drawn)))
        told.append(said)
    panels: list[tuple[str, float, Drawn]] = []
    if steps:
        title, step = "next token" if place == cursor else "the last draw", steps[place]
        width = INNER if machine is None else INNER - LEFT - GAP
        legal = f"{step['legal']:,} of {trace.vocabulary_size:,} legal"
        facts = _facts(step, place < cursor, machine is None)
        panels.append(("next", width, write_next(step, title, width - 2 * PAD, legal, facts)))
        told.append(say_next(step, title).removesuffix("."))
    if machine is not None:
        width, high = LEFT if steps else INNER, max([LEAST, *(height for *_, (_, height) in panels)])
        drawn, said = _machine(machine, trace.steps[:cursor], width - 2 * PAD, high)
        panels.insert(0, ("machine", width, drawn))
        told.append(said)
    if panels:
        parts.append(_row(*panels))
    parts.append(_scrub(trace, cursor))
    placed, y = [], EDGE
    for svg, height in parts:
        placed.append(moved(0, y, svg))
        y += height + GAP
    alt = f"{_title(trace)} Prompt {_say_prompt(trace)}. Output {_quote(trace, cursor)}. {'. '.join(told)}"
    return Figure(drawing(WIDTH, y - GAP + EDGE, *placed, alt=alt), _summary(trace, cursor), alt)


def _header(trace: Trace) -> Drawn:
    room = int((INNER - 7.2 * len(say_badge(trace)) - 40) / 7)
    constraint = shorten(trace.constraint or "no constraint", room)
    return write_badge(EDGE, 13, trace) + soft(WIDTH - EDGE, 13, constraint, 13, text_anchor="end"), 16


def _machine(machine: DFA | PDA, steps: Sequence[Step], width: float, height: float) -> tuple[Drawn, str]:
    """The machine where the steps end, for a grammar with its stack beside it, and the same in words."""
    path = recorded_paths(machine, steps)[-1]
    if not isinstance(machine, PDA):
        return draw_inside(machine, path, width, height), f"Machine in q{path[-1]}"
    rules, high = draw_open_rules(machine, path[-1], width - STACK - GAP, height)
    column, tall = write_stack(machine, path[-1], STACK, most=int((height - 76) / CARD))
    beside = moved(width - STACK, 2, column, data_part="stack")
    return (rules + beside, max(high, tall)), say_stack(machine, path[-1])


def _map(split: Split, steps: Sequence[Step], place: int, stack: bool) -> tuple[Drawn, str]:
    """The map of all tokens at a step, and the number of tokens of each kind."""
    before = steps[: follows(steps)[place]] if steps else ()
    made, state = atlas(split.vocabulary), recorded_paths(split.pda, before)[-1][-1]
    mask = split.mask(state)
    kinds = split_kinds(split, made, state) if stack else legal_kinds(made.ordered(mask))
    said = say_kinds(kinds) if stack else say_mask(split.vocabulary, mask)
    svg, height = write_map(made, kinds, f"after {counted(len(before), 'step')}", INNER - 2 * PAD)
    return (moved(0, 12, svg), height + 12), f"Mask: {said}"


def _facts(step: PackedStep, taken: bool, states: bool) -> list[tuple[str, str]]:
    """What else is known of a step: the state where no machine shows it, and how the run ends with it."""
    facts = [("state", step["state"]), ("stack", " › ".join(reversed(step["stack"])))] if states else []
    if taken and step["end"]:  # how it ends is known once it is taken
        facts.append(("end", ENDS[step["end"]]))
    return [(name, value) for name, value in facts if value]


def _scrub(trace: Trace, cursor: int) -> Drawn:
    """The place in the run, as a handle on a line and in words, and the settings."""
    end, settings = EDGE + INNER / 2, f"T {trace.temperature:.2f} · seed {trace.seed}"
    x = EDGE + 6 + (end - EDGE - 12) * cursor / max(1, len(trace.steps))
    line = node("path", d=f"M{EDGE:g} 9H{end:g}", stroke="var(--gv-line)", stroke_width=4)
    line += node("path", d=f"M{EDGE:g} 9H{x:g}", stroke="var(--gv-blue)", stroke_width=4)
    handle = rect(x - 6, 3, 12, 12, 6, fill="var(--gv-blue)")
    words = write(end + 14, 13, _place(trace, cursor), 13)
    words += soft(WIDTH - EDGE, 13, settings, 13, text_anchor="end")
    return node("g", line, handle, words, data_part="controls"), 18
