"""Several engines along one text: where each agrees with our mask, and the kinds of their differences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from guidedviz.errors import expect, shorten
from guidedviz.machines.grammars.grammar import show_line
from guidedviz.markup import Element, node
from guidedviz.tokens.compare import ComparedStep, Comparison, Disagreement
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, wide, write

HINT = "gv.compare_engines(constraint, vocabulary, text)"
EDGE, TOP, HEAD, ROW, LINE = 16.0, 58.0, 40.0, 46.0, 20.0
LEFT, SPAN = 204.0, 740.0  # x of the first cell, after the engines' names; width of all cells
ALONE = 3  # steps where all engines agree are folded if more than this are in a row
NAMED = 6  # tokens named in a tooltip
SIGNS = {  # per kind: a mark and its colour
    "forced only": ("1", "green"),
    "known fault": ("!", "orange"),
    "lawful choice": ("≈", "blue"),
    "ours": ("×", "ink"),
    "not known": ("?", "gold"),
}
STOPS: dict[str, Any] = {"stroke": "var(--gv-orange)", "stroke_width": 4}


def draw_comparison(comparison: Comparison) -> Figure:
    """One row per engine and one column per step; a cell shows whether the masks agree.

    >>> v = gv.Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> print(draw_comparison(gv.compare_engines("a|ab", v, "ab", ["outlines-core"])).text.partition("\\n")[2])
      0 before ab: 2 legal
          outlines-core: known fault, takes the first alternative that fits (1 missing): ab
          outlines-core refuses ab
      1 before the end: 1 legal, all agree
    """
    expect(comparison, Comparison, "draw_comparison", "a comparison", HINT)
    stops = {name: step.position for step in comparison.steps for name in step.refused_by}
    about = "does an engine's mask agree with ours before this token? − tokens that it omits, + tokens that it adds"
    constraint = shorten(show_line(comparison.constraint.replace("\n", "↵")), 64)
    parts, x = [heading(EDGE, 24, "engines along one text", constraint), soft(EDGE, 44, about)], LEFT
    for number, (name, version) in enumerate(comparison.engines):
        y = TOP + HEAD + ROW * number
        parts.append(node("path", d=f"M{EDGE:g} {y:g}H{LEFT + SPAN:g}", stroke="var(--gv-line)"))
        parts += [write(EDGE, y + 20, shorten(name, 22), 13, font_weight="bold"), soft(EDGE, y + 36, version)]
    columns = list(_columns(comparison))
    while columns and x + (width := _width(comparison, *columns[0])) <= LEFT + SPAN:
        parts.append(moved(x, TOP, *_draw_column(comparison, *columns.pop(0), width, stops)))
        x += width
    left = [step for steps, _ in columns for step in steps]
    differ = f"not drawn; {sum(not step.agree for step in left):,} have a difference"
    notes = [(f"{len(left):,} more steps", differ)] * bool(left) + list(_say_ends(comparison))
    y = TOP + HEAD + ROW * len(comparison.engines) + 28
    for name, words in notes:
        parts += [write(EDGE, y, shorten(name, 22), 13, font_weight="bold"), soft(LEFT, y, shorten(words, 110))]
        y += LINE
    parts += _legend(comparison, y + 10, bool(stops))
    said = str(comparison)
    return Figure(drawing(LEFT + SPAN + EDGE, y + 28, *parts, alt=said), said, said)


def _columns(comparison: Comparison) -> Iterator[tuple[tuple[ComparedStep, ...], str]]:
    """The steps of each column and the tokens that follow them; many steps where all agree share a column."""
    for calm, group in groupby(comparison.steps, key=lambda step: step.agree and not step.refused_by):
        steps = tuple(group)
        for some in [steps] if calm and len(steps) > ALONE else [(step,) for step in steps]:
            yield some, shorten("".join(_next(comparison, step) for step in some), 16)


def _width(comparison: Comparison, steps: tuple[ComparedStep, ...], head: str) -> float:
    """A column has room for its head, its signs and its numbers."""
    found = [_found_by(steps[0], name) for name, _ in comparison.engines]
    signs, counts = max((len(each) for each in found), default=0), [len(_say_counts(each)) for each in found]
    return max(44.0 if len(steps) == 1 else 92.0, wide(head) + 14, 24.0 * signs + 8, 6.4 * max(counts, default=0) + 12)


def _draw_column(
    comparison: Comparison, steps: tuple[ComparedStep, ...], head: str, width: float, stops: dict[str, int]
) -> Iterator[Element]:
    """Its places and its head; per engine the signs of its differences, "=" or, where it is not asked, dots."""
    middle, step, last = width / 2, steps[0], steps[-1]
    place = f"{step.position}" if step is last else f"{step.position}–{last.position}"
    yield soft(middle, 14, place, 11, text_anchor="middle")
    ends = step.token is None
    yield write(middle, 31, head, 13, not ends, fill=f"var(--gv-{'soft' if ends else 'ink'})", text_anchor="middle")
    for number, (engine, _) in enumerate(comparison.engines):
        found, asked = _found_by(step, engine), step.position <= stops.get(engine, step.position)
        told = f"{engine}, before {head}" + f", {step.legal:,} legal" * (step is last)
        told += "\nagrees" if asked and not found else "\nnot asked: it stopped before" if not asked else ""
        told += "".join(f"\n{each}: {_say_tokens(comparison, each)}" for each in found)
        told += f"\nstops: it refuses {head}" * (engine in step.refused_by)
        cell = [node("title", told), node("rect", width=width, height=ROW, fill_opacity=0)]  # a target for the pointer
        for spot, kind in enumerate(kinds := [kind for kind in SIGNS if kind in {each.kind for each in found}]):
            cell.append(_sign(kind, middle + 24 * (spot - (len(kinds) - 1) / 2), 17))
        if not asked:
            dots = {"stroke": "var(--gv-soft)", "stroke_dasharray": "2 5"}
            cell.append(node("path", d=f"M0 {ROW / 2:g}h{width:g}", **dots))
        elif found:
            cell.append(write(middle, 41, _say_counts(found), 11, text_anchor="middle"))
        else:
            words = "=" if step is last else f"= in all {len(steps)}"
            cell.append(soft(middle, 27, words, 13, text_anchor="middle"))
        if engine in step.refused_by:
            cell.append(node("path", d=f"M{width:g} 4v{ROW - 8:g}", **STOPS))
        yield moved(0, HEAD + ROW * number, *cell)


def _found_by(step: ComparedStep, engine: str) -> tuple[Disagreement, ...]:
    return tuple(found for found in step.differences if found.engine == engine)


def _next(comparison: Comparison, step: ComparedStep) -> str:
    """The token that follows a step."""
    return "the end" if step.token is None else comparison.vocabulary.display(step.token)


def _say_counts(found: tuple[Disagreement, ...]) -> str:
    """The numbers of tokens that an engine omits and adds."""
    counts = (("−", sum(len(d.missing) for d in found)), ("+", sum(len(d.extra) for d in found)))
    return " ".join(f"{sign}{count:,}" for sign, count in counts if count)


def _say_tokens(comparison: Comparison, found: Disagreement) -> str:
    """The first tokens of a difference."""
    tokens = (*found.missing, *found.extra)
    names = " ".join(shorten(comparison.vocabulary.display(token), 24) for token in tokens[:NAMED])
    return names + " …" * (len(tokens) > NAMED)


def _sign(kind: str, x: float, y: float) -> Element:
    """The sign of a kind of difference, centred at a point."""
    mark, colour = SIGNS[kind]
    ground = node("circle", cx=x, cy=y, r=10, fill=f"var(--gv-{colour})")
    return ground + write(x, y + 5, mark, 14, text_anchor="middle", fill="var(--gv-page)", font_weight="bold")


def _legend(comparison: Comparison, y: float, stops: bool) -> Iterator[Element]:
    """The legend of the signs in the picture."""
    yield soft(EDGE, y, "= agrees")
    x, there = EDGE + 80, {found.kind for step in comparison.steps for found in step.differences}
    for kind in (kind for kind in SIGNS if kind in there):
        yield _sign(kind, x + 10, y - 4) + soft(x + 26, y, kind)
        x += 50 + 6.6 * len(kind)
    if stops:
        yield node("path", d=f"M{x + 4:g} {y - 14:g}v20", **STOPS) + soft(x + 14, y, "stops")


def _say_ends(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """The engines that were not asked, or not until the end, and why."""
    for name, why in comparison.unable:
        yield name, f"cannot take the constraint: {show_line(why)}"
    for step in comparison.steps:
        for name in step.refused_by:
            yield name, f"stops: it refuses {_next(comparison, step)} at {step.position}, and is not asked again"
        if step.stopped:
            yield "the text", f"ends here: the constraint does not allow {_next(comparison, step)}"
