"""A regex of any size: a DFA, or a machine that counts the repeats of which copies would be too many."""

import re
from functools import lru_cache

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.counted import is_counted
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.no_text import warn_of_no_text
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import check_regex, parse_regex
from guidedviz.machines.regular.regex import regex as finite_regex
from guidedviz.machines.work import limited_work

LARGE = re.compile(r"\{[0-9,]*[0-9]{2}")  # a count of two digits


@limited_work()
def regex(text: str) -> DFA | PDA:
    r"""The minimal machine for a regex; with very large counts a machine that counts.

    >>> date = regex(r"\d{4}-\d{2}-\d{2}")
    >>> date.accepts(b"2026-11-20"), date.accepts_prefix(b"2026-"), date.accepts(b"2026-"), len(date)
    (True, True, False, 11)
    >>> regex("[a-z]{0,5000}"), regex("[a-z]{0,5000}").accepts(b"a" * 5001)
    (PDA(2 rules, 4 nodes), False)
    """
    check_regex(text)
    machine = counted_regex(text) if LARGE.search(text) else finite_regex(text)
    if isinstance(machine, DFA) and not machine.accepting:
        warn_of_no_text(text)
    return machine


@lru_cache(maxsize=64)
def counted_regex(text: str) -> DFA | PDA:
    tree = parse_regex(text)
    try:
        return PDA(Grammar((Rule("root", tree),))) if is_counted(tree) else finite_regex(text)
    except (PatternError, RecursionError):
        return finite_regex(text)  # or its error
