"""Exercises on grammars, and on a schema that cut right answers."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from guidedviz.checks.cases import Case, cases_of
from guidedviz.checks.function import Mistake, check_function, is_empty
from guidedviz.checks.guard import safe_copy
from guidedviz.checks.texts import no_machine, say_refusal, say_text, show_text
from guidedviz.checks.verdict import EMPTY, WIDTH, Verdict
from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.machines.machine import read_path
from guidedviz.machines.pushdown.moves import pushdown_moves
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.compare import compare_machines
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.machines.visible import counted, visible
from guidedviz.views.stack.stack_table import draw_stack_table

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
    if is_empty(answer):
        return EMPTY
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
    if len(because) > WIDTH:  # its end says what is wrong
        because = "…" + because[1 - WIDTH :]
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
    if is_empty(answer):
        return EMPTY
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
