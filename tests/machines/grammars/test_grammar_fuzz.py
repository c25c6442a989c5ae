"""Whatever is typed as a grammar ends in a machine or in our own error, soon; a shown grammar reads the same texts."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import GuidedVizError
from guidedviz.machines.earley.earley import earley
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.show import show_gbnf
from guidedviz.machines.pushdown.pda import grammar
from tests.common import in_time
from tests.strategies import apply_edits, edits, grammars

SCRAPS = [
    *'()|[]{}"*+?.#\\-^:=,0é🙂\n\r \0', "::=", "root", "s ", '"a"', "[^", "{1000}", "{0,}", "{1,2}", "{999999}", "\\u",
    "\\xC3", "\\UFFFFFFFF", "s s", "(s*)*", "\ud800", "\u202e", "\nt ::= t\n", "| |", "[z-a]", '""',
]  # fmt: skip


def read_all(text):
    """Everything that is done to a grammar, to the end or to our own error."""
    parsed = parse_grammar(text)
    show_gbnf(parsed)
    for machine in (grammar, earley):
        with suppress(GuidedVizError):
            machine(text).accepts_prefix("aé🙂ab".encode())


@given(grammars, edits(SCRAPS))
def test_a_spoilt_grammar_ends_in_our_own_error_or_a_machine_soon(text, changes):
    with in_time(10), suppress(GuidedVizError):
        read_all(apply_edits(text, changes))


texts_like_rules = st.text(st.sampled_from('rot:= "a[]|()*\n'), max_size=40)


@given(st.text(max_size=30) | texts_like_rules)
def test_any_text_at_all_ends_so(text):
    for written in (text, "root ::= " + text):
        with suppress(GuidedVizError):
            read_all(written)
