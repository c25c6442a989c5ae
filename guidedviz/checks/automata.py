"""Exercises on automata, on sets of NFA states and on regexes of schemas."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from guidedviz.checks.cases import Case, cases_of, read_table, read_trials
from guidedviz.checks.compare import say_difference, say_not_ids
from guidedviz.checks.function import Mistake, check_function
from guidedviz.checks.texts import find_wrong_text, same_texts, say_text, say_texts
from guidedviz.checks.verdict import Verdict, show
from guidedviz.errors import PatternError
from guidedviz.machines.graph import reach
from guidedviz.machines.regular.dfa import DFA, build_dfa_steps
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages, regex
from guidedviz.machines.schema.json_schema import schema_regex
from guidedviz.machines.visible import counted, name_node
from guidedviz.tokens.by_hand import wire
from guidedviz.views.layout.sketch import sketch_nfa
from guidedviz.views.machine.construction import moves_by
from guidedviz.views.machine.frame import MachineFrame
from guidedviz.views.machine.picture import draw_machine

# -- a step of an automaton ----------------------------------------------------------------------------------------

Moved = tuple[int, set[int], int]  # a state, the tokens, and the state after them
TRANSITIONS = read_trials("""
a transition leaves this state with this token: its target is the answer
    [(0, {5}, 1)], 0, 5
no transition reads the token: the answer is None
    [(0, {5}, 1)], 0, 6
    [(0, {5, 7}, 1)], 0, 6
another state reads the token, this one does not: the answer is None
    [(0, {5}, 1)], 1, 5
state 0 is a valid state, although 0 is false in Python
    [(0, {5, 6}, 0)], 0, 6
look at all transitions: None means that no one fits
    [(0, {5}, 1), (0, {6}, 2)], 0, 5
    [(0, {5}, 1), (0, {6}, 2)], 0, 6
    [(0, {5}, 1), (1, {5}, 2)], 1, 5
    [(1, {6}, 2), (0, {5}, 1)], 0, 5
one token is one step: the target's own transitions wait for the next token
    [(0, {5}, 1), (1, {5}, 2)], 0, 5
""")


def check_advance(answer: Any) -> Verdict:
    """Does `answer(transitions, state, token)` give the state after the token, or None?

    >>> check_advance(lambda transitions, state, token: next((t for _, ids, t in transitions if token in ids), None))
    ✗ not yet right: on input 4 of 10, the first on which it fails
        input       [(0, {5}, 1)], 1, 5
        yours gave  1
        expected    None
        because     another state reads the token, this one does not: the answer is None
    """

    def reference(moves: Sequence[Moved], state: int, token: int) -> int | None:
        for source, tokens, target in moves:
            if source == state and token in tokens:
                return target
        return None

    return check_function(answer, cases_of(reference, TRANSITIONS))


# -- the automaton of a pattern ------------------------------------------------------------------------------------

PatternParts = Sequence[tuple[str, str]]  # the name of a set of tokens, and a quantifier
TOKEN_SETS = {"UPPER": {65, 66}, "LOWER": {97, 98}, "LETTER": {65, 66, 97, 98}, ":": {58}}  # by their codes


def read_pattern(text: str) -> tuple[PatternParts, Mapping[str, set[int]]]:
    """The parts of a pattern, and all sets of tokens.

    >>> read_pattern("UPPER+ :1")[0]
    [('UPPER', '+'), (':', '1')]
    """
    return [(part[:-1], part[-1]) for part in text.split()], TOKEN_SETS


PATTERN_TRIALS = read_trials(
    build=read_pattern,
    text="""
return two values, transitions and ends; without parts the text may end in state 0
    ""
1 is exactly one, and the next part begins in the state after it
    ":1"
    ":1 UPPER1"
+ is one or more: a transition into a new state, and a loop on it
    "UPPER+"
    "UPPER+ :1"
? is at most once: keep the states before it, too, and add no loop
    "UPPER?"
    "UPPER? :1"
    ":1 UPPER? LOWER?"
* is ? with a loop on its new state
    "UPPER*"
    ":1 LOWER*"
the loop of a part is on its own new state only
    "UPPER* LOWER*"
    "UPPER? LOWER* :1"
    "UPPER+ LOWER* :1"
if two transitions fit a token, keep both
    "UPPER+ LETTER1"
    "LETTER* LOWER? :+"
