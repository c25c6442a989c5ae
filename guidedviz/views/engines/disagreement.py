"""One engine compared to our mask at one step: a map of the vocabulary and a list of the tokens that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.grammars.grammar import show_line
from guidedviz.markup import Element, together
from guidedviz.tokens.compare.differences import ComparedStep, Comparison, Disagreement
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.engines.mask_differences import (
    HINT,
    find_stops,
    found_by,
    next_token,
    say_constraint,
    say_counts,
    write_sign,
)
from guidedviz.views.figure import Figure, drawing, moved, soft, write
from guidedviz.views.vocabulary.atlas import Atlas, atlas
from guidedviz.views.vocabulary.map import Kind, write_map

EDGE, INSIDE, LINE, COLUMNS = 16.0, 888.0, 21.0, 2
MOST_LISTED = 16  # missing, or extra, tokens of one reason
BYTES = 7  # of a token that are shown
ENDS = (6.0, 66.0, 78.0, 256.0)  # in a column: x of the sign, right edge of the id, x of the text and of its bytes


def draw_disagreement(comparison: Comparison, position: int, engine: str) -> Figure:
    """The tokens on which an engine's mask differs from ours at one step of a comparison, and why.

    >>> v = gv.Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> found = gv.compare_engines("a|ab", v, "ab", ["outlines-core"])
    >>> print(draw_disagreement(found, 0, "outlines-core").text)
    outlines-core against ours before ab, step 0: of 4 tokens 1 legal in both, 1 missing, 0 extra, 2 illegal in both
    known fault: takes the first alternative that fits (1 missing)
      − 2 ab 61 62
    """
    expect(comparison, Comparison, "draw_disagreement", "a comparison", HINT)
    step = _find_step(comparison, position, engine)
    found, made = found_by(step, engine), atlas(comparison.vocabulary)
    kinds = mask_kinds(made, step, found)
    before = f"before {next_token(comparison, step)}, step {position}"
    svg, high = write_map(made, kinds, f"{shorten(engine, 24)} {shorten(before, 34)}", INSIDE)
    title = write(0, 0, f"{shorten(engine, 30)} against ours", 13, font_weight="bold")
    title += soft(276, 0, say_constraint(comparison, 66), 13, mono=True)
    below, length = _draw_list(comparison.vocabulary, found)
    parts = [title, moved(0, 24, svg)]
    parts.append(moved(0, high + 34, below))
    said = "\n".join(_say(comparison, f"{engine} against ours {before}", kinds, found))
    body = moved(EDGE, 24, *parts)
    return Figure(drawing(INSIDE + 2 * EDGE, high + length + 58, body, alt=said), said, said)


def _find_step(comparison: Comparison, position: int, engine: str) -> ComparedStep:
    """The step, which the engine must have been asked about."""
    where, names = "draw_disagreement", [name for name, _ in comparison.engines]
    expect(engine, str, f"{where}, engine", "the name of an engine")
    expect(position, int, f"{where}, position", "the number of a step")
    if engine in (unable := dict(comparison.unable)):
        raise SettingError(where, seen=f"{engine}: {unable[engine]}", expected="an engine that takes the constraint")
    if engine not in names:
        raise SettingError(where, seen=quoted(engine), expected=", ".join(map(repr, names)) or "an engine")
    last = find_stops(comparison).get(engine, len(comparison.steps) - 1)
    if not 0 <= position <= last:
        hint = f"{engine} is not asked after step {last}" if last < len(comparison.steps) - 1 else ""
        raise SettingError(where, seen=f"step {position}", expected=f"0 to {last}", hint=hint)
    return comparison.steps[position]


def mask_kinds(made: Atlas, step: ComparedStep, found: Sequence[Disagreement]) -> tuple[Kind, ...]:
    """The four kinds of tokens; those that the engine omits or adds are outlined."""
    ours = step.mask[: len(made)]
    missing, extra = (np.zeros(len(made), dtype=np.bool_) for _ in range(2))
    for each in found:
        missing[list(each.missing)] = extra[list(each.extra)] = True
    return (
        Kind("legal in both", "sea", made.ordered(ours & ~missing)),
        Kind("missing: the engine omits it", "orange", made.ordered(missing), outline="3 2"),
        Kind("extra: the engine adds it", "gold", made.ordered(extra), outline="none"),
        Kind("illegal in both", "land", made.ordered(~(ours | extra))),
    )


def _draw_list(vocabulary: Vocabulary, found: Sequence[Disagreement]) -> tuple[Element, float]:
    """The tokens by reason, in columns, and the height of the list."""
    if not found:
        return soft(0, 8, "the masks are the same", 13), 16
    parts, y = [], 8.0
    for each in found:
        parts.append(write_sign(each.kind, 11, y - 4))
        parts.append(write(30, y, f"{each.kind}: {shorten(_reason(each), 80)} ({say_counts(each)})", 13))
        y += LINE + 2
        for lines, more in _listed(vocabulary, each):
            parts += [_draw_line(line, number, y) for number, line in enumerate(lines)]
            y += LINE * -(-len(lines) // COLUMNS)
            parts += [soft(ENDS[2], y, more)] * bool(more)
            y += LINE * bool(more)
        y += 8
    return together(parts), y - LINE


def _draw_line(line: tuple[str, ...], number: int, y: float) -> Element:
    x, looks = INSIDE / COLUMNS * (number % COLUMNS), ("ink", "soft", "ink", "soft")
    words = (
        write(x + end, y, said, 12, mono=True, text_anchor="end" if at == 1 else "start", fill=f"var(--gv-{look})")
        for at, (end, said, look) in enumerate(zip(ENDS, line, looks, strict=True))
    )
    return moved(0, LINE * (number // COLUMNS), *words)


def _listed(vocabulary: Vocabulary, found: Disagreement) -> Iterator[tuple[list[tuple[str, ...]], str]]:
    """The missing tokens, then the extra ones, each with the number that is not listed."""
    for sign, ids in (("−", found.missing), ("+", found.extra)):
        lines = [_line(vocabulary, sign, token) for token in ids[:MOST_LISTED]]
        left = len(ids) - len(lines)
        if lines:
            yield lines, f"⋮ {left:,} more {'missing' if sign == '−' else 'extra'}" * bool(left)


def _line(vocabulary: Vocabulary, sign: str, token: int) -> tuple[str, ...]:
    piece = vocabulary.pieces[token]
    more = " …" * (len(piece) > BYTES)
    return sign, str(token), shorten(vocabulary.display(token), 24), piece[:BYTES].hex(" ") + more


def _reason(found: Disagreement) -> str:
    return show_line(found.name)


def _say(comparison: Comparison, head: str, kinds: Sequence[Kind], found: Sequence[Disagreement]) -> Iterator[str]:
    both, missing, extra, neither = (f"{kind.count:,}" for kind in kinds)
    said = f"{both} legal in both, {missing} missing, {extra} extra, {neither} illegal in both"
    yield f"{head}: of {len(comparison.vocabulary):,} tokens {said}"
    for each in found:
        yield f"{each.kind}: {_reason(each)} ({say_counts(each)})"
        for lines, more in _listed(comparison.vocabulary, each):
            yield from (f"  {' '.join(line)}" for line in lines)
            yield from [f"  {more}"] * bool(more)
