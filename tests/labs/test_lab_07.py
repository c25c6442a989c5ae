"""What lab 07 says in prose is what its outputs show; what none of them shows is measured here."""

import pytest

import guidedviz as gv
from tests.labs.solved import read_solved

LAB = read_solved("07_grammars_at_work")
GRAMMARS = {
    "ambiguous": 'root ::= root "+" root | [0-9]',
    "left-recursive": 'root ::= root "+" [0-9] | [0-9]',
    "neither": 'root ::= [0-9] "+" root | [0-9]',
}


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("the column is invented", "The third question asks", "error: no such column: price"),
        ("the third compares the title with 20", "Now only the three", "WHERE title < 20;      0 rows"),
        ("1 in 61,000 at the pale one", "Now only the three", "␣title 1 in 61,000"),
        ("this tree is one of several", "draw_derivation", "? could be read in a second way"),
        ("Ten numbers have 4,862 trees", "How many has", "1 1 2 5 14 42 132 429 1430 4862"),
        ("16 times the items", "the same mask", "left-recursive  legal after 1+2: +   items for 41 numbers: 166"),
        ("2,666 items, not 166", "the same mask", "ambiguous       legal after 1+2: +   items for 41 numbers: 2,666"),
        ("It never reads a byte", "read_root", "RecursionError"),
        ("your two moves make a parser", "digits =", "1+2: True   1+2+: False   1++2: False   2+1+2: True"),
        ("is completed once", "In `spaced`", "parse: False | gv.earley: True"),
        ("Each mask held three legal tokens", "How does the run end", f"max_tokens | legal per step:{' 3' * 20}"),
        ("a colon, the shortest value", "bytes_to_end", "6 bytes to the end"),
        ("9 opening brackets, then 9", "gets a budget", "deepest 9 after 9 bytes"),
    ],
)  # fmt: skip
def test_what_the_prose_says_stands_in_an_output(said, words, shown):
    assert said in LAB.prose + LAB.output_of(words)
    assert shown in LAB.output_of(words)


def test_the_three_grammars_give_the_same_masks_at_every_place():
    machines = [gv.grammar(rules) for rules in GRAMMARS.values()]
    texts = [b""]
    for text in texts:
        assert len({(one.accepts_prefix(text), one.accepts(text)) for one in machines}) == 1
        if len(text) < 6:
            texts += [text + bytes([byte]) for byte in b"1+(" if machines[0].accepts_prefix(text)]


def test_forty_one_numbers_have_over_ten_to_the_21_trees():
    trees = [0, 1]
    for numbers in range(2, 42):
        trees.append(sum(trees[left] * trees[numbers - left] for left in range(1, numbers)))
    assert trees[4] == 5
    assert trees[41] > 10**21


def test_a_rule_of_plus_signs_opens_no_bracket():
    assert not gv.grammar(GRAMMARS["ambiguous"]).accepts_prefix(b"(")
    assert gv.grammar('root ::= "(" root ")" | "x"').accepts_prefix(b"(((")


def test_after_a_number_in_brackets_three_kinds_of_characters_are_legal():
    machine = gv.grammar('sum ::= sum "+" term | term\nterm ::= [0-9]+ | "(" sum ")"', root="sum")
    legal = bytes(byte for byte in range(256) if machine.accepts_prefix(b"(12" + bytes([byte])))
    assert legal == b")+0123456789"


def test_right_recursion_fills_a_chart_that_grows_with_the_square():
    machine = gv.earley(GRAMMARS["neither"])

    def items(numbers):
        return sum(len(column.items) for column in machine.chart(b"1" + b"+1" * (numbers - 1)))

    assert 3 < items(81) / items(41) < 4


def test_the_six_bytes_end_the_text():
    assert gv.json().accepts(b'{"box": [[1, {"lamp":0}]]}')


def test_column_0_of_the_film_has_five_items_and_one_of_them_reads_the_bracket():
    rules = {"sum": [("sum", "+", "term"), ("term",)], "term": [("number",), ("(", "sum", ")")]}
    columns = gv.views.earley_frames(rules, "(12)", {"number": "[0-9]+"})[-1].columns
    assert len(columns[0]) == 5
    assert sum(kind == "scan" for kind, _ in columns[1]) == 1
