"""Several engines along one text: where each agrees with our mask, and the kinds of their differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from guidedviz.errors import expect, shorten
from guidedviz.machines.grammars.grammar import show_line
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node, together
from guidedviz.tokens.compare import ComparedStep, Comparison, Disagreement
from guidedviz.views.figure import Figure, drawing, moved, soft, wide, write

HINT = "gv.compare_engines(constraint, vocabulary, text)"
EDGE, TOP, HEAD, ROW, LINE = 16.0, 58.0, 40.0, 46.0, 20.0
LEFT, SPAN = 204.0, 740.0  # x of the first cell, after the engines' names; width of all cells
ALONE = 3  # steps where all engines agree are folded if more than this are in a row
NAMED = 6  # tokens named in a tooltip
SIGNS = {  # per kind: a mark on a coloured shape, an SVG path around (0, 0)
    "forced only": ("1", "green", "M-9 -8H4L10 0L4 8H-9Z"),
    "known fault": ("!", "orange", "M0 -11L11 0L0 11L-11 0Z"),
    "lawful choice": ("≈", "blue", "M-9 0A9 9 0 0 1 9 0A9 9 0 0 1 -9 0Z"),
    "ours": ("×", "ink", "M-8 -8H8V8H-8Z"),
    "not known": ("?", "gold", "M-5 -9H5L10 0L5 9H-5L-10 0Z"),
}


@dataclass(frozen=True)
class StepColumn:
    """A step of the text, or several in a row where all engines agree."""

    steps: tuple[ComparedStep, ...]
    head: str
    width: float


def draw_comparison(comparison: Comparison) -> Figure:
    """One row per engine and one column per step; a cell shows whether the masks agree.

    >>> v = gv.Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> print(draw_comparison(gv.compare_engines("a|ab", v, "ab", ["outlines-core"])).text)
    compare a|ab: 1 engine, 2 steps
    outlines-core: differs in 1 of 1
      known fault, takes the first alternative that fits: in 1, first before ab (1 missing)
    outlines-core stops: it refuses ab at 0, and is not asked again
    """
    expect(comparison, Comparison, "draw_comparison", "a comparison", HINT)
    columns, x = list(_columns(comparison)), LEFT
    about = "does an engine's mask agree with ours before this token? − tokens that it omits, + tokens that it adds"
    parts = [write(EDGE, 24, "engines along one text", 13, font_weight="bold"), soft(EDGE, 44, about)]
    parts.append(soft(LEFT, 24, shorten(_line(comparison.constraint), 64), 13, mono=True))
    for number, (name, version) in enumerate(comparison.engines):
        y = TOP + HEAD + ROW * number
        parts.append(node("path", d=f"M{EDGE:g} {y:g}H{LEFT + SPAN:g}", stroke="var(--gv-line)"))
        parts += [write(EDGE, y + 20, shorten(name, 22), 13, font_weight="bold"), soft(EDGE, y + 36, version)]
    while columns and x + columns[0].width <= LEFT + SPAN:
        column = columns.pop(0)
        parts.append(moved(x, TOP, *_draw_column(comparison, column)))
        x += column.width
    notes = list(_say_ends(comparison))
    if left := [step for column in columns for step in column.steps]:
        words = f"not drawn; {sum(not step.agree for step in left):,} have a difference"
        notes.insert(0, (f"{len(left):,} more steps", words))
    y = TOP + HEAD + ROW * len(comparison.engines) + 28
    for number, (name, words) in enumerate(notes):
        parts.append(write(EDGE, y + LINE * number, shorten(name, 22), 13, font_weight="bold"))
        parts.append(soft(LEFT, y + LINE * number, shorten(words, 110)))
    y += LINE * len(notes) + 10
    said = "\n".join(_say(comparison))
    return Figure(drawing(LEFT + SPAN + EDGE, y + 18, *parts, _legend(comparison, y), alt=said), said, said)


def _columns(comparison: Comparison) -> Iterator[StepColumn]:
    for calm, group in groupby(comparison.steps, key=lambda step: step.agree and not step.refused_by):
        steps = tuple(group)
        if calm and len(steps) > ALONE:
            head = shorten("".join(_next(comparison, step) for step in steps), 16)
            yield StepColumn(steps, head, max(92.0, wide(head, 13) + 14))
            continue
        for step in steps:
            head = shorten(_next(comparison, step), 14)
            by_engine = [_found_by(step, name) for name, _ in comparison.engines]
            signs = max([1, *(len({found.kind for found in each}) for each in by_engine)])
            counts = max([0, *(len(_short_counts(each)) for each in by_engine)])
            yield StepColumn((step,), head, max(44.0, wide(head, 13) + 14, 24.0 * signs + 8, 6.4 * counts + 12))


def _draw_column(comparison: Comparison, column: StepColumn) -> Iterator[Element]:
    middle, first, last = column.width / 2, column.steps[0], column.steps[-1]
    place = f"{first.position}" if first is last else f"{first.position}–{last.position}"
    yield soft(middle, 14, place, 11, text_anchor="middle")
    ends = first.token is None
    colour = f"var(--gv-{'soft' if ends else 'ink'})"
    yield write(middle, 31, column.head, 13, not ends, fill=colour, text_anchor="middle")
    for number, (engine, _) in enumerate(comparison.engines):
        stop = _stops(comparison).get(engine, first.position)
        title = node("title", "\n".join(_hover(comparison, column, engine, stop)))
        yield moved(0, HEAD + ROW * number, title, *_draw_cell(column, engine, stop))


def _draw_cell(column: StepColumn, engine: str, stop: int) -> Iterator[Element]:
    """The signs of an engine's differences, "=" if it agrees, dots if it is not asked; a bar where it stops."""
    width, middle, step = column.width, column.width / 2, column.steps[0]
    yield node("rect", width=width, height=ROW, fill_opacity=0)  # a target for the pointer
    found = _found_by(step, engine)
    kinds = [kind for kind in SIGNS if any(each.kind == kind for each in found)]
    for place, kind in enumerate(kinds):
        yield _sign(kind, middle + 24 * (place - (len(kinds) - 1) / 2), 17)
    if step.position > stop:
        yield node("path", d=f"M0 {ROW / 2:g}h{width:g}", stroke="var(--gv-soft)", stroke_dasharray="2 5")
    elif kinds:
        yield write(middle, 41, _short_counts(found), 11, text_anchor="middle")
    else:
        words = f"= in all {len(column.steps)}" if len(column.steps) > 1 else "="
        yield soft(middle, 27, words, 13, text_anchor="middle")
    if engine in step.refused_by:
        yield node("path", d=f"M{width:g} 4v{ROW - 8:g}", stroke="var(--gv-orange)", stroke_width=4)


