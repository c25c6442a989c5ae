"""The flat trie shows the loop: what it asks, and which places it jumps over."""

import guidedviz as gv
from guidedviz.views.vocabulary.walks import draw_flat_trie, flat_walk

DECIMAL = gv.regex(r"\d+(\.\d+)?")
TOY = [b"1", b"12", b"125", b"12.", b"1.5", b".", b".5", b"a", b"and", b"ant"]


def test_what_is_left_out_lies_below_a_refused_node():
    nodes = flat_walk(DECIMAL, TOY, 2)
    refused = [one.prefix for one in nodes if one.look == "refused"]
    for one in nodes:
        assert (one.look == "left out") == any(one.prefix != bad and one.prefix.startswith(bad) for bad in refused)


def test_the_legal_tokens_are_those_of_the_guide():
    vocabulary = gv.Vocabulary(TOY)
    mask = gv.guide(DECIMAL, vocabulary).mask(2)
    legal = {vocabulary.pieces[token] for token in mask.nonzero()[0]}
    walked = flat_walk(DECIMAL, TOY, 2)
    read = [one for one in walked if one.look == "read"]
    assert {one.prefix for one in read if one.ends} == legal


def test_every_jump_has_an_arc_and_the_words_say_where_it_ends():
    drawn = draw_flat_trie(DECIMAL, TOY, 2)
    assert drawn.text.count("jump to") == drawn.svg.count("h8l-4,8z") == 3
    assert "8 a size 4 refused, jump to 12" in drawn.text
