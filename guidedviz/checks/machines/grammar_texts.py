"""Grammars. Equivalence of grammars is undecidable, so texts are compared in order of length.

A grammar with a limit of its own, such as eight levels, is right on all short texts. So a few long ones are tried too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from guidedviz.checks.guard import safe_copy
from guidedviz.checks.judge import Facts
from guidedviz.checks.same_language import EMPTY, say_text
from guidedviz.checks.verdict import WIDTH, Verdict, show
from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.machines.compare import compare_machines
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.moves import pushdown_moves
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.visible import counted, visible
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.stack.stack import draw_stack_table

MOST_PAIRS = 5_000  # pairs of states that are compared

MIRROR = 'root ::= "a" root "a" | "b" root "b" | "c"'
LISTS = """root   ::= "[" (item ("," item)*)? "]"
item   ::= number | root
number ::= "0" | [1-9] [0-9]*"""
NAMED = """root ::= "{" ws "\\"name\\"" ws ":" ws text ws "}"
text ::= "\\"" [a-z ]* "\\""
ws   ::= [ \\n]?"""
TIMES = 50  # levels of a deep text, items of a wide one
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
GIVEN = {
    MIRROR: MIRROR.replace('"c"', "[ab]?"),
    LISTS: LISTS.replace('(item ("," item)*)?', 'item ("," item?)*').replace('"0" | [1-9] [0-9]*', "[0-9]+"),
    NAMED: NAMED.replace("]?", "]*"),
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
    verdict = check_rules(answer, MIRROR)
    if verdict.result == "right":
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
    if answer is None or answer is ... or (isinstance(answer, str) and not answer.strip()):
        return EMPTY
    yours = ("yours is", show(answer))
    if not isinstance(answer, str):
        return Verdict("wrong", "no machine can be made of it", (yours, ("because", "a grammar is a text")))
    try:
        machine = grammar(answer)
    except GuidedVizError as error:
        facts: Facts = (("error", str(error)),)
        if "\n" not in str(error):  # it shows no line of the answer
            facts = (yours, ("because", str(error)))
        return Verdict("wrong", "no machine can be made of it", facts)
    right = _machine(truth)
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
def _machine(truth: str) -> PDA:
    """The machine of a right grammar; it remembers its steps from check to check."""
    return grammar(truth)


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
        vocabulary, state = Vocabulary([text, b"</s>"], eos={1}), read(machine, text)
        at, token = (machine.initial, 0) if state is None else (state, 1)
        because = explain_token(machine, vocabulary, at, token).reason
    because = because if len(because) <= WIDTH else "…" + because[1 - WIDTH :]  # its end says what is wrong
    figure = draw_stack_table(machine, taken, every=True, unread=text[len(taken) :])
    return Verdict("wrong", said, (*say_text(text, machine.accepts(text)), ("because", because)), figure)


def longest_beginning(machine: PDA, text: bytes) -> bytes:
    """As much of a text as a machine can read.

    >>> longest_beginning(grammar(LISTS), b"[1,,2]")
    b'[1,'
    """
    return next(text[:end] for end in range(len(text), -1, -1) if read(machine, text[:end]) is not None)
