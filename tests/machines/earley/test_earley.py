"""The Earley machine: every grammar, in columns that can be read, and an answer in time where a grammar is hostile."""

import pytest

from guidedviz.errors import PatternError, SettingError
from guidedviz.machines import limits
from guidedviz.machines.earley.earley import build_earley, earley
from guidedviz.machines.earley.productions import build_productions
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.syntax import Call, Concat, Either, Net, literal
from tests.common import assert_reads, in_time


def test_a_grammar_a_machine_or_a_text_is_taken():
    grammar = parse_grammar('s ::= "a" s | "b"', root="s")
    for same in (grammar, PDA(grammar)):
        assert earley(same).accepts(b"aab")
    assert earley('root ::= "a" root | "b"').accepts(b"aab")
    with pytest.raises(SettingError, match="earley: saw int, expected a grammar"):
        earley(5)


def test_states_are_values_and_met_once():
    machine = earley('root ::= "[" (item ("," item)*)? "]"\nitem ::= [0-9]+ | root')
    state = read(machine, b"[1,2")
    following = machine.step(state, ord("3"))
    assert machine.step(state, ord("3")) is following
    assert machine.step(state, ord("x")) is None
    flat = read(machine, b"[12,34,56")
    assert read(machine, b"[12,34,56,7890") is flat, "what lies behind in a flat list is forgotten"
    assert read(machine, b"[[1,2") is not state, "what is open is not"


def test_a_chart_has_a_column_for_every_byte_that_could_be_read():
    machine = earley('root ::= list ";"\nlist ::= list "," e | e\ne ::= "1"?')
    columns = machine.chart(b",1")
    assert [column.number for column in columns] == [0, 1, 2]
    assert [column.number for column in machine.chart(b",x;")] == [0, 1]
    finished = [item.row.phrase for item in columns[2].items if item.after is None]
    assert [phrase.rule for phrase in finished if phrase.part is None] == ["e", "list"]


@pytest.mark.parametrize("count", [8, 9, 129])
def test_counts_by_halves(count):
    exact = earley(f"root ::= x{{{count}}}\nx ::= [ab]")
    most = earley(f"root ::= x{{0,{count}}}\nx ::= [ab]")
    for size in (0, 1, count // 2, count - 1, count, count + 1):
        text = (b"ab" * count)[:size]
        assert exact.accepts(text) == (size == count)
        assert most.accepts(text) == (size <= count)


def test_a_count_of_a_million_is_few_rows():
    assert len(build_productions(parse_grammar('root ::= "a"{1000000}'))) < 60
    assert len(build_productions(parse_grammar('root ::= "a"{0,1000000}'))) < 100
    assert earley('root ::= "a"{1000000}').accepts_prefix(b"a" * 2000)


@pytest.mark.slow
@pytest.mark.parametrize("text", ['root ::= s\ns ::= s s s | s s | "a" | ""', 'root ::= ((("a"?){1000}){1000}){1000}'])
def test_too_many_ways_end_in_an_error_soon(text):
    machine = earley(text)
    with in_time(8):
        assert machine.accepts_prefix(b"aaaaa")
        said = r"over 1,000 rows or 10,000 moves at one byte, most of them for (s|root)"
        with pytest.raises(PatternError, match=said):
            machine.accepts_prefix(b"a" * 3000)


def test_a_long_flat_text_is_read():
    machine = earley(r'root ::= "[" text ("," text)* "]"' + "\n" + r'text ::= "\"" [^"]* "\""')
    texts = ['"é🙂 and so on"'.encode()] * 5_000
    data = b"[" + b",".join(texts) + b"]"
    assert machine.accepts(data)
    assert not machine.accepts(data[:-1])


def test_a_depth_without_bound_is_an_error(monkeypatch):
    monkeypatch.setattr(limits, "CHART_COLUMNS", 1000)
    monkeypatch.setattr(limits, "EARLEY_STATES", 50)  # those that were forgotten are met again
    machine = earley('root ::= "(" root ")" | "x"')
    assert machine.accepts(b"(" * 400 + b"x" + b")" * 400)
    for take in (machine.accepts_prefix, machine.chart):
        with pytest.raises(PatternError, match="over 1,000 columns, expected a shorter text"):
            take(b"(" * 1100)


def test_a_net_is_read_along_its_edges():
    item = Either((literal("ab"), Call("root")))
    net = Net(3, ((0, literal("("), 1), (1, item, 2), (2, literal(","), 1), (0, literal("!"), 2)))
    grammar = Grammar((Rule("root", Concat((net, literal(")")))),))
    for machine in (build_earley(grammar), PDA(grammar)):
        assert_reads(machine, ["(ab)", "(ab,ab)", "!)", "(!))", "(ab,!),ab)"], ["()", "(ab,)", "ab", ")", "(ab"])
