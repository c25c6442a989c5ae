r"""The leaves of a grammar in Lark's notation as trees: texts, ranges, regexes, counts, parts of a text.

The escapes of texts are those of JSON, and `\xHH`. Regexes are Python's under re.ASCII, with Rust's `\x{41}`.
"""

import json
import re
import warnings
from collections.abc import Iterable
from typing import Any

from guidedviz.errors import PatternError, did_you_mean
from guidedviz.machines import limits
from guidedviz.machines.grammars.gbnf import brief
from guidedviz.machines.grammars.lark_notation import Node, refusal
from guidedviz.machines.ranges import merge_ranges
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.regular.regex_text import LOOKAROUND, PATTERN_PIECES
from guidedviz.machines.syntax import EMPTY, Chars, Net, Times, Tree, concat, literal, read_count
from guidedviz.machines.work import spend

SHORT_CODE = re.compile(r"(\\[^x])|\\x")
RUST_CODE = re.compile(r"\\[xuU]\{([0-9A-Fa-f]{1,8})\}|(\\.)", re.DOTALL)
FLAGS = "imsux"

# Lark's own `common.lark`, as llguidance and xgrammar read it. Two of Lark's regexes are lazy, which only has a meaning
# for a parser that looks for the first end: ESCAPED_STRING would have texts with quotes inside, and C_COMMENT as well.
COMMON_TEXT = r"""
DIGIT [0-9]
HEXDIGIT [a-fA-F0-9]
INT [0-9]+
SIGNED_INT [+-]?[0-9]+
DECIMAL [0-9]+\.[0-9]*|\.[0-9]+
_EXP [eE][+-]?[0-9]+
FLOAT (?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+
SIGNED_FLOAT [+-]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
NUMBER (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?
SIGNED_NUMBER [+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?
ESCAPED_STRING "(?:[^"\\\n]|\\.)*"
LCASE_LETTER [a-z]
UCASE_LETTER [A-Z]
LETTER [A-Za-z]
WORD [A-Za-z]+
CNAME [_A-Za-z][_A-Za-z0-9]*
WS_INLINE [ \t]+
WS [ \t\f\r\n]+
CR \r
LF \n
NEWLINE (?:\r?\n)+
SH_COMMENT #[^\n]*
CPP_COMMENT //[^\n]*
C_COMMENT /\*[^*]*\*+(?:[^/*][^*]*\*+)*/
SQL_COMMENT --[^\n]*
"""
COMMON = dict(line.split(" ", 1) for line in COMMON_TEXT.strip().split("\n"))


def common_terminal(place: Node, library: str, name: str) -> Tree:
    """A terminal of Lark's library `common`."""
    if library == "common" and name in COMMON:
        return parse_regex(COMMON[name])
    hint = did_you_mean(name, COMMON) or "write its definition here"
    raise refusal(place, f"unknown import {brief(f'{library}.{name}')}", "common.NAME", hint)


def read_string(token: Node) -> str:
    """The characters of a text in quotes; it is JSON, but for two digits after \\x and control characters."""
    spend(4 * len(token))
    quoted = SHORT_CODE.sub(lambda found: found[1] or r"\u00", token.rstrip("i"))
    try:
        return str(json.loads(quoted, strict=False))
    except json.JSONDecodeError as error:
        place = token.start_pos + error.pos
        raise refusal(
            place, "another escape", r"\" \\ \/ \b \f \n \r \t \xHH or \uHHHH", r"a backslash is \\"
        ) from None


def string_tree(token: Node) -> Tree:
    r"""Exactly this text, or with the flag `i` in capitals and small letters.

    >>> from guidedviz.machines.grammars.lark_notation import parse_notation
    >>> string_tree(*parse_notation(r'start: "\u00e9"i').children[0].children[-1].children)
    Chars(ranges=((201, 201), (233, 233)))
    """
    value = read_string(token)
    if not token.endswith("i"):
        return literal(value)
    return concat(*[Chars(merge_ranges(both_cases(char))) for char in value])


def both_cases(char: str) -> Iterable[tuple[int, int]]:
    """A character in capitals and small letters, as ranges."""
    for form in (char, char.lower(), char.upper()):
        if len(form) == 1:
            yield ord(form), ord(form)


