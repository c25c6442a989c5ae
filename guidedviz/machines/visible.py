"""Bytes and places of a text as people read them.

Blanks get a symbol, control characters and invalid bytes get a number; a place gets its line, and a caret below it.
Machines, vocabularies and figures use these functions, and name states by them.
"""

import codecs
import re
import unicodedata
from collections.abc import Collection, Iterable
from itertools import islice, starmap

from guidedviz.errors import GrammarError
from guidedviz.machines.names import SOME_NAME, split_names
from guidedviz.machines.ranges import byte_ranges

BLANK_SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}  # symbols that most fonts have; other control characters get a number
INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})  # Unicode categories without a visible glyph


def visible(data: bytes) -> str:
    r"""Readable text that shows every byte; this function never raises an error.

    >>> visible(b"a b\n"), visible("é".encode()), visible(b"\xe2\x82"), visible(b"")
    ('a␣b↵', 'é', '<0xE2><0x82>', '')
    """
    shown = ""
    for number, part in enumerate(split_names(data)):
        text = part.decode("utf-8", "guidedviz.visible")
        is_bare_name = number % 2 and not text.startswith("<")
        shown += f"<{text}>" if is_bare_name else "".join(map(_visible_character, text))
    return shown


def _name_bytes(error: UnicodeError) -> tuple[str, int]:
    """The numbers of bytes that are not UTF-8, and where the text goes on."""
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    return "".join(map(byte_name, wrong)), error.end


codecs.register_error("guidedviz.visible", _name_bytes)


def byte_name(byte: int) -> str:
    """The hexadecimal number of a byte.

    >>> byte_name(226)
    '<0xE2>'
    """
    return f"<0x{byte:02X}>"


def _visible_character(character: str) -> str:
    category = unicodedata.category(character)
    if character in BLANK_SIGNS:
        return BLANK_SIGNS[character]
    if category == "Cc" and ord(character) < 128:
        return byte_name(ord(character))
    if category in INVISIBLE:
        return f"<U+{ord(character):04X}>"
    return "◌" + character if category.startswith("M") else character


def visible_bytes(values: Iterable[int], limit: int = 8) -> str:
    """A set of bytes as text, with at most `limit` ranges.

    >>> visible_bytes(b".0123456789"), visible_bytes(b'"'), visible_bytes(range(256)), visible_bytes([])
    ('. 0-9', '"', 'any byte', 'nothing')
    """
    ranges = byte_ranges(values)
    if not ranges:
        return "nothing"
    if ranges == [(0, 255)]:
        return "any byte"
    names = []
    if ranges[-1] == (0xFF, 0xFF):
        names = [SOME_NAME]
    words = [*starmap(_visible_range, ranges[: len(ranges) - len(names)][:limit]), *names]
    if len(ranges) > limit:
        words.append(f"and {len(ranges) - limit} more")
    return " ".join(words)


def _visible_range(low: int, high: int) -> str:
    first = visible(bytes([low]))
    last = visible(bytes([high]))
    if low == high:
        return first
    if high == low + 1:
        return f"{first} {last}"
    return f"{first}-{last}"


def counted(number: int, what: str) -> str:
    """A number and a noun, plural if needed.

    >>> counted(1, "state"), counted(1200, "state")
    ('1 state', '1,200 states')
    """
    if number == 1:
        return f"{number:,} {what}"
    return f"{number:,} {what}s"


NAMED_NODES = 3  # nodes in the name of one state


def name_state(number: int) -> str:
    """A state of a DFA; the page writes it in the same way in `shared/elements.js`.

    >>> name_state(3)
    'q3'
    """
    return f"q{number}"


def name_node(number: int) -> str:
    """A node of a grammar's rules, or a state of an NFA.

    >>> name_node(5)
    'n5'
    """
    return f"n{number}"


def name_nodes(nodes: Collection[int]) -> str:
    """A state of a pushdown machine, named by its current nodes; its stack is shown beside the name.

    >>> name_nodes([5]), name_nodes([5, 8]), name_nodes(range(7)), name_nodes([])
    ('n5', 'n5 n8', 'n0 n1 n2 …', 'end')
    """
    names = list(map(name_node, islice(nodes, NAMED_NODES)))
    if len(nodes) > NAMED_NODES:
        names.append("…")
    return " ".join(names) or "end"


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


def grammar_error(
    text: str, place: int, seen: str, expected: str, hint: str = "", notation: str = "GBNF"
) -> GrammarError:
    r"""The error at an offset of a grammar's text, with a caret under it.

    >>> print(grammar_error("root ::= vlaue", 9, 'unknown rule "vlaue"', "a rule's name", 'did you mean "value"?'))
    GBNF line 1, column 10: unknown rule "vlaue", expected a rule's name
      root ::= vlaue
               ^ did you mean "value"?
    """
    line, column = line_and_column(text, place)
    where = f"{notation} line {line}, column {column}"
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
