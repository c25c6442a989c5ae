"""The stage and the token strip as still pictures of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from guidedviz.decoding.odds import probability
from guidedviz.decoding.trace import ENDS, Step, Trace, follows, standing
from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack_graph import State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.split import Split
from guidedviz.views.badge import write_badge
from guidedviz.views.charts.distribution import EDGE, ROW, Drawn, write_card, write_distribution, write_meter
from guidedviz.views.figure import TRACE_HINT, Figure, drawing, moved, soft, wide, write
from guidedviz.views.machine.picture import draw_inside, draw_open_rules
from guidedviz.views.machine.recorded_path import last_path
from guidedviz.views.stack.column import say_stack, write_stack
from guidedviz.views.vocabulary.atlas import atlas
from guidedviz.views.vocabulary.callouts import callouts
from guidedviz.views.vocabulary.map import legal_kinds, say_mask, write_map
from guidedviz.views.vocabulary.split_map import say_kinds, split_kinds
from guidedviz.views.words import label, milliseconds, reading, say_step

WIDTH = 920.0
STACK = 230.0  # the width of the stack


def draw_stage(
    trace: Trace,
    cursor: int | None = None,
    costs: bool = False,
    machine: DFA | PDA | None = None,
    split: Split | None = None,
    stack: bool = False,
) -> Figure:
    """The whole stage after `cursor` steps (all by default), with the machine that guided it if given.

    The distribution is that of the next token or, after the last step, of the last one.
    `split` adds the map of its tokens at that step; `stack` shows on it which tokens asked the stack. `costs` adds the
    times, which differ between runs.
    """
    expect(trace, Trace, "draw_stage", "a trace", TRACE_HINT)
    expect(machine, DFA | PDA | None, "draw_stage, machine", "a finite or pushdown machine")
    expect(split, Split | None, "draw_stage, split", "a split", "gv.tokens.build_split(machine, vocabulary)")
    cursor = _step_count(trace, cursor, "draw_stage, cursor")
    place = min(cursor, len(trace.steps) - 1)  # of the step whose distribution is shown: the next one, or the last one
    step = trace.steps[place] if trace.steps else None
    said = _say(trace, cursor)
    parts = [_header(trace), _strip(trace, cursor, said)]
    if isinstance(machine, PDA):
        parts.append(_rules_and_stack(machine, state := last_path(machine, trace.steps[:cursor])[-1]))
        said += f". {say_stack(machine, state)}"
    elif machine is not None:
        path = last_path(machine, trace.steps[:cursor])
        parts.append(_machine(machine, path))
        said += f". Machine in q{path[-1]}"
    if split is not None:
        before = trace.steps[: follows(trace.steps)[place]] if step else ()
        svg, high, told = _map(split, before, step, stack)
        parts.append((svg, high))
        said += f". {told}"
    if step:
        title = "next token" if place == cursor else "the last draw"
        shown = step if place < cursor else replace(step, end="")  # how it ends is known once it is taken
        parts += [_choice(shown, title, trace.vocabulary_size, costs), _timeline(trace, cursor)]
    svg, height = _stack(parts, gap=12)
    alt = f"{_title(trace)} Prompt {reading(trace.prompt)}. Output {_quote(trace, cursor)}. {said}"
    body = moved(0, EDGE, svg)
    return Figure(drawing(WIDTH, height + 2 * EDGE, body, alt=alt), _summary(trace, cursor), alt)


def draw_strip(trace: Trace, cursor: int | None = None, *, mass: bool = False) -> Figure:
    """The prompt and the tokens in one strip, coloured by probability; `cursor` marks one of them.

    With `mass` each token shows the Z of its step, the legal mass, instead of its own probability.
    """
    expect(trace, Trace, "draw_strip", "a trace", TRACE_HINT)
    upto = _step_count(trace, cursor, "draw_strip, cursor")
    svg, height = _strip(trace, upto, "", marked=cursor is not None, mass=mass)
    alt = f"{_title(trace)} Prompt {reading(trace.prompt)}. Output {_quote(trace, upto)}."
    alt += " Z per step: " * mass + " · ".join(_say_mass(step) for step in trace.steps[:upto] if mass)
    body = moved(0, 6, svg)
    return Figure(drawing(WIDTH, height + 12, body, alt=alt), _summary(trace, upto), alt)


def _step_count(trace: Trace, cursor: int | None, where: str) -> int:
    """The number of steps up to a cursor; all of them for None."""
    expect(cursor, int | None, where, "a number of steps")
    return len(trace.steps) if cursor is None else max(0, min(cursor, len(trace.steps)))


def _title(trace: Trace) -> str:
    return f"{trace.source}: {trace.model} on {trace.device}, {trace.vocabulary_size:,} tokens."


def _quote(trace: Trace, cursor: int) -> str:
    text = b"".join(s.piece for s in standing(trace.steps[:cursor]) if s.end != "eos").decode("utf-8", "replace")
    return f'"{reading(text)}"'


def _summary(trace: Trace, cursor: int) -> str:
    end = trace.steps[cursor - 1].end if cursor else ""
    return f"Stage: {trace.model}, {cursor} steps, {_quote(trace, cursor)}" + (f" ({end})" if end else "")


def _say(trace: Trace, cursor: int) -> str:
    if not cursor:
        return "no step taken yet"
    return f"step {cursor} of {len(trace.steps)} · {say_step(trace.steps[cursor - 1])}"


def _stack(parts: Sequence[Drawn], gap: float) -> Drawn:
    placed, y = [], 0.0
    for svg, height in parts:
        placed.append(moved(0, y, svg))
        y += height + gap
    return together(placed), y - gap


def _header(trace: Trace) -> Drawn:
    how = f"{trace.constraint or 'no constraint'} · temperature {trace.temperature:g} · seed {trace.seed}"
    size = trace.vocabulary_size
    badge = write_badge(EDGE, 13, trace.source, trace.model, trace.device, size, trace.date)
    settings = soft(WIDTH - EDGE, 13, shorten(how, 52), 13, text_anchor="end")
    return badge + settings, 16


def _say_mass(step: Step) -> str:
    return f"{label(step.piece)} {probability(step.mass)}"


def _strip(trace: Trace, cursor: int, said: str, marked: bool = True, mass: bool = False) -> Drawn:
    x, y, chips = EDGE + 12, 10.0, []
    for svg, width in _chips(trace, cursor, marked, mass):
        if x + width > WIDTH - EDGE - 12:
            x, y = EDGE + 12, y + 44
        chips.append(moved(x, y, svg))
        x += width + 4
    height = y + (72 if said else 48)
    words = soft(EDGE + 12, height - 12, said, 13) if said else NOTHING
    return write_card(EDGE, WIDTH - 2 * EDGE, height) + together(chips) + words, height


def _chips(trace: Trace, cursor: int, marked: bool, mass: bool) -> Iterator[Drawn]:
    prompt = reading(trace.prompt)
    for line in (prompt[start : start + 90] for start in range(0, len(prompt), 90)):
        yield soft(0, 22, line, 15, mono=True), wide(line, 15) + 6
    stand = {id(step) for step in standing(trace.steps[:cursor])}
    for number, step in enumerate(trace.steps, 1):
        gone = number <= cursor and id(step) not in stand
        yield _chip(step, marked and number == cursor, number > cursor, gone, step.mass if mass else step.masked)


def _chip(step: Step, current: bool, ahead: bool, gone: bool, shown: float) -> Drawn:
    words = shorten("⊘" if step.how == "none" else label(step.piece), 80)
    asked = step.how in ("sampled", "accepted")
    below = probability(shown) if asked else {"none": "end"}.get(step.how, step.how)
    below = "taken back" if gone else f"✓ {below}" if step.how == "accepted" else below
    dropped = shorten("".join(map(label, step.dropped)), 24)
    width = max(wide(words, 15), wide(below, 10) + wide(dropped, 10) + 6 * bool(dropped)) + 12
    fill = {"fill": "var(--gv-blue)", "fill_opacity": 0.08 + 0.42 * shown if asked else 0.0}
    line: dict[str, Any] = {"stroke": "var(--gv-line)"}
    line |= {"stroke_dasharray": "3 2"} if step.how == "forced" else {}
    line |= {"stroke": "var(--gv-orange)"} if step.how in ("inserted", "none") else {}
    line |= {"stroke": "var(--gv-orange)", "stroke_width": 2.5} if current else {}
    box = node("rect", x=0, y=0, width=width, height=38, rx=4, **fill, **line)
    struck = {"text_decoration": "line-through"} if gone else {}
    token = write(width / 2, 19, words, 15, mono=True, text_anchor="middle", **struck)
    shift = (wide(dropped, 10) + 6) / 2 if dropped else 0.0
    small = soft(width / 2 + shift, 32, below, 10, text_anchor="middle")
    if dropped:
        left = width / 2 - wide(below, 10) / 2 - 3
        small += soft(left, 32, dropped, 10, mono=True, text_anchor="middle", text_decoration="line-through")
    if step.how == "accepted":
        small += node("path", d=f"M2 37H{width - 2:g}", stroke="var(--gv-green)", stroke_width=3)
    return node("g", box, token, small, opacity=0.45 if ahead or gone else 1), width


def _machine(machine: DFA, path: Sequence[int]) -> Drawn:
    svg, height = draw_inside(machine, path, WIDTH - 2 * EDGE - 24, 230)
    return write_card(EDGE, WIDTH - 2 * EDGE, height + 16) + moved(EDGE + 12, 8, svg), height + 16


def _rules_and_stack(pda: PDA, state: State) -> Drawn:
    """The open rules, and beside them the stack."""
    width = WIDTH - 2 * EDGE - STACK - 10
    rules, high = draw_open_rules(pda, state, width - 24, 330)
    stack, tall = write_stack(pda, state, STACK - 24, most=6)
    height = max(high, tall) + 16
    left = write_card(EDGE, width, height) + moved(EDGE + 12, 8, rules)
    inside = moved(12, 9, stack)
    return left + moved(WIDTH - EDGE - STACK, 0, write_card(0, STACK, height), inside), height


def _map(split: Split, steps: Sequence[Step], step: Step | None, stack: bool) -> tuple[Element, float, str]:
    """The map of all tokens after these steps, its height, and the number of tokens of each kind."""
    made, state = atlas(split.vocabulary), last_path(split.pda, steps)[-1]
    mask = split.mask(state)
    kinds = split_kinds(split, made, state) if stack else legal_kinds(made.ordered(mask))
    told = say_kinds(kinds) if stack else say_mask(split.vocabulary, mask)
    calls = callouts(made, step) if step else ()
    svg, height = write_map(made, kinds, f"after {counted(len(steps), 'step')}", WIDTH - 2 * EDGE - 24, calls)
    inside = moved(EDGE + 12, 22, svg)
    return write_card(EDGE, WIDTH - 2 * EDGE, height + 26) + inside, height + 26, f"Mask: {told}"


def _choice(step: Step, title: str, size: int, costs: bool) -> Drawn:
    left, height = write_distribution(step, 9, title, width=600, card=EDGE)
    right = _this_step(step, size, costs)
    return left + moved(WIDTH - EDGE - 294, 0, write_card(0, 294, height), right), height


def _this_step(step: Step, size: int, costs: bool) -> Element:
    asked = step.how != "forced"
    lines = [("legal tokens", f"{step.legal:,} of {size:,}")] if asked else [("model", "not asked")]
    lines += [("state", shorten(step.state, 24))] if step.state else []
    lines += [("stack", shorten(" › ".join(reversed(step.stack)), 30))] if step.stack else []
    if costs and asked:
        times = (("forward", step.forward_ms), ("mask", step.mask_ms), ("sample", step.sample_ms))
        lines += [(name, milliseconds(ms)) for name, ms in times]
    lines += [("end", ENDS[step.end])] if step.end else []
    meter = write_meter(12, 282, 46, step.mass) if asked else NOTHING
    parts = [write(12, 20, "its mask", 13, font_weight="bold"), meter]
    for place, (name, value) in enumerate(lines):
        y = 76 + ROW * place
        parts += [soft(12, y, name), write(282, y, value, 13, text_anchor="end")]
    return together(parts)


def _timeline(trace: Trace, cursor: int) -> Drawn:
    width = (WIDTH - 2 * EDGE) / max(len(trace.steps), 24)
    bars = []
    for place, step in enumerate(trace.steps):
        high = max(2.0, 34 * step.masked)
        now = place == cursor - 1
        colour = "orange" if now else "sky"
        size = {"x": EDGE + place * width, "y": 36 - high, "width": max(1.0, width - 2), "height": high, "rx": 1}
        bars.append(node("rect", **size, fill=f"var(--gv-{colour})", opacity=1.0 if place < cursor else 0.4))
    base = node("line", x1=EDGE, x2=WIDTH - EDGE, y1=36.5, y2=36.5, stroke="var(--gv-line)")
    words = soft(EDGE, 52, "probability of each token among the legal", 11)
    return together(bars) + base + words, 54
