"""The spellings of a forced run: the lattice of their tokens, and a table of the likeliest with their probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.spellings import Spelling, Spellings
from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node
from guidedviz.views.badge import write_badge
from guidedviz.views.figure import Figure, drawing, soft, wide, write
from guidedviz.views.spellings.lattice import LEFT, SIGNS, Scale, draw_arcs, draw_boxes, draw_sign, spans
from guidedviz.views.words import label

ROWS = 8
ROW, TOP, BAR = 25.0, 84.0, 80.0
HOW = "an arc is a token over its bytes, as thick as the probability that passes through it"
BEYOND = "; a dashed one goes beyond the run"
LEFT_OVER = "forced, the rest is the model's"


@dataclass(frozen=True)
class SpellingRow:
    """A spelling or the beginning of one, with its names."""

    tokens: tuple[int, ...]
    pieces: tuple[bytes, ...]
    probability: float
    names: tuple[str, ...]

    @property
    def nats(self) -> str:
        """Its cost: minus the logarithm of its probability."""
        return f"{-log(self.probability) + 0.0:.2f}" if self.probability else "∞"


def draw_spellings(record: Spellings, forced: Sequence[int] = ()) -> Figure:
    """The lattice and the table; `forced` are the tokens that a jump appends: a spelling or its beginning.

    >>> toy = gv.ToyModel([b"a", b"b", b"ab", b";"], lambda tokens: [0, 0, 1, 0])
    >>> found = gv.spellings(toy, ";", gv.guide(gv.regex("ab;"), toy.vocabulary))
    >>> print(draw_spellings(found).text)
    spellings of ab; by toy, TOY: 2 end with the run; 2 looked at in 4 passes
    ab ;   0.731  0.31 nats  canonical, longest
    a b ;  0.269  1.31 nats
    """
    _check(record, forced)
    rows, scale = spelling_rows(record, tuple(forced)), Scale(len(record.run), record.count_beyond > 0)
    left_out = _left_out(record, rows)
    arcs, ground = draw_arcs(record, scale, TOP)
    table = ground + 72
    low = table + ROW * len(rows)
    numbers = max(scale.end, 100.0) + 104  # where they end
    parts = [*_head(record), *arcs, *draw_boxes(record.run, scale, ground), *_titles(numbers, table - 20)]
    parts += [part for n, row in enumerate(rows) for part in _row(row, scale, numbers, table + ROW * n)]
    parts += [soft(LEFT, low + 10 + 18 * n, words) for n, words in enumerate(left_out)]
    text = "\n".join([_say(record), *_say_rows(rows), *left_out])
    names = max((sum(40 + 7.2 * len(name) for name in row.names) for row in rows), default=0.0)
    width = max(numbers + BAR + 90 + names, *(6.4 * len(words) for words in (_counts(record), HOW + BEYOND, *left_out)))
    size = width + 2 * LEFT, low + 14 + 18 * len(left_out)
    svg = drawing(*size, *parts, alt=text.replace("\n", ". "))
    return Figure(svg, text, text)


def _check(record: object, forced: object) -> None:
    expect(record, Spellings, "draw_spellings", "spellings", "gv.spellings(model, prompt, guide)")
    if not isinstance(forced, Iterable):
        hint = "forced=found.canonical.tokens"
        raise SettingError("draw_spellings, forced", seen=repr(forced), expected="a list of tokens", hint=hint)


def spelling_rows(record: Spellings, forced: tuple[int, ...] = (), most: int = ROWS) -> tuple[SpellingRow, ...]:
    """The likeliest spellings, and every spelling with a name."""
    named = [(spelling, _names(spelling, forced)) for spelling in record.spellings]
    kept = [pair for pair in named if pair[1]]
    kept += [pair for pair in named if not pair[1]][: most - len(kept)]
    rows = [SpellingRow(s.tokens, s.pieces, s.probability, names) for s, names in kept]
    rows.sort(key=lambda row: -row.probability)
    if forced and not any("forced" in row.names for row in rows):
        rows.append(_beginning(record, forced))
    return tuple(rows)


def _names(spelling: Spelling, forced: tuple[int, ...]) -> tuple[str, ...]:
    told = (spelling.canonical, spelling.longest, spelling.tokens == forced)
    return tuple(name for name, is_so in zip(SIGNS, told, strict=True) if is_so)


def _beginning(record: Spellings, forced: tuple[int, ...]) -> SpellingRow:
    """The beginning of a spelling, whose rest the model chooses."""
    for part in record.spellings + record.open:
        if part.tokens[: len(forced)] == forced:
            return SpellingRow(forced, part.pieces[: len(forced)], record.through(forced), (LEFT_OVER,))
    expected, hint = f"tokens that begin a spelling of {label(record.run)}", "forced=found.canonical.tokens"
    raise SettingError("draw_spellings, forced", seen=repr(forced), expected=expected, hint=hint)


def _head(record: Spellings) -> Iterator[Element]:
    """The source, the run, and how to read the picture."""
    size = record.vocabulary_size
    yield write_badge(LEFT, 24, record.source, record.model, record.device, size, record.date)
    yield write(LEFT, 47, f"the spellings of {shorten(label(record.run), 40)}", 13, font_weight="bold")
    yield soft(LEFT, 66, _counts(record))
    yield soft(LEFT, 84, HOW + BEYOND * (record.count_beyond > 0))


def _titles(numbers: float, y: float) -> Iterator[Element]:
    for x, words, anchor in ((LEFT, "spelling", "start"), (numbers, "p", "end"), (numbers + BAR + 66, "nats", "end")):
        yield soft(x, y, words, text_anchor=anchor)


def _row(row: SpellingRow, scale: Scale, numbers: float, y: float) -> Iterator[Element]:
    """One block per token below its bytes, then the numbers and the names."""
    colour = SIGNS[_sign(row.names[0])][1] if row.names else ""
    for piece, (start, end) in zip(row.pieces, spans(row.pieces), strict=True):
        if start < scale.shown:
            yield _block(piece, scale.x(start), scale.x(end), y, colour, end > scale.size)
    yield write(numbers, y + 5, probability(row.probability, 3), 13, mono=True, text_anchor="end")
    long = max(0.5, BAR * row.probability)
    yield node("rect", x=numbers + 10, y=y - 4, width=long, height=9, rx=1.5, fill="var(--gv-blue)")
    yield write(numbers + BAR + 66, y + 5, row.nats, 13, mono=True, text_anchor="end")
    x = numbers + BAR + 94
    for name in row.names:
        yield draw_sign(x, y + 5, _sign(name)) + write(x + 12, y + 5, name, 13)
        x += 40 + 7.2 * len(name)


def _sign(name: str) -> str:
    return name.partition(",")[0]


def _block(piece: bytes, left: float, right: float, y: float, colour: str, beyond: bool) -> Element:
    """A token with as much of its text as fits."""
    width = right - left - 3
    look = {"stroke": f"var(--gv-{colour or 'soft'})", "stroke_width": 1.8 if colour else 1}
    dash = {"stroke_dasharray": "5 3"} if beyond else {}
    box = node("rect", x=left + 1.5, y=y - 10, width=width, height=ROW - 5, rx=4, fill="none", **look, **dash)
    room, words = int((width - 2) / wide("n", 12)), label(piece)
    words = words if len(words) <= room else shorten(words, room) if room > 3 else "…"
    inside = write((left + right) / 2, y + 4, words, 12, mono=True, text_anchor="middle")
    return node("g", node("title", label(piece)), box, inside)


def _left_out(record: Spellings, rows: Sequence[SpellingRow]) -> list[str]:
    """The spellings without a row, in words."""
    shown = {row.tokens for row in rows}
    others = [s.probability for s in record.spellings if s.tokens not in shown]
    count, odds = len(others) + record.faint[0], sum(others) + record.faint[1]
    said = [f"and {count:,} more: {probability(odds, 3)}"] if count else []
    said += [f"dead ends, after which no token is legal: {probability(record.lost, 3)}"] if record.lost else []
    said += [f"not looked at: {probability(record.rest, 3)}"] if record.rest else []
    if record.back:
        taken = counted(record.back, "token")
        said.append(f"the tokenizer's own is none of these: it would take back {taken} of the output before the run")
    return said


def _counts(record: Spellings) -> str:
    beyond = f", {record.count_beyond:,} go beyond it" if record.count_beyond else ""
    passes = "pass" if record.passes == 1 else "passes"
    seen = len(record.spellings) + record.faint[0]
    return f"{record.count:,} end with the run{beyond}; {seen:,} looked at in {record.passes:,} {passes}"


def _say(record: Spellings) -> str:
    source = f", {record.source}" if record.source != "LIVE" else ""  # a saved notebook is not live any more
    return f"spellings of {shorten(label(record.run), 60)} by {record.model}{source}: {_counts(record)}"


def _say_rows(rows: Sequence[SpellingRow]) -> Iterator[str]:
    spelled = [" ".join(map(label, row.pieces)) for row in rows]
    longest = max(map(len, spelled), default=0)
    for words, row in zip(spelled, rows, strict=True):
        yield f"{words:{longest}}  {probability(row.probability, 3)}  {row.nats} nats  {', '.join(row.names)}".rstrip()
