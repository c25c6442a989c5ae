"""What lab 06 says in prose is what its outputs show; what none of them shows is measured here."""

import ast
import json
from itertools import product

import pytest

import guidedviz as gv
from guidedviz.machines.pushdown.pda import move_stack
from tests.labs.solved import read_solved

LAB = read_solved("06_pda")
PAGE = read_solved("deeper/palindromes")
PAIRS = """object ::= "{" string ": " value "}"
string ::= "\\"" [a-z]+ "\\""
value ::= object | number
number ::= [0-9]+"""


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("One of three", "three seeds", "3 opened, 4 closed"),
        ("One of three", "three seeds", "4 opened, 2 closed"),
        ("State q3 has no arrow for another opening", "def nested", "q3 ) → q2"),
        ("The number doubles", "With one kind", "6 deep one kind 7 two kinds 127, 7 deep one kind 8 two kinds 255"),
        ("2,097,151 states for 20 levels", "With one kind", "20 levels: 2,097,151"),
        ("The third has no blank", "These are six", '✗ {"key":{"b":1}} illegal at byte 7: expected ␣'),
        ("call the rule that begins at n7, and return to n2", "pushdown_moves(machine)", "n1 on \"  ('call', 7, 2)"),
        ("Five: n14 on top, then n12, n5, n12, n5", "How many nodes", "n14 number, n12 value, n5 object, n12 value"),
        ("Fifteen nodes are enough", "`deep` has", "PDA(4 rules, 15 nodes) True False False"),
        ("so your `step` can read it", "legal now", "914 moves; legal now: ['\\t', '\\n', '\\r', ' ', ',', '.', '0'"),
        ("so your `step` can read it", "agree on", "agree on 6 of 6 texts"),
    ],
)
def test_what_the_prose_says_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert " ".join(shown.split()) in " ".join(LAB.output_of(words).split())


def test_the_json_that_the_lab_shows_says_what_json_loads_says():
    cell = next(cell.source for cell in LAB.cells if "nine = " in cell.source)
    nine = ast.literal_eval(next(line[7:] for line in cell.splitlines() if line.startswith("nine = ")))
    told, *rows = LAB.output_of("nine texts are JSON").split("texts are complete")[1].strip().splitlines()[:9]
    for text, row in zip(nine, [told, *rows], strict=True):
        try:
            json.loads(text, parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError):
            assert row[0] in "✗…", row
        else:
            assert row[0] == "✓", row


def test_one_token_closes_a_string_and_four_objects():
    clerk = gv.load_model("clerk")
    cell = next(cell.source for cell in LAB.cells if "boxes = " in cell.source)
    boxes = ast.literal_eval(next(line[8:] for line in cell.splitlines() if line.startswith("boxes = ")))
    steps = gv.record(clerk, boxes, gv.guide(gv.json(), clerk.vocabulary), seed=1).steps
    assert any(step.piece.startswith(b'"}}}}') for step in steps)


def test_two_counters_do_not_see_a_wrong_pair():
    kinds = gv.grammar('root ::= ("(" root ")" | "[" root "]")*')
    text = "([)]"
    assert text.count("(") == text.count(")")
    assert text.count("[") == text.count("]")
    assert not kinds.accepts_prefix(text.encode())


def test_the_rule_of_the_puzzle_has_as_many_b_as_a():
    assert 'root ::= "a" root? "b"' in LAB.prose
    machine = gv.grammar('root ::= "a" root? "b"')
    for many, others in product(range(7), repeat=2):
        assert machine.accepts(b"a" * many + b"b" * others) == (many == others > 0)


def test_the_deepest_stack_of_a_thousand_objects():
    moves, ends = gv.machines.pushdown_moves(gv.grammar(PAIRS, root="object"))
    stack, deepest = [0], 0
    for byte in b'{"a": ' * 1000 + b"1" + b"}" * 1000:
        stack = move_stack(moves, ends, stack, byte)
        deepest = max(deepest, len(stack))
    assert (deepest, stack) == (2001, [6])


def test_the_stacks_of_palindromes():
    assert PAGE.output_of("After 40 letters").count("40 stacks, 40 frames") == 1
    assert "21 stacks, 40 frames" in PAGE.output_of("repeated 20 times")
    machine = gv.grammar('root ::= "a" root "a" | "b" root "b" | [ab]?')
    for length in range(1, 8):
        for letters in product(b"ab", repeat=length):
            state = machine.initial
            for byte in letters:
                state = machine.step(state, byte)
            assert sum(len(cells) for _, cells in state.tops) <= length
            assert len(machine.branches(state)) <= length
