"""Exercises on machines: automata, regexes of schemas, grammars, a schema that cut right answers, parsers.

An answer that is itself a machine is right if it accepts the same texts as another. For automata that is decided, and
the shortest text on which they differ is shown. Equivalence of grammars is undecidable, so texts are compared in order
of length; a grammar with a limit of its own, such as eight levels, is right on all short texts, so a few long ones are
tried too.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from guidedviz.checks import verdict
from guidedviz.checks.guard import Failed, safe_copy
from guidedviz.checks.verdict import Case, Mistake, Verdict, cases_of, check_function, say_difference, say_kind, show
from guidedviz.errors import GuidedVizError, SettingError, shorten
from guidedviz.machines.earley.items import Chart, Item, Rules, complete, predict, scan
from guidedviz.machines.machine import Machine, read, read_path
from guidedviz.machines.pushdown.moves import Moves, move_stack, pushdown_moves
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.compare import compare_machines, shortest_difference
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import json_schema, schema_regex
from guidedviz.machines.visible import counted, name_node, name_state, visible
from guidedviz.tokens.by_hand import wire
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.stack.earley_chart import draw_frame
from guidedviz.views.stack.earley_film import earley_frames
from guidedviz.views.stack.stack_film import StackFrame, draw_stack_frame
from guidedviz.views.stack.stack_table import draw_stack_table
from guidedviz.views.words import reading

# -- automata ------------------------------------------------------------------------------------------------------

LONGEST = 12  # states of a path that are all named
ACCEPTS = ("refuses it", "accepts it")

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


def wire_tokens(wired: Any) -> DFA:
    """The machine of transitions whose tokens are bytes."""
    return wire([(source, bytes([token]), to) for source, tokens, to in wired[0] for token in tokens], wired[1])


def no_machine(answer: Any, error: Exception) -> Verdict:
    """Says why an answer cannot be read as a machine."""
    said = "it is no text and no machine" if type(answer) is Failed else str(error)
    return Verdict("wrong", "no machine can be made of it", (("yours is", show(answer)), ("error", said)))


def say_text(text: bytes, accepted: bool) -> verdict.Facts:
    """A text, whether the answer accepts it, and whether it must."""
    return ("text", show_text(text)), ("yours", ACCEPTS[accepted]), ("expected", ACCEPTS[not accepted])


def show_text(text: bytes) -> str:
    """A text in words."""
    return shorten(reading(text.decode("utf-8", "backslashreplace")) or "the empty text", verdict.WIDTH)


def say_refusal(machine: Machine[Any], text: bytes) -> str:
    """Why a machine refuses a text.

    >>> say_refusal(regex("ab?"), b"ax")
    'after a, x cannot come: expected b or the end'
    """
    vocabulary, state = Vocabulary([text, b"</s>"], eos={1}), read(machine, text)
    at, token = (machine.initial, 0) if state is None else (state, 1)
    return explain_token(machine, vocabulary, at, token).reason


def machine_cases(
    reference: Callable[..., Any],
    rows: Iterable[Sequence[Any]],
    *names: str,
    why: Callable[..., str] = lambda *given: "",
    spell: verdict.Spell = show,
    title: str = "",
) -> list[Case]:
    """A case per row: a regex, a text that was read, and more arguments; with a title, a picture of the path is drawn.

    >>> [case.arguments[1:] for case in machine_cases(DFA.step, [("ab", b"a", 98)], "byte")]
    [(1, 98)]
    """
    cases = []
    for text, begun, *more in rows:
        machine = regex(text)
        state: Any = read(machine, begun)
        words = f"regex {text}, in q{state}: {show(begun)[1:] if begun else 'nothing'} was read"
        given = (("machine", words), *zip(names, map(spell, more), strict=True))
        draw = partial(draw_path, machine, more[0], state, title) if title else None
        arguments = (machine, state, *more)
        cases.append(Case(arguments, reference(*arguments), why(*arguments), given, draw))
    return cases


def draw_path(machine: DFA, text: bytes, state: int, title: str) -> Figure:
    """The path of a text through a machine from a state, and the first byte that the machine cannot read."""
    path = read_path(machine, text, state)
    return draw_machine(machine, path, title=title, died=visible(text[len(path) - 1 : len(path)]))


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


def same_texts(build: Callable[[Any], DFA], value: Any, expected: Any) -> bool:
    """Do the machines of two answers accept the same texts?"""
    return not say_kind(value, expected) and build(value) == build(expected)


def say_texts(build: Callable[[Any], DFA], case: Case, value: Any) -> Mistake:
    """The shortest text on which the machine of an answer is wrong, with its path.

    >>> say_texts(regex, Case((), "[0-9]+"), "[0-9]*").gave[1:]
    (('text', 'the empty text'), ('yours', 'accepts it'), ('expected', 'refuses it'), ('its path', 'q0'))
    """
    if kind := say_kind(value, case.expected) or "the regex is empty" * (value == ""):
        return Mistake(kind)
    gave = ("yours gave", show(value))
    try:
        machine = build(value)
    except (GuidedVizError, RecursionError) as error:
        return Mistake(f"no machine can be made of it · {case.why}", gave=(gave, ("error", str(error))))
    text = shortest_difference(machine, build(case.expected)) or b""
    facts = (gave, *say_text(text, machine.accepts(text)))
    if build is wire_tokens:  # the answer's own states are not those of the machine, which has the fewest
        return Mistake(case.why, gave=facts)
    path = read_path(machine, text)
    names, died = [name_state(state) for state in path], visible(text[len(path) - 1 : len(path)])
    because = f"it may {'' if machine.accepts(text) else 'not '}end in {names[-1]}"
    if died:
        because = f"no transition leaves {names[-1]} with {died}"
        names[-1] += f" ✕ {died}"
    if len(names) > LONGEST:
        names[3:-4] = ["…"]
    figure = draw_path(machine, text, machine.initial, "yours")
    return Mistake(f"{because} · {case.why}".removesuffix(" · "), figure, (*facts, ("its path", " → ".join(names))))


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
# head, before, inner, after: a long text is head + n × before + inner + n × after
REPEATED: dict[str, list[tuple[str, str, str, str]]] = {
    MIRROR: [("", "a", "c", "a"), ("", "a", "", "a"), ("", "ab", "c", "ba"), ("", "ab", "acb", "ba")],
    LISTS: [
        ("", "[", "[]", "]"), ("", "[1,", "[7]", "]"), ("", "[", "[]", ",0]"), ("[", "1,", "1]", ""),
        ("[", "[],", "[]]", ""), ("[1", "0", "]", ""), ("[0", "0", "]", ""),
    ],
    NAMED: [('{"name": "', "a", '"}', ""), ('{"name": "', " ", '"}', "")],
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
    if judged := check_rules(answer, MIRROR):
        try:
            pushdown_moves(grammar(answer))
        except SettingError as error:
            said = "the texts are right, but the automaton still has a choice"
            return Verdict("wrong", said, (("because", f"there are {error.seen}"),))
    return judged


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
    if verdict.is_empty(answer):
        return verdict.EMPTY
    try:
        machine = grammar(answer)
    except (GuidedVizError, RecursionError) as error:
        return no_machine(answer, error)
    right = kept_machine(truth)
    found = compare_machines(machine, right, MOST_PAIRS)
    if found.text is not None:
        judged = _show_text(machine, right, found.text, "the shortest text on which it is wrong")
    elif long := find_long_text(machine, right, REPEATED[truth]):
        said = f"every text of up to {found.length} bytes is right; here is a longer one on which it is wrong"
        judged = _show_text(machine, right, long, said)
    else:
        rules = counted(len(machine.nodes.names), "rule")
        said = f"agrees on every text of up to {found.length} bytes, and on some that repeat a part {TIMES} times"
        judged = Verdict("right", f"{said}; {rules}")
    if answer.split() == GIVEN.get(truth, "").split():
        return replace(judged, result="open", said="this is the grammar as given")
    return judged


@cache
def kept_machine(text: str) -> PDA:
    """The machine of a grammar; it remembers its steps from check to check."""
    return grammar(text)


def find_long_text(machine: PDA, truth: PDA, families: Iterable[tuple[str, str, str, str]]) -> bytes | None:
    """A repeated text, with as few repetitions as possible, that exactly one machine accepts.

    >>> shallow = grammar('root ::= "(" one? ")"\\none ::= "(" ")"')
    >>> find_long_text(shallow, grammar('root ::= "(" root? ")"'), [("", "(", "", ")")])
    b'((()))'
    """
    for times in range(1, TIMES + 1):
        for head, before, inner, after in families:
            text = f"{head}{before * times}{inner}{after * times}".encode()
            if machine.accepts(text) != truth.accepts(text):
                return text
    return None


def _show_text(machine: PDA, truth: PDA, text: bytes, said: str) -> Verdict:
    """The text, why it is refused, and the stack of the student's machine after each byte that it read."""
    taken = longest_beginning(machine, text)
    if machine.accepts(text):
        allowed = longest_beginning(truth, text)
        too_many = visible(text[len(allowed) : len(allowed) + 1])
        because = f"{too_many} must not come" if too_many else "the text must not end"
        because += f" after {visible(allowed)}" * bool(allowed)
    else:
        because = say_refusal(machine, text)
    if len(because) > verdict.WIDTH:  # its end says what is wrong
        because = "…" + because[1 - verdict.WIDTH :]
    figure = draw_stack_table(machine, taken, every=True, unread=text[len(taken) :])
    return Verdict("wrong", said, (*say_text(text, machine.accepts(text)), ("because", because)), figure)


