"""Exercises on automata and on regexes of schemas."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from guidedviz.checks.cases import cases_of
from guidedviz.checks.function import check_function
from guidedviz.checks.texts import same_texts, say_texts, wire_tokens
from guidedviz.checks.verdict import Verdict
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import schema_regex

# -- automata ------------------------------------------------------------------------------------------------------

Moved = tuple[int, set[int], int]  # a state, the tokens, and the state after them
TRANSITIONS: dict[str, list[tuple[list[Moved], int, int]]] = {
    "a transition leaves this state with this token: its target is the answer": [([(0, {5}, 1)], 0, 5)],
    "no transition reads the token: the answer is None": [([(0, {5}, 1)], 0, 6), ([(0, {5, 7}, 1)], 0, 6)],
    "another state reads the token, this one does not: the answer is None": [([(0, {5}, 1)], 1, 5)],
    "state 0 is a valid state, although 0 is false in Python": [([(0, {5, 6}, 0)], 0, 6)],
    "look at all transitions: None means that no one fits": [
        ([(0, {5}, 1), (0, {6}, 2)], 0, 5),
        ([(0, {5}, 1), (0, {6}, 2)], 0, 6), ([(0, {5}, 1), (1, {5}, 2)], 1, 5), ([(1, {6}, 2), (0, {5}, 1)], 0, 5),
    ],
    "one token is one step: the target's own transitions wait for the next token": [([(0, {5}, 1), (1, {5}, 2)], 0, 5)],
}  # fmt: skip


def check_advance(answer: Callable[[Sequence[Moved], int, int], int | None]) -> Verdict:
    """Does `answer(transitions, state, token)` give the state after the token, or None?

    >>> check_advance(lambda transitions, state, token: next((t for _, ids, t in transitions if token in ids), None))
    ✗ not yet right: on input 4 of 10, the first on which it fails
        input       [(0, {5}, 1)], 1, 5
        yours gave  1
        expected    None
        because     another state reads the token, this one does not: the answer is None
    """

    def reference(moves: Sequence[Moved], state: int, token: int) -> int | None:
        return next((target for source, tokens, target in moves if source == state and token in tokens), None)

    return check_function(answer, cases_of(reference, TRANSITIONS))


Parts = Sequence[tuple[str, str]]  # the name of a set of tokens, and a quantifier
TOKENS = {"UPPER": {65, 66}, "LOWER": {97, 98}, "LETTER": {65, 66, 97, 98}, ":": {58}}  # by their codes
PATTERNS = {  # a name and a quantifier per part
    "return two values, transitions and ends; without parts the text may end in state 0": [""],
    "1 is exactly one, and the next part begins in the state after it": [":1", ":1 UPPER1"],
    "+ is one or more: a transition into a new state, and a loop on it": ["UPPER+", "UPPER+ :1"],
    "with ? a part may be left out: keep the states before it, too": ["UPPER?", "UPPER? :1", ":1 UPPER? LOWER?"],
    "* is ? with a loop on its new state": ["UPPER*", ":1 LOWER*"],
    "the loop of a part is on its own new state only": ["UPPER* LOWER*", "UPPER? LOWER* :1", "UPPER+ LOWER* :1"],
    "if two transitions fit a token, keep both": ["UPPER+ LETTER1", "LETTER* LOWER? :+"],
}  # fmt: skip


def check_compile_pattern(answer: Callable[[Parts, Mapping[str, set[int]]], Any]) -> Verdict:
    """Does `answer(parts, sets)` give transitions from state 0, and the states in which a text may end?

    >>> check_compile_pattern(lambda parts, sets: ([(0, sets[name], 0) for name, _ in parts], {0}))
    ✗ not yet right: on input 2 of 15, the first on which it fails
        parts       [(':', '1')]
        sets        {'UPPER': {65, 66}, 'LOWER': {97, 98}, 'LETTER': {65, 66, 97, 98}, ':': {58}}
        yours gave  ([(0, {58}, 0)], {0})
        text        the empty text
        yours       accepts it
        expected    refuses it
        because     1 is exactly one, and the next part begins in the state after it
    """
    trials = {why: [([(p[:-1], p[-1]) for p in row.split()], TOKENS) for row in rows] for why, rows in PATTERNS.items()}
    cases = cases_of(compile_pattern, trials, "parts", "sets")
    return check_function(answer, cases, partial(say_texts, wire_tokens), partial(same_texts, wire_tokens))


def compile_pattern(parts: Parts, sets: Mapping[str, set[int]]) -> tuple[list[Moved], set[int]]:
    """The transitions of a pattern, and the states in which a text may end: part n leads to state n."""
    moves, ready = list[Moved](), {0}
    for state, (name, often) in enumerate(parts, 1):
        moves += [(source, sets[name], state) for source in ({*ready, state} if often in "+*" else ready)]
        ready = {*ready, state} if often in "?*" else {state}
    return moves, ready


# -- regexes of schemas --------------------------------------------------------------------------------------------


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties][::-1]}


WHOLE, TRUTH, TEXT, COLORS = {"type": "integer"}, {"type": "boolean"}, {"type": "string"}, {"enum": ["red", "green"]}
SCHEMAS: dict[str, list[dict[str, Any]]] = {
    "the regex of a type without parts stands in LEAVES": [WHOLE],
    "each value is written as json.dumps writes it, and | stands between them": [COLORS, {"enum": [1, None, True]}],
    'an object is { and " and the key and ": " and the value and }': [_object(ok=TEXT), _object()],
    "some characters are special in a regex: re.escape": [{"enum": ["C++", "a.b"]}, _object(**{"a.b": WHOLE})],
    'the members in their order, ", " between two': [_object(b=WHOLE, a=TEXT), _object(a=WHOLE, b=WHOLE, c=WHOLE)],
    "a | needs parentheses inside a longer regex": [_object(ok=TRUTH), _object(color=COLORS, n=WHOLE)],
    "a value may be an object: the function calls itself": [_object(id=WHOLE, at=_object(city=TEXT, ok=TRUTH))],
    "with a type beside it an enum still allows only its values": [COLORS | TEXT],
}
BOUNDS = {
    "n itself and all numbers with fewer digits, none with a 0 in front": (0, 10, 100),
    "the first digits of n, then one smaller digit, then any digits": (7, 9, 42, 60, 99, 120, 999, 2026),
    "the regex may grow with the digits of n, but not with n": [2**31 - 1],
}


def check_schema_to_regex(answer: Callable[[Mapping[str, Any]], str]) -> Verdict:
    """Does `answer(schema)` write a regex for fixed keys, enums and simple types, spelled as by json.dumps?

    >>> leaves = {kind: schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")}
    >>> check_schema_to_regex(lambda schema: leaves[schema["type"]]).facts[0]
    ('input', "{'enum': ['red', 'green']}")
    """
    cases = cases_of(partial(schema_regex, whitespace="one"), SCHEMAS)
    return check_function(answer, cases, partial(say_texts, regex), partial(same_texts, regex))


def check_at_most(answer: Callable[[int], str]) -> Verdict:
    """Does `answer(n)` write a regex for the whole numbers from 0 to n, short for large n too?

    >>> check_at_most(lambda n: f"[0-{n}]")
    ✗ not yet right: on input 2 of 12, the first on which it fails
        input       10
        yours gave  '[0-10]'
        text        2
        yours       refuses it
        expected    accepts it
        its path    q0 ✕ 2
        because     no transition leaves q0 with 2 · n itself and all numbers with fewer digits, none with a 0 in front
    """
    cases = cases_of(lambda n: schema_regex({"type": "integer", "minimum": 0, "maximum": n}), BOUNDS)
    return check_function(answer, cases, partial(say_texts, regex), partial(same_texts, regex))
