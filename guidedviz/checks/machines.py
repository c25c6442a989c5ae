"""Exercises on machines: automata, regexes of schemas, grammars, and a schema that cut right answers.

An answer that is itself a machine is right if it accepts the same texts as another. For automata that is decided, and
the shortest text on which they differ is shown. Equivalence of grammars is undecidable, so texts are compared in order
of length; a grammar with a limit of its own, such as eight levels, is right on all short texts, so a few long ones are
tried too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, TypeVar
from warnings import catch_warnings, simplefilter

from guidedviz.checks.guard import Other, safe_copy
from guidedviz.checks.verdict import (
    EMPTY,
    WIDTH,
    Case,
    Facts,
    Mistake,
    Verdict,
    cases_of,
    check_function,
    is_empty,
    say_kind,
    show,
)
from guidedviz.errors import GuidedVizError, PatternError, SchemaWarning, SettingError, shorten
from guidedviz.machines.compare import compare_machines
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.pushdown.pda import PDA, grammar, pushdown_moves
from guidedviz.machines.regular.algebra import is_empty as accepts_nothing
from guidedviz.machines.regular.algebra import shortest_difference
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import json_schema, schema_regex
from guidedviz.machines.visible import counted, visible
from guidedviz.tokens.by_hand import GuidedFSM
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.layout.sketch import Sketch, sketch_dfa, sketch_of
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.stack.stack import draw_stack_table
from guidedviz.views.words import reading

T = TypeVar("T")

# -- automata ------------------------------------------------------------------------------------------------------

LONGEST = 12  # states of a path that are all named
ACCEPTS = ("refuses it", "accepts it")
NO_MACHINE = "no machine can be made of it"
NO_TEXT = r"no text matches it: ^ and $ are the ends of a text, \^ and \$ are the characters"

FIRST_ONLY = "the first transition does not match, but a later one does"
STATE_0 = "state 0 is a valid state, although 0 is false in Python"
Moved = tuple[int, set[int], int]  # a state, the tokens, and the state after them
TRANSITIONS: tuple[tuple[list[Moved], int, int, int | None, str], ...] = (
    ([(0, {5}, 1)], 0, 5, 1, "the transition leaves state 0 with token 5 and leads to state 1"),
    ([(0, {5}, 1)], 0, 6, None, "no transition reads token 6: the answer is None"),
    ([(0, {5}, 1)], 1, 5, None, "the transition leaves state 0, and this is state 1: the answer is None"),
    ([(0, {5, 6}, 0)], 0, 6, 0, STATE_0),
    ([(0, {5}, 1), (0, {6}, 2)], 0, 6, 2, FIRST_ONLY),
    ([(0, {5}, 1), (1, {5}, 2)], 1, 5, 2, FIRST_ONLY),
    ([(0, {5}, 1), (1, {5}, 2)], 0, 5, 1, "the first transition fits, whatever the later ones are"),
    ([(1, {6}, 2), (0, {5}, 1)], 0, 5, 1, "the transitions may come in any order"),
    ([(0, {5}, 1), (1, {5}, 1), (1, {6}, 0)], 1, 6, 0, STATE_0),
    ([(0, {5}, 1), (1, {5, 7}, 2), (2, {7}, 0)], 0, 7, None, "others read token 7, but not from state 0"),
)


def check_advance(answer: Callable[[Sequence[Moved], int, int], int | None]) -> Verdict:
    """Does `answer(transitions, state, token)` give the state after the token, or None?

    >>> check_advance(lambda transitions, state, token: next((t for _, ids, t in transitions if token in ids), None))
    ✗ not yet right: on input 3 of 10, the smallest on which it fails
        input       [(0, {5}, 1)], 1, 5
        yours gave  1
        expected    None
        because     the transition leaves state 0, and this is state 1: the answer is None
    """

    def say(case: Case, value: Any) -> str:
        moves, state, token = case.arguments
        fits = [one for one in moves if one[0] == state and token in one[1]]
        return (
            "" if value is not None else f"None means that no transition fits, and {fits[0]} does: a state is expected"
        )

    return check_function(answer, [Case(tuple(given), after, why) for *given, after, why in TRANSITIONS], say)


def check_several_words(answer: GuidedFSM) -> Verdict:
    """Does a machine accept lines whose name has one or more words in capitals, separated by spaces?"""
    return check_machine(answer, regex("[A-Z]+( [A-Z]+)*: [a-z]+\n"))


def check_machine(answer: Any, truth: DFA, read: Callable[[Any], DFA] = regex) -> Verdict:
    """Does an answer accept the same texts as a machine? It is a DFA, a GuidedFSM, or what `read` makes into a DFA.

    >>> check_machine("[0-9]*", regex("[0-9]+"))
    ✗ not yet right: the shortest text on which it is wrong
        text        the empty text
        yours       accepts it
        expected    refuses it
        its path    q0
        because     it may end in q0
    """
    if type(answer) not in (DFA, GuidedFSM):
        answer = safe_copy(answer)
        if is_empty(answer):
            return EMPTY
    try:
        machine = answer.machine() if type(answer) is GuidedFSM else answer if type(answer) is DFA else read(answer)
        text = shortest_difference(machine, truth)
    except (GuidedVizError, TypeError, ValueError, AttributeError, LookupError) as error:
        because = "it is no text, no dictionary and no machine" if type(answer) is Other else str(error)
        return Verdict("wrong", NO_MACHINE, (("yours is", show(answer)), ("because", because)))
    if text is None:
        return Verdict("right", f"agrees on all texts; {len(machine)} states")
    if accepts_nothing(machine) and type(answer) is not DFA:
        if type(answer) is not GuidedFSM:
            return Verdict("wrong", "it accepts no text", (("yours is", show(answer)), ("because", NO_TEXT)))
        if sum(len(set(ways.values())) for ways in answer.transitions.values()) <= 1:
            return Verdict("open", "no text reaches an accepting state so far")
    sketch = sketch_of(answer if type(answer) is GuidedFSM else machine)
    path = follow(sketch, text)
    names = [sketch.names[state] for state in path]
    accepted, last = machine.accepts(text), names[-1]
    if len(names) > LONGEST:
        names[3:-4] = ["…"]
    died = visible(text[len(path) - 1 : len(path)])
    way = " → ".join(names) + (f" ✕ {died}" if died else "")
    because = (
        f"no transition leaves {last} with {died}" if died else f"it may {'' if accepted else 'not '}end in {last}"
    )
    figure = draw_machine(sketch, path, title="yours", died=died)
    said = "the shortest text on which it is wrong"
    return Verdict("wrong", said, (*say_text(text, accepted), ("its path", way), ("because", because)), figure)


def say_text(text: bytes, accepted: bool) -> Facts:
    """A text, whether the answer accepts it, and whether it must."""
    words = shorten(reading(text.decode("utf-8", "backslashreplace")) or "the empty text", WIDTH)
    return ("text", words), ("yours", ACCEPTS[accepted]), ("expected", ACCEPTS[not accepted])


def say_refusal(machine: Machine[Any], text: bytes) -> str:
    """Why a machine refuses a text.

    >>> say_refusal(regex("ab?"), b"ax")
    'after a, x cannot come: expected b or the end'
    """
    vocabulary, state = Vocabulary([text, b"</s>"], eos={1}), read(machine, text)
    at, token = (machine.initial, 0) if state is None else (state, 1)
    return explain_token(machine, vocabulary, at, token).reason


def rows_of(table: Mapping[str, Iterable[T]]) -> Iterator[tuple[str, T]]:
    """The rows of a table that is grouped by its first column."""
    return ((text, row) for text, rows in table.items() for row in rows)


def begin(text: str, begun: bytes) -> tuple[DFA, Any, str]:
    """The machine of a regex, the state after a text, and both in words.

    >>> begin("ab", b"a")[1:]
    (1, "regex ab, in q1: 'a' was read")
    """
    machine = regex(text)
    state: Any = read(machine, begun)
    return machine, state, f"regex {text}, in q{state}: {show(begun)[1:] if begun else 'nothing'} was read"


def draw_path(machine: DFA, text: bytes, state: int, title: str) -> Figure:
    """The path of a text through a machine from a state, and the first byte that the machine cannot read."""
    path = follow(sketch_dfa(machine), text, state)
    return draw_machine(machine, path, title=title, died=visible(text[len(path) - 1 : len(path)]))


def follow(sketch: Sketch, text: bytes, state: int | None = None) -> list[int]:
    """The states on the path of a text, from the initial state or another, to the first byte without an arrow.

    >>> follow(sketch_dfa(regex("ab")), b"ax")
    [0, 1]
    """
    path = [sketch.initial if state is None else state]
    for byte in text:
        ways = (a for a in sketch.arrows if a.source == path[-1] and any(low <= byte <= high for low, high in a.ranges))
        if (arrow := next(ways, None)) is None:
            break
        path.append(arrow.target)
    return path


# -- regexes of schemas --------------------------------------------------------------------------------------------


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


WHOLE, TRUTH, TEXT = {"type": "integer"}, {"type": "boolean"}, {"type": "string"}
SCHEMAS: tuple[tuple[dict[str, Any], str], ...] = (
    (WHOLE, "the regex of a type without parts stands in LEAVES"),
    ({"enum": ["red", "green"]}, "each value is written as json.dumps writes it, and | stands between them"),
    ({"enum": ["C++", "a.b"]}, "+ and . are special in a regex: re.escape"),
    ({"enum": [1, None, True]}, "the values of an enum need not be strings: json.dumps writes each of them"),
    (_object(ok=TEXT), 'an object is { and " and the key and ": " and the value and }'),
    (_object(a=WHOLE, b=WHOLE), '", " stands between two members'),
    (_object(ok=TRUTH), "true|false needs parentheses inside a longer regex"),
    (_object(color={"enum": ["red", "green"]}, n=WHOLE), "the | of an enum needs parentheses inside a longer regex"),
    (_object(**{"a.b": WHOLE}), "a key may have characters that are special in a regex: re.escape"),
    (_object(id=WHOLE, at=_object(city=TEXT, ok=TRUTH)), "a value may be an object: the function calls itself"),
    ({"type": "object", "properties": {}}, "an object without keys is {}"),
)
BOUNDS = (0, 7, 10, 9, 42, 60, 99, 100, 120, 999, 2026, 2**31 - 1)
TOO_LONG = "the regex may grow with the digits of n, but not with n: a list of all numbers is too long"


def check_schema_to_regex(answer: Callable[[Mapping[str, Any]], str]) -> Verdict:
    """Does `answer(schema)` write a regex for fixed keys, enums and simple types, spelled as by json.dumps?

    >>> leaves = {kind: schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")}
    >>> check_schema_to_regex(lambda schema: leaves[schema["type"]]).facts[0]
    ('input', "{'enum': ['red', 'green']}")
    """
    return check_function(answer, cases_of(partial(schema_regex, whitespace="one"), SCHEMAS), _say_regex, same_texts)


def check_at_most(answer: Callable[[int], str]) -> Verdict:
    """Does `answer(n)` write a regex for the whole numbers from 0 to n, short for large n too?

    >>> check_at_most(lambda n: f"[0-{n}]")
    ✗ not yet right: on input 3 of 12, the smallest on which it fails
        input       10
        yours gave  '[0-10]'
        text        2
        yours       refuses it
        expected    accepts it
        its path    q0 ✕ 2
        because     no transition leaves q0 with 2
    """

    def reference(n: int) -> str:
        return schema_regex({"type": "integer", "minimum": 0, "maximum": n})

    trials = [(n, TOO_LONG if n == BOUNDS[-1] else "") for n in BOUNDS]
    return check_function(answer, cases_of(reference, trials), _say_regex, same_texts)


def same_texts(value: Any, expected: str) -> bool:
    """Do two regexes accept the same texts?"""
    return isinstance(value, str) and regex(value) == regex(expected)


def _say_regex(case: Case, value: Any) -> Mistake:
    """The shortest text on which a regex is wrong, with its path."""
    if kind := say_kind(value, case.expected):
        return Mistake(kind)

    def read_flat(text: str) -> DFA:
        try:
            return regex(text)
        except RecursionError as error:
            raise PatternError("regex", seen="too many parts inside each other", expected="a flatter regex") from error

    found = check_machine(value, regex(case.expected), read_flat)
    facts = dict(found.facts)
    because = " · ".join(filter(None, (facts.pop("because", found.said), case.why)))
    facts.pop("yours is", None)
    return Mistake(because, found.figure, (("yours gave", show(value)), *facts.items()))


# -- grammars ------------------------------------------------------------------------------------------------------

MOST_PAIRS = 5_000  # pairs of states that are compared
TIMES = 50  # levels of a deep text, items of a wide one

MIRROR = 'root ::= "a" root "a" | "b" root "b" | "c"'
LISTS = """root   ::= "[" (item ("," item)*)? "]"
item   ::= number | root
number ::= "0" | [1-9] [0-9]*"""
NAMED = """root ::= "{" ws "\\"name\\"" ws ":" ws text ws "}"
text ::= "\\"" [a-z ]* "\\""
ws   ::= [ \\n]?"""
GIVEN = {
    MIRROR: MIRROR.replace('"c"', "[ab]?"),
    LISTS: LISTS.replace('(item ("," item)*)?', 'item ("," item?)*').replace('"0" | [1-9] [0-9]*', "[0-9]+"),
    NAMED: NAMED.replace("]?", "]*"),
}
Repeated = tuple[str, str, str, str]  # head, before, inner, after: the text is head + n × before + inner + n × after
REPEATED: dict[str, tuple[Repeated, ...]] = {
    MIRROR: (
        *(("", before, inner, after) for before, after in (("a", "a"), ("b", "b"), ("ab", "ba"), ("aab", "baa"))
          for inner in ("c", "cc", "", "acb", "a")),
        ("", "ab", "c", "ab"),
        ("a", "b", "c", "b"),
        ("", "c", "", ""),
    ),
    LISTS: (
        *(("", before, inner, after) for before, after in (("[", "]"), ("[1,", "]"), ("[[],", "]"), ("[", ",0]"))
          for inner in ("[]", "[1,20]", "1", "00", "1,", "[1,]", "")),
        ("[", "1,", "1]", ""),
        ("[", "[],", "[]]", ""),
        ("[", "1,", "]", ""),
        ("[1", "0", "]", ""),
        ("[0", "0", "]", ""),
    ),
    NAMED: (
        *(('{"name": "', letter, '"}', "") for letter in "a "),
        *((head, blank, tail, "") for head, tail in (("{", '"name":""}'), ('{"name":', '""}'), ('{"name":""', "}"))
          for blank in " \n"),
    ),
}  # fmt: skip


def check_mirror(answer: str) -> Verdict:
    """Does a grammar accept the palindromes with c in the middle, with at most one move per node and byte?

    >>> check_mirror('root ::= "a" root "a" | "b" root "b" | "c"?')
    ✗ not yet right: the shortest text on which it is wrong
        text        the empty text
        yours       accepts it
        expected    refuses it
        because     the text must not end
    """
    verdict = check_rules(answer, MIRROR)
    if verdict:
        try:
            pushdown_moves(grammar(answer))
        except SettingError as error:
            said = "the texts are right, but the automaton still has a choice"
            return Verdict("wrong", said, (("because", f"there are {error.seen}"),))
    return verdict


def check_lists(answer: str) -> Verdict:
    """Does a grammar accept lists of whole numbers and of lists, as JSON without blanks?

    >>> check_lists(GIVEN[LISTS]).facts[0]
    ('text', '[]')
    """
    return check_rules(answer, LISTS)


def check_one_blank(answer: str) -> Verdict:
    """Does a grammar allow at most one space or line break where the given one allows any number?

    >>> check_one_blank(NAMED.replace("]?", "]{0,2}")).facts[-1]
    ('because', '␣ must not come after {"name":""␣')
    """
    return check_rules(answer, NAMED)


def check_rules(answer: Any, truth: str) -> Verdict:
    """Does a grammar accept the same texts as another? The grammar that the lab gives is not done yet."""
    answer = safe_copy(answer)
    if is_empty(answer):
        return EMPTY
    yours = ("yours is", show(answer))
    if not isinstance(answer, str):
        return Verdict("wrong", NO_MACHINE, (yours, ("because", "a grammar is a text")))
    try:
        machine = grammar(answer)
    except (GuidedVizError, RecursionError) as error:
        shown = "\n" in str(error)  # it shows the line of the answer
        return Verdict("wrong", NO_MACHINE, (("error", str(error)),) if shown else (yours, ("because", str(error))))
    right = kept_machine(truth)
    found = compare_machines(machine, right, MOST_PAIRS)
    if found.text is not None:
        verdict = _show_text(machine, right, found.text, "the shortest text on which it is wrong")
    elif long := find_long_text(machine, right, REPEATED[truth]):
        said = f"every text of up to {found.length} bytes is right; here is a longer one on which it is wrong"
        verdict = _show_text(machine, right, long, said)
    else:
        rules = counted(len(machine.nodes.names), "rule")
        long_ones = f"repeat a part {TIMES} times" if truth == NAMED else f"are {TIMES} levels deep"
        said = f"agrees on every text of up to {found.length} bytes, and on some that {long_ones}; {rules}"
        verdict = Verdict("right", said)
    if answer.split() == GIVEN.get(truth, "").split():
        more = "; this is the shortest text on which it is wrong" * (found.text is not None)
        return replace(verdict, result="open", said=f"this is the grammar as given{more}")
    return verdict


@cache
def kept_machine(text: str) -> PDA:
    """The machine of a grammar; it remembers its steps from check to check."""
    return grammar(text)


def find_long_text(machine: PDA, truth: PDA, families: Iterable[Repeated]) -> bytes | None:
    """The shortest of the repeated texts that exactly one machine accepts; a closing part may be missing or too many.

    >>> shallow = grammar('root ::= "(" one? ")"\\none ::= "(" ")"')
    >>> find_long_text(shallow, grammar('root ::= "(" root? ")"'), [("", "(", "", ")")])
    b'((()))'
    """

    def differ(times: int, family: Repeated) -> bytes | None:
        head, before, inner, after = family
        for closed in (times, times - 1, times + 1):
            text = f"{head}{before * times}{inner}{after * closed}".encode()
            if machine.accepts(text) != truth.accepts(text):
                return text
        return None

    wrong = [family for family in families if differ(TIMES, family)]
    texts = (next(filter(None, (differ(times, family) for times in range(1, TIMES + 1)))) for family in wrong)
    return min(texts, key=len, default=None)


def _show_text(machine: PDA, truth: PDA, text: bytes, said: str) -> Verdict:
    """The text, why it is refused, and the stack of the student's machine after each byte that it read."""
    taken = longest_beginning(machine, text)
    if machine.accepts(text):
        allowed = longest_beginning(truth, text)
        too_many = visible(text[len(allowed) : len(allowed) + 1])
        because = f"{too_many} must not come" if too_many else "the text must not end"
        if allowed:
            where, room = visible(allowed), WIDTH - len(because) - len(" after ")
            because += f" after {where if len(where) <= room else '…' + where[1 - room :]}"
    else:
        because = say_refusal(machine, text)
    because = because if len(because) <= WIDTH else "…" + because[1 - WIDTH :]  # its end says what is wrong
    figure = draw_stack_table(machine, taken, every=True, unread=text[len(taken) :])
    return Verdict("wrong", said, (*say_text(text, machine.accepts(text)), ("because", because)), figure)


def longest_beginning(machine: PDA, text: bytes) -> bytes:
    """As much of a text as a machine can read.

    >>> longest_beginning(grammar(LISTS), b"[1,,2]")
    b'[1,'
    """
    return next(text[:end] for end in range(len(text), -1, -1) if read(machine, text[:end]) is not None)


# -- a schema that cut right answers -------------------------------------------------------------------------------

SERVICE: dict[str, Any] = {
    "type": "object",
    "properties": {"product": {"type": "string", "maxLength": 6}, "price": {"type": "integer", "minimum": 0}},
    "required": ["product", "price"],
}
LONGEST_NAME = 30  # characters of a product in the repaired schema
TEXTS = {  # texts, and whether the repaired schema accepts them
    '{"product": "pear", "price": 3}': True,
    '{"product": "pear", "price": 12.5}': True,
    '{"product": "pear", "price": 12.50}': True,
    '{"product": "umbrella", "price": 12.5}': True,
    f'{{"product": "{"a" * LONGEST_NAME}", "price": 12.5}}': True,
    f'{{"product": "{"a" * (LONGEST_NAME + 1)}", "price": 12.5}}': False,
    f'{{"product": "{"a" * 500}", "price": 12.5}}': False,
    '{"product": "pear"}': False,
    '{"price": 12.5}': False,
    '{"product": 7, "price": 12.5}': False,
    '{"product": "pear", "price": -1}': False,
    '{"product": "pear", "price": "12.5"}': False,
    '{"product": "pear", "price": null}': False,
    '{"product": "pear", "price": 12.5, "color": "red"}': False,
}


def check_wider(answer: Any) -> Verdict:
    """Does a repaired schema accept what the service needs, and refuse what it refused before?

    >>> check_wider(SERVICE | {"required": ["product"]}).facts[1:]
    (('yours', 'refuses it'), ('expected', 'accepts it'), ('because', 'after {...12, . cannot come: expected 0-9 }'))
    """
    answer = safe_copy(answer)
    if is_empty(answer):
        return EMPTY
    try:
        with catch_warnings():  # the verdict names what was ignored
            simplefilter("ignore", SchemaWarning)
            machine = json_schema(answer)
    except (GuidedVizError, RecursionError) as error:
        return Verdict("wrong", NO_MACHINE, (("yours is", show(answer)), ("because", str(error))))
    for number, (text, accepted) in enumerate(TEXTS.items(), 1):
        if machine.accepts(text.encode()) == accepted:
            continue
        because = f"a product has at most {LONGEST_NAME} characters"
        if accepted:
            because = say_refusal(machine, text.encode())
        elif len(text) <= 2 * LONGEST_NAME:
            because = "the service refused this text before the repair, and it must still refuse it"
        ignored = tuple(("but", note) for note in machine.notes[:1])  # a keyword with a typing error, for example
        facts = (*say_text(text.encode(), not accepted), ("because", because), *ignored)
        given, said = answer == SERVICE, f"on text {number} of {len(TEXTS)}"
        return Verdict("open" if given else "wrong", "this is the schema as given; " * given + said, facts)
    return Verdict("right", f"agrees on all {len(TEXTS)} texts")
