"""Lark's own parser, Python's re and GBNF judge random grammars in Lark's notation; any text ends in our own error."""

import re
from contextlib import suppress
from functools import partial

import lark
from hypothesis import assume, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import PatternError
from guidedviz.machines.grammars.show import show_lark
from tests.machines.grammars.twins import grow_twins
from tests.strategies import grammars

# Lark's parser knows all prefixes of a terminal's longest match, so its terminals have no text that is not one.
LEXEMES = ['"a"', '"b"', '"ab"', '"c"i', "A", "B", "C", '"a".."b"', "/[ab]+/", "/c/"]
TERMINALS = 'A: "a" | /b+/\nB: ("b" | "c")~1..2\nC: A "c"\n'
lexemes = st.sampled_from([*LEXEMES, "x", "y"])


def grow_bodies(inner):
    sequences = st.lists(inner, min_size=2, max_size=3).map(" ".join)
    choices = st.builds("({} | {})".format, inner, inner)
    repeats = st.builds("({}){}".format, inner, st.sampled_from("? * + ~2 ~0..2".split()))
    return sequences | choices | repeats | inner.map("[{}]".format)


bodies = st.recursive(lexemes, grow_bodies, max_leaves=5)
rules = st.lists(bodies, min_size=1, max_size=3).map("\n  | ".join)
lark_grammars = st.builds("start: {}\n?x: {}\n!y: {}\n".format, rules, rules, rules)
words = st.lists(st.text("abcC", max_size=6), min_size=8, max_size=12)
words_with_blanks = st.lists(st.text("abc _", max_size=7), min_size=8, max_size=12)


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


@given(lark_grammars, words)
def test_larks_own_parser_accepts_the_same_texts(text, tried):
    parser = lark_parser(text + TERMINALS)
    assume(parser is not None)
    accepts = has_no_text
    with suppress(PatternError):  # a rule can never finish
        accepts = gv.lark(text + TERMINALS).accepts
    for each in tried:
        assert accepts(each.encode()) == is_read(parser, each), each


@given(lark_grammars, words_with_blanks)
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
COUNTS = [("?", "?"), ("*", "*"), ("+", "+"), ("~2", "{2}"), ("~1..2", "{1,2}"), ("{,2}", "{0,2}"), ("{1,}", "{1,}")]


terminals = st.recursive(st.sampled_from(ATOMS), partial(grow_twins, counts=COUNTS), max_leaves=5)
IMPORTED = '\nX: "b" | "c"~2\n%import common.DIGIT'
letters = st.lists(st.text("aAbBc+./é\n07", max_size=6), min_size=10, max_size=10)


@given(terminals, letters)
def test_a_terminal_matches_what_its_regex_matches(terminal, tried):
    text, pattern = terminal
    machine = gv.lark(f"start: T\nT: {text}{IMPORTED}")
    for each in tried:
        expected = bool(re.fullmatch(pattern, each))
        assert machine.accepts(each.encode()) == expected, each


@given(terminals, terminals, letters)
def test_a_conjunction_and_a_negation_are_those_of_logic(first, second, tried):
    one, pattern = first
    other, other_pattern = second
    text = f"\nT: {one}\nU: {other}{IMPORTED}"
    without = gv.lark("start: X1\nX1: (T & ~U) | /zz/" + text)
    both = gv.lark("start: X1\nX1: T & U | /zz/" + text)
    for each in tried:
        data = each.encode()
        matched = bool(re.fullmatch(pattern, each))
        excluded = bool(re.fullmatch(other_pattern, each))
        assert without.accepts(data) == (matched and not excluded), each
        assert both.accepts(data) == (matched and excluded), each


other_words = st.lists(st.text("ab(é \n", max_size=6), min_size=8, max_size=8)


@given(grammars, other_words)
def test_a_grammar_that_is_shown_in_lark_reads_the_same_texts(text, tried):
    with suppress(PatternError):
        machine = gv.grammar(text)
        shown = gv.lark(show_lark(machine.grammar))
        for each in tried:
            data = each.encode()
            assert shown.accepts(data) == machine.accepts(data), each
