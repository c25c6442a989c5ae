"""The four calls of each engine as one table: compile, mask, apply, advance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from guidedviz.errors import SettingError
from guidedviz.markup import node
from guidedviz.serving.verbs import FOUR_VERBS, Verbs
from guidedviz.views.figure import Figure, drawing, soft, wide, write

EDGE, LEFT, CODE, LINE, GAP = 16.0, 150.0, 225.0, 18.0, 14.0
NAMES = ("compile", "mask", "apply", "advance")


def draw_verbs(rows: Sequence[Verbs] = FOUR_VERBS) -> Figure:
    """One block per engine: its name, its four calls, and one sentence.

    >>> print(draw_verbs(FOUR_VERBS[1:2]).text)
    outlines-core: The index has the tokens of every state before the first token is written.
    compile  guide = outlines_core.Guide(outlines_core.Index(regex, tokens))
    mask     ids = guide.get_tokens()
    apply    kept = logits[ids].copy(); logits[:] = -np.inf; logits[ids] = kept
    advance  guide.advance(token)
    """
    if not rows:
        raise SettingError("draw_verbs", seen="no engine", expected="one or more of gv.serving.FOUR_VERBS")
    parts, y, widest = [], EDGE + LINE, 0.0
    for row in rows:
        parts.append(write(EDGE, y, row.engine, 13, font_weight="bold"))
        for name in NAMES:
            parts.append(soft(LEFT, y, name))
            for code in getattr(row, name).splitlines():
                parts.append(write(CODE, y, code, 12, mono=True))
                widest = max(widest, wide(code, 12))
                y += LINE
        parts.append(soft(CODE, y, row.about))
        y += LINE
        parts.append(node("path", d=f"M{EDGE:g} {y - 8:g}h{CODE + 500:g}", stroke="var(--gv-line)"))
        y += GAP
    said = "\n".join(line for row in rows for line in _say(row))
    return Figure(drawing(CODE + widest + 2 * EDGE, y - GAP + 4, *parts, alt=said), said, said)


def _say(row: Verbs) -> Iterator[str]:
    yield f"{row.engine}: {row.about}"
    for name in NAMES:
        first, *rest = getattr(row, name).splitlines()
        yield f"{name:9}{first}"
        yield from (f"{'':9}{line}" for line in rest)