def longest_beginning(machine: PDA, text: bytes) -> bytes:
    """As much of a text as a machine can read.

    >>> longest_beginning(grammar(LISTS), b"[1,,2]")
    b'[1,'
    """
    return text[: len(read_path(machine, text)) - 1]


# -- a schema that cut right answers -------------------------------------------------------------------------------

SERVICE: dict[str, Any] = {
    "type": "object",
    "properties": {"product": {"type": "string", "maxLength": 6}, "price": {"type": "integer", "minimum": 0}},
    "required": ["product", "price"],
}
NUMBER = {"type": "number", "minimum": 0}
WIDER = SERVICE | {"properties": {"product": {"type": "string", "maxLength": 30}, "price": NUMBER}}
PEAR = '{{"product": "pear", "price": {}}}'.format
NAMES = '{{"product": "{}", "price": 12.5}}'.format
TEXTS = {
    "the service needs this text": [
        *map(PEAR, ("3", "12.5", "12.50", "0", "0.55", "1000000")),
        *map(NAMES, ("umbrella", "a" * 30, "", "Tea 2")),
    ],
    "a product has at most 30 characters": [NAMES("a" * 31)],
    "the service refused this text before the repair, and it must still refuse it": [
        *map(PEAR, ("-1", "-0.25", '"12.5"', "null", '12.5, "color": "red"')),
        *("7", '{"product": "pear"}', '{"product": null, "price": 12.5}', '{"price": 12.5}'),
    ],
}


