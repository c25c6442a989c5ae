"""Lark's own parser, Python's re and GBNF judge random grammars in Lark's notation; any text ends in our own error."""

import re
import time
from contextlib import suppress

import lark
from hypothesis import assume, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import GuidedVizError, PatternError
from guidedviz.machines.grammars.show import show_lark
from tests.strategies import grammars

# Lark's parser knows all prefixes of a terminal's longest match, so its terminals have no text that is not one.
LEXEMES = ['"a"', '"b"', '"ab"', '"c"i', "A", "B", "C", '"a".."b"', "/[ab]+/", "/c/"]
TERMINALS = 'A: "a" | /b+/\nB: ("b" | "c")~1..2\nC: A "c"\n'
lexemes = st.sampled_from([*LEXEMES, "x", "y"])
bodies = st.recursive(
    lexemes,
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(" ".join)
        | st.tuples(inner, inner).map(lambda two: f"({two[0]} | {two[1]})")
        | st.tuples(inner, st.sampled_from("? * + ~2 ~0..2".split())).map(lambda two: f"({two[0]}){two[1]}")
        | inner.map(lambda part: f"[{part}]")
    ),
    max_leaves=5,
)
rules = st.lists(bodies, min_size=1, max_size=3).map("\n  | ".join)
lark_grammars = st.builds("start: {}\n?x: {}\n!y: {}\n".format, rules, rules, rules)
words = st.text("abcC", max_size=6)


def is_read(parser, text):
    """Whether Lark's parser accepts a text."""
    try:
        parser.parse(text)
    except lark.UnexpectedInput:
        return False
    return True


def has_no_text(text):
    return False


def lark_parser(text):
    """Lark's Earley parser that tries all lexemes; None for a grammar that it refuses."""
    try:
        return lark.Lark(text, parser="earley", lexer="dynamic_complete", ambiguity="forest")
    except lark.GrammarError:
        return None


@given(lark_grammars, st.lists(words, min_size=8, max_size=12))
def test_larks_own_parser_accepts_the_same_texts(text, tried):
    parser = lark_parser(text + TERMINALS)
    assume(parser is not None)
    accepts = has_no_text
    with suppress(PatternError):  # a rule can never finish
        accepts = gv.lark(text + TERMINALS).accepts
    for each in tried:
        assert accepts(each.encode()) == is_read(parser, each), each


@given(lark_grammars, st.lists(st.text("abc _", max_size=7), min_size=8, max_size=12))
def test_larks_own_parser_ignores_the_same(text, tried):
    text += TERMINALS + '%ignore " "\n%ignore /_/\n'
    parser = lark_parser(text)
    assume(parser is not None)
    with suppress(PatternError):
        machine = gv.lark('%llguidance {"allow_initial_skip": true}\n' + text)
        for each in tried:
            assert machine.accepts(each.encode()) == is_read(parser, each), each


# The same terminal twice: in Lark's notation, and in Python's.
ATOMS = [('"a"', "a"), ('"+."', r"\+\."), ('"ab"i', "(?i:ab)"), ('"a".."c"', "[a-c]"), ("/[^a]/", "[^a]"),
         ("/a|bc/", "(?:a|bc)"), ("/A./i", "(?i:A.)"), ("/./s", r"[\s\S]"), (r"/\//", "/"), (r'"\u00e9\n"', r"é\n"),
         ('""', ""), ("X", "(?:b|cc)"), ("DIGIT", "[0-9]")]  # fmt: skip
COUNTS = [(sign, sign) for sign in "?*+"] + [("~2", "{2}"), ("~1..2", "{1,2}"), ("{,2}", "{0,2}"), ("{1,}", "{1,}")]
terminals = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: (
        st.tuples(inner, inner).map(lambda two: (f"{two[0][0]} {two[1][0]}", two[0][1] + two[1][1]))
        | st.tuples(inner, inner).map(lambda two: (f"({two[0][0]}|{two[1][0]})", f"(?:{two[0][1]}|{two[1][1]})"))
        | st.tuples(inner, st.sampled_from(COUNTS)).map(
            lambda two: (f"({two[0][0]}){two[1][0]}", f"(?:{two[0][1]}){two[1][1]}")
        )
        | inner.map(lambda one: (f"[{one[0]}]", f"(?:{one[1]})?"))
    ),
    max_leaves=5,
)
IMPORTED = '\nX: "b" | "c"~2\n%import common.DIGIT'
letters = st.text("aAbBc+./é\n07", max_size=6)


@given(terminals, st.lists(letters, min_size=10, max_size=10))
def test_a_terminal_matches_what_its_regex_matches(terminal, tried):
    text, pattern = terminal
    machine = gv.lark(f"start: T\nT: {text}{IMPORTED}")
    for each in tried:
        assert machine.accepts(each.encode()) == bool(re.fullmatch(pattern, each)), each


@given(terminals, terminals, st.lists(letters, min_size=10, max_size=10))
def test_a_conjunction_and_a_negation_are_those_of_logic(first, second, tried):
    (one, pattern), (other, other_pattern) = first, second
    text = f"\nT: {one}\nU: {other}{IMPORTED}"
    without = gv.lark("start: X1\nX1: (T & ~U) | /zz/" + text)
    both = gv.lark("start: X1\nX1: T & U | /zz/" + text)
    for each in tried:
        matched, excluded = re.fullmatch(pattern, each), re.fullmatch(other_pattern, each)
        assert without.accepts(each.encode()) == bool(matched and not excluded), each
        assert both.accepts(each.encode()) == bool(matched and excluded), each


@given(grammars, st.lists(st.text("ab(é \n", max_size=6), min_size=8, max_size=8))
def test_a_grammar_that_is_shown_in_lark_reads_the_same_texts(text, tried):
    with suppress(PatternError):
        machine = gv.grammar(text)
        shown = gv.lark(show_lark(machine.grammar))
        for each in tried:
            assert shown.accepts(each.encode()) == machine.accepts(each.encode()), each


SCRAPS = [
    *'()|[]{}"*+?.#\\-^:=,0é🙂\n\r \0/%~&<>@!_', "->", "..", "start", "X ", '"a"', "/a/", "~1000", "{0,}", "{,2}",
    "\\u", "%json {", '%json {"type": "null"}', "%ignore ", "%import common.WS", "%regex {}", "<a>", "[lazy]", "x{y}",
    "//", "\ud800", "\u202e", "\nT: T\n", '""', "(?=a)", "/[[a]/", "/i", "i",
]  # fmt: skip
edits = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 4), st.sampled_from(SCRAPS)), min_size=1, max_size=4)


@given(lark_grammars, edits)
def test_a_spoilt_grammar_ends_in_our_own_error_or_a_machine_soon(text, changes):
    text += TERMINALS
    for place, cut, put in changes:
        place %= len(text) + 1
        text = text[:place] + put + text[place + cut :]
    begin = time.process_time()
    with suppress(GuidedVizError):
        gv.lark(text).accepts_prefix("abcé🙂".encode())
    assert time.process_time() - begin < 10


@given(st.text(max_size=30) | st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join))
def test_any_text_at_all_ends_so(text):
    for written in (text, "start: " + text, "start: T\nT: " + text):
        with suppress(GuidedVizError):
            gv.lark(written).accepts_prefix(b"a")
