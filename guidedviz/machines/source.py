"""A constraint as text: its language, its machine, and the position of an error."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from guidedviz.errors import GrammarError, PatternError, expect, quoted
from guidedviz.machines.lark import lark
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.large_regex import regex
from guidedviz.machines.pushdown.pda import grammar
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.machines.schema.values import below, show_path
from guidedviz.machines.visible import draw_caret, line_and_column, show_line

LANGUAGES: dict[str, Callable[..., Machine[Any]]] = {
    "regex": regex,
    "schema": json_schema,
    "grammar": grammar,
    "lark": lark,
}


def guess_kind(text: str) -> str:
    """The most likely language of a constraint.

    >>> guess_kind("[0-9]+"), guess_kind('{"type": "null"}'), guess_kind('root ::= "a"'), guess_kind('start: "a"')
    ('regex', 'schema', 'grammar', 'lark')
    """
    expect(text, str, "constraint", "a str")
    if re.search(r"^[ \t]*[\w-]+[ \t]*::=", text, re.MULTILINE):
        return "grammar"
    if re.search(r"^[ \t]*[?!]{0,2}start(\.\d+)?[ \t]*:", text, re.MULTILINE):
        return "lark"
    return "schema" if re.match(r"\s*\{\s*[\"}]", text) else "regex"


def compile_text(kind: str, text: str, vocabulary: Any = None) -> Machine[Any]:
    """The machine of a constraint in one of these languages; a grammar may name tokens by their ids in a vocabulary.

    >>> compile_text("regex", "ab").accepts(b"ab"), compile_text("grammar", 'root ::= "a"').accepts(b"a")
    (True, True)
    """
    if not isinstance(kind, str) or kind not in LANGUAGES:
        raise PatternError("constraint", seen=quoted(kind), expected=", ".join(LANGUAGES))
    if kind in ("grammar", "lark"):
        return LANGUAGES[kind](text, vocabulary=vocabulary)
    return LANGUAGES[kind](text)


def say_error(kind: str, text: str, error: PatternError) -> str:
    """The error message, and below it the line with a caret if the position is known.

    >>> try:
    ...     regex("(a|b")
    ... except PatternError as error:
    ...     print(say_error("regex", "(a|b", error))
    regex line 1, column 1: saw missing ), unterminated subpattern, expected Python's re syntax
      (a|b
      ^
    """
    place = find_error(text, error)
    if isinstance(error, GrammarError) or place is None:
        return "\n".join(map(show_line, str(error).split("\n")))
    line, column = line_and_column(text, place)
    where = f"{kind} line {line}, column {column}"
    if "#" in error.where:
        where += ", " + error.where.partition(", ")[2]
    said = str(error).removeprefix(error.where).replace("\n", " ")
    return f"{where}{show_line(said)}\n{draw_caret(text, place)}"


def find_error(text: str, error: PatternError) -> int | None:
    """The position in an error: an offset, or a path in a schema."""
    if isinstance(error, GrammarError):
        return error.position
    offset = re.search(r"position (\d+)", error.where) or re.search(r"\(char (\d+)\)", error.seen)
    if offset:
        return min(int(offset[1]), len(text))
    path = re.match(r"schema, #((?:/[^/]*)*)$", error.where)
    if path:
        return find_in_json(text, path[1].split("/")[1:])
    return None


def find_in_json(text: str, path: Sequence[str]) -> int | None:
    """The position where the value at a path begins; keys are escaped as in a JSON pointer.

    >>> text = '{"a": {"b": 1}, "b": [2, 3]}'
    >>> text[find_in_json(text, ["b", "1"]) :], find_in_json(text, ["c"])
    ('3]}', None)
    """
    place = _next_value(text, 0)
    try:
        for part in path:
            place = _members(text, place)[part]
    except (KeyError, ValueError, IndexError, RecursionError):
        return None
    return place


def _next_value(text: str, place: int) -> int:
    """The place behind blanks, commas and colons."""
    while text[place : place + 1] in tuple(" \t\r\n,:"):
        place += 1
    return place


def _members(text: str, place: int) -> dict[str, int]:
    """The start position of each member of an object or an array, by name or index."""
    if text[place] not in "{[":
        raise ValueError("no members")
    decoder = json.JSONDecoder()
    found = dict[str, int]()
    is_object = text[place] == "{"
    place = _next_value(text, place + 1)
    while text[place] not in "}]":
        name = str(len(found))
        if is_object:
            name, place = decoder.raw_decode(text, place)
            place = _next_value(text, place)
        found[show_path(below("", name))[1:]] = place
        _, place = decoder.raw_decode(text, place)
        place = _next_value(text, place)
    return found
