"""What cannot be drawn is refused in words that say what was seen and what to try."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.views.vocabulary.atlas import search_tokens
from tests.common import constant_model
from tests.views.charts.test_lanes import RECORD
from tests.views.stack.test_token_cut import BEGUN, BOXES

PAIRS = gv.grammar('root ::= "(" root ")" | "[" root "]" | "x"')
SUMS = {"sum": [("sum", "+", "item"), ("item",)], "item": [("number",)]}
ARRAYS = 'root ::= "[" (item ("," item)*)? "]"\nitem ::= [0-9]+ | root'
VOCABULARY = gv.Vocabulary([b"a", b"x", b"</s>"], eos={2})
SPLIT = gv.build_split(PAIRS, VOCABULARY)
(LAST,) = PAIRS.nodes.byteless
TOY = constant_model([b"a", b"b"], [1, 2])
DRAFTED = gv.record(TOY, "a", draft=gv.ToyModel([b"a", b"b"], lambda tokens: np.zeros(2)), max_tokens=6)
MANY = constant_model([bytes([byte]) for byte in range(256)], [0.0] * 256)
REFUSED = [
    (r"text, byte 1: saw \}", lambda: gv.draw_stack_table(gv.json(), "[}")),
    (r"text, byte 1: saw \}", lambda: gv.views.draw_shared_stacks(gv.json(), "[}")),
    ("saw a state of another machine, expected a state of PDA", lambda: gv.draw_machine(gv.json(), PAIRS.initial)),
    ("saw a state of another machine", lambda: gv.views.draw_shared_stacks(gv.json(), PAIRS.initial)),
    ("draw_machine, at: saw int, expected a state or a text", lambda: gv.draw_machine(PAIRS, at=3)),
    ("draw_branches, texts: saw 0 texts, expected 1 to 24 texts", lambda: gv.views.draw_branches(PAIRS, [])),
    ("draw_branches, texts: saw 99 texts", lambda: gv.views.draw_branches(PAIRS, ["("] * 99)),
    ("byte 1: saw", lambda: gv.views.draw_branches(PAIRS, ["((", "(}"])),
    ("break_even, 'a': saw inf, expected a number", lambda: gv.views.draw_break_even({"a": (1, float("inf"))})),
    ("break_even, 'a': saw 3, expected", lambda: gv.views.draw_break_even({"a": 3})),
    ("draw_break_even, 'a': saw", lambda: gv.views.draw_break_even({"a": (1,)})),
    ("split: saw node", lambda: gv.draw_split(SPLIT, -1)),
    ("split: saw node", lambda: gv.draw_split(SPLIT, 99)),
    ("split: saw node", lambda: gv.draw_split(SPLIT, LAST)),
    ("split: saw MachineGuide, expected a split", lambda: gv.draw_split(gv.guide(gv.regex("a"), VOCABULARY), 0)),
    ("draw_split, at: saw str, expected a node", lambda: gv.draw_split(SPLIT, "()")),
    ("expected 'trie'", lambda: gv.views.draw_overlap(RECORD, "split")),
    ("saw 1,001 DFA states, expected 1 to 80 DFA states", lambda: gv.views.dfa_frames("a{1000}")),
    ("saw 1,001 DFA states, expected 1 to 80 DFA states", lambda: gv.views.minimal_frames("a{1000}")),
    ("a shorter text", lambda: gv.views.earley_frames(SUMS, "1+" * 100 + "1", {"number": "[0-9]+"})),
    ("a shorter text", lambda: gv.views.stack_frames(PAIRS, "(" * 200)),
    ("finite machine", lambda: gv.views.draw_token_table(gv.static_masks(VOCABULARY, [{0}]))),
    ("expected Python's re syntax", lambda: search_tokens(VOCABULARY, "/(/")),
    ("search", lambda: search_tokens(VOCABULARY, "0xZZ")),
    ("search", lambda: search_tokens(VOCABULARY, "0x4")),
    ("byte 1: saw x", lambda: gv.views.draw_derivation(ARRAYS, "[x")),
    ("the tree of [0-9,]+ bytes, expected one that fits", lambda: gv.views.draw_derivation(ARRAYS, "[" * 2000)),
    ("the tree of [0-9,]+ bytes", lambda: gv.views.draw_derivation(ARRAYS, "[" + "1," * 500)),
    ("same node as", lambda: gv.views.draw_cut(BOXES, ['["a', "["], '"')),
    ("draw_passes.*at least one run", lambda: gv.views.draw_passes({})),
    ("draw_passes.*saw int", lambda: gv.views.draw_passes({"a": 1})),
    ("draw_passes.*names with their traces", lambda: gv.views.draw_passes([])),
    ("a run with drafts", lambda: gv.views.draw_passes({"drafted": DRAFTED})),
    ("draw_machine: saw .*, expected a machine", lambda: gv.draw_machine("[0-9]+")),
    ("draw_machine: saw .*, expected a machine", lambda: gv.draw_machine(gv.earley('root ::= root "a" | "a"'))),
    ("draw_expansion", lambda: gv.views.draw_expansion(BOXES, BEGUN[0], [])),
    ("draw_expansion", lambda: gv.views.draw_expansion(BOXES, BEGUN[0], ["a"] * 13)),
    ("draw_expansion", lambda: gv.views.draw_expansion(BOXES, BEGUN[0], ["a" * 13])),
    ("draw_verdicts, texts", lambda: gv.views.draw_verdicts(PAIRS, "text")),
    ("draw_verdicts, texts", lambda: gv.views.draw_verdicts(PAIRS, ["a"] * 41)),
    ("draw_rings: saw 0 sets, expected 1 to 5 sets", lambda: gv.views.draw_rings([])),
    ("draw_rings: saw 6 sets, expected 1 to 5 sets", lambda: gv.views.draw_rings([("a", "b", "c")] * 6)),
    ("a run without a guide", lambda: gv.views.draw_positions(gv.record(TOY, "a", max_tokens=2))),
    ("256 tokens, expected a guided run over at most 100", lambda: gv.views.draw_positions(guided(MANY))),
    ("draw_flat_trie", lambda: gv.views.draw_flat_trie(gv.regex("a"), [])),
    ("draw_flat_trie", lambda: gv.views.draw_flat_trie(gv.regex("a"), [bytes([byte]) for byte in range(99)])),
    ("draw_loop: saw 'dfa', expected one of free, bias", lambda: gv.views.draw_loop("dfa")),
]  # fmt: skip


def guided(model):
    guide = gv.guide(gv.regex("ab"), model.vocabulary)
    return gv.record(model, "a", guide)


@pytest.mark.parametrize(("said", "draw"), REFUSED)
def test_what_cannot_be_drawn_is_refused(said, draw):
    with pytest.raises(gv.GuidedVizError, match=said):
        draw()
