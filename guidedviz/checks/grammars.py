"""Exercises on grammars, and on a schema that cut right answers.

Equivalence of grammars is undecidable, so texts are compared in order of length. A grammar with a limit of its own,
such as eight levels, is right on all short texts, so a few long ones are tried too.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from guidedviz.checks.cases import Case, cases_of, read_table, read_trials
from guidedviz.checks.function import Mistake, check_function, is_empty
from guidedviz.checks.guard import safe_copy
from guidedviz.checks.texts import no_machine, say_refusal, say_text, spell_text
from guidedviz.checks.verdict import FACT_CHARACTERS, NOT_BEGUN, Verdict
from guidedviz.errors import GuidedVizError, SettingError, quoted
from guidedviz.machines.machine import read_path
from guidedviz.machines.pushdown.moves import pushdown_moves
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.compare import compare_machines
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.machines.syntax import Repeat, all_parts
from guidedviz.machines.visible import counted, visible
from guidedviz.views.stack.stack_table import draw_stack_table

# -- grammars ------------------------------------------------------------------------------------------------------

MOST_COMPARED_PAIRS = 5_000  # pairs of states that are compared
MOST_REPEATS = 50  # levels of a deep text, items of a wide one
MIRROR = 'root ::= "a" root "a" | "b" root "b" | "c"'
LISTS = """root   ::= "[" (item ("," item)*)? "]"
item   ::= number | root
number ::= "0" | [1-9] [0-9]*"""
NAMED = """root ::= "{" ws "\\"name\\"" ws ":" ws text ws "}"
text ::= "\\"" [a-z ]* "\\""
ws   ::= [ \\n]?"""
REPEATED = r"""root ::= "\"" ([^"\\\x00-\x1F] | "\\" ["\\/bfnrt])* "\"" """.strip()
QUOTED = r"""root ::= "\"" rest
rest ::= "\"" | [^"\\\x00-\x1F] rest | "\\" ["\\/bfnrt] rest"""
GIVEN = {
    QUOTED: REPEATED,
    MIRROR: MIRROR.replace('"c"', "[ab]?"),
    LISTS: LISTS.replace('(item ("," item)*)?', 'item ("," item?)*').replace('"0" | [1-9] [0-9]*', "[0-9]+"),
    NAMED: NAMED.replace("]?", "]*"),
}
# head, before, inner, after: a long text is head + n × before + inner + n × after
LONG_TEXTS = {
    MIRROR: read_table("""
        "", "a", "c", "a"
        "", "a", "", "a"
        "", "ab", "c", "ba"
        "", "ab", "acb", "ba"
    """),
    LISTS: read_table("""
        "", "[", "[]", "]"
        "", "[1,", "[7]", "]"
        "", "[", "[]", ",0]"
        "[", "1,", "1]", ""
        "[", "[],", "[]]", ""
        "[1", "0", "]", ""
        "[0", "0", "]", ""
    """),
    QUOTED: read_table("""
        '"', "a", '"', ""
        '"', "\\\\n", '"', ""
        '"', "a", "", ""
    """),
    NAMED: read_table("""
        '{"name": "', "a", '"}', ""
        '{"name": "', " ", '"}', ""
    """),
}


def check_mirror(answer: str) -> Verdict:
    """Does a grammar accept the palindromes with c in the middle, with at most one move per node and byte?

    >>> check_mirror('root ::= "a" root "a" | "b" root "b" | "c"?')
    ✗ not yet right: the shortest text on which it is wrong
        text        the empty text
        yours       accepts it
        expected    refuses it
        because     the text must not end
    """
    judged = check_rules(answer, MIRROR)
    if not judged:
        return judged
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


def check_no_repeat(answer: str) -> Verdict:
    """Does a grammar accept the strings of JSON (without `u` escapes) by rules that call themselves, and no repeat?

    >>> check_no_repeat('root ::= ["] [a-z]* ["]').said
    'the shortest text on which it is wrong'
    """
    judged = check_rules(answer, QUOTED)
    if not judged:
        return judged
    for rule in grammar(safe_copy(answer)).grammar.rules:
        if any(isinstance(part, Repeat) and part.high != 1 for part in all_parts(rule.tree)):
            said = "the texts are right, but a rule still repeats"
            return Verdict("wrong", said, (("because", f"{quoted(rule.name)} has a *, a + or a count"),))
    return judged


def check_rules(answer: Any, truth: str) -> Verdict:
    """Does a grammar accept the same texts as another? The grammar that the lab gives is not done yet."""
    answer = safe_copy(answer)
    if is_empty(answer):
        return NOT_BEGUN
    try:
        machine = grammar(answer)
    except (GuidedVizError, RecursionError) as error:
        return no_machine(answer, error)
    judged = _compare(machine, kept_machine(truth), LONG_TEXTS[truth])
    if answer.split() == GIVEN[truth].split():
        return replace(judged, result="open", said="this is the grammar as given")
    return judged


def _compare(machine: PDA, truth: PDA, repeated: Iterable[tuple[str, str, str, str]]) -> Verdict:
    """The shortest text on which two grammars differ, or a long one."""
    found = compare_machines(machine, truth, MOST_COMPARED_PAIRS)
    if found.text is not None:
        return _show_text(machine, truth, found.text, "the shortest text on which it is wrong")
    long = find_long_text(machine, truth, repeated)
    if long is not None:
        said = f"every text of up to {found.length} bytes is right; here is a longer one on which it is wrong"
        return _show_text(machine, truth, long, said)
    rules = counted(len(machine.nodes.names), "rule")
    if found.whole:
        return Verdict("right", f"accepts the right texts and no others; {rules}")
    said = f"agrees on every text of up to {found.length} bytes, and on some that repeat a part {MOST_REPEATS} times"
    return Verdict("right", f"{said}; {rules}")


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
    for times in range(1, MOST_REPEATS + 1):
        for head, before, inner, after in families:
            text = f"{head}{before * times}{inner}{after * times}".encode()
            if machine.accepts(text) != truth.accepts(text):
                return text
    return None


def _show_text(machine: PDA, truth: PDA, text: bytes, said: str) -> Verdict:
    """The text, why it is refused, and the stack of the student's machine after each byte that it read."""
    accepted = machine.accepts(text)
    because = _say_too_much(truth, text) if accepted else say_refusal(machine, text)
    if len(because) > FACT_CHARACTERS:  # its end says what is wrong
        because = "…" + because[1 - FACT_CHARACTERS :]
    taken = longest_beginning(machine, text)
    figure = draw_stack_table(machine, taken, every=True, unread=text[len(taken) :])
    return Verdict("wrong", said, (*say_text(text, accepted), ("because", because)), figure)


