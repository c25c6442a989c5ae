"""The stage as a still picture of a trace, and the strip of its tokens.

What it says stands in the packed steps, as on the page; this file only places it: where the run comes from, the text,
two panels (the machine with its stack, and the next token), and a line with the place in the run. A map is as wide as
the picture and stands above the next token.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from guidedviz.decoding.recording import PackedStep
from guidedviz.decoding.trace import ENDS, TRACE_HINT, Step, Trace, follows, taken_back
from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted
from guidedviz.markup import NOTHING, node, together
from guidedviz.tokens.split import Split
from guidedviz.views.charts.distribution import Drawn, say_next, write_next
from guidedviz.views.figure import Figure, drawing, moved, rect, soft, wide, write
from guidedviz.views.machine.paths import recorded_paths
from guidedviz.views.machine.picture import draw_inside, draw_open_rules
from guidedviz.views.stack.stack import say_stack, write_stack
from guidedviz.views.vocabulary.map import atlas, legal_kinds, say_kinds, say_mask, split_kinds, write_map
from guidedviz.views.words import pack_step, prompt_parts, reading, say_badge, special_name, write_badge

WIDTH, EDGE, GAP, PAD = 920.0, 16.0, 10.0, 12.0
INNER = WIDTH - 2 * EDGE
LEFT, STACK = 442.0, 166.0  # the panel of the machine, and the stack in it
LEAST, CARD = 352.0, 46.0  # the height that a machine may take, and that of a frame of the stack
CHIP, BETWEEN = 44.0, 4.0  # the height of a token, and the room after it
LINES, WORDS = re.compile(".{1,88}"), re.compile("[^ ↵]{0,87}[ ↵]|[^ ↵]{1,88}")  # of a prompt
SPECIAL = "special token"


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


def draw_strip(trace: Trace, *, mass: bool = False) -> Figure:
    """The prompt and the tokens in one strip, coloured by probability.

    With `mass` each token shows the Z of its step, the legal mass, instead of its own probability.
    """
    expect(trace, Trace, "draw_strip", "a trace", TRACE_HINT)
    steps, count = _pack(trace), len(trace.steps)
    svg, height = _strip(steps, trace, mass=mass)
    alt = f"{_title(trace)} Prompt {_say_prompt(trace)}. Output {_quote(trace, count)}."
    said = (f"{step['label']} {step['massText']}" for step in steps if mass)
    alt += " Z per step: " * mass + " · ".join(said)
    return Figure(drawing(WIDTH, height + 12, moved(0, 6, svg), alt=alt), _summary(trace, count), alt)


def _pack(trace: Trace) -> list[PackedStep]:
    """The steps as the page gets them."""
    return [pack_step(step, back) for step, back in zip(trace.steps, taken_back(trace.steps), strict=True)]


# --- the same in words ---


def _title(trace: Trace) -> str:
    return f"{trace.source}: {trace.model} on {trace.device}, {trace.vocabulary_size:,} tokens."


def _say_prompt(trace: Trace) -> str:
    return "".join(f"({SPECIAL} {part})" if place % 2 else part for place, part in enumerate(prompt_parts(trace)))


def _quote(trace: Trace, cursor: int) -> str:
    return f'"{reading(replace(trace, steps=trace.steps[:cursor]).text)}"'


def _summary(trace: Trace, cursor: int) -> str:
    end = trace.steps[cursor - 1].end if cursor else ""
    return f"Stage: {trace.model}, {cursor} steps, {_quote(trace, cursor)}" + (f" ({end})" if end else "")


def _place(trace: Trace, cursor: int) -> str:
    return f"step {cursor} of {len(trace.steps)}"


# --- the parts, from top to bottom ---


def _row(*panels: tuple[str, float, Drawn]) -> Drawn:
    """Panels of one height side by side: names, widths and what is inside, which keeps away from the edges."""
    height, x, cards = max(height for *_, (_, height) in panels) + 2 * PAD, EDGE, []
    for part, width, (svg, _) in panels:
        ground = rect(0, 0, width, height, 8, fill="var(--gv-card)", stroke="var(--gv-line)")
        cards.append(moved(x, 0, ground, moved(PAD, PAD, svg), data_part=part))
        x += width + GAP
    return together(cards), height


def _header(trace: Trace) -> Drawn:
    origin = trace.source, trace.model, trace.device, trace.vocabulary_size, trace.date
    room = int((INNER - 7.2 * len(say_badge(*origin)) - 40) / 7)
    constraint = soft(WIDTH - EDGE, 13, shorten(trace.constraint or "no constraint", room), 13, text_anchor="end")
    return write_badge(EDGE, 13, *origin) + constraint, 16


def _strip(
    steps: Sequence[PackedStep], trace: Trace, cursor: int | None = None, words: str = "", mass: bool = False
) -> Drawn:
    """The prompt and the tokens, those after the cursor pale, and below them the words about its step."""
    drawn = [*_prompt(prompt_parts(trace))]
    gone = {place for step in steps[:cursor] for place in step["back"]}
    for place, step in enumerate(steps):
        shown = (step["mass"], step["massText"]) if mass else (step["masked"], step["maskedText"])
        pale = cursor is not None and place >= cursor
        special = bool(trace.parts) and step["end"] == "eos"
        drawn.append(_chip(step, special, cursor == place + 1, pale or place in gone, place in gone, *shown))
    x, y, chips = 0.0, 0.0, []
    for svg, width in drawn:
        if x + width > INNER - 2 * PAD:
            x, y = 0.0, y + CHIP + BETWEEN
        chips.append(moved(x, y, svg))
        x += width + BETWEEN
    said = soft(0, y + CHIP + 18, shorten(words, 130), 13) if words else NOTHING
    return _row(("text", INNER, (together([*chips, said]), y + CHIP + 22 * bool(words))))


def _prompt(parts: Sequence[str]) -> Iterator[Drawn]:
    """The prompt in lines; where it has special tokens, which are chips, in words."""
    plain = len(parts) == 1
    for place, part in enumerate(parts):
        if place % 2:
            yield _special(part, 26)
            continue
        for piece in (LINES if plain else WORDS).findall(part):
            gap = 6.0 if plain else -BETWEEN * piece.endswith(" ")
            yield soft(0, 26, piece, 15, mono=True), wide(piece, 15) + gap


def _special(text: str, y: float) -> Drawn:
    """The name of a special token on a chip."""
    name = special_name(text)
    width = wide(name, 13) + 16
    ground = rect(0, y - 15, width, 21, 10.5, fill="var(--gv-soft)")
    words = write(width / 2, y, name, 13, mono=True, text_anchor="middle", fill="var(--gv-page)")
    return node("g", ground, words, role="img", aria_label=f"{SPECIAL} {text}", data_part="special"), width


def _chip(step: PackedStep, special: bool, current: bool, pale: bool, gone: bool, share: float, said: str) -> Drawn:
    """A token, and below it how it came; one that is taken back is struck through."""
    how, words, dropped = step["how"], shorten(step["label"], 80), shorten(step["dropped"], 24)
    asked = how in ("sampled", "accepted")
    below = {"none": "end", "sampled": said, "accepted": f"✓ {said}"}.get(how, how)
    below = "taken back" if gone else below
    left = wide(dropped, 12) + 6 if dropped else 0.0  # of what is below
    name, long = _special(words, 20) if special else (NOTHING, wide(words, 15))
    width = max(long, left + 0.9 * wide(below, 12)) + 12
    fill = {"fill": "var(--gv-blue)", "fill_opacity": 0.08 + 0.42 * share if asked else 0.0}
    strange = current or how in ("inserted", "none")
    line = {"stroke": "var(--gv-orange)" if strange else "var(--gv-line)", "stroke_width": 2.5 if current else 1}
    dash, struck = "3 2" if how == "forced" and not current else None, "line-through" if gone else None
    box = rect(0, 0, width, CHIP, 4, **fill, **line, stroke_dasharray=dash)
    text = write(width / 2, 20, words, 15, mono=True, text_anchor="middle", text_decoration=struck)
    parts = [box, moved((width - long) / 2, 0, name) if special else text]
    parts.append(soft((width + left) / 2, 37, below, text_anchor="middle"))
    if dropped:
        parts.append(soft(6, 37, dropped, mono=True, text_decoration="line-through"))
    if how == "accepted":
        parts.append(node("path", d=f"M2 {CHIP - 1:g}H{width - 2:g}", stroke="var(--gv-green)", stroke_width=3))
    return node("g", *parts, opacity=0.6 if pale else 1, data_part="token"), width


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
