"""The search for a difference against products of finite machines, and on machines that have a stack."""

import pytest

import guidedviz as gv
from guidedviz.errors import PatternError
from guidedviz.machines import limits
from guidedviz.machines.pushdown.pda import JSON_GBNF
from guidedviz.machines.regular.compare import compare_machines, shortest_difference
from tests.common import in_time
from tests.strategies import Balanced

WRONG_JSON = [  # what is changed in the grammar of JSON, and the shortest text that tells
    (('(ws "," ws value)*', '(ws ","? ws value)*'), b"[00]"),
    (('"0" | [1-9] [0-9]*', "[0-9]+"), b"00"),
    (('"true" | ', ""), b"true"),
    (("\\x00-\\x1F", "\\x00-\\x1E"), b'"\x1f"'),
]


@pytest.mark.parametrize(("change", "text"), WRONG_JSON, ids=[text.decode() for _, text in WRONG_JSON])
def test_the_shortest_wrong_text_of_a_grammar_with_one_fault(change, text):
    assert JSON_GBNF.count(change[0]) >= 1
    wrong = gv.grammar(JSON_GBNF.replace(*change, 1))
    with in_time(10):
        found = compare_machines(wrong, gv.json())
    assert (found.text, found.first) == (text, wrong.accepts(text))


def test_a_grammar_and_a_regex_are_compared():
    flat = gv.grammar('root ::= digit+ ("." digit+)?\ndigit ::= [0-9]')
    assert str(compare_machines(flat, gv.regex(r"[0-9]+(\.[0-9]+)?"))) == "both accept the same texts"
    assert str(compare_machines(flat, gv.regex(r"[0-9]+(\.[0-9]*)?"))) == "only the second accepts 0."
    assert shortest_difference(flat, gv.regex(r"[0-9]+(\.[0-9]+)?")) is None


def test_a_search_that_does_not_end_says_how_far_it_came(monkeypatch):
    one = gv.grammar('root ::= "(" root ")" | "x"')
    other = gv.grammar('root ::= "(" rest | "x"\nrest ::= root ")"')
    found = compare_machines(one, other, most=1000)
    assert (found.text, found.whole) == (None, False)
    assert found.pairs <= 1000
    assert found.length > 100
    monkeypatch.setattr(limits, "DIFFERENCE_PAIRS", 1000)
    with pytest.raises(PatternError, match=r"no difference in texts of up to [0-9,]+ bytes: [0-9,]+ pairs of states"):
        shortest_difference(one, other)


def test_a_machine_of_ones_own_is_compared_byte_by_byte():
    assert compare_machines(Balanced(), gv.grammar('root ::= ("(" root ")")?'), most=5000).text == b"()()"


@pytest.mark.parametrize(
    "machine", [gv.json(), gv.earley(JSON_GBNF), gv.regex('["-~]+é|"{2}')], ids=["pda", "earley", "dfa"]
)
def test_bytes_of_one_kind_move_every_state_alike(machine):
    state = machine.initial
    for letter in b'{"a": [1, "x"]}':
        moves = {(kind, machine.step(state, byte)) for byte, kind in enumerate(machine.kinds)}
        assert len(moves) == len(set(machine.kinds))
        state = machine.step(state, letter)
        if state is None:
            break
