"""What lab 09 says in prose is what its outputs show; what none of them shows is measured here."""

import re
from collections import namedtuple
from itertools import pairwise

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.bench.museum import VOCABULARIES, exhibits
from tests.labs.solved import read_solved

LAB = read_solved("09_walk_the_trie")
output_of = LAB.output_of
ITEMS = str([6] + [7] * 10 + [3] + [4] * 9 + [3])
TOY, LARGE, INSIDE = "Ten pieces have 22", "How often will the jump ask on", "does the jump ask this time"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("The same three tokens, with fewer than half", TOY, "every_token            3 legal, asked        16"),
        ("The same three tokens, with fewer than half", TOY, "share_beginnings       3 legal, asked         7"),
        ("128,000 pieces have 274,520 nodes", "large = flatten", "128,000 pieces, 831,311 bytes, 274,520 nodes"),
        ("The last two ask as often", LARGE, "share_beginnings   1,110 legal, asked     1,356 times"),
        ("and the jump 1,356 times", LARGE, "jump               1,110 legal, asked     1,356 times"),
        ("99.5 % of the trie is not even looked at", 'decimal, llama, "3."', "(0.49%)"),
        ("4,221 instead of 267,888", INSIDE, "jump             123,259 legal, asked   267,888 times"),
        ("the 122,892 tokens of the slice", "taken = ", "122,892 tokens in the slice"),
        ("4,221 instead of", "How many questions are left", "jump                 367 legal, asked     4,221 times"),
        ("and 367 others are 123,259", INSIDE, "123,259 legal"),
        ("one has to be sure", "whole(machine, state_after(", "any text   True\nat most 3  False"),
        ("The longest bar is 3,629 of 274,520 nodes, where a value", "gv.views.draw_walks(", 'before ␣": 3,629 asked'),
        ("What is legal there?", "numbers, blanks = ", "1,928 legal, of these 1,000 only digits and 423 only blanks"),
        ("each bracket after the first costs one more row of four", "gv.views.draw_shared_stacks(", "4 tops, 14 frames"),
        ("Inside a string the walk asks even less than our 4,221", "gv.views.draw_walks(", "122,892 tokens by a slice"),
        ("It doubles with each bracket", "How many stacks are there after ten", "10 opened 1,024 stacks"),
        ("Seven, at every depth, where the list had 1,024", "Ten brackets open, an", "yours        " + ITEMS),
        ("Seven, at every depth", "Ten brackets open, an", "guidedviz's  " + ITEMS),
        ("Its twin `open` is still waiting", "gv.views.draw_chart(", '◆ complete  open → "(" root • ")"  from 0'),
        ("completes what wanted it, in column 0", "gv.views.draw_chart(", "◆ complete  root → half •  from 0"),
        ("Fewer columns, and far fewer items in each", "By bytes, the charts", "bytes:  68 columns,  1,008 items"),
        ("Fewer columns, and far fewer items in each", "By bytes, the charts", "words:  18 columns,     93 items"),
        ("at how many of its 274,520 nodes can the string end", "string = re.compile", "at 189 nodes"),
        ("they agreed at every place but one: after `((x`", "gv.draw_comparison", "xgrammar: differs in 1 of 4"),
        ("outlines-core cannot be asked", "gv.draw_comparison", "outlines-core cannot take the constraint"),
        ("and what was seen is kept", "gv.views.draw_museum()", "RECORDED 20"),
    ],
)  # fmt: skip
def test_what_the_prose_says_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in output_of(words)


def defined(*names):
    """What cells of the lab define."""
    found = {"gv": gv, "namedtuple": namedtuple}
    for cell in LAB.cells:
        if cell.cell_type == "code" and any(
            re.search(rf"^(def )?{name}\b", cell.source, re.MULTILINE) for name in names
        ):
            exec("\n".join(line for line in cell.source.splitlines() if not line.startswith("gv.")), found)
    return found


