"""The stage as a still picture of a trace.

What it says stands in the packed steps, as on the page; this file only places it: where the run comes from, the box of
the constraint if it has one, the text, two panels (the machine with its stack, and the next token), and a line with the
place in the run. The map of a split is as wide as the picture; that of another guide takes the place of the machine.
"""

from collections.abc import Iterable, Sequence

from guidedviz.decoding.recording import PackedStep
from guidedviz.decoding.trace import END_IN_WORDS, TRACE_HINT, Step, Trace, tokens_before
from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.source import guess_kind
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.split import Split
from guidedviz.views.charts.bars import say_next, write_next
from guidedviz.views.figure import EDGE, Drawn, Figure, drawing, moved, rect, ruled, soft, soft_right, wide, write
from guidedviz.views.machine.highlight import recorded_paths
from guidedviz.views.machine.picture import draw_focus, draw_inside
from guidedviz.views.stack.stack_table import say_stack, write_strips
from guidedviz.views.strip import (
    PADDING,
    PANEL_GAP,
    STAGE_INNER,
    STAGE_WIDTH,
    Panel,
    pack_trace,
    say_run,
    say_summary,
    write_panels,
    write_strip,
)
from guidedviz.views.vocabulary.atlas import atlas
from guidedviz.views.vocabulary.map import legal_kinds, say_kinds, say_mask, split_kinds, write_map
from guidedviz.views.words import reading, say_badge, write_badge

MACHINE_WIDTH = 442.0  # of the panel of the machine
LEAST_MACHINE = 352.0  # the height that a machine may take
BOX_HEIGHT = 28.0  # of the box of the constraint
STRIPS_SHARE = 0.45  # of the height, for the strips of the stack


def draw_stage(
    trace: Trace,
    cursor: int | None = None,
    machine: DFA | PDA | None = None,
    split: Split | None = None,
    guide: Guide | None = None,
    box: str = "",
) -> Figure:
    """The whole stage after `cursor` steps (all by default), with the machine that guided it if given.

    The distribution is that of the next token or, after the last step, of the last one.
    With `split` the map of its tokens takes the place of the machine, and shows which tokens asked the stack. `guide`
    shows the map of its mask where there is neither. `box` is the text of a constraint that can be edited.
    """
    expect(trace, Trace, "draw_stage", "a trace", TRACE_HINT)
    expect(machine, DFA | PDA | None, "draw_stage, machine", "a finite or pushdown machine")
    expect(split, Split | None, "draw_stage, split", "a split", "gv.tokens.build_split(machine, vocabulary)")
    expect(guide, Guide | None, "draw_stage, guide", "a guide", "trace.guide")
    expect(box, str, "draw_stage, box", "a text")
    expect(cursor, int | None, "draw_stage, cursor", "a number of steps")
    last = len(trace.steps)
    cursor = last if cursor is None else max(0, min(cursor, last))
    steps = pack_trace(trace)
    words = _say_cursor(steps, cursor)
    told = [f"{_say_place(trace, cursor)} · {words}"]
    parts = [_write_header(trace)]
    if box:
        parts.append(_write_constraint_box(guess_kind(box), box))
        told.append(f"constraint box: {reading(box)}")
    parts.append(write_strip(steps, trace, cursor, words))
    if split is not None:
        machine = None
        guide = None
        place = min(cursor, last - 1)
        drawn, said = _write_map(split, trace.steps, place)
        parts.append(write_panels(("map", STAGE_INNER, drawn)))
        told.append(said)
    panels: list[Panel] = []
    high = LEAST_MACHINE
    if steps:
        is_alone = machine is None and guide is None
        width = STAGE_INNER if is_alone else STAGE_INNER - MACHINE_WIDTH - PANEL_GAP
        drawn, said = _write_draw(trace, steps, cursor, width - 2 * PADDING, machine is None)
        panels.append(("next", width, drawn))
        high = max(LEAST_MACHINE, drawn[1])
        told.append(said)
    if machine is not None:
        width = MACHINE_WIDTH if steps else STAGE_INNER
        drawn, said = _write_machine(machine, trace.steps[:cursor], width - 2 * PADDING, high)
        panels.insert(0, ("machine", width, drawn))
        told.append(said)
    elif guide is not None and steps:
        place = min(cursor, last - 1)
        drawn, said = _write_mask_map(guide, trace.steps[:place], MACHINE_WIDTH - 2 * PADDING)
        panels.insert(0, ("map", MACHINE_WIDTH, drawn))
        told.append(said)
    if panels:
        parts.append(write_panels(*panels))
    parts.append(_write_controls(trace, cursor))
    alt = f"{say_run(trace, cursor)}. {'. '.join(told)}"
    return Figure(_pile_up(parts, alt), say_summary(trace, cursor), alt)


def _pile_up(parts: Iterable[Drawn], alt: str) -> Element:
    """A drawing of parts below each other."""
    placed = []
    y = EDGE
    for svg, height in parts:
        placed.append(moved(0, y, svg))
        y += height + PANEL_GAP
    return drawing(STAGE_WIDTH, y - PANEL_GAP + EDGE, *placed, alt=alt)