def _say_too_much(truth: PDA, text: bytes) -> str:
    """Where a text that must be refused goes wrong."""
    allowed = longest_beginning(truth, text)
    too_many = visible(text[len(allowed) : len(allowed) + 1])
    because = f"{too_many} must not come" if too_many else "the text must not end"
    if allowed:
        because += f" after {visible(allowed)}"
    return because


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
NEEDED: dict[str, Any] = SERVICE | {
    "properties": {"product": {"type": "string", "maxLength": 30}, "price": {"type": "number", "minimum": 0}},
}
SERVICE_TEXTS = read_trials(
    build=lambda text: (text.encode(),),
    text="""
the service needs this text
    '{"product": "pear", "price": 3}'
    '{"product": "pear", "price": 12.5}'
    '{"product": "pear", "price": 12.50}'
    '{"product": "pear", "price": 0}'
    '{"product": "pear", "price": 0.55}'
    '{"product": "pear", "price": 1000000}'
    '{"product": "umbrella", "price": 12.5}'
    '{"product": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "price": 12.5}'
    '{"product": "", "price": 12.5}'
    '{"product": "Tea 2", "price": 12.5}'
a product has at most 30 characters
    '{"product": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "price": 12.5}'
the service refused this text before the repair, and it must still refuse it
    '{"product": "pear", "price": -1}'
    '{"product": "pear", "price": -0.25}'
    '{"product": "pear", "price": "12.5"}'
    '{"product": "pear", "price": null}'
    '{"product": "pear", "price": 12.5, "color": "red"}'
    '7'
    '{"product": "pear"}'
    '{"product": null, "price": 12.5}'
    '{"price": 12.5}'
""",
)


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
        return NOT_BEGUN
    try:
        machine = json_schema(answer)
    except (GuidedVizError, RecursionError) as error:
        return no_machine(answer, error)

    def say(case: Case, value: Any) -> Mistake:
        (text,) = case.arguments
        because = say_refusal(machine, text) if case.expected else case.why
        return Mistake(because, gave=say_text(text, bool(value))[1:])

    cases = cases_of(json_schema(NEEDED).accepts, SERVICE_TEXTS, "text", spell=spell_text)
    judged = check_function(machine.accepts, cases, say)
    if answer == SERVICE:
        return replace(judged, result="open", said="this is the schema as given")
    return judged
