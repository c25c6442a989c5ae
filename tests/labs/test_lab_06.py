"""What lab 06 says in prose is what its outputs show; what none of them shows is measured here."""

import json

import pytest

import guidedviz as gv
from tests.labs.solved import read_solved

LAB = read_solved("06_pda")


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("One time in three", "Three seeds, three", "3 opened, 4 closed"),
        ("One time in three", "Three seeds, three", "4 opened, 2 closed"),
        ("It doubles", "With one kind", "6 deep one kind 7 two kinds 127, 7 deep one kind 8 two kinds 255"),
        ("Two million states", "two ==", "at 20 levels: 2,097,151 states"),
        ("The third lacks a blank", "How many of these six", '{"key":{"b":1}}          complete: False  a beginning: False'),
        ("Fifteen nodes, whatever the depth", "`deep` is", "PDA(4 rules, 15 nodes) True False False"),
        ("*First of 2*, say the table and the picture", "draw_stack(machine", "depth 3 · first of 2"),
        ("*First of 2*, say the table and the picture", "every=True", "number object object · first of 2"),
        ("Seven steps, with the end", "draw_stack_table(gv.json()", "6     }        pop object                 empty"),
        ("the object comes in place of the member", "draw_stack_table(gv.json()", "object in place of member"),
        ("With seed 1 the free model opened three braces and closed four", "Three seeds, three", "3 opened, 4 closed"),
        ("an invented column", "The third question asks", "error: no such column: price"),
        ("it is nonsense", "known = gv.guide", "WHERE title < 20;      0 rows   smallest Z 0.00"),
        ("the 255 states of section 1, in eight rules", "print(capped(7)", "PDA(8 rules, 36 nodes)"),
        ("the 255 states of section 1", "print(capped(7)", "as a flat machine DFA(255 states"),
        ("A colon, the shortest value", "gv.machines.bytes_to_end", "6 bytes to the end"),
        ("Two flat machines, whose masks an index holds", "picks the cheapest machine", "tree    PDA("),
    ],
)  # fmt: skip
def test_what_the_prose_says_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in LAB.output_of(words)


def test_the_ways_out_end_and_the_deadlocks_do_not():
    assert LAB.output_of("brackets, max_tokens=20").endswith("max_tokens\n")
    assert LAB.output_of("guide, seed=2, max_tokens=60").endswith("max_tokens\n")
    assert "tokens, eos" in LAB.output_of("What will the opener do")
    assert "tokens, eos" in LAB.output_of("gv.within(guide, 60)")


def test_a_capped_grammar_takes_the_texts_of_the_flat_machine():
    rules = "\n".join(f'level{n} ::= ("(" level{n + 1} ")" | "[" level{n + 1} "]")*' for n in range(2))
    capped = gv.grammar(rules + '\nlevel2 ::= ""', root="level0")
    flat = gv.regex(r"(\((\(\)|\[\])*\)|\[(\(\)|\[\])*\])*")
    texts = [b""]
    for text in texts:
        assert capped.accepts(text) == flat.accepts(text)
        texts += [text + bytes([byte]) for byte in b"()[]" if len(text) < 6]


def test_the_json_that_the_lab_shows_says_what_json_loads_says():
    lines = [line for line in LAB.output_of("show(gv.json()").splitlines() if " complete: " in line]
    assert len(lines) == 9
    for line in lines:
        text, _, said = line.partition(" complete: ")
        try:
            json.loads(text, parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError):
            assert said.startswith("False"), line
        else:
            assert said.startswith("True"), line