def range_tree(*tokens: Node) -> Tree:
    """One character between two others, both included."""
    ends = []
    for token in tokens:
        value = read_string(token)
        if len(value) != 1 or token.endswith("i"):
            raise refusal(token, f"saw {brief(token)}", "one character, without a flag")
        ends.append(ord(value))
    low, high = ends
    if high < low:
        raise refusal(tokens[0], "a range in descending order", "the lower character first")
    return Chars(((low, high),))


def regex_tree(token: Node) -> Tree:
    """A regex between slashes, with its flags.

    A lookaround would see beyond the terminal, where other terminals stand: it is refused, as by the engines.
    """
    pattern, _, flags = token[1:].rpartition("/")
    if set(flags) - set(FLAGS):
        raise refusal(token, f"the flags {flags}", f"some of {FLAGS}")
    pattern = RUST_CODE.sub(plain_code, pattern)
    for piece in PATTERN_PIECES.finditer(pattern):
        if LOOKAROUND.match(pattern, piece.start()) or piece[0] in (r"\b", r"\B"):
            place = token.start_pos + 1 + piece.start()
            raise refusal(place, "a lookaround", "a regex about its own text", "name what follows in the rule")
    own_flags = "".join(sorted(set(flags) - {"u"}))
    opening = f"(?{own_flags})" if own_flags else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # a set in a set, which Rust reads otherwise
            return parse_regex(opening + pattern)
    except FutureWarning as warning:
        where = str(warning).lower()
        said = where
    except PatternError as error:
        where = error.where
        said = error.seen
    found = re.search(r"position (\d+)", where)
    inside = max(0, int(found[1]) - len(opening)) if found else 0
    raise refusal(token.start_pos + 1 + inside, said, "a regex in Python's syntax")


def plain_code(found: re.Match[str]) -> str:
    r"""An escape of a regex; Rust's `\x{41}` as Python writes it."""
    number, other = found.groups()
    return other or rf"\U{int(number, 16):08x}"


def read_times(token: Node) -> Times:
    """How often a part may be repeated: the lowest and the highest count, None for no limit.

    >>> from guidedviz.machines.grammars.lark_notation import parse_notation
    >>> read_times(parse_notation('start: "a"{,3}').children[0].children[-1].children[1])
    (0, 3)
    """
    written = str(token)
    if written.startswith("~"):
        written = f"{{{written[1:].replace('..', ',')}}}"
    counts = read_count(re.sub(r"^\{[ \t]*,", "{0,", written))
    if counts is None:
        raise refusal(token, f"saw {brief(token)}", "~n, ~m..n, {m}, {m,}, {,n} or {m,n}")
    low, high = counts
    if max(low, high or 0) > limits.REPEATS:
        raise refusal(token, f"saw {brief(token)}", f"counts up to {limits.REPEATS:,}")
    if high is not None and high < low:
        raise refusal(token, f"saw {brief(token)}", "the lower count first")
    return low, high


def substring_tree(node: Node, value: Any) -> Tree:
    """What `%regex {"substring_words": "a b"}` matches: words, characters or chunks that follow each other."""
    chunks: list[Any] = [None]
    match value:
        case {"substring_chunks": list(chunks)}:
            pass
        case {"substring_chars": str(text)}:
            chunks = list(text)
        case {"substring_words": str(text)}:
            chunks = re.findall(r"\w+|\s+|[^\w\s]+", text)
    if len(value) != 1 or not all(isinstance(chunk, str) for chunk in chunks):
        expected = '"substring_words" or "substring_chars" with a text, or "substring_chunks" with texts'
        raise refusal(node, f"saw {brief(str(value))}", expected)
    last = len(chunks) + 2
    edges: list[tuple[int, Tree, int]] = []
    for number in range(1, last):
        edges.append((0, EMPTY, number))
        edges.append((number, EMPTY, last))
    for number, chunk in enumerate(chunks, 1):
        edges.append((number, literal(chunk), number + 1))
    spend(4 * last)
    return Net(last + 1, tuple(edges))
