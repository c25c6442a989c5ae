"""Context expansion in a picture: a token that no stack reads is rejected, and the picture says at which byte."""

import guidedviz as gv
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.tokens.verdicts import DEPENDENT
from guidedviz.views.machine.highlight import state_after
from guidedviz.views.stack.expansion import expand_token
from tests.views.stack.test_token_cut import BOXES

TEXT = '["a'


def test_many_bytes_that_may_come_are_one_chip():
    assert 'after the text may come " a-z, not A' in gv.views.draw_expansion(BOXES, TEXT, ["A"]).text


def test_the_verdicts_are_those_of_the_tables(clerk):
    vocabulary = clerk.vocabulary
    split = gv.build_split(BOXES, vocabulary, inline=False)
    state = state_after(BOXES, TEXT)
    verdicts = split.node(*BOXES.places(state)).verdicts
    unknown = UnknownBottom(BOXES)
    start = unknown.cut_to(state, 0)
    pieces = [vocabulary.pieces[token] for token in vocabulary.text_ids]
    said = [expand_token(unknown, start, piece).verdict for piece in pieces]
    names = {0: "rejected", 1: "accepted", DEPENDENT: "context-dependent"}
    expected = [names[int(verdicts[token])] for token in vocabulary.text_ids]
    assert said == expected
