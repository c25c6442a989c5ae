"""Several engines along one text: where each agrees with our mask, and the kinds of their differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node, together
from guidedviz.tokens.compare.differences import KINDS, ComparedStep, Comparison, Disagreement
from guidedviz.views.engines.mask_differences import (
    HINT,
    find_stops,
    found_by,
    name_tokens,
    next_token,
    say_constraint,
    say_counts,
    say_ends,
    short_counts,
    write_sign,
)
from guidedviz.views.figure import Figure, drawing, moved, soft, wide, write

EDGE, TOP, HEAD, ROW, LINE = 16.0, 58.0, 40.0, 46.0, 20.0
LEFT = 204.0  # x of the first cell, after the engines' names
SPAN = 740.0  # width of the cells; a longer text continues below
MOST_STEPS = 24  # of more steps, those where all engines agree are folded ...
ALONE = 3  # ... if more than this are in a row
MOST_BANDS = 8


@dataclass(frozen=True)
class StepColumn:
    """A step of the text, or several in a row where all engines agree."""

    steps: tuple[ComparedStep, ...]
    head: str
    width: float


@dataclass(frozen=True)
class StepCell:
    """The differences of an engine in a column, and whether it was asked there and stops there."""

    found: tuple[Disagreement, ...] = ()
    asked: bool = True
    stops: bool = False


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
    bands = list(_bands(list(_columns(comparison))))
    high = HEAD + ROW * len(comparison.engines) + 16
    parts = [_title(comparison)]
    for number, band in enumerate(bands[:MOST_BANDS]):
        parts.append(moved(0, TOP + high * number, *_draw_band(comparison, band)))
    y = TOP + high * min(len(bands), MOST_BANDS) + 12
    notes = [*_cut(bands), *say_ends(comparison)]
    parts += [_draw_note(*note, y + LINE * number) for number, note in enumerate(notes)]
    y += LINE * len(notes) + 10
    said = "\n".join(_say(comparison))
    width = LEFT + max(500.0, *(sum(column.width for column in band) for band in bands)) + EDGE
    return Figure(drawing(width, y + 18, *parts, _legend(comparison, y), alt=said), said, said)


def _columns(comparison: Comparison) -> Iterator[StepColumn]:
    fold = len(comparison.steps) > MOST_STEPS
    for calm, group in groupby(comparison.steps, key=lambda step: step.agree and not step.refused_by):
        steps = tuple(group)
        if fold and calm and len(steps) > ALONE:
            head = shorten("".join(next_token(comparison, step) for step in steps), 16)
            yield StepColumn(steps, head, max(92.0, wide(head, 13) + 14))
        else:
            yield from (_column(comparison, step) for step in steps)


def _column(comparison: Comparison, step: ComparedStep) -> StepColumn:
    head = shorten(next_token(comparison, step), 14)
    by_engine = [found_by(step, name) for name, _ in comparison.engines]
    signs = max([1, *(len({found.kind for found in each}) for each in by_engine)])
    counts = max([0, *(len(short_counts(each)) for each in by_engine)])
    return StepColumn((step,), head, max(44.0, wide(head, 13) + 14, 24.0 * signs + 8, 6.4 * counts + 12))


def _bands(columns: Sequence[StepColumn]) -> Iterator[tuple[StepColumn, ...]]:
    """The columns in bands that fit the width."""
    band: list[StepColumn] = []
    for column in columns:
        if band and sum(each.width for each in band) + column.width > SPAN:
            yield tuple(band)
            band = []
        band.append(column)
    yield tuple(band)


def _cut(bands: Sequence[Sequence[StepColumn]]) -> Iterator[tuple[str, str]]:
    left = [step for band in bands[MOST_BANDS:] for column in band for step in column.steps]
    if left:
        yield f"{len(left):,} more steps", f"not drawn; {sum(not step.agree for step in left):,} have a difference"


def _cell(column: StepColumn, engine: str, stop: int | None) -> StepCell:
    step = column.steps[0]
    if stop is not None and step.position > stop:
        return StepCell(asked=False)
    return StepCell(found_by(step, engine), stops=step.position == stop)


def _title(comparison: Comparison) -> Element:
    head = write(EDGE, 24, "engines along one text", 13, font_weight="bold")
    head += soft(LEFT, 24, say_constraint(comparison, 64), 13, mono=True)
    about = "does an engine's mask agree with ours before this token? − tokens that it omits, + tokens that it adds"
    return head + soft(EDGE, 44, about)


def _draw_band(comparison: Comparison, band: Sequence[StepColumn]) -> Iterator[Element]:
    width = LEFT + sum(column.width for column in band)
    for number, (name, version) in enumerate(comparison.engines):
        y = HEAD + ROW * number
        yield node("path", d=f"M{EDGE:g} {y:g}H{width:g}", stroke="var(--gv-line)")
        yield write(EDGE, y + 20, shorten(name, 22), 13, font_weight="bold")
        yield soft(EDGE, y + 36, version)
    x, stopped = LEFT, find_stops(comparison)
    for column in band:
        yield moved(x, 0, *_draw_column(comparison, column, stopped))
        x += column.width


def _draw_column(comparison: Comparison, column: StepColumn, stopped: dict[str, int]) -> Iterator[Element]:
    middle, first, last = column.width / 2, column.steps[0], column.steps[-1]
    place = f"{first.position}" if first is last else f"{first.position}–{last.position}"
    yield soft(middle, 14, place, 11, text_anchor="middle")
    ends = first.token is None
    colour = f"var(--gv-{'soft' if ends else 'ink'})"
    yield write(middle, 31, column.head, 13, not ends, fill=colour, text_anchor="middle")
    for number, (engine, _) in enumerate(comparison.engines):
        cell = _cell(column, engine, stopped.get(engine))
        title = node("title", "\n".join(_hover(comparison, column, engine, cell)))
        yield moved(0, HEAD + ROW * number, title, *_draw_cell(cell, column))


def _draw_cell(cell: StepCell, column: StepColumn) -> Iterator[Element]:
    width, middle, several = column.width, column.width / 2, len(column.steps)
    yield node("rect", width=width, height=ROW, fill_opacity=0)  # a target for the pointer
    kinds = [kind for kind in KINDS if any(found.kind == kind for found in cell.found)]
    for place, kind in enumerate(kinds):
        yield write_sign(kind, middle + 24 * (place - (len(kinds) - 1) / 2), 17)
    if not cell.asked:
        yield node("path", d=f"M0 {ROW / 2:g}h{width:g}", stroke="var(--gv-soft)", stroke_dasharray="2 5")
    elif kinds:
        yield write(middle, 41, short_counts(cell.found), 11, text_anchor="middle")
    else:
        words = f"= in all {several}" if several > 1 else "="
        yield soft(middle, 27, words, 13, text_anchor="middle")
    if cell.stops:
        yield node("path", d=f"M{width:g} 4v{ROW - 8:g}", stroke="var(--gv-orange)", stroke_width=4)


def _hover(comparison: Comparison, column: StepColumn, engine: str, cell: StepCell) -> Iterator[str]:
    """The tooltip of a cell."""
    legal = "" if len(column.steps) > 1 else f", {column.steps[0].legal:,} legal"
    yield f"{engine}, before {column.head}{legal}"
    if not cell.found:
        yield "agrees" if cell.asked else "not asked: it stopped before"
    for found in cell.found:
        yield from name_tokens(comparison, found)
    if cell.stops:
        yield f"stops: it refuses {column.head}"


def _draw_note(name: str, words: str, y: float) -> Element:
    head = write(EDGE, y, shorten(name, 22), 13, font_weight="bold")
    return head + soft(LEFT, y, shorten(words, 110))


def _legend(comparison: Comparison, y: float) -> Element:
    """The legend of the signs in the picture."""
    parts, x = [soft(EDGE, y, "= agrees")], EDGE + 80
    there = {found.kind for step in comparison.steps for found in step.differences}
    for kind in (kind for kind in KINDS if kind in there):
        parts += [write_sign(kind, x + 10, y - 4), soft(x + 26, y, kind)]
        x += 50 + 6.6 * len(kind)
    if find_stops(comparison):
        parts.append(node("path", d=f"M{x + 4:g} {y - 14:g}v20", stroke="var(--gv-orange)", stroke_width=4))
        parts.append(soft(x + 14, y, "stops"))
    return together(parts)


def _say(comparison: Comparison) -> Iterator[str]:
    engines, steps = counted(len(comparison.engines), "engine"), counted(len(comparison.steps), "step")
    yield f"compare {say_constraint(comparison, 60)}: {engines}, {steps}"
    stopped = find_stops(comparison)
    for engine, _ in comparison.engines:
        asked = [step for step in comparison.steps if step.position <= stopped.get(engine, step.position)]
        differ = [step for step in asked if found_by(step, engine)]
        yield f"{engine}: " + (f"differs in {len(differ)} of {len(asked)}" if differ else f"agrees in {len(asked)}")
        yield from _say_kinds(comparison, engine, differ)
    yield from (f"{name} {words}" for name, words in say_ends(comparison))


def _say_kinds(comparison: Comparison, engine: str, differ: Sequence[ComparedStep]) -> Iterator[str]:
    """Every kind of difference once, with its first step."""
    for (name, *why), count in comparison.kinds().items():
        if name == engine:
            pairs = ((step, d) for step in differ for d in found_by(step, engine) if [d.kind, d.name] == why)
            step, first = next(pairs)
            where = f"in {count}, first before {next_token(comparison, step)}"
            yield f"  {', '.join(why)}: {where} ({say_counts(first)})"
