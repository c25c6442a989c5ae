"""The likeliest spellings of a forced run, token below bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.spellings import Spelling, Spellings
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.markup import Element
from guidedviz.views.badge import write_badge
from guidedviz.views.figure import EDGE, Figure, centred, drawing, rect, soft, soft_right, write, write_box
from guidedviz.views.theme import paint
from guidedviz.views.words import characters, label

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

    def left(self, place: float) -> float:
        """The left end of a byte."""
        x = EDGE + min(RUN_PITCH, BYTES_WIDTH / self.shown) * min(place, self.shown)
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
    counts = _say_counts(record)
    under = f"{counts}; a dashed token goes beyond the run" if columns.beyond else counts
    parts = [write_badge(EDGE, 24, record), soft(EDGE, 66, under)]
    parts.append(write(EDGE, 47, f"the spellings of {shorten(label(record.run), 40)}", 13, font_weight="bold"))
    parts += _write_run(record, columns)
    bars = columns.right + 104  # where the probabilities end and their bars begin
    y = RUN_TOP + 52
    parts.append(soft(EDGE, y, "spelling", text_anchor="start"))
    parts.append(soft_right(bars, y, "p"))
    parts.append(soft_right(bars + ODDS_BAR + 66, y, "nats"))
    y += 20
    widths = [bars + ODDS_BAR + 80, 6.4 * len(under)]
    for row in rows:
        parts += _write_spelling(row, columns, bars, y)
        widths.append(bars + ODDS_BAR + 124 + 7.2 * sum(map(len, _names_of(row))))
        y += SPELLING
    left_out = _say_left_out(record, rows)
    for words in left_out:
        parts.append(soft(EDGE, y + 10, words))
        widths.append(6.4 * len(words))
        y += 18
    source = "" if record.source == "LIVE" else f", {record.source}"  # a saved notebook is not live any more
    title = f"spellings of {shorten(label(record.run), 60)} by {record.model}{source}: {counts}"
    text = "\n".join([title, *_say_rows(rows), *left_out])
    alt = text.replace("\n", ". ")
    return Figure(drawing(max(widths) + 2 * EDGE, y + 14, *parts, alt=alt), text, text)


def _say_rows(rows: Sequence[Spelling]) -> Iterator[str]:
    spelled = [" ".join(map(label, row.pieces)) for row in rows]
    longest = max(map(len, spelled), default=0)
    for words, row in zip(spelled, rows, strict=True):
        odds = probability(row.probability, 3)
        yield f"{words:{longest}}  {odds}  {_say_cost(row)} nats  {', '.join(_names_of(row))}".rstrip()


def _write_spelling(row: Spelling, columns: ByteColumns, bars: float, y: float) -> Iterator[Element]:
    """A row: its tokens below their bytes, its probability in digits and as a bar, its cost, and its names."""
    names = _names_of(row)
    yield from _write_spelled(row, columns, y, "green" if names else "soft")
    yield write(bars, y + 5, probability(row.probability, 3), 13, mono=True, text_anchor="end")
    yield rect(bars + 10, y - 4, max(0.5, ODDS_BAR * row.probability), 9, fill="var(--gv-blue)")
    yield write(bars + ODDS_BAR + 66, y + 5, _say_cost(row), 13, mono=True, text_anchor="end")
    yield write(bars + ODDS_BAR + 94, y + 5, " and ".join(names), 13)


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


def _write_run(record: Spellings, columns: ByteColumns) -> Iterator[Element]:
    """One box per byte with its character, and one for bytes beyond the run or not shown."""
    for place in range(columns.shown):
        left = columns.left(place)
        width = columns.left(place + 1) - left - 2
        yield write_box(left + 1, RUN_TOP + 3, width, BYTE_HEIGHT, stroke="var(--gv-line)")
    for middle, name in characters(record.run[: columns.shown], 12.0):
        yield centred(columns.left(middle), RUN_TOP + 22, name, 14, mono=True)
    end = columns.left(columns.shown)
    more = columns.size - columns.shown
    if more:
        yield soft(end + 6, RUN_TOP + 22, f"+{counted(more, 'byte')}")
    elif columns.beyond:
        dashed: Any = {"fill": "none", "stroke": "var(--gv-soft)", "stroke_dasharray": "5 3"}
        yield write_box(end + 1, RUN_TOP + 3, BEYOND_WIDTH - 2, BYTE_HEIGHT, "…", **dashed)


def _write_spelled(row: Spelling, columns: ByteColumns, y: float, colour: str) -> Iterator[Element]:
    """One box per token of a spelling, below its bytes; that of a token that goes beyond the run is dashed."""
    look: Any = {"stroke": paint(colour), "stroke_width": 1 if colour == "soft" else 1.8, "fill": "none"}
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
        said.append(f"and {count:,} more: {probability(sum(others) + odds, 3)}")
    if record.lost:
        said.append(f"dead ends, after which no token is legal: {probability(record.lost, 3)}")
    if record.rest:
        said.append(f"not looked at: {probability(record.rest, 3)}")
    return said


def _say_counts(record: Spellings) -> str:
    counts = f"{record.count:,} end with the run"
    if record.count_beyond:
        counts += f", {record.count_beyond:,} go beyond it"
    return counts