""",
)


def check_compile_pattern(answer: Any) -> Verdict:
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
    cases = cases_of(compile_pattern, PATTERN_TRIALS, "parts", "sets")
    return check_function(answer, cases, _say_wiring, partial(same_texts, wire_tokens))


def compile_pattern(parts: PatternParts, sets: Mapping[str, set[int]]) -> tuple[list[Moved], set[int]]:
    """The transitions of a pattern, and the states in which a text may end: part n leads to state n."""
    moves: list[Moved] = []
    ready = {0}
    for state, (name, often) in enumerate(parts, 1):
        sources = {*ready, state} if often in "+*" else ready
        moves += [(source, sets[name], state) for source in sources]
        ready = {*ready, state} if often in "?*" else {state}
    return moves, ready


def wire_tokens(wired: Any) -> DFA:
    """The machine of transitions whose tokens are bytes."""
    transitions, ends = wired
    arrows = [(source, bytes([token]), target) for source, tokens, target in transitions for token in tokens]
    return wire(arrows, ends)


def _say_wiring(case: Case, value: Any) -> Mistake:
    """The shortest wrong text. No path: the machine has the fewest states, which are not those of the answer."""
    text = find_wrong_text(wire_tokens, case, value)
    if not isinstance(text, bytes):
        return text
    accepted = wire_tokens(value).accepts(text)
    return Mistake(case.why, gave=(("yours gave", show(value)), *say_text(text, accepted)))


# -- regexes of schemas --------------------------------------------------------------------------------------------


def write_schema(short: Any, *more: Any) -> dict[str, Any]:
    """A schema from short forms: the name of a type, the values of an enum, the properties of an object.

    >>> write_schema({"ok": "boolean"}), write_schema(["red", "green"], "string")
    ({'type': 'object', 'properties': {'ok': {'type': 'boolean'}}, 'required': ['ok']},
     {'enum': ['red', 'green'], 'type': 'string'})
    """
    if more:
        return write_schema(short) | write_schema(*more)
    if isinstance(short, str):
        return {"type": short}
    if isinstance(short, list):
        return {"enum": short}
    properties = {key: write_schema(one) for key, one in short.items()}
    backwards = [*properties][::-1]
    return {"type": "object", "properties": properties, "required": backwards}


SCHEMAS = read_trials(
    build=lambda *short: (write_schema(*short),),
    text="""
the regex of a type without parts stands in LEAVES
    "integer"
    "string"
each value is written as json.dumps writes it, and | stands between them
    ["red", "green"]
    [1, None, True]