def _say_cursor(steps: Sequence[PackedStep], cursor: int) -> str:
    if cursor:
        return steps[cursor - 1]["words"]
    return "at the prompt" if steps else "no step yet"


def _say_place(trace: Trace, cursor: int) -> str:
    return f"step {cursor} of {len(trace.steps)}"


def _write_header(trace: Trace) -> Drawn:
    room = int((STAGE_INNER - 7.2 * len(say_badge(trace)) - 40) / 7)
    constraint = shorten(trace.constraint or "no constraint", room)
    return write_badge(13, trace) + soft_right(STAGE_WIDTH - EDGE, 13, constraint, 13), 16


def _write_constraint_box(kind: str, text: str) -> Drawn:
    """The line in which a person edits the constraint."""
    left = EDGE + wide(kind) + 14
    ground = rect(left, 0, STAGE_WIDTH - EDGE - left, BOX_HEIGHT, 5, fill="var(--gv-card)", stroke="var(--gv-line)")
    shown = shorten(reading(text), int((STAGE_WIDTH - EDGE - left - 20) / 8.5))
    words = write(left + 10, 19, shown, mono=True)
    return node("g", soft(EDGE, 19, kind), ground, words, data_part="box"), BOX_HEIGHT


def _write_machine(machine: DFA | PDA, steps: Sequence[Step], width: float, height: float) -> tuple[Drawn, str]:
    """The machine where the steps end, for a grammar above its stack, and the same in words."""
    path = recorded_paths(machine, steps)[-1]
    if not isinstance(machine, PDA):
        return draw_inside(machine, path, width, height), f"Machine in q{path[-1]}"
    state = path[-1]
    strips, tall = write_strips(machine, state, width, height * STRIPS_SHARE)
    drawn, high = draw_focus(machine, state, width, height - tall)
    stack = moved(0, high, node("g", strips, data_part="stack"))
    return (drawn + stack, high + tall), say_stack(machine, state)


def _write_map(split: Split, steps: Sequence[Step], place: int) -> tuple[Drawn, str]:
    """The map of all tokens at a step, and the number of tokens of each kind."""
    before = steps[: tokens_before(steps)[place]] if steps else ()
    state = recorded_paths(split.pda, before)[-1][-1]
    made = atlas(split.vocabulary)
    kinds = split_kinds(split, made, state)
    title = f"after {counted(len(before), 'step')}"
    svg, height = write_map(made, kinds, title, STAGE_INNER - 2 * PADDING)
    return (moved(0, 12, svg), height + 12), f"Mask: {say_kinds(kinds)}"


def _write_mask_map(guide: Guide, before: Sequence[Step], width: float) -> tuple[Drawn, str]:
    """The map of a guide's mask after some steps, and the number of its legal tokens."""
    state = guide.initial
    for step in before:
        state = guide.advance(state, step.token)
    mask = guide.mask(state)
    made = atlas(guide.vocabulary)
    svg, height = write_map(made, legal_kinds(made.ordered(mask)), guide.label(state), width)
    return (moved(0, 12, svg), height + 12), f"Mask: {say_mask(guide.vocabulary, mask)}"


def _write_draw(
    trace: Trace, steps: Sequence[PackedStep], cursor: int, width: float, states: bool
) -> tuple[Drawn, str]:
    """The distribution of the next token or, at the end, of the last one, and the same in words.

    With `states` also the state where no machine shows it; how the run ends is known once the step is taken.
    """
    taken = cursor == len(steps)
    title = "the last draw" if taken else "next token"
    step = steps[-1] if taken else steps[cursor]
    facts = []
    if states and step["state"]:
        facts.append(("state", step["state"]))
    if states and step["stack"]:
        facts.append(("stack", " › ".join(reversed(step["stack"]))))
    if taken and step["end"]:
        facts.append(("end", END_IN_WORDS[step["end"]]))
    legal = f"{step['legal']:,} of {trace.vocabulary_size:,} legal" if trace.constraint else None
    drawn = write_next(step, title, width, legal, facts)
    return drawn, say_next(step, title).removesuffix(".")


def _write_controls(trace: Trace, cursor: int) -> Drawn:
    """The place in the run, as a handle on a line and in words, and the settings."""
    end = EDGE + STAGE_INNER / 2
    steps = max(1, len(trace.steps))
    x = EDGE + 6 + (end - EDGE - 12) * cursor / steps
    rail = ruled(EDGE, 9, end - EDGE, stroke="var(--gv-line)", stroke_width=4)
    done = ruled(EDGE, 9, x - EDGE, stroke="var(--gv-blue)", stroke_width=4)
    handle = rect(x - 6, 3, 12, 12, 6, fill="var(--gv-blue)")
    words = write(end + 14, 13, _say_place(trace, cursor))
    settings = f"T {trace.temperature:.2f} · seed {trace.seed}"
    about = soft_right(STAGE_WIDTH - EDGE, 13, settings, 13)
    return node("g", rail, done, handle, words, about, data_part="controls"), 18
