"""Lab 05: grammars. No program can say of any two grammars whether they mean the same, so texts are tried in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from guidedviz.checks.machine import JUDGES
from guidedviz.checks.verdict import Verdict, show
from guidedviz.errors import GuidedVizError
from guidedviz.machines.compare import compare_machines
from guidedviz.machines.lint import lint
from guidedviz.machines.machine import read
from guidedviz.machines.pda import PDA, grammar
from guidedviz.machines.visible import counted
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.stack_table import draw_stack_table
from guidedviz.views.words import reading

MOST_PAIRS = 5_000  # of states that are compared

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
    """Lab 05: does a grammar pair the tags <b> and <i>, however deep?

    >>> check_tags('root ::= ([a-z ] | "<b>" [a-z ]* "</b>" | "<i>" [a-z ]* "</i>")*')
    ✗ not yet right: the shortest text on which it is wrong
        text        <b><b></b></b>
        yours       refuses it
        expected    accepts it
        because     after <b><, b cannot come: the innermost open rule is root, which waits for /
    """
    return check_rules(answer, TAGS)


def check_sums(answer: str) -> Verdict:
    """Lab 05: does a grammar accept the same sums without left recursion?

    >>> print(check_sums(SUMS).said)
    agrees on every text of up to 23 bytes; 4 rules
    """
    verdict = check_rules(answer, SUMS)
    if verdict.result == "right":
        for finding in lint(grammar(answer).grammar):
            if finding.kind == "left-recursive":
                facts = (("because", f"{finding.rule}: {finding.words}"),)
                return Verdict("wrong", "the texts are right, but a rule still begins with itself", facts)
    return verdict


def check_lists(answer: str) -> Verdict:
    """Lab 05: does a grammar accept lists of whole numbers and of lists, as JSON writes them without blanks?

    >>> check_lists(GIVEN[LISTS]).facts[0]
    ('text', '[]')
    """
    return check_rules(answer, LISTS)


def check_rules(answer: Any, truth: str) -> Verdict:
    """Does a grammar's text accept the same texts as another? It is not done as long as it is the given one."""
    if answer is None or answer is ... or (isinstance(answer, str) and not answer.strip()):
        return Verdict("open", "it is empty so far; write it, run its cell, then run this one")
    try:
        machine = grammar(answer)
    except GuidedVizError as error:
        said = str(error)
        return Verdict("wrong", "no machine can be made of it", (("error", said if "\n" in said else show(answer)),))
    text, length = shortest_wrong(machine, grammar(truth))
    if text is None:
        said = f"agrees on every text of up to {length} bytes; {counted(len(machine.nodes.names), 'rule')}"
        verdict = Verdict("right", said)
    else:
        verdict = _show_text(machine, text)
    if answer.split() == GIVEN.get(truth, "").split():
        said = "this is the grammar as given" + (", and this the shortest text on which it is wrong" if text else "")
        return replace(verdict, result="open", said=said)
    return verdict


def _show_text(machine: PDA, text: bytes) -> Verdict:
    accepted = machine.accepts(text)
    facts = (
        ("text", reading(text.decode("utf-8", "backslashreplace")) or "the empty text"),
        ("yours", JUDGES[accepted]),
        ("expected", JUDGES[not accepted]),
    )
    because = () if accepted else (("because", say_refusal(machine, text)),)
    taken = readable(machine, text)
    figure = draw_stack_table(machine, taken, every=True, unread=text[len(taken) :])
    return Verdict("wrong", "the shortest text on which it is wrong", (*facts, *because), figure)


def readable(machine: PDA, text: bytes) -> bytes:
    """As much of a text as can be read.

    >>> readable(grammar('root ::= "(" root ")" | "x"'), b"(y)")
    b'('
    """
    return next(text[:end] for end in range(len(text), -1, -1) if read(machine, text[:end]) is not None)


def say_refusal(machine: PDA, text: bytes) -> str:
    """Why a text is no complete one.

    >>> say_refusal(grammar('root ::= "(" root ")" | "x"'), b"(x")
    'EOS would end the text before it is complete: root is still open and waits for )'
    """
    vocabulary = Vocabulary([text, b"</s>"], eos={1})
    state = read(machine, text)
    return explain_token(
        machine, vocabulary, machine.initial if state is None else state, int(state is not None)
    ).reason


def shortest_wrong(one: PDA, other: PDA) -> tuple[bytes | None, int]:
    """The shortest text that exactly one of two accepts, the best to read of several; None and the length tried.

    >>> shortest_wrong(grammar('root ::= "(" root ")" | "x"'), grammar('root ::= "("* "x" ")"*'))
    (b'x)', 2)
    """
    found = compare_machines(one, other, MOST_PAIRS)
    return found.text, found.length