def _hover(comparison: Comparison, column: StepColumn, engine: str, stop: int) -> Iterator[str]:
    """The tooltip of a cell: each difference with the names of its first tokens."""
    step = column.steps[0]
    yield f"{engine}, before {column.head}" + ("" if len(column.steps) > 1 else f", {step.legal:,} legal")
    found = _found_by(step, engine)
    if not found:
        yield "agrees" if step.position <= stop else "not asked: it stopped before"
    for each in found:
        yield f"{each.kind}: {each.name}"
        for what, ids in (("missing", each.missing), ("extra", each.extra)):
            if ids:
                names = " ".join(shorten(comparison.vocabulary.display(token), 24) for token in ids[:NAMED])
                yield f"  {len(ids):,} {what}: {names}" + " …" * (len(ids) > NAMED)
    if engine in step.refused_by:
        yield f"stops: it refuses {column.head}"


def _sign(kind: str, x: float, y: float) -> Element:
    """The sign of a kind of difference, centred at a point."""
    mark, colour, shape = SIGNS[kind]
    look: dict[str, Any] = {"fill": f"var(--gv-{'page' if colour == 'ink' else 'on'})", "font_weight": "bold"}
    path = node("path", d=shape, fill=f"var(--gv-{colour})", stroke="var(--gv-page)")
    return moved(x, y, path, write(0, 4.5, mark, 13, text_anchor="middle", **look))


def _legend(comparison: Comparison, y: float) -> Element:
    """The legend of the signs in the picture."""
    parts, x = [soft(EDGE, y, "= agrees")], EDGE + 80
    there = {found.kind for step in comparison.steps for found in step.differences}
    for kind in (kind for kind in SIGNS if kind in there):
        parts += [_sign(kind, x + 10, y - 4), soft(x + 26, y, kind)]
        x += 50 + 6.6 * len(kind)
    if _stops(comparison):
        parts.append(node("path", d=f"M{x + 4:g} {y - 14:g}v20", stroke="var(--gv-orange)", stroke_width=4))
        parts.append(soft(x + 14, y, "stops"))
    return together(parts)


def _found_by(step: ComparedStep, engine: str) -> tuple[Disagreement, ...]:
    return tuple(found for found in step.differences if found.engine == engine)


def _stops(comparison: Comparison) -> dict[str, int]:
    """The step at which each engine refuses the next token; it is not asked again."""
    return {name: step.position for step in comparison.steps for name in step.refused_by}


def _next(comparison: Comparison, step: ComparedStep) -> str:
    """The token that follows a step."""
    return "the end" if step.token is None else comparison.vocabulary.display(step.token)


def _line(text: str) -> str:
    return show_line(text.replace("\n", "↵"))


def _short_counts(found: tuple[Disagreement, ...]) -> str:
    """The numbers of tokens that an engine omits and adds."""
    counts = (("−", sum(len(d.missing) for d in found)), ("+", sum(len(d.extra) for d in found)))
    return " ".join(f"{sign}{count:,}" for sign, count in counts if count)


def _say(comparison: Comparison) -> Iterator[str]:
    engines, steps = counted(len(comparison.engines), "engine"), counted(len(comparison.steps), "step")
    yield f"compare {shorten(_line(comparison.constraint), 60)}: {engines}, {steps}"
    for engine, _ in comparison.engines:
        asked = [step for step in comparison.steps if step.position <= _stops(comparison).get(engine, step.position)]
        found = [(step, each) for step in asked for each in _found_by(step, engine)]
        differ = len({step.position for step, _ in found})
        yield f"{engine}: " + (f"differs in {differ} of {len(asked)}" if differ else f"agrees in {len(asked)}")
        for (name, kind, why), count in comparison.kinds().items():
            if name == engine:
                step, first = next((step, each) for step, each in found if (each.kind, each.name) == (kind, why))
                numbers = str(first).rpartition("(")[2]
                yield f"  {kind}, {why}: in {count}, first before {_next(comparison, step)} ({numbers}"
    yield from (f"{name} {words}" for name, words in _say_ends(comparison))


def _say_ends(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """The engines that were not asked, or not until the end, and why."""
    for name, why in comparison.unable:
        yield name, f"cannot take the constraint: {show_line(why)}"
    for step in comparison.steps:
        for name in step.refused_by:
            yield name, f"stops: it refuses {_next(comparison, step)} at {step.position}, and is not asked again"
        if step.stopped:
            yield "the text", f"ends here: the constraint does not allow {_next(comparison, step)}"