@pytest.mark.parametrize(("machine", "text"), [(gv.regex(r"\d+(\.\d+)?"), b"3."), (gv.json(), b'{"a')])
def test_all_four_steps_find_the_mask_of_brute_force(machine, text):
    lab = defined("every_token", "alike", "share_beginnings", "flatten", "sizes", "jump", "whole", "state_after")
    pieces = [piece for piece in gv.Vocabulary.llama3().pieces[:128_000:40] if piece]
    state = lab["state_after"](machine, text)
    legal = {token for token, piece in enumerate(pieces) if machine.accepts_prefix(text + piece)}
    assert legal
    assert lab["every_token"](machine, state, pieces) == lab["share_beginnings"](machine, state, pieces) == legal
    assert lab["jump"](machine, state, lab["flatten"](pieces)) == legal
    part = gv.regex(r'[^"\\\x00-\x1f\x7f]*')
    taken = lab["share_beginnings"](part, part.initial, pieces)
    assert lab["whole"](machine, state, part) == (taken <= legal)
    if taken <= legal:
        rest = [token for token in range(len(pieces)) if token not in taken]
        others = lab["jump"](machine, state, lab["flatten"]([pieces[token] for token in rest]))
        assert taken | {rest[token] for token in others} == legal


def test_the_steps_ask_less_and_find_as_many():
    for cell in (LARGE, INSIDE):
        lines = [line for line in output_of(cell).splitlines() if line.endswith(" times") and "legal" in line]
        asked = [int(line.split()[-2].replace(",", "")) for line in lines]
        assert asked == sorted(asked, reverse=True)
        assert len({line.split()[1] for line in lines}) == 1


def test_no_walk_of_the_text_asks_about_more_nodes():
    asked = [
        int(count.replace(",", "")) for count in re.findall(r": ([\d,]+) asked", output_of("gv.views.draw_walks("))
    ]
    assert len(asked) == 23
    assert max(asked) == 3629
    assert sum(count < 400 for count in asked) == 13, (
        "in a string, where the library asks about fewer than the lab does"
    )


def test_shared_stacks_take_four_more_frames_a_bracket():
    machine = gv.grammar('root ::= open | half | "x"\nopen ::= "(" root ")"\nhalf ::= "(" root "]"')
    frames, state = [], machine.initial
    for _ in range(8):
        state = machine.step(state, ord("("))
        frames.append(len(machine.branches(state)))
    assert [after - before for before, after in pairwise(frames)] == [4] * 7


def test_the_same_texts_are_a_grammar_and_a_regex():
    lab = defined("sql", "same")
    assert gv.machines.compare_machines(lab["sql"], lab["same"], 3000).whole


def test_the_table_begins_higher_and_rises_more_slowly():
    lines = output_of("gv.views.draw_break_even(")
    cost = {
        name: (float(first), float(each))
        for name, first, each in re.findall(r"(\w+): (\S+) ms before .*?, (\S+) ms", lines)
    }
    for table, walk in (("split", "trie"), ("xgrammar", "llguidance")):
        assert cost[table][0] > cost[walk][0]
        assert cost[table][1] < cost[walk][1]
        assert f"{table} is cheaper than {walk} after" in lines


def test_the_lexer_answers_alone_at_all_other_nodes():
    """A flat machine for the rest of a string, walked over the trie: it ends at as many nodes, and stops there."""
    rest, trie = (
        gv.regex(r'([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"'),
        gv.Vocabulary.llama3().trie,
    )
    live = {0: rest.initial} | dict(gv.tokens.walk_steps(trie, rest, rest.initial))
    inside = [node for node, state in live.items() if not rest.is_accepting(state)]
    assert len(live) - len(inside) == 189
    asked = gv.tokens.lazy_walk(gv.json(), gv.Vocabulary.llama3(), '{"a', slices=False).asked
    assert asked - len(trie.children(np.array(inside))) == 438
    assert "and at the few nodes behind them that a walk still looks at" in LAB.prose


def test_the_museum_names_versions_and_has_no_fault_of_ours():
    said = output_of("gv.views.draw_museum()")
    for engine in ("xgrammar", "llguidance", "outlines-core"):
        assert re.search(rf"{engine} \d+\.\d+", said)
    assert "xgrammar 0.2.8, llguidance 1.9.1" in said, "as the prose says of the picture above it"
    assert "\nours:" not in said
    assert "\nnot known:" not in said
    for kind in ("forced only", "known fault", "lawful choice"):
        assert f"\n{kind}: " in said


def test_the_museum_has_two_vocabularies_and_twenty_constraints():
    assert (len(VOCABULARIES), len(exhibits())) == (2, 20)
    assert "on two vocabularies and twenty constraints" in LAB.prose
