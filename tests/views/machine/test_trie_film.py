"""The walk as a film shows what the walk does, node by node."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.views.machine.films import sketch_trie

TOY = gv.Vocabulary([b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x", b"</s>"], eos={9})
DECIMAL = gv.regex(r"[0-9]+(\.[0-9]+)?")


def test_where_the_machine_cannot_go_on_everything_below_is_cut_at_once():
    frames = gv.views.trie_frames(DECIMAL, TOY, state=2)
    assert frames[1].words == '"." cannot be read in q2: the subtree is cut, ., .. and .5 are illegal.'
    assert {frames[1].names[node] for node in frames[1].groups[0][1]} == {".", "..", ".5"}
    assert frames[1].lit == {0}
    assert len(frames) == 10, "the machine is never asked about what is below a cut, nor about 7.5"


def test_all_frames_have_one_layout():
    frames = gv.views.trie_frames(DECIMAL, TOY)
    assert len({(frame.names, frame.arrows, frame.initial, frame.accepting) for frame in frames}) == 1


@given(
    st.lists(st.binary(min_size=1, max_size=3), min_size=1, max_size=9), st.sampled_from(["a+", "[^a]", "(ab|b)*", ""])
)
def test_at_the_end_the_lit_rings_are_the_mask(pieces, text):
    vocabulary = gv.Vocabulary(pieces)
    machine = gv.regex(text)
    last = gv.views.trie_frames(machine, vocabulary)[-1]
    cut = {node for _, nodes in last.groups for node in nodes}
    assert cut | last.lit == set(range(len(last.names)))
    assert not cut & last.lit
    legal = {vocabulary.pieces[token] for token in np.flatnonzero(gv.guide(machine, vocabulary).mask(machine.initial))}
    trie = vocabulary.trie
    lit = {piece for token, piece in enumerate(pieces) if int(trie.node_of[token]) in last.lit & last.accepting}
    assert lit == legal


def test_a_machine_without_states_of_its_own_numbers_is_fine():
    class Twice:
        """Two bytes, any two that are alike."""

        initial = ""

        def step(self, state, byte):
            return state + chr(byte) if len(state) < 2 and chr(byte) in (state or chr(byte)) else None

        def is_accepting(self, state):
            return len(state) == 2

    words = [frame.words for frame in gv.views.trie_frames(Twice(), gv.Vocabulary([b"aa", b"ab"]))]
    assert words[-1] == '"b" cannot be read in a: ab is illegal.'


def test_a_piece_that_looks_like_markup_or_a_line_break_stays_a_name():
    vocabulary = gv.Vocabulary([b"\n", b"<b>"])
    names = sketch_trie(vocabulary.trie, vocabulary).names
    assert names == ("start", "↵", "<", "<b", "<b>")


def test_a_trie_nobody_could_follow_is_refused():
    vocabulary = gv.Vocabulary([bytes([byte]) for byte in range(256)])
    with pytest.raises(gv.SettingError, match=re.escape("257 nodes, expected at most 80")):
        gv.views.trie_frames(DECIMAL, vocabulary)
