"""A grammar's text with its lint findings: each is underlined, and explained below its line."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from guidedviz.errors import GrammarError, PatternError, expect, shorten
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import LINE_END, line_and_column, show_line
from guidedviz.machines.grammars.lint import Finding, lint
from guidedviz.machines.visible import counted
from guidedviz.views.figure import Figure, drawing, moved, node, soft, wide, write

SIZE, LINE, WORDS, EDGE = 14.0, 23.0, 19.0, 14.0
FIRST = 80  # lines that are always shown; later lines only with a finding
MOST_ROWS = 300
MOST_WIDE = 110  # characters per line
WORD = re.compile(r"[\w-]+")
REFUSED, DOUBTFUL, KNOWN = "✕▲●"
SIGNS = {"error": REFUSED, "undefined": REFUSED}
SIGNS |= dict.fromkeys(["left-recursive", "ambiguous", "blank", "unused"], DOUBTFUL)
COLOURS = {REFUSED: "orange", DOUBTFUL: "gold", KNOWN: "blue"}
MEANS = {REFUSED: "it is refused", DOUBTFUL: "it may surprise", KNOWN: "good to know"}
Odd = Mapping[int, Sequence[Finding]]  # by line number


@dataclass(frozen=True)
class Line:
    """A line of the grammar and its offset in the text."""

    number: int
    text: str
    start: int


@dataclass(frozen=True)
class Remark:
    """A finding, written below its line."""

    line: Line
    finding: Finding
    sign: str
    place: int  # the first, the second, ... below it


@dataclass(frozen=True)
class Gap:
    """Lines that are not shown, and the number of their findings."""

    lines: int
    findings: int = 0

    def __str__(self) -> str:
        return f"⋮ {counted(self.lines, 'line')}" + f", {counted(self.findings, 'finding')}" * bool(self.findings)


LintRow = Line | Remark | Gap


def draw_lint(text: str, root: str = "root") -> Figure:
    """A grammar in GBNF with its findings, or with its syntax error.

    >>> print(draw_lint('root ::= root "+" term | term\\nterm ::= [0-9]').text)
    grammar: 2 lines, 1 finding
    1  root ::= root "+" term | term
       ▲ root is left-recursive: it may begin with itself: root → root
    2  term ::= [0-9]
    """
    expect(text, str, "draw_lint", "the text of a grammar")
    lines, odd = text_lines(text), _by_line(text, find_odd(text, root))
    rows = list(_rows(lines, odd, root))
    left = EDGE + wide(f"{len(lines):,}", 12) + 14
    parts, y = [_head(_about(lines, odd), rows)], 46.0
    for row in rows:
        parts.append(moved(0, y, *_row(row, left)))
        y += LINE if isinstance(row, Line) else WORDS + 2
    said = "\n".join([_about(lines, odd), *(_say(row, len(f"{len(lines)}")) for row in rows)])
    width = max(left + max(map(_width, rows), default=0.0), 60 + 6.6 * len(_about(lines, odd))) + EDGE
    return Figure(drawing(width, y, *parts, alt=said), said, said)


def find_odd(text: str, root: str = "root") -> tuple[Finding, ...]:
    """The findings of a grammar; if it cannot be read, only its error.

    >>> find_odd("root ::= vlaue")
    (Finding(kind='error', rule='', span=(9, 14), words='unknown rule "vlaue"'),)
    """
    try:
        return lint(parse_grammar(text, root))
    except PatternError as error:
        place = error.position if isinstance(error, GrammarError) else 0
        word = WORD.match(text, place)
        expected = f", expected {error.expected}" * bool(error.expected)
        words = f"{error.seen}{expected}" + f"; {error.hint}" * bool(error.hint)
        return (Finding("error", "", (place, word.end() if word else place + 1), words),)


def text_lines(text: str) -> list[Line]:
    r"""The lines of a text, as the reader counts them.

    >>> [line.text for line in text_lines("a\r\nb\n")]
    ['a', 'b']
    """
    starts = [0, *(end.end() for end in LINE_END.finditer(text))]
    ends = [*(end.start() for end in LINE_END.finditer(text)), len(text)]
    lines = [Line(n, text[start:end], start) for n, (start, end) in enumerate(zip(starts, ends, strict=True), 1)]
    return lines if lines[-1].text or len(lines) == 1 else lines[:-1]


def _by_line(text: str, findings: Sequence[Finding]) -> Odd:
    odd: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        odd[line_and_column(text, finding.span[0])[0]].append(finding)
    return odd


def _rows(lines: Sequence[Line], odd: Odd, root: str) -> Iterator[LintRow]:
    """Lines and their findings; a gap counts lines of a long text that are left out."""
    left, missed, drawn = 0, 0, 0
    for line in lines:
        findings = odd.get(line.number, ())
        if drawn >= MOST_ROWS or (line.number > FIRST and not findings):
            left, missed = left + 1, missed + len(findings)
            continue
        if left:
            yield Gap(left)
        left, drawn = 0, drawn + 1 + len(findings)
        yield line
        for place, finding in enumerate(findings, 1):
            yield Remark(line, finding, _sign(finding, root), place)
    if left:
        yield Gap(left, missed)


def _about(lines: Sequence[Line], odd: Odd) -> str:
    return f"grammar: {counted(len(lines), 'line')}, {counted(sum(map(len, odd.values())), 'finding')}"


def _head(about: str, rows: Sequence[LintRow]) -> str:
    title = write(EDGE, 20, "grammar", 13, font_weight="bold")
    parts, x = [title, soft(EDGE + 74, 20, about.partition(": ")[2])], EDGE + 240
    for sign in dict.fromkeys(row.sign for row in rows if isinstance(row, Remark)):
        parts.append(write(x, 20, sign, 12, fill=f"var(--gv-{COLOURS[sign]})"))
        parts.append(soft(x + 16, 20, MEANS[sign]))
        x += 16 + 6.6 * len(MEANS[sign]) + 20
    return "".join(parts)


def _sign(finding: Finding, root: str) -> str:
    if finding.kind == "unproductive":  # another rule than the root is only useless
        return REFUSED if finding.rule == root else DOUBTFUL
    return SIGNS.get(finding.kind, KNOWN)


def _row(row: LintRow, left: float) -> list[str]:
    match row:
        case Gap():
            return [soft(left, 0, str(row))]
        case Line(number, text):
            name = soft(left - 14, 0, f"{number:,}", text_anchor="end")
            return [name, write(left, 0, _cut(text), SIZE, mono=True)]
        case Remark(line, finding, sign, place):
            x, long = _span(line, finding)
            colour = f"var(--gv-{COLOURS[sign]})"
            wave = {"fill": "none", "stroke": colour, "stroke_width": 1.7}
            return [
                node("path", d=_wave(left + x, 4.5 - (WORDS + 2) * place, long), **wave),
                write(left + x, 0, sign, 12, fill=colour),
                write(left + x + 18, 0, _told(finding), 12.5),
            ]


def _span(line: Line, finding: Finding) -> tuple[float, float]:
    """The start and the width of a finding in its line, in pixels; beyond the cut it is marked at the end."""
    start = finding.span[0] - line.start
    before = wide(show_line(line.text[:start]), SIZE)
    inside = wide(show_line(line.text[start : max(start + 1, finding.span[1] - line.start)]), SIZE)
    most = wide("x", SIZE) * MOST_WIDE
    return min(before, most), min(max(inside, 8.0), most)


def _wave(x: float, y: float, long: float) -> str:
    """A wavy line, so that a mark is more than a colour."""
    return f"M{x:.1f},{y:.1f}" + "q2,-3.4 4,0t4,0" * max(1, round(long / 8))


def _cut(text: str) -> str:
    return shorten(show_line(text[: 2 * MOST_WIDE]), MOST_WIDE)


def _told(finding: Finding) -> str:
    named = f"{finding.rule} is {finding.kind}: " if finding.rule else ""
    return shorten(f"{named}{finding.words}", 2 * MOST_WIDE)


def _width(row: LintRow) -> float:
    match row:
        case Line():
            return wide(_cut(row.text), SIZE)
        case Remark():
            return _span(row.line, row.finding)[0] + 18 + 6.8 * len(_told(row.finding))
    return 100.0


def _say(row: LintRow, digits: int) -> str:
    match row:
        case Line():
            return f"{row.number:>{digits}}  {_cut(row.text)}".rstrip()
        case Remark():
            before = show_line(row.line.text[: row.finding.span[0] - row.line.start])
            return " " * (digits + 2 + min(len(before), MOST_WIDE)) + f"{row.sign} {_told(row.finding)}"
    return f"{'':>{digits}}  {row}"