def check_wider(answer: Any) -> Verdict:
    """Does a repaired schema accept what the service needs, and refuse what it refused before?

    >>> check_wider(SERVICE | {"required": ["product"]})
    ✗ not yet right: on input 2 of 20, the first on which it fails
        text        {"product": "pear", "price": 12.5}
        yours       refuses it
        expected    accepts it
        because     after {"product":␣"pear",␣"price":␣12, . cannot come: expected 0-9 }
    """
    answer = safe_copy(answer)
    if verdict.is_empty(answer):
        return verdict.EMPTY
    try:
        machine = json_schema(answer)
    except (GuidedVizError, RecursionError) as error:
        return no_machine(answer, error)

    def say(case: Case, value: Any) -> Mistake:
        because = say_refusal(machine, case.arguments[0]) if case.expected else case.why
        return Mistake(because, gave=say_text(case.arguments[0], bool(value))[1:])

    trials = {why: [text.encode() for text in texts] for why, texts in TEXTS.items()}
    judged = check_function(machine.accepts, cases_of(json_schema(WIDER).accepts, trials, "text", spell=show_text), say)
    return replace(judged, result="open", said="this is the schema as given") if answer == SERVICE else judged


# -- moves of a stack ----------------------------------------------------------------------------------------------

DEEP = 4_000  # more than the frames that Python and IPython allow
SHOWN = 6  # nodes of a stack in a fact
LETTER = 'root ::= "x"'
NESTED = 'root ::= "(" root ")" | "x"'
KINDS = 'root ::= "(" root ")" | "[" root "]" | ""'
CHAIN = 'root ::= item ";"\nitem ::= "a" item?'
PAIRS = r"""root   ::= "{" string ": " value "}"
string ::= "\"" [a-z]+ "\""
value  ::= root | number
number ::= [0-9]+"""
STEPS: dict[str, list[tuple[str, list[int], str]]] = {  # a grammar, a stack (the top last), a byte
    "a read puts the node after the byte in place of the current one": [(LETTER, [0], "x")],
    "a node without a move that is no end refuses the byte: None": [(LETTER, [0], "y"), (PAIRS, [5, 11], "}")],
    "on an empty stack nothing can be read: None": [(LETTER, [1], "x"), (LETTER, [], "x")],
    "a call reads no byte: push both nodes, then look at the new top": [
        (NESTED, [1], "("), (PAIRS, [4], "1"), (PAIRS, [4], "{"),
    ],
    "an end without a move for the byte: pop it, and look at the node below": [
        (NESTED, [3, 2], ")"), (NESTED, [3, 3, 2], "x"), (KINDS, [3, 5], "]"),
    ],
    "one byte is read once: after a read the step is over": [(NESTED, [3, 3, 2], ")")],
    "two rules end before the byte, so two nodes are popped": [(PAIRS, [5, 12, 14], "}"), (PAIRS, [5, 12, 14], "x")],
    "an end that has a move for the byte does not return: the move comes first": [(PAIRS, [5, 12, 14], "7")],
    f"{DEEP:,} levels deep a step does the same as on top: a loop pops them, recursion cannot": [
        (NESTED, [3] * DEEP + [1], "("), (CHAIN, [1, *[5] * DEEP, 4], ";"),
    ],
}  # fmt: skip
ENDS = frozenset({2, 6})
STACKS: dict[str, list[list[int] | None]] = {
    "every rule on the stack may end, so the text may": [[6], [2, 6], [6] * DEEP],
    "a node that is not in ends waits for a byte, wherever it stands": [[4], [5, 6], [6, 5, 6], [5, *[6] * DEEP]],
    "on an empty stack no rule waits, so the text may end": [[]],
    "None is the stack of a text that was refused": [None],
}


