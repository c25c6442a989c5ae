"""A machine written out as a grammar, a regex or Lark's rules has exactly its texts."""

import pytest
from hypothesis import assume, given

import guidedviz as gv
from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.show import show_gbnf, show_lark, show_regex
from guidedviz.machines.regular.algebra import character_net
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.syntax import EMPTY, NOTHING, Chars, literal
from guidedviz.machines.written import machine_grammar
from tests.strategies import regexes, texts


@given(regexes)
def test_a_finite_machine_written_as_a_regex_is_the_same_machine(pattern):
    machine = gv.regex(pattern)
    assume(machine.accepting)
    written = gv.regex(show_regex(character_net(machine)))
    assert gv.machines.shortest_difference(machine, written) is None


@given(regexes, texts)
def test_a_finite_machine_written_as_a_grammar_takes_the_same_texts(pattern, text):
    machine = gv.regex(pattern)
    assume(machine.accepting)
    written = gv.grammar(show_gbnf(machine_grammar(machine)))
    shortest = gv.machines.shortest_difference(machine, gv.regex(r"[^\s\S]"))
    for data in (text.encode(), shortest):
        assert written.accepts(data) == machine.accepts(data)
        assert written.accepts_prefix(data) == machine.accepts_prefix(data)


def test_every_character_keeps_its_number():
    ranges = "\x00-\x7f", "\x80-\u07ff", "\u0800-\ud7ff", "\ue000-\uffff", "\U00010000-\U0010ffff", "ý-Ā", "ߺ-ࠅ"
    for text in ranges:
        low, _, high = text
        net = character_net(gv.regex(f"[{text}]"))
        assert [part for _, part, _ in net.edges] == [Chars(((ord(low), ord(high)),)), EMPTY]


def test_characters_that_do_not_lie_side_by_side_are_kept_apart():
    rows = ((0xE1, 0xE2, 1),), ((0x80, 0xBF, 2),), ((0x80, 0xBE, 3),), ()
    net = character_net(DFA(rows, frozenset({3})))
    starts = range(0x1000, 0x3000, 0x40)
    edge = net.edges[0][1]
    assert edge.ranges == tuple((code, code + 0x3E) for code in starts)


@pytest.mark.parametrize(
    "rows",
    [
        (((0x80, 0x80, 1),), ()),  # begins inside a character
        (((0xED, 0xED, 1),), ((0xA0, 0xA0, 2),), ((0x80, 0x80, 3),), ()),  # a surrogate
        (((0xE0, 0xE0, 1),), ((0x80, 0x80, 2),), ((0x80, 0x80, 3),), ()),  # longer than it must be
    ],
)
def test_a_machine_whose_texts_are_not_all_utf8_is_refused(rows):
    with pytest.raises(PatternError, match="expected a machine whose texts are all UTF-8"):
        character_net(DFA(rows, frozenset({len(rows) - 1})))


def test_what_is_no_text_at_all_and_what_is_no_machine_of_ours():
    assert character_net(DFA(((),), frozenset())) == NOTHING
    with pytest.raises(SettingError, match="machine: saw"):
        machine_grammar(gv.earley('root ::= "a"'))


def test_lark_reads_one_character_a_lexeme_and_no_sign_twice():
    text = r'root ::= "ab" | ([a-c/]?){2} x-y*' + "\n" + r'x-y ::= "\"" | "" | "z"{0}'
    assert show_lark(parse_grammar(text)).splitlines() == [
        "start: r0",
        r"r0: /[a]/ /[b]/ | (/[\x{2F}a-c]/?){2} r1*",
        r'r1: /[\x{22}]/ | "" | ""',
    ]


def test_lark_shows_the_signs_around_the_name_of_a_special_token():
    lines = show_lark(gv.turn(style="mistral").grammar).splitlines()
    assert lines[2].startswith(r"r1: /[⟪]/ /[\x{5B}]/ /[T]/")
    assert show_lark(gv.grammar("root ::= !<a>").grammar).count("⟫")


def test_a_large_net_has_a_rule_for_every_place():
    grammar = machine_grammar(gv.regex("a{301}b"))
    lines = show_gbnf(Grammar((*grammar.rules, Rule("root-0-0", literal("x"))))).splitlines()
    assert lines[1].split() == ["root-1-0", "::=", '"a"', "root-1-1"]
    assert lines[-2].split() == ["root-1-303", "::=", '""']
    lines = show_lark(grammar).splitlines()
    assert lines[:3] == ["start: r0", "r0: r0_0_0", "r0_0_0: /[a]/ r0_0_1"]
    assert lines[-1] == 'r0_0_303: ""'
