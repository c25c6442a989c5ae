"""The stage as a still picture, and the parts of it alone: records in, figures out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from guidedviz.decoding.trace import Step, Trace, standing
from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.pda import PDA, State
from guidedviz.tokens.split import Split
from guidedviz.views.atlas import atlas
from guidedviz.views.badge import write_badge
from guidedviz.views.distribution import EDGE, ROW, Drawn, write_card, write_distribution, write_meter
from guidedviz.views.figure import Figure, drawing, node, shorten, wide, write
from guidedviz.views.machine import draw_inside, draw_open_rules
from guidedviz.views.map import write_map
from guidedviz.views.split import say_kinds, split_kinds
from guidedviz.views.stack import say_stack, write_stack
from guidedviz.views.trail import state_of, step_path
from guidedviz.views.words import (
    ENDS,
    label,
    milliseconds,
    probability,
    reading,
    say_step,
)

WIDTH = 920.0
STACK = 230.0  # how wide the stack is


def draw_stage(
    trace: Trace,
    cursor: int | None = None,
    costs: bool = False,
    machine: DFA | PDA | None = None,
    split: Split | None = None,
) -> Figure:
    """The whole stage after `cursor` steps (all by default), with the machine that guided it, if it is given.

    A split adds the map of what it knew at the last of them; `costs` the times, which differ from run to run.
    """
    check_trace(trace, "draw_stage")
    cursor = len(trace.steps) if cursor is None else max(0, min(cursor, len(trace.steps)))
    step = trace.steps[cursor - 1] if cursor else None
    said = _say(trace, cursor)
    parts = [_header(trace), _strip(trace, cursor, said)]
    if isinstance(machine, PDA):
        parts.append(_rules_and_stack(machine, state := state_of(machine, trace.steps[:cursor])))
        said += f". {say_stack(machine, state)}"
    elif machine is not None:
        path = step_path(machine, step) if step else (machine.initial,)
        parts.append(_machine(machine, path))
        said += f". Machine in q{path[-1]}" if path else ""
    if split is not None:
        svg, high, told = _map(split, trace.steps[: max(0, cursor - 1)])
        parts.append((svg, high))
        said += f". {told}"
    if step:
        parts += [_choice(step, trace.vocabulary_size, costs), _timeline(trace, cursor)]
    svg, height = _stack(parts, gap=12)
    alt = f"{_title(trace)} Prompt {reading(trace.prompt)}. Output {_quote(trace, cursor)}. {said}"
    body = node("g", svg, transform=f"translate(0 {EDGE:g})")
    return Figure(drawing(WIDTH, height + 2 * EDGE, body, alt=alt), _summary(trace, cursor), alt)


def check_trace(trace: object, where: str) -> None:
    """Refuse what is no trace."""
    if not isinstance(trace, Trace):
        hint = "gv.record(model, prompt, guide)"
        raise SettingError(where, seen=type(trace).__name__, expected="a trace", hint=hint)


def draw_strip(trace: Trace, cursor: int | None = None) -> Figure:
    """The prompt and the tokens one after the other, coloured by probability; a cursor marks one of them."""
    check_trace(trace, "draw_strip")
    upto = len(trace.steps) if cursor is None else max(0, min(cursor, len(trace.steps)))
    svg, height = _strip(trace, upto, "", marked=cursor is not None)
    alt = f"{_title(trace)} Prompt {reading(trace.prompt)}. Output {_quote(trace, upto)}."
    body = node("g", svg, transform="translate(0 6)")
    return Figure(drawing(WIDTH, height + 12, body, alt=alt), _summary(trace, upto), alt)


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
        placed.append(node("g", svg, transform=f"translate(0 {y:g})"))
        y += height + gap
    return "".join(placed), y - gap


def _header(trace: Trace) -> Drawn:
    how = f"{trace.constraint or 'no constraint'} · temperature {trace.temperature:g} · seed {trace.seed}"
    size = trace.vocabulary_size
    badge = write_badge(EDGE, 13, trace.source, trace.model, trace.device, size, trace.date)
    settings = write(WIDTH - EDGE, 13, shorten(how, 52), fill="var(--gv-soft)", text_anchor="end")
    return badge + settings, 16


def _strip(trace: Trace, cursor: int, said: str, marked: bool = True) -> Drawn:
    x, y, chips = EDGE + 12, 10.0, []
    for svg, width in _chips(trace, cursor, marked):
        if x + width > WIDTH - EDGE - 12:
            x, y = EDGE + 12, y + 44
        chips.append(node("g", svg, transform=f"translate({x:g} {y:g})"))
        x += width + 4
    height = y + (72 if said else 48)
    words = write(EDGE + 12, height - 12, said, fill="var(--gv-soft)") if said else ""
    return write_card(EDGE, WIDTH - 2 * EDGE, height) + "".join(chips) + words, height


def _chips(trace: Trace, cursor: int, marked: bool) -> Iterator[Drawn]:
    for line in _lines(reading(trace.prompt), 90):
        yield write(0, 22, line, 15, mono=True, fill="var(--gv-soft)"), wide(line, 15) + 6
    stand = {id(step) for step in standing(trace.steps[:cursor])}
    for number, step in enumerate(trace.steps, 1):
        yield _chip(step, marked and number == cursor, number > cursor, number <= cursor and id(step) not in stand)


def _lines(words: str, count: int) -> list[str]:
    return [words[i : i + count] for i in range(0, len(words), count)]


def _chip(step: Step, current: bool, ahead: bool, gone: bool) -> Drawn:
    words = shorten("⊘" if step.how == "none" else label(step.piece), 80)
    below = probability(step.masked) if step.how == "sampled" else {"none": "end"}.get(step.how, step.how)
    below = "taken back" if gone else below
    width = max(wide(words, 15), wide(below, 10)) + 12
    fill = {"fill": "var(--gv-blue)", "fill_opacity": 0.08 + 0.42 * step.masked if step.how == "sampled" else 0.0}
    line: dict[str, Any] = {"stroke": "var(--gv-line)"}
    line |= {"stroke_dasharray": "3 2"} if step.how == "forced" else {}
    line |= {"stroke": "var(--gv-orange)"} if step.how in ("inserted", "none") else {}
    line |= {"stroke": "var(--gv-orange)", "stroke_width": 2.5} if current else {}
    box = node("rect", x=0, y=0, width=width, height=38, rx=4, **fill, **line)
    token = write(
        width / 2,
        19,
        words,
        15,
        mono=True,
        text_anchor="middle",
        **({"text_decoration": "line-through"} if gone else {}),
    )
    small = write(width / 2, 32, below, 10, fill="var(--gv-soft)", text_anchor="middle")
    return node("g", box, token, small, opacity=0.45 if ahead or gone else 1), width


def _machine(machine: DFA, path: Sequence[int]) -> Drawn:
    svg, height = draw_inside(machine, path, WIDTH - 2 * EDGE - 24, 230)
    return write_card(EDGE, WIDTH - 2 * EDGE, height + 16) + node(
        "g", svg, transform=f"translate({EDGE + 12:g} 8)"
    ), height + 16


def _rules_and_stack(pda: PDA, state: State) -> Drawn:
    """The rules that are open, and beside them the stack."""
    width = WIDTH - 2 * EDGE - STACK - 10
    rules, high = draw_open_rules(pda, state, width - 24, 330)
    stack, tall = write_stack(pda, state, STACK - 24, most=6)
    height = max(high, tall) + 16
    left = write_card(EDGE, width, height) + node("g", rules, transform=f"translate({EDGE + 12:g} 8)")
    inside = node("g", stack, transform="translate(12 9)")
    return left + node(
        "g", write_card(0, STACK, height), inside, transform=f"translate({WIDTH - EDGE - STACK:g} 0)"
    ), height


def _map(split: Split, steps: Sequence[Step]) -> tuple[str, float, str]:
    """All tokens in three colours after these steps, how high that is, and how many there are of each."""
    made, state = atlas(split.vocabulary), state_of(split.pda, steps)
    kinds = split_kinds(split, made, state)
    svg, height = write_map(made, kinds, f"{state!r}", WIDTH - 2 * EDGE - 24)
    inside = node("g", svg, transform=f"translate({EDGE + 12:g} 22)")
    return write_card(EDGE, WIDTH - 2 * EDGE, height + 26) + inside, height + 26, f"Mask: {say_kinds(kinds)}"


def _choice(step: Step, size: int, costs: bool) -> Drawn:
    left, height = write_distribution(step, 9, "next token", width=600, card=EDGE)
    right = _this_step(step, size, costs)
    return left + node("g", write_card(0, 294, height), right, transform=f"translate({WIDTH - EDGE - 294:g} 0)"), height


def _this_step(step: Step, size: int, costs: bool) -> str:
    asked = step.how != "forced"
    lines = [("legal tokens", f"{step.legal:,} of {size:,}")] if asked else [("model", "not asked")]
    lines += [("state", shorten(step.state, 24))] if step.state else []
    lines += [("stack", shorten(" › ".join(reversed(step.stack)), 30))] if step.stack else []
    if costs and asked:
        times = (("forward", step.forward_ms), ("mask", step.mask_ms), ("sample", step.sample_ms))
        lines += [(name, milliseconds(ms)) for name, ms in times]
    lines += [("end", ENDS[step.end])] if step.end else []
    parts = [write(12, 20, "this step", 13, font_weight="bold"), write_meter(12, 282, 46, step.mass) if asked else ""]
    for place, (name, value) in enumerate(lines):
        y = 76 + ROW * place
        parts += [write(12, y, name, 12, fill="var(--gv-soft)"), write(282, y, value, 13, text_anchor="end")]
    return "".join(parts)


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
    words = write(EDGE, 52, "probability of each token among the legal", 11, fill="var(--gv-soft)")
    return "".join(bars) + base + words, 54
