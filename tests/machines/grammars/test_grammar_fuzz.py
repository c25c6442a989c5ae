"""Whatever is typed as a grammar ends in a machine or in our own error, soon."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import GuidedVizError
from tests.common import in_time
from tests.machines.grammars.test_lark_oracles import TERMINALS, lark_grammars
from tests.strategies import apply_edits, edits, grammars

SCRAPS = [
    *'()|[]{}"*+?.#\\-^:=,0é🙂\n\r \0', "::=", "root", "s ", '"a"', "[^", "{1000}", "{0,}", "{1,2}", "{999999}", "\\u",
    "\\xC3", "\\UFFFFFFFF", "s s", "(s*)*", "\ud800", "\u202e", "\nt ::= t\n", "| |", "[z-a]", '""',
    # in Lark's notation
    *"/%~&<>@!_", "->", "..", "start", "X ", "/a/", "~1000", "{,2}", "%json {", '%json {"type": "null"}', "%ignore ",
    "%import common.WS", "%regex {}", "<a>", "[lazy]", "x{y}", "//", "\nT: T\n", "(?=a)", "/[[a]/", "/i", "i",
]  # fmt: skip
NOTATIONS = (gv.lark, gv.earley, gv.grammar)


def read_all(text):
    """A text in each notation, to the end or to our own error."""
    for build in NOTATIONS:
        with in_time(10), suppress(GuidedVizError):
            build(text).accepts_prefix("aé🙂ab".encode())


@given(grammars | lark_grammars.map(TERMINALS.__add__), edits(SCRAPS))
def test_a_spoilt_grammar_ends_in_our_own_error_or_a_machine_soon(text, changes):
    read_all(apply_edits(text, changes))


texts_like_rules = st.text(st.sampled_from('rot:= "a[]|()*\n'), max_size=40)
texts_of_scraps = st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join)


@given(st.text(max_size=30) | texts_like_rules | texts_of_scraps)
def test_any_text_at_all_ends_so(text):
    for written in ("root ::= " + text, "start: " + text, "start: T\nT: " + text):
        read_all(written)
