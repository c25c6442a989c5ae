"""Where an engine's mask differs from ours, in signs and in words; the grid, the map and the list share them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.machines.grammar import show_line
from guidedviz.tokens.differences import ComparedStep, Comparison, Disagreement
from guidedviz.views.figure import node, shorten, write

NAMED = 6  # tokens that a hover names


@dataclass(frozen=True)
class Sign:
    """How a kind of difference is drawn: a mark on a shape of a colour."""

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


def check_comparison(comparison: object, where: str) -> None:
    """Refuse what is no comparison.

    >>> check_comparison("a|ab", "draw_comparison")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_comparison: saw str, expected a comparison; try: gv.compare(constraint, \
vocabulary, text)
    """
    if not isinstance(comparison, Comparison):
        hint = "gv.compare(constraint, vocabulary, text)"
        raise SettingError(where, seen=type(comparison).__name__, expected="a comparison", hint=hint)


def write_sign(kind: str, x: float, y: float) -> str:
    """The sign of a kind of difference, around a point.

    >>> "var(--gv-orange)" in write_sign("known fault", 0, 0)
    True
    """
    sign = SIGNS[kind]
    shape = node("path", d=sign.shape, fill=f"var(--gv-{sign.colour})", stroke="var(--gv-page)")
    look: dict[str, Any] = {"fill": f"var(--gv-{'page' if sign.colour == 'ink' else 'on'})", "font_weight": "bold"}
    mark = write(0, 4.5, sign.mark, 13, text_anchor="middle", **look)
    return node("g", shape, mark, transform=f"translate({x:g} {y:g})")


def found_by(step: ComparedStep, engine: str) -> tuple[Disagreement, ...]:
    """What an engine has otherwise at a step."""
    return tuple(found for found in step.differences if found.engine == engine)


def find_stops(comparison: Comparison) -> dict[str, int]:
    """Where an engine does not take the token that comes next, and is asked no more."""
    return {name: step.position for step in comparison.steps for name in step.refused_by}


def next_token(comparison: Comparison, step: ComparedStep) -> str:
    """The token before which a step stands."""
    return "the end" if step.token is None else comparison.vocabulary.display(step.token)


def say_constraint(comparison: Comparison, most: int) -> str:
    """The constraint on one line."""
    return shorten(show_line(comparison.constraint.replace("\n", "↵")), most)


def short_counts(found: Sequence[Disagreement]) -> str:
    """Tokens that an engine omits and tokens that it adds.

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
    """A difference, and the first of its tokens by name: lines of a hover."""
    yield f"{found.kind}: {found.name}"
    for what, ids in (("missing", found.missing), ("extra", found.extra)):
        if ids:
            names = " ".join(shorten(comparison.vocabulary.display(token), 24) for token in ids[:NAMED])
            yield f"  {len(ids):,} {what}: {names}" + " …" * (len(ids) > NAMED)


def say_ends(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Who is not there, or not to the end, and why."""
    for name, why in comparison.unable:
        yield name, f"cannot take the constraint: {show_line(why)}"
    by_position = {step.position: step for step in comparison.steps}
    for name, position in find_stops(comparison).items():
        shown = next_token(comparison, by_position[position])
        yield name, f"stops: it does not take {shown} at {position}, and is asked no more"
    if comparison.stopped:
        yield "the text", f"ends here: the constraint does not allow {next_token(comparison, comparison.steps[-1])}"
