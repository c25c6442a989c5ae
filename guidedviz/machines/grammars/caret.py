"""A place in the text of a constraint: its line and column, and a caret below it."""

import re

from guidedviz.errors import GrammarError
from guidedviz.machines.visible import visible

LINE_END = re.compile(r"\r\n?|\n")
HALF_LINE = 40  # characters before and after the place in an error


def line_and_column(text: str, place: int) -> tuple[int, int]:
    r"""The line and column of an offset, both counted from 1.

    >>> line_and_column("ab\ncd", 4)
    (2, 2)
    """
    line = 1
    start = 0
    for found in LINE_END.finditer(text, 0, place):
        line += 1
        start = found.end()
    return line, place - start + 1


def grammar_error(text: str, place: int, seen: str, expected: str, hint: str = "") -> GrammarError:
    r"""The error at an offset of a grammar's text, with a caret under it.

    >>> print(grammar_error("root ::= vlaue", 9, 'unknown rule "vlaue"', "a rule's name", 'did you mean "value"?'))
    GBNF line 1, column 10: unknown rule "vlaue", expected a rule's name
      root ::= vlaue
               ^ did you mean "value"?
    """
    line, column = line_and_column(text, place)
    where = f"GBNF line {line}, column {column}"
    picture = draw_caret(text, place)
    return GrammarError(where, seen=seen, expected=expected, hint=hint, picture=picture, position=place)


def draw_caret(text: str, place: int) -> str:
    """The line of an offset with a caret below it; of a long line the part around the offset."""
    _, column = line_and_column(text, place)
    before = show_line(text[place - min(column - 1, HALF_LINE) : place])
    if column - 1 > HALF_LINE:
        before = "…" + before
    found = LINE_END.search(text, place)
    end = found.start() if found else len(text)
    after = show_line(text[place : min(end, place + HALF_LINE)])
    if end > place + HALF_LINE:
        after += "…"
    return f"  {before}{after}\n  {'':{len(before)}}^"


def show_line(text: str) -> str:
    r"""Readable text of a grammar: blanks stay blank, invisible characters get a sign.

    >>> show_line('a ::= "\u202e"\t#')
    'a ::= "<U+202E>"⇥#'
    """
    return " ".join([visible(part.encode(errors="surrogatepass")) for part in text.split(" ")])
