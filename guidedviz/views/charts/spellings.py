"""Tokens below the bytes of a forced run: its likeliest spellings, and the tokens that it takes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.spellings import Spelling, Spellings
from guidedviz.decoding.trace import TRACE_HINT, Step, Trace, standing
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.markup import Element
from guidedviz.views.figure import (
    EDGE,
    NEAR_EDGE,
    Figure,
    Style,
    bold,
    drawing,
    figure_of,
    rect,
    soft,
    soft_right,
    write,
    write_box,
    write_legend,
    write_right,
)
from guidedviz.views.machine.svg import write_bytes
from guidedviz.views.theme import paint
from guidedviz.views.words import label, write_badge

MOST_SPELLED = 48  # bytes that are drawn
BYTES_WIDTH = 600.0
RUN_PITCH = 44.0  # the most per byte
BEYOND_WIDTH = 44.0
BYTE_HEIGHT = 28.0
ODDS_BAR = 80.0  # the full scale of a probability
SPELLING = 25.0  # the height of a row
LIKELIEST = 4  # rows, if fewer have a name
RUN_TOP = 78.0


@dataclass(frozen=True)
class ByteColumns:
    """A column per byte of the run, and one for all that is beyond it or not drawn."""

    size: int
    beyond: bool  # whether a spelling goes beyond the run

    @property
    def shown(self) -> int:
        """The bytes that have a column."""
        return min(self.size, MOST_SPELLED)

    @property
    def pitch(self) -> float:
        """The width of a column."""
        return min(RUN_PITCH, BYTES_WIDTH / self.shown)

    def left(self, place: float) -> float:
        """The left end of a byte."""
        x = NEAR_EDGE + self.pitch * min(place, self.shown)
        return x + BEYOND_WIDTH if place > self.shown else x

    @property
    def right(self) -> float:
        """The right end of the last column."""
        right = self.left(self.shown)
        if self.beyond or self.size > self.shown:
            right += BEYOND_WIDTH + 16
        return max(right, 100.0)


def draw_spellings(record: Spellings) -> Figure:
    """The likeliest spellings and those with a name: a row for each, its tokens below the bytes of the run.

    >>> toy = gv.ToyModel([b"a", b"b", b"ab", b";"], lambda tokens: [0, 0, 1, 0])
    >>> found = gv.spellings(toy, ";", gv.guide(gv.regex("ab;"), toy.vocabulary))
    >>> print(draw_spellings(found).text)
    spellings of ab; by toy, TOY: 2 end with the run
    ab ;   0.731  0.31 nats  canonical, longest
    a b ;  0.269  1.31 nats
    """
    expect(record, Spellings, "draw_spellings", "spellings", "gv.spellings(model, prompt, guide)")
    rows = spelling_rows(record)
    columns = ByteColumns(len(record.run), record.count_beyond > 0)
    counts = f"{record.count:,} end with the run"
    under = counts
    if columns.beyond:
        counts += f", {record.count_beyond:,} go beyond it"
        under = f"{counts}; a dashed token goes beyond the run"
    parts = [write_badge(24, record), soft(EDGE, 66, under)]
    run = label(record.run)
    title = f"the spellings of {shorten(run, 40)}"
    parts.append(bold(EDGE, 47, title))
    parts += _write_run(record, columns)
    bars = columns.right + 134  # where the probabilities end and their bars begin
    y = RUN_TOP + 52
    parts.append(soft(EDGE, y, "spelling", text_anchor="start"))
    parts.append(soft_right(bars, y, "p"))
    parts.append(soft_right(bars + ODDS_BAR + 66, y, "nats"))
    y += 20
    widths = [bars + ODDS_BAR + 80, 6.4 * len(under)]
    for row in rows:
        parts += _write_spelling(row, columns, bars, y)
        names = 7.2 * sum(map(len, _names_of(row)))
        widths.append(bars + ODDS_BAR + 124 + names)
        y += SPELLING
    left_out = _say_left_out(record, rows)
    for words in left_out:
        parts.append(soft(EDGE, y + 10, words))
        widths.append(6.4 * len(words))
        y += 18
    source = "" if record.source == "LIVE" else f", {record.source}"  # a saved notebook is not live any more
    title = f"spellings of {shorten(run, 60)} by {record.model}{source}: {counts}"
    text = "\n".join([title, *_say_rows(rows), *left_out])
    alt = text.replace("\n", ". ")
    sheet = drawing(max(widths) + 2 * EDGE, y + 14, *parts, alt=alt)
    return Figure(sheet, text, text)


def _say_rows(rows: Sequence[Spelling]) -> Iterator[str]:
    spelled = [" ".join(map(label, row.pieces)) for row in rows]
    longest = max(map(len, spelled), default=0)
    for words, row in zip(spelled, rows, strict=True):
        odds = _say_odds(row)
        names = ", ".join(_names_of(row))
        yield f"{words:{longest}}  {odds}  {_say_cost(row)} nats  {names}".rstrip()


def _write_spelling(row: Spelling, columns: ByteColumns, bars: float, y: float) -> Iterator[Element]:
    """A row: its tokens below their bytes, its probability in digits and as a bar, its cost, and its names."""
    names = _names_of(row)
    yield from _write_spelled(row, columns, y, "green" if names else "soft")
    yield write_right(bars, y + 5, _say_odds(row), mono=True)
    long = max(0.5, ODDS_BAR * row.probability)
    yield rect(bars + 10, y - 4, long, 9, fill="var(--gv-blue)")
    end = bars + ODDS_BAR
    yield write_right(end + 66, y + 5, _say_cost(row), mono=True)
    yield write(end + 94, y + 5, " and ".join(names))


def spelling_rows(record: Spellings) -> tuple[Spelling, ...]:
    """The likeliest spellings, and every spelling with a name."""
    named = [one for one in record.spellings if _names_of(one)]
    others = [one for one in record.spellings if not _names_of(one)]
    shown = named + others[: LIKELIEST - len(named)]
    return tuple(sorted(shown, key=lambda one: -one.probability))


def _names_of(spelling: Spelling) -> list[str]:
    names = []
    if spelling.canonical:
        names.append("canonical")
    if spelling.longest:
        names.append("longest")
    return names


def _say_cost(spelling: Spelling) -> str:
    return f"{spelling.cost + 0.0:.2f}" if spelling.probability else "∞"


def _say_odds(spelling: Spelling) -> str:
    """The probability; a small one with two digits, so that a reader can compare it with the nats."""
    p = spelling.probability
    if 1e-12 < p < 1e-6:
        two_digits = float(f"{1 / p:.2g}")
        return f"1 in {two_digits:,.0f}"
    return probability(p, 3)


def _write_run(record: Spellings, columns: ByteColumns) -> Iterator[Element]:
    """One box per byte with its character, and one for bytes beyond the run or not shown."""
    yield from write_bytes(record.run[: columns.shown], columns.pitch, RUN_TOP + 4)
    end = columns.left(columns.shown)
    more = columns.size - columns.shown
    if more:
        yield soft(end + 6, RUN_TOP + 22, f"+{counted(more, 'byte')}")
    elif columns.beyond:
        dashed: Any = {"fill": "none", "stroke": "var(--gv-soft)", "stroke_dasharray": "5 3"}
        yield write_box(end + 1, RUN_TOP + 3, BEYOND_WIDTH - 2, BYTE_HEIGHT, "…", **dashed)


def _write_spelled(row: Spelling, columns: ByteColumns, y: float, colour: str) -> Iterator[Element]:
    """One box per token of a spelling, below its bytes; that of a token that goes beyond the run is dashed."""
    line = 1 if colour == "soft" else 1.8
    look: Any = {"stroke": paint(colour), "stroke_width": line, "fill": "none"}
    end = 0
    for piece in row.pieces:
        start = end
        end += len(piece)
        if start < MOST_SPELLED:
            left = columns.left(start)
            width = columns.left(end) - left - 3
            dashes = "5 3" if end > columns.size else None
            words = label(piece)
            yield write_box(left + 1.5, y - 10, width, SPELLING - 5, words, **look, stroke_dasharray=dashes)


def _say_left_out(record: Spellings, rows: Sequence[Spelling]) -> list[str]:
    """The spellings without a row, in words."""
    others = [one.probability for one in record.spellings if one not in rows]
    faint, odds = record.faint
    count = len(others) + faint
    said = []
    if count:
        rest = probability(sum(others) + odds, 3)
        said.append(f"and {count:,} more: {rest}")
    if record.lost:
        said.append(f"dead ends, after which no token is legal: {probability(record.lost, 3)}")
    if record.rest:
        said.append(f"not looked at: {probability(record.rest, 3)}")
    return said


# --- tokens that are taken back ---


BYTE_WIDTH = 20.0
NEAR_BYTES = 48  # bytes per row
TOKEN_LOOKS: dict[str, tuple[str, Style]] = {  # what a box means, and how it looks
    "kept": ("stays", {"stroke": "var(--gv-soft)"}),
    "gone": ("taken back", {"stroke": "var(--gv-gold)", "stroke_width": 2}),
    "put": ("appended without a pass", {"stroke": "var(--gv-blue)", "stroke_width": 2, "stroke_dasharray": "5 3"}),
}
MARKS = {"kept": ("", ""), "gone": ("[", "]"), "put": ("{", "}")}


class RetokenisedRun(NamedTuple):
    """The tokens before a jump and after it; the first `kept` stay."""

    before: list[bytes]
    after: list[bytes]
    kept: int


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
    jumps = list(_find_jumps(steps))
    takes = "takes" if len(jumps) == 1 else "take"
    title = f"retokenisation: {counted(len(jumps), 'jump')} {takes} tokens back"
    parts = [bold(16, 24, title)]
    signs = ((write_box(0, -6, 16, 12, **style), means) for means, style in TOKEN_LOOKS.values())
    parts += write_legend(signs, 16, 46)[0]
    lines = [title]
    y = 56.0
    width = 460.0
    for jump in jumps:
        first = _first_near(jump)
        for name, pieces, new in (("before", jump.before, "gone"), ("after", jump.after, "put")):
            looks = ["kept" if number < jump.kept else new for number in range(len(pieces))]
            shown = list(zip(pieces, looks, strict=True))[first:]
            parts.append(soft(16, y + 18, name, 13))
            parts += _write_retokenised(shown, y)
            marked = [label(piece).join(MARKS[look]) for piece, look in shown]
            lines.append(" ".join([f"{name}:", *marked]))
            width = max(width, 88 + BYTE_WIDTH * sum(map(len, pieces[first:])))
            y += 40
        y += 8
    return figure_of(width, y, "\n".join(lines), *parts)


def _find_jumps(steps: Sequence[Step]) -> Iterator[RetokenisedRun]:
    """The jumps that take tokens back; a jump ends at the next step that is not forced."""
    for place, step in enumerate(steps):
        if step.back:
            end = place + 1
            while end < len(steps) and steps[end].how == "forced":
                end += 1
            before = [one.piece for one in standing(steps[:place])]
            after = [one.piece for one in standing(steps[:end])]
            yield RetokenisedRun(before, after, len(before) - step.back)


def _first_near(jump: RetokenisedRun) -> int:
    """The first token that is shown: of a long text only those near the change."""
    first = 0
    while first < jump.kept and sum(map(len, jump.after[first:])) > NEAR_BYTES:
        first += 1
    return first


def _write_retokenised(shown: Sequence[tuple[bytes, str]], y: float) -> Iterator[Element]:
    x = 72.0
    for piece, look in shown:
        width = BYTE_WIDTH * len(piece)
        _, style = TOKEN_LOOKS[look]
        gone = look == "gone"
        yield write_box(x, y, width - 3, 26.0, label(piece), struck=gone, **style)
        x += width
