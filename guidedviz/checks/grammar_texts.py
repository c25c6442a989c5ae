"""Grammars. Equivalence of grammars is undecidable, so texts are compared in order of length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from guidedviz.checks.guard import safe_copy
from guidedviz.checks.same_language import EMPTY, say_text
from guidedviz.checks.verdict import Verdict, show
from guidedviz.errors import GuidedVizError
from guidedviz.machines.compare import compare_machines
from guidedviz.machines.grammars.lint import lint
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.visible import counted
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.stack.stack_table import draw_stack_table

MOST_PAIRS = 5_000  # pairs of states that are compared

TAGS = 'root ::= ([a-z ] | "<b>" root "</b>" | "<i>" root "</i>")*'
SUMS = """root   ::= item (sign item)*
sign   ::= " " [-+*/] " "
item   ::= number | "(" root ")"
number ::= "0" | [1-9] [0-9]{0,2}"""
LISTS = """root   ::= "[" (item ("," item)*)? "]"
item   ::= number | root
number ::= "0" | [1-9] [0-9]*"""
GIVEN = {
    TAGS: "root ::= [a-z ]*",
    SUMS: SUMS.replace("item (sign item)*", "root sign item | item"),
    LISTS: LISTS.replace('(item ("," item)*)?', 'item ("," item?)*').replace('"0" | [1-9] [0-9]*', "[0-9]+"),
}


def check_tags(answer: str) -> Verdict:
    """Does a grammar pair the tags <b> and <i> at any depth?

    >>> check_tags('root ::= ([a-z ] | "<b>" [a-z ]* "</b>" | "<i>" [a-z ]* "</i>")*')
    ✗ not yet right: the shortest text on which it is wrong
        text        <b><b></b></b>
        yours       refuses it
        expected    accepts it
        because     after <b><, b cannot come: the innermost open rule is root, which waits for /
    """
    return check_rules(answer, TAGS)


def check_sums(answer: str) -> Verdict:
    """Does a grammar accept the same sums without left recursion?

    >>> print(check_sums(SUMS).said)
    agrees on every text of up to 23 bytes; 4 rules
    """
    verdict = check_rules(answer, SUMS)
    if verdict.result == "right":
        for finding in lint(grammar(answer).grammar):
            if finding.kind == "left-recursive":
                said = "the texts are right, but a rule is still left-recursive: it begins with itself"
                return Verdict("wrong", said, (("because", f"{finding.rule}: {finding.words}"),))
    return verdict


def check_lists(answer: str) -> Verdict:
    """Does a grammar accept lists of whole numbers and of lists, as JSON without blanks?

    >>> check_lists(GIVEN[LISTS]).facts[0]
    ('text', '[]')
    """
    return check_rules(answer, LISTS)


def check_rules(answer: Any, truth: str) -> Verdict:
    """Does a grammar accept the same texts as another? The grammar that the lab gives is not done yet."""
    answer = safe_copy(answer)
    if answer is None or answer is ... or (isinstance(answer, str) and not answer.strip()):
        return EMPTY
    try:
        machine = grammar(answer)
    except GuidedVizError as error:
        said = str(error)
        return Verdict("wrong", "no machine can be made of it", (("error", said if "\n" in said else show(answer)),))
    found = compare_machines(machine, grammar(truth), MOST_PAIRS)
    if found.text is None:
        rules = counted(len(machine.nodes.names), "rule")
        verdict = Verdict("right", f"agrees on every text of up to {found.length} bytes; {rules}")
    else:
        verdict = _show_text(machine, found.text)
    if answer.split() == GIVEN.get(truth, "").split():
        more = "; this is the shortest text on which it is wrong" * (found.text is not None)
        return replace(verdict, result="open", said=f"this is the grammar as given{more}")
    return verdict


def _show_text(machine: PDA, text: bytes) -> Verdict:
    """The text, why the student's grammar refuses it, and the stack after each byte that was read."""
    facts, state = say_text(text, machine.accepts(text)), read(machine, text)
    if not machine.accepts(text):
        vocabulary = Vocabulary([text, b"</s>"], eos={1})
        at, token = (machine.initial, 0) if state is None else (state, 1)
        facts = (*facts, ("because", explain_token(machine, vocabulary, at, token).reason))
    taken = next(text[:end] for end in range(len(text), -1, -1) if read(machine, text[:end]) is not None)
    figure = draw_stack_table(machine, taken, every=True, unread=text[len(taken) :])
    return Verdict("wrong", "the shortest text on which it is wrong", facts, figure)