an object is { and " and the key and ": " and the value and }
    {"ok": "string"}
    {}
some characters are special in a regex: re.escape
    ["C++", "a.b"]
    {"a.b": "integer"}
a key is written as json.dumps writes it, too
    {'a"b': "integer"}
the members in their order, ", " between two
    {"b": "integer", "a": "string"}
    {"a": "integer", "b": "integer", "c": "integer"}
a value may be any schema: the function calls itself
    {"color": ["red"]}
a | needs parentheses inside a longer regex
    {"ok": "boolean"}
    {"color": ["red", "green"], "n": "integer"}
a value may be an object: the function calls itself
    {"id": "integer", "at": {"city": "string", "ok": "boolean"}}
with a type beside it an enum still allows only its values
    ["red", "green"], "string"
""",
)
PARTLY_REQUIRED = write_schema({"a": "integer", "b": "boolean"}) | {"required": ["a"]}
DIGIT_CLASS = re.compile(r"\[(?P<low>[0-9])-(?P<high>-?[0-9])\]")
LONGEST_REGEX = 80  # characters of a regex that is shown
BOUNDS = read_trials("""
n itself and all numbers with fewer digits, none with a 0 in front
    0
    10
    100
the first digits of n, then one smaller digit, then any digits
    7
    9
    42
    60
    99
    120
    999
    2026
the regex may grow with the digits of n, but not with n
    2147483647
""")


def check_schema_to_regex(answer: Any) -> Verdict:
    """Does `answer(schema)` write a regex for fixed keys, enums and simple types, spelled as by json.dumps?

    >>> leaves = {kind: schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")}
    >>> check_schema_to_regex(lambda schema: leaves[schema["type"]]).facts[0]
    ('input', "{'enum': ['red', 'green']}")
    """

    def reference(schema: dict[str, Any]) -> str:
        return schema_regex(schema | {"required": [*schema.get("properties", {})]}, whitespace="one")

    trials = {**SCHEMAS, "an object has all its properties, also those that are not required": [(PARTLY_REQUIRED,)]}
    cases = cases_of(reference, trials)
    return check_function(answer, cases, partial(say_texts, regex), partial(same_texts, regex))


def check_at_most(answer: Any) -> Verdict:
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
    explain = partial(say_texts, build_numbers)
    return check_function(answer, cases, explain, partial(same_texts, build_numbers), spell_regex)


def build_numbers(text: str) -> DFA:
    """The machine of a regex of numbers; a class without a digit, such as `[0--1]`, gets an error of its own."""
    for found in DIGIT_CLASS.finditer(text):
        if int(found["high"]) < int(found["low"]):
            where = f"regex, position {found.start()}"
            hint = "leave this part out where no digit is smaller"
            raise PatternError(where, seen=found[0], expected="a class with a digit", hint=hint)
    return regex(text)


def spell_regex(value: Any) -> str:
    """A regex in quotes, or its length if nobody could read it."""
    if isinstance(value, str) and len(value) > LONGEST_REGEX:
        return f"a regex of {len(value):,} characters"
    return show(value)


# -- sets of NFA states -----------------------------------------------------------------------------------------------

# a regex, the text read so far, and the next byte
READINGS = read_table(r"""
    "a", b"", b"a"
    "a", b"", b"b"
    "a", b"a", b"a"
    "[a-c]", b"", b"b"
    "[a-c]", b"", b"c"
    "ab", b"a", b"b"
    "ab?", b"", b"a"
    "a?b|a", b"", b"a"
    "a*", b"a", b"a"
    "(a*)*", b"", b"a"
    "é+", b"\xc3", b"\xa9"
    "[ab]*a[ab]{2}", b"aab", b"a"
    "ab?c?d?e?f?", b"", b"a"
    r"\d+|\d+\.\d+|\d+,\d+", b"4", b"2"
    r"\d+|\d+\.\d+|\d+,\d+", b"42", b"."
    r"\d+|\d+\.\d+|\d+,\d+", b"42", b"x"
""")
SUBSETS = r"a ab a|b ab? a?b|a (a*)* \x00a [ab]*a[ab] [ab]*a[ab]{2} é+ \d+|\d+\.\d+|\d+,\d+".split()
BORDER = NFA((((255, 255, 1),), ()), ((), ()))  # it reads the last byte, which UTF-8 never has


def check_step_set(answer: Any) -> Verdict:
    """Does `answer(nfa, states, byte)` give all states after the byte, with those that epsilon edges add?

    >>> check_step_set(lambda nfa, states, byte: {
    ...     target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high})
    ✗ not yet right: on input 7 of 16, the first on which it fails
        input       NFA of the regex ab?, states {0}, byte 'a'
        yours gave  {1}
        expected    {1, 2}
        because     n2 is missing: take the edges with low <= byte <= high, then epsilon edges until no state is new
    """
    cases = []
    for text, begun, byte in READINGS:
        nfa = machine_stages(text)[0]
        states = set(reach([nfa.initial], nfa.epsilon.__getitem__))
        for one in begun:
            states = step_set(nfa, states, one)
        given = f"NFA of the regex {text}, states {show(states)}, byte {show(byte)[1:]}"
        why = "take the edges with low <= byte <= high, then epsilon edges until no state is new"
        if text == "(a*)*":
            why += " (here they form a cycle)"
        expected = step_set(nfa, states, byte[0])
        cases.append(Case((nfa, states, byte[0]), expected, why, (("input", given),)))
    return check_function(answer, cases, _say_states)


def step_set(nfa: NFA, states: set[int], byte: int) -> set[int]:
    """The states after a byte, with those that epsilon edges add."""
    targets = [target for _, target in moves_by(nfa, states, byte)]
    return set(reach(targets, nfa.epsilon.__getitem__))


def _say_states(case: Case, value: Any) -> Mistake | str:
    if say_not_ids(value):
        return ""
    nfa = case.arguments[0]
    known = frozenset(value).intersection(range(len(nfa)))
    words = f"lit: what yours gave, {counted(len(known), 'state')}"
    frame = MachineFrame(sketch_nfa(nfa), words, known)
    wrong = say_difference(value, case.expected, name_node)
    return Mistake(f"{wrong}: {case.why}", draw_machine(frame))


def check_subsets(answer: Any) -> Verdict:
    """Does `answer(start, step)` find all sets of NFA states that a text leads to, except the empty one?

    >>> check_subsets(lambda start, step: [start, *(after for byte in range(256) if (after := step(start, byte)))])
    ✗ not yet right: on input 2 of 12, the first on which it fails
        input       NFA of the regex ab, start {0}
        yours gave  [{0}, {1}]
        expected    [{0}, {1}, {2}]
        because     {2} is missing
    """

    def say(case: Case, value: Any) -> str:
        if not isinstance(value, list | tuple):
            return f"a list is expected, not a {type(value).__name__}"
        sets = [frozenset(one) for one in value]
        wrong = say_difference({*sets}, {*case.expected}).replace("frozenset()", "the empty set")
        if wrong:
            return wrong
        return "a set is in the list twice" if len({*sets}) < len(sets) else "start comes first"

    def same(value: Any, expected: list[frozenset[int]]) -> bool:
        sets = [frozenset(one) for one in value]
        if not isinstance(value, list | tuple) or len(sets) != len(expected):
            return False
        return sets[0] == expected[0] and {*sets} == {*expected}

    nfas = {f"NFA of the regex {text}": machine_stages(text)[0] for text in SUBSETS}
    nfas["NFA with one edge, of the byte 255"] = BORDER
    why = "each is start, or what step gives for a set of the list and a byte"
    cases = []
    for words, nfa in nfas.items():
        step = cache(partial(_step_subset, nfa))
        sets = [one.subset for one in build_dfa_steps(nfa, whole=True)]
        for one in sets:  # the guard's time is for the answer
            for byte in range(256):
                step(one, byte)
        given = (("input", f"{words}, start {show(sets[0])}"),)
        cases.append(Case((sets[0], step), sets, why, given))
    return check_function(answer, cases, say, same)


def _step_subset(nfa: NFA, states: frozenset[int], byte: int) -> frozenset[int]:
    return frozenset(step_set(nfa, {*states}, byte))
