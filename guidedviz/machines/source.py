"""A constraint as text: its language, its machine, the position of an error; and the grammar of a machine as text.

In a machine over bytes, a path of one to four bytes that encodes whole characters becomes one edge of a grammar.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from guidedviz.errors import GrammarError, PatternError, expect, quoted
from guidedviz.machines.grammars.counted import without_ticks
from guidedviz.machines.grammars.grammar import Grammar, Rule, draw_caret, line_and_column, show_line
from guidedviz.machines.grammars.show import show_gbnf
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.large_regex import regex
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.algebra import difference
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import build_machine
from guidedviz.machines.regular.nfa import utf8_rows
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.machines.schema.places import below, show_path
from guidedviz.machines.syntax import ANYTHING, LAST, Chars, Range, Tree, build_net, merge_ranges
from guidedviz.machines.work import grouped, limited_work, spend

TAIL = (0x80, 0xBF)  # the bytes of a character after its first one
ROWS = tuple(utf8_rows(0, LAST))
Way = tuple[int, int, int]  # lowest character, highest character, next state
BLANK = re.compile(r"[ \t\r\n]*")
KINDS: dict[str, Callable[[str], Machine[Any]]] = {"regex": regex, "schema": json_schema, "grammar": grammar}


def guess_kind(text: str) -> str:
    """The most likely language of a constraint.

    >>> guess_kind("[0-9]+"), guess_kind('{"type": "null"}'), guess_kind('root ::= "a"'), guess_kind("{a}")
    ('regex', 'schema', 'grammar', 'regex')
    """
    expect(text, str, "constraint", "a str")
    if re.search(r"^[ \t]*[\w-]+[ \t]*::=", text, re.MULTILINE):
        return "grammar"
    return "schema" if re.match(r"\s*\{\s*[\"}]", text) else "regex"


def compile_text(kind: str, text: str) -> Machine[Any]:
    """The machine of a constraint in one of these languages.

    >>> compile_text("regex", "ab").accepts(b"ab"), compile_text("grammar", 'root ::= "a"').accepts(b"a")
    (True, True)
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise PatternError("constraint", seen=quoted(kind), expected=", ".join(KINDS))
    return KINDS[kind](text)


def to_gbnf(machine: Machine[Any]) -> str:
    """The rules of a pushdown machine, or the one rule of a finite machine, as GBNF text.

    >>> print(to_gbnf(gv.json_schema({"type": "array", "items": {"$ref": "#"}})))
    root ::= "[" (root ("," " "? root)*)? "]"
    """
    return show_gbnf(without_ticks(machine_grammar(machine)))


def machine_grammar(machine: Machine[Any]) -> Grammar:
    """The grammar of a pushdown machine, or a grammar of one rule for a finite machine, with the same language.

    >>> machine_grammar(gv.regex("(a|é)+b")).rules[0].tree.places
    4
    """
    if isinstance(machine, PDA):
        return machine.grammar
    finite: DFA = expect(machine, DFA, "machine", "a finite or a pushdown machine")
    return Grammar((Rule("root", character_net(finite)),))


@limited_work()
def character_net(dfa: DFA) -> Tree:
    """The same machine over characters; raises PatternError if some text is not UTF-8.

    >>> character_net(gv.regex("é")).edges
    ((0, Chars(ranges=((233, 233),)), 1), (1, Concat(parts=()), 2))
    """
    if dfa.accepting and difference(dfa, build_machine(ANYTHING)).accepting:
        raise PatternError("machine", seen="a text that is not UTF-8", expected="a machine whose texts are all UTF-8")

    def moves(state: int) -> Iterator[tuple[Tree, int]]:
        ranges = grouped((target, (low, high)) for low, high, target in _characters(dfa, state))
        return ((Chars(_over_surrogates(found)), target) for target, found in ranges.items())

    return build_net(dfa.initial, moves, dfa.is_accepting)


def _over_surrogates(ranges: list[Range]) -> tuple[Range, ...]:
    """Join ranges on both sides of the surrogates, so that [^"] stays [^"]; UTF-8 cannot encode surrogates."""
    around = {0xD7FF, 0xE000} <= {end for pair in ranges for end in pair}
    return merge_ranges([*ranges, *[(0xD800, 0xDFFF)] * around])


def _characters(dfa: DFA, state: int) -> Iterator[Way]:
    """The edges of a state, over whole characters."""
    for (first, last), *tail in ROWS:
        for low, high, target in dfa.edges[state]:
            leads = range(max(low, first), min(high, last) + 1)
            for lead in leads if tail else ():
                bits = lead & 0x3F >> len(tail)
                yield from _tails(dfa, (bits, bits, target), tail)
            if leads and not tail:
                yield leads[0], leads[-1], target


def _tails(dfa: DFA, way: Way, tail: Sequence[Range]) -> Iterator[Way]:
    """The edges for the remaining bytes of a character, given the range of its first bits."""
    if not tail:
        spend(5)
        yield way
        return
    least, most, state = way
    for low, high, target in dfa.edges[state]:
        low, high = max(low, tail[0][0]), min(high, tail[0][1])
        whole = [(least, most)] if (low, high) == TAIL else [(value, value) for value in range(least, most + 1)]
        for one, other in whole if low <= high else ():
            yield from _tails(dfa, (one << 6 | low & 0x3F, other << 6 | high & 0x3F, target), tail[1:])


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
    place = find_place(text, error)
    if isinstance(error, GrammarError) or place is None:
        return "\n".join(map(show_line, str(error).split("\n")))
    line, column = line_and_column(text, place)
    where = f"{kind} line {line}, column {column}"
    if "#" in error.where:
        where += f", {error.where.partition(', ')[2]}"
    said = str(error).removeprefix(error.where).replace("\n", " ")
    return f"{where}{show_line(said)}\n{draw_caret(text, place)}"


def find_place(text: str, error: PatternError) -> int | None:
    """The position in an error: an offset, or a path in a schema."""
    if isinstance(error, GrammarError):
        return error.position
    if found := re.search(r"position (\d+)", error.where) or re.search(r"\(char (\d+)\)", error.seen):
        return min(int(found[1]), len(text))
    if found := re.match(r"schema, #((?:/[^/]*)*)$", error.where):
        return find_in_json(text, found[1].split("/")[1:])
    return None


def find_in_json(text: str, path: Sequence[str]) -> int | None:
    """The position where the value at a path begins; keys are escaped as in a JSON pointer.

    >>> text = '{"a": {"b": 1}, "b": [2, 3]}'
    >>> text[find_in_json(text, ["b", "1"]) :], find_in_json(text, ["c"])
    ('3]}', None)
    """
    place = _skip(text, 0)
    try:
        for part in path:
            place = _members(text, place)[part]
    except (KeyError, ValueError, IndexError, RecursionError):
        return None
    return place


def _skip(text: str, place: int) -> int:
    found = BLANK.match(text, place)
    return found.end() if found else place


def _members(text: str, place: int) -> dict[str, int]:
    """The start position of each member of an object or an array, by name or index."""
    if text[place] not in "{[":
        raise ValueError("no members")
    decoder, found = json.JSONDecoder(), dict[str, int]()
    named, place = text[place] == "{", _skip(text, place + 1)
    while text[place] not in "}]":
        name: Any = str(len(found))
        if named:
            name, place = decoder.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        found[show_path(below("", name))[1:]] = place
        place = _skip(text, decoder.raw_decode(text, place)[1])
        place = _skip(text, place + (text[place] == ","))
    return found