def check_stack_step(answer: Callable[[Moves, Collection[int], list[int], int], Sequence[int] | None]) -> Verdict:
    """Does `answer(moves, ends, stack, byte)` give the stack after one more byte, or None?

    >>> check_stack_step(lambda moves, ends, stack, byte: [*stack[:-1], moves[stack[-1], byte][1]]).facts[:3]
    (('stack', 'n0'), ('byte', 'y'), ('its move', 'none, and n0 is no end'))
    """
    cases = []
    for why, rows in STEPS.items():
        for text, stack, sign in rows:
            pda, byte = kept_machine(text), ord(sign)
            moves, ends = pushdown_moves(pda)
            given = [("stack", show_stack(stack)), ("byte", visible(sign.encode()))]
            if stack:
                is_end = f"none, and {name_node(stack[-1])} is {'an' if stack[-1] in ends else 'no'} end"
                given.append(("its move", str(moves.get((stack[-1], byte), is_end))))
            draw = partial(draw_stack_frame, StackFrame(pda, b"", tuple(stack)))
            expected = move_stack(moves, ends, stack, byte)
            cases.append(Case((moves, ends, stack, byte), expected, why, tuple(given), draw))
    return check_function(answer, cases, spell=show_stack)


def check_may_end(answer: Callable[[Collection[int], list[int] | None], bool]) -> Verdict:
    """Does `answer(ends, stack)` say whether the text may end on this stack?

    >>> print(check_may_end(lambda ends, stack: stack[-1] in ends).facts[-1][1])
    a node that is not in ends waits for a byte, wherever it stands
    """

    def reference(ends: Collection[int], stack: list[int] | None) -> bool:
        return stack is not None and ENDS.issuperset(stack)

    trials = {why: [(ENDS, stack) for stack in stacks] for why, stacks in STACKS.items()}
    return check_function(answer, cases_of(reference, trials, "ends", "stack", spell=show_stack))


