"""The tokens that a forced run takes back, and the tokens in their place, byte below byte."""

from itertools import accumulate
from typing import Any

from guidedviz.decoding.trace import TRACE_HINT, Step, Trace, standing
from guidedviz.errors import expect
from guidedviz.machines.visible import counted
from guidedviz.views.figure import Figure, figure_of, soft, write, write_box, write_legend
from guidedviz.views.words import label

BYTE, NEAR = 15.0, 48  # pixels per byte; bytes per row
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {  # what a box means, and how it looks
    "kept": ("stays", {"stroke": "var(--gv-soft)"}),
    "gone": ("taken back", {"stroke": "var(--gv-orange)", "stroke_width": 2}),
    "put": ("appended without a pass", {"stroke": "var(--gv-blue)", "stroke_width": 2, "stroke_dasharray": "5 3"}),
}
MARKS = {"kept": ("", ""), "gone": ("[", "]"), "put": ("{", "}")}


def draw_rollback(trace: Trace) -> Figure:
    """Per jump that takes tokens back two rows: the tokens before it and after it.

    >>> toy = gv.ToyModel([b"n", b"o", b"no", b"t", b"!"], lambda tokens: [5, 4, 3, 2, 1])
    >>> guide = gv.guide(gv.regex("(n|x)o[t!]"), toy.vocabulary)
    >>> print(draw_rollback(gv.record(toy, "t", guide, temperature=0, jump_forward=True)).text)
    retokenisation: 1 jump takes tokens back
    before: [n]
    after: {no}
    """
    steps: tuple[Step, ...] = expect(trace, Trace, "draw_rollback", "a trace", TRACE_HINT).steps
    jumps = [at for at, step in enumerate(steps) if step.back]
    title = f"retokenisation: {counted(len(jumps), 'jump')} take{'s' * (len(jumps) == 1)} tokens back"
    parts, lines, y, width = [write(16, 24, title, 13, font_weight="bold")], [title], 56.0, 460.0
    parts += write_legend(((write_box(0, -6, 16, 12, **style), means) for means, style in LOOKS.values()), 16, 46)[0]
    for at in jumps:
        last = next((end for end in range(at + 1, len(steps)) if steps[end].how != "forced"), len(steps))
        before, after = ([step.piece for step in standing(steps[:end])] for end in (at, last))
        kept = len(before) - steps[at].back
        sizes = list(accumulate(map(len, after), initial=0))  # of a long text only the tokens near the change are shown
        first = next(n for n in range(kept + 1) if sizes[-1] - sizes[n] <= NEAR or n == kept)
        for name, pieces, new in (("before", before, "gone"), ("after", after, "put")):
            parts.append(soft(16, y + 18, name, 13))
            x, said = 72.0, [f"{name}:"]
            for number, piece in enumerate(pieces[first:], first):
                look = "kept" if number < kept else new
                wide = BYTE * len(piece) - 3
                parts.append(write_box(x, y, wide, 26.0, label(piece), struck=look == "gone", **LOOKS[look][1]))
                said.append(label(piece).join(MARKS[look]))
                x += BYTE * len(piece)
            lines.append(" ".join(said))
            width, y = max(width, x + 16), y + 40
        y += 8
    return figure_of(width, y, "\n".join(lines), *parts)
