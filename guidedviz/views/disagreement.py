"""One engine against our mask at one step: the whole vocabulary as a map, and the tokens that differ as a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from guidedviz.errors import SettingError
from guidedviz.machines.grammar import show_line
from guidedviz.tokens.differences import ComparedStep, Comparison, Disagreement
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.atlas import Atlas, atlas
from guidedviz.views.differences import (
    check_comparison,
    find_stops,
    found_by,
    next_token,
    say_constraint,
    say_counts,
    write_sign,
)
from guidedviz.views.figure import Figure, drawing, node, shorten, write
from guidedviz.views.map import Kind, write_map

EDGE, INSIDE, LINE, COLUMNS = 16.0, 888.0, 21.0, 2
MOST_LISTED = 16  # tokens of one reason that are missing, or extra
BYTES = 7  # of a token
ENDS = (6.0, 66.0, 78.0, 256.0)  # in a column: the sign, where an id ends, the text, its bytes
Line = tuple[str, ...]  # of the list: sign, id, text, bytes


def draw_disagreement(comparison: Comparison, position: int, engine: str) -> Figure:
    """What an engine's mask has otherwise than ours at one step of a comparison, and why.

    >>> import guidedviz as gv
    >>> v = gv.Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> found = gv.compare("a|ab", v, "ab", ["outlines-core"])
    >>> print(draw_disagreement(found, 0, "outlines-core").text)
    outlines-core against ours before ab, step 0: of 4 tokens 1 legal in both, 1 missing, 0 extra, 2 illegal in both
    known fault: takes the first alternative that fits (1 missing)
      − 2 ab 61 62
    """
    check_comparison(comparison, "draw_disagreement")
    step = _find_step(comparison, position, engine)
    found, made = found_by(step, engine), atlas(comparison.vocabulary)
    kinds = mask_kinds(made, step, found)
    before = f"before {next_token(comparison, step)}, step {position}"
    svg, high = write_map(made, kinds, f"{shorten(engine, 24)} {shorten(before, 34)}", INSIDE)
    title = write(0, 0, f"{shorten(engine, 30)} against ours", 13, font_weight="bold")
    title += write(276, 0, say_constraint(comparison, 66), 13, mono=True, fill="var(--gv-soft)")
    below, length = _draw_list(comparison.vocabulary, found)
    parts = [title, node("g", svg, transform="translate(0 24)")]
    parts.append(node("g", below, transform=f"translate(0 {high + 34:g})"))
    said = "\n".join(_say(comparison, f"{engine} against ours {before}", kinds, found))
    body = node("g", *parts, transform=f"translate({EDGE:g} 24)")
    return Figure(drawing(INSIDE + 2 * EDGE, high + length + 58, body, alt=said), said, said)


def _find_step(comparison: Comparison, position: int, engine: str) -> ComparedStep:
    """The step, if the engine was asked there."""
    where, names = "draw_disagreement", [name for name, _ in comparison.engines]
    if engine in (unable := dict(comparison.unable)):
        raise SettingError(where, seen=f"{engine}: {unable[engine]}", expected="an engine that takes the constraint")
    if engine not in names:
        raise SettingError(where, seen=repr(engine), expected=", ".join(map(repr, names)) or "an engine")
    last = find_stops(comparison).get(engine, len(comparison.steps) - 1)
    if not 0 <= position <= last:
        hint = f"{engine} is asked no more after step {last}" if last < len(comparison.steps) - 1 else ""
        raise SettingError(where, seen=f"step {position}", expected=f"0 to {last}", hint=hint)
    return comparison.steps[position]


def mask_kinds(made: Atlas, step: ComparedStep, found: Sequence[Disagreement]) -> tuple[Kind, ...]:
    """Legal in both and in neither; between them what the engine omits and what it adds, each with a line around it."""
    ours = step.mask[: len(made)]
    missing, extra = (np.zeros(len(made), dtype=np.bool_) for _ in range(2))
    for each in found:
        missing[list(each.missing)] = extra[list(each.extra)] = True
    return (
        Kind("legal in both", "sea", made.ordered(ours & ~missing)),
        Kind("missing: the engine omits it", "orange", made.ordered(missing), shore="3 2"),
        Kind("extra: the engine adds it", "gold", made.ordered(extra), shore="none"),
        Kind("illegal in both", "land", made.ordered(~(ours | extra))),
    )


def _draw_list(vocabulary: Vocabulary, found: Sequence[Disagreement]) -> tuple[str, float]:
    """The tokens under their reasons, in columns; and how high that is."""
    if not found:
        return write(0, 8, "the masks are the same", 13, fill="var(--gv-soft)"), 16
    parts, y = [], 8.0
    for each in found:
        parts.append(write_sign(each.kind, 11, y - 4))
        parts.append(write(30, y, f"{each.kind}: {shorten(_reason(each), 80)} ({say_counts(each)})", 13))
        y += LINE + 2
        for lines, more in _listed(vocabulary, each):
            parts += [_draw_line(line, number, y) for number, line in enumerate(lines)]
            y += LINE * -(-len(lines) // COLUMNS)
            parts += [write(ENDS[2], y, more, 12, fill="var(--gv-soft)")] * bool(more)
            y += LINE * bool(more)
        y += 8
    return "".join(parts), y - LINE


def _draw_line(line: Line, number: int, y: float) -> str:
    x, looks = INSIDE / COLUMNS * (number % COLUMNS), ("ink", "soft", "ink", "soft")
    words = (
        write(x + end, y, said, 12, mono=True, text_anchor="end" if at == 1 else "start", fill=f"var(--gv-{look})")
        for at, (end, said, look) in enumerate(zip(ENDS, line, looks, strict=True))
    )
    return node("g", *words, transform=f"translate(0 {LINE * (number // COLUMNS):g})")


def _listed(vocabulary: Vocabulary, found: Disagreement) -> Iterator[tuple[list[Line], str]]:
    """The tokens that are missing, then those that are extra, and how many of each are not listed."""
    for sign, ids in (("−", found.missing), ("+", found.extra)):
        lines = [_line(vocabulary, sign, token) for token in ids[:MOST_LISTED]]
        left = len(ids) - len(lines)
        if lines:
            yield lines, f"⋮ {left:,} more {'missing' if sign == '−' else 'extra'}" * bool(left)


def _line(vocabulary: Vocabulary, sign: str, token: int) -> Line:
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
