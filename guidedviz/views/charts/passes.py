"""The forward passes of runs: a box per pass, which holds the tokens that the pass reads.

The first pass reads the prompt. A later one reads what was appended since, or changed; a run of forced tokens is read
in one pass. What the last pass chooses is not read any more.
"""

from collections.abc import Mapping, Sequence

from guidedviz.decoding.trace import CHOSEN, TRACE_HINT, Step, Trace, standing
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.markup import Element
from guidedviz.tokens.vocabulary import shared_length
from guidedviz.views.figure import EDGE, Figure, Style, bold, figure_of, rect, soft, write_box
from guidedviz.views.words import label

MOST_PER_TOKEN = 56.0  # the most for a token
READ_HEIGHT = 24.0
PASS_GAP = 4.0
RUN_HEIGHT = 78.0
PASSES_WIDTH = 980.0
PROMPT_NAME = "prompt"
PassRead = list[tuple[str, bool]]  # what a pass reads: labels, and whether each was appended without a pass


def passes_of(trace: Trace) -> list[list[Step]]:
    """Per forward pass the steps whose tokens it reads; the first pass reads the prompt, too.

    >>> toy = gv.ToyModel([b"n", b"o", b"no", b"t", b"!"], lambda tokens: [5, 4, 3, 2, 1])
    >>> run = gv.record(toy, "t", gv.guide(gv.regex("(n|x)o[t!]"), toy.vocabulary), temperature=0, jump_forward=True)
    >>> [[step.piece for step in one] for one in passes_of(run)]
    [[], [b'no']]
    """
    found = []
    read: list[Step] = []
    for place, step in enumerate(trace.steps):
        if step.how in CHOSEN:
            now = standing(trace.steps[:place])
            kept = shared_length([id(one) for one in read], [id(one) for one in now])
            found.append(now[kept:])
            read = now
    return found


def draw_passes(runs: Mapping[str, Trace]) -> Figure:
    """Per run a row: a box per forward pass with the tokens that it reads; a dashed token was appended without a pass.

    >>> toy = gv.ToyModel([b"a", b"b", b"</s>"], lambda tokens: [1, 0, 2], eos={2})
    >>> guide = gv.guide(gv.regex("ab"), toy.vocabulary)
    >>> print(draw_passes({"masked": gv.record(toy, "b", guide, temperature=0)}).text)
    masked, passes 3: prompt | a | b
    """
    expect(runs, Mapping, "draw_passes, runs", "names with their traces", '{"masked": run}')
    if not runs:
        raise SettingError("draw_passes, runs", seen=quoted(runs), expected="at least one run")
    rows = {}
    for name, run in runs.items():
        rows[name] = _label_passes(f"draw_passes, run {quoted(name)}", run)
    longest = max(sum(map(len, row)) for row in rows.values())
    gaps = PASS_GAP * max(map(len, rows.values()))
    cell = min(MOST_PER_TOKEN, (PASSES_WIDTH - 2 * EDGE - gaps) / longest)
    parts = []
    for place, (name, row) in enumerate(rows.items()):
        top = RUN_HEIGHT * place
        parts.append(bold(EDGE, top + 22, f"{name}, passes: {len(row)}"))
        parts += _write_passes(row, cell, top + 34)
    end = RUN_HEIGHT * len(rows) + 16
    parts.append(soft(EDGE, end - 4, "a box is a pass, with the tokens that it reads; dashed: appended without a pass"))
    lines = []
    for name, row in rows.items():
        said = [" ".join(words for words, _ in one) for one in row]
        lines.append(f"{name}, passes {len(row)}: {' | '.join(said)}")
    return figure_of(PASSES_WIDTH, end + 10, "\n".join(lines), *parts)


def _label_passes(where: str, run: Trace) -> list[PassRead]:
    """The labels that each pass reads, the prompt first."""
    trace: Trace = expect(run, Trace, where, "a trace", TRACE_HINT)
    found = [[(label(step.piece), step.how == "forced") for step in one] for one in passes_of(trace)]
    if len(found) != trace.passes:
        raise SettingError(where, seen="a run with drafts", expected="one without")
    for first in found[:1]:
        first.insert(0, (PROMPT_NAME, False))
    return found


def _write_passes(passes: Sequence[PassRead], cell: float, top: float) -> list[Element]:
    parts = []
    x = EDGE
    for one in passes:
        start = x
        for words, forced in one:
            look: Style = {"fill": "none", "stroke": "none"}
            if forced:
                look = {"fill": "none", "stroke": "var(--gv-ink)", "stroke_dasharray": "4 3"}
            parts.append(write_box(x + 1.5, top + 2, cell - 3, READ_HEIGHT - 4, words, **look))
            x += cell
        frame = rect(start, top - 2, x - start, READ_HEIGHT + 4, 5, fill="none", stroke="var(--gv-blue)")
        parts.append(frame)
        x += PASS_GAP
    return parts