def show_stack(stack: Any) -> str:
    """The nodes, the top last; what is no stack as a value.

    >>> show_stack([5, 12, 14]), show_stack([3] * 10), show_stack(None)
    ('n5 n12 n14', '… 4 more … n3 n3 n3 n3 n3 n3', 'None')
    """
    if not isinstance(stack, list | tuple) or not all(type(node) is int for node in stack):
        return show(stack)
    more = f"… {len(stack) - SHOWN:,} more … " * (len(stack) > SHOWN)
    return more + " ".join(map(name_node, stack[-SHOWN:])) or "empty"


# -- moves of Earley's parser --------------------------------------------------------------------------------------

SUM = ("sum", "+", "digit")
DIGIT = Item("digit", ("1",), 0, 0)
SUMS: Rules = {"sum": [SUM, ("digit",)], "digit": [("0",), ("1",)]}
LIST: Rules = {"list": [(), ("list", "item")], "item": [("blank", "x")], "blank": [(), (" ",)]}
COLUMNS: tuple[tuple[Rules, list[Item], int], ...] = (  # rules, a column, and its place
    ({"digit": [("1",)]}, [Item("start", ("digit",), 0, 0)], 0),
    ({"digit": [("1",)]}, [DIGIT], 0),
    (SUMS, [Item("start", ("sum",), 0, 0)], 0),
    (SUMS, [Item("sum", SUM, 2, 0)], 2),
    (SUMS, [Item("sum", ("sum", "+", "sum"), 2, 0), Item("sum", ("sum", "+", "sum"), 2, 2)], 4),
    ({"a": [("b", "x"), ("y",)], "b": [("c", "y")], "c": [("a", "z")]}, [Item("a", ("b", "x"), 0, 0)], 0),
    (LIST, [Item("start", ("list",), 0, 0)], 0),
    (LIST, [Item("list", ("list", "item"), 1, 0), Item("item", ("blank", "x"), 2, 0)], 3),
)
READ: tuple[tuple[list[Item], str], ...] = (  # a column, and the character that is read
    ([DIGIT], "1"),
    ([DIGIT], "2"),
    ([Item("sum", SUM, 0, 0), Item("sum", SUM, 1, 0), Item("sum", SUM, 2, 0), Item("sum", SUM, 3, 0)], "+"),
    ([Item("sum", SUM, 1, 0), Item("sum", SUM, 1, 2), Item("root", ("sum",), 1, 0)], "+"),
    ([Item("pair", ("x", "x"), 0, 3), Item("pair", ("x", "x"), 1, 2), Item("pair", ("x", "X"), 1, 2)], "x"),
    ([Item("start", ("sum",), 0, 0), Item("word", ("s",), 0, 0)], "s"),  # a name of a rule has this letter, too
    ([Item("list", (), 0, 1), Item("item", ("blank", "x"), 0, 1), Item("blank", (" ",), 0, 1)], " "),
)
GRAMMARS: tuple[tuple[Rules, str], ...] = (  # rules, and a text
    ({"root": [("digit",)], "digit": [("1",)]}, "1"),
    ({"root": [("a", "b", "b")], "b": [("x",)]}, "axx"),
    ({"root": [("a", "root"), ("b",)]}, "aab"),
    ({"root": [("a", "x"), ("ab",)], "a": [("x",)], "ab": [("x", "x")]}, "xx"),
    ({"root": [("root", "+", "root"), ("1",)]}, "1+1+1"),
    ({"root": [("open",), ("half",), ("x",)], "open": [("(", "root", ")")], "half": [("(", "root", "]")]}, "((x])"),
)


