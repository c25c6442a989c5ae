"""The signs and texts for differences between an engine's mask and ours, shared by all views of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import shorten
from guidedviz.machines.grammars.grammar import show_line
from guidedviz.markup import Element, node
from guidedviz.tokens.compare.differences import ComparedStep, Comparison, Disagreement
from guidedviz.views.figure import moved, write

HINT = "gv.compare_engines(constraint, vocabulary, text)"
NAMED = 6  # tokens named in a tooltip


@dataclass(frozen=True)
class Sign:
    """The sign of a kind of difference: a mark on a coloured shape."""

    mark: str
    colour: str
    shape: str  # an SVG path around (0, 0)


SIGNS = {
    "forced only": Sign("1", "green", "M-9 -8H4L10 0L4 8H-9Z"),
    "known fault": Sign("!", "orange", "M0 -11L11 0L0 11L-11 0Z"),
    "lawful choice": Sign("≈", "blue", "M-9 0A9 9 0 0 1 9 0A9 9 0 0 1 -9 0Z"),
    "ours": Sign("×", "ink", "M-8 -8H8V8H-8Z"),
    "not known": Sign("?", "gold", "M-5 -9H5L10 0L5 9H-5L-10 0Z"),
}


def write_sign(kind: str, x: float, y: float) -> Element:
    """The sign of a kind of difference, centred at a point.

    >>> "var(--gv-orange)" in str(write_sign("known fault", 0, 0))
    True
    """
    sign = SIGNS[kind]
    shape = node("path", d=sign.shape, fill=f"var(--gv-{sign.colour})", stroke="var(--gv-page)")
    look: dict[str, Any] = {"fill": f"var(--gv-{'page' if sign.colour == 'ink' else 'on'})", "font_weight": "bold"}
    mark = write(0, 4.5, sign.mark, 13, text_anchor="middle", **look)
    return moved(x, y, shape, mark)


def found_by(step: ComparedStep, engine: str) -> tuple[Disagreement, ...]:
    """The differences of an engine at a step."""
    return tuple(found for found in step.differences if found.engine == engine)


def find_stops(comparison: Comparison) -> dict[str, int]:
    """The step at which each engine refuses the next token; it is not asked again."""
    return {name: step.position for step in comparison.steps for name in step.refused_by}


def next_token(comparison: Comparison, step: ComparedStep) -> str:
    """The token that follows a step."""
    return "the end" if step.token is None else comparison.vocabulary.display(step.token)


def say_constraint(comparison: Comparison, most: int) -> str:
    """The constraint on one line."""
    return shorten(show_line(comparison.constraint.replace("\n", "↵")), most)


def short_counts(found: Sequence[Disagreement]) -> str:
    """The numbers of tokens that an engine omits and adds.

    >>> short_counts([Disagreement("e", "ours", "", (1, 2), ()), Disagreement("e", "ours", "", (), (3,))])
    '−2 +1'
    """
    counts = (("−", sum(len(d.missing) for d in found)), ("+", sum(len(d.extra) for d in found)))
    return " ".join(f"{sign}{count:,}" for sign, count in counts if count)


def say_counts(found: Disagreement) -> str:
    """The same in words.

    >>> say_counts(Disagreement("e", "ours", "", (1, 2), ()))
    '2 missing'
    """
    counts = ((len(found.missing), "missing"), (len(found.extra), "extra"))
    return ", ".join(f"{count:,} {what}" for count, what in counts if count)


def name_tokens(comparison: Comparison, found: Disagreement) -> Iterator[str]:
    """A difference and the names of its first tokens, as lines of a tooltip."""
    yield f"{found.kind}: {found.name}"
    for what, ids in (("missing", found.missing), ("extra", found.extra)):
        if ids:
            names = " ".join(shorten(comparison.vocabulary.display(token), 24) for token in ids[:NAMED])
            yield f"  {len(ids):,} {what}: {names}" + " …" * (len(ids) > NAMED)


def say_ends(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """The engines that were not asked, or not until the end, and why."""
    for name, why in comparison.unable:
        yield name, f"cannot take the constraint: {show_line(why)}"
    by_position = {step.position: step for step in comparison.steps}
    for name, position in find_stops(comparison).items():
        shown = next_token(comparison, by_position[position])
        yield name, f"stops: it refuses {shown} at {position}, and is not asked again"
    if comparison.stopped:
        yield "the text", f"ends here: the constraint does not allow {next_token(comparison, comparison.steps[-1])}"