def check_predict(answer: Callable[[Rules, list[Item], int], Iterable[Item]]) -> Verdict:
    """Does `answer(rules, column, place)` give the column with all items that may begin at its place?

    >>> check_predict(lambda rules, column, place: column)
    ✗ not yet right: on input 1 of 8, the first on which it fails
        column      start → • digit (from 0)
        place       0
        yours gave  start → • digit (from 0)
        expected    start → • digit (from 0); digit → • 1 (from 0)
        because     digit → • 1 (from 0) is missing: for each rule that some item waits for, its items begin here, once
    """
    why = "for each rule that some item waits for, its items begin here, once"
    cases = cases_of(predict, {why: COLUMNS}, "", "column", "place", spell=show_items)
    return check_function(answer, cases, _say_items, _same_items, show_items)


def check_scan(answer: Callable[[list[Item], str], Iterable[Item]]) -> Verdict:
    """Does `answer(column, character)` give the first items of the next column?

    >>> print(check_scan(lambda column, character: [item for item in column if item.wanted == character]).facts[-1][1])
    digit → 1 • (from 0) is missing: the dot of each item that wants exactly this character moves by one
    """
    why = "the dot of each item that wants exactly this character moves by one"
    cases = cases_of(scan, {why: READ}, "column", "read", spell=show_items)
    return check_function(answer, cases, _say_items, _same_items, show_items)


def check_complete(answer: Callable[[Chart, Item], Iterable[Item]]) -> Verdict:
    """Does `answer(chart, done)` give the items that waited for a finished one, with their dots moved?

    >>> check_complete(lambda chart, done: [item.moved for item in chart[-1] if item.wanted == done.rule])
    ✗ not yet right: on input 1 of 23, the first on which it fails
        text        1, column 1
        done        digit → 1 • (from 0)
        yours gave  nothing
        expected    root → digit • (from 0)
        because     root → digit • (from 0) is missing: in column 0 digit was awaited: move these dots by one
    """
    cases = []
    for rules, text in GRAMMARS:
        for chart, done in finished_items(rules, text):
            begun = text[: len(chart) - 1]
            given = (("text", f"{begun}, column {len(begun)}"), ("done", str(done)))
            why = f"in column {done.origin} {done.rule} was awaited: move these dots by one"
            draw = partial(_draw_chart, rules, begun)
            cases.append(Case(([*map(list, chart)], done), complete(chart, done), why, given, draw))
    return check_function(answer, cases, _say_items, _same_items, show_items)


def _draw_chart(rules: Rules, text: str) -> Figure:
    """The chart of a text as the film of Earley's algorithm shows it."""
    return draw_frame(earley_frames(rules, text)[-1])


def finished_items(rules: Rules, text: str) -> Iterator[tuple[Chart, Item]]:
    """Each finished item while a text is read, with the columns so far.

    >>> [done.rule for _, done in finished_items(*GRAMMARS[0])]
    ['digit', 'root']
    """
    chart: Chart = []
    column = [Item("start", ("root",), 0, 0)]
    for sign in [*text, ""]:
        chart.append(column)
        for item in column:
            if item.wanted is None and item.rule != "start":
                yield chart, item
                column += [new for new in complete(chart, item) if new not in column]
            column += [new for new in predict(rules, [item], len(chart) - 1) if new not in column]
        column = scan(column, sign)


def _same_items(value: Any, expected: Sequence[Item]) -> bool:
    return sorted(map(tuple, value)) == sorted(expected)


def _say_items(case: Case, value: Any) -> str:
    """What is wrong with a student's list of items."""
    items = [Item(*item) for item in value]
    wrong = say_difference(items, case.expected, str) or "an item comes twice"
    return f"{wrong}: {case.why}"


def show_items(items: Any) -> str:
    """Items as people write them; what is no list of items as a value.

    >>> show_items([DIGIT]), show_items(7)
    ('digit → • 1 (from 0)', '7')
    """
    try:
        return "; ".join(str(Item(*item)) for item in items) or "nothing"
    except (TypeError, IndexError, KeyError):
        return show(items)
