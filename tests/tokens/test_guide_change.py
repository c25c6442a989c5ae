"""Two guides compared: where the new one first says no, and what the edit makes legal and illegal there."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import guidedviz as gv
from guidedviz.tokens.guide_change import compare_guides

VOCABULARY = gv.Vocabulary([b"a", b"b", b"ab", b"ba", b"<s>", b"</s>"], eos={5}, special={4})
PATTERNS = ["a*", "b*", "(ab)*", "a(a|b)*", "(a|b)*b", "a?b?a?", "(a|b){3}", "ba*"]


def guided(pattern: str):
    return gv.guide(gv.regex(pattern), VOCABULARY)


def test_the_first_token_that_the_new_guide_rejects_is_found_with_the_reason():
    found = compare_guides(guided("(a|b)*"), guided("aa*b"), [0, 0, 1, 0, 1])
    assert found.position == 3
    assert found.rejected.token == 0
    assert found.rejected.reason == "a cannot come: expected the end"
    assert (found.became_legal, found.became_illegal) == ((), (0, 1, 2, 3)), "after aab the text can only end"


def test_where_no_token_is_rejected_the_next_one_is_compared():
    found = compare_guides(guided("a*"), guided("aab"), [0, 0])
    assert (found.position, found.rejected) == (2, None)
    assert (found.became_legal, found.became_illegal) == ((1,), (0, 5))


def test_no_old_guide_allows_all_text():
    assert np.flatnonzero(VOCABULARY.text_mask).tolist() == [0, 1, 2, 3, 5], "special tokens are no text"
    assert compare_guides(None, guided("a*"), []).became_illegal == (1, 2, 3)


def test_guides_of_two_vocabularies_cannot_be_compared():
    other = gv.guide(gv.regex("a*"), gv.Vocabulary([b"a"]))
    with pytest.raises(gv.SettingError, match="same vocabulary"):
        compare_guides(guided("a*"), other, [])


@given(st.sampled_from(PATTERNS), st.sampled_from(PATTERNS), st.lists(st.sampled_from([0, 1, 2, 3]), max_size=5))
def test_it_agrees_with_the_machines_byte_by_byte(old, new, tokens):
    found = compare_guides(guided(old), guided(new), tokens)
    pieces = [VOCABULARY.pieces[token] for token in tokens]
    lives = [gv.regex(new).accepts_prefix(b"".join(pieces[: n + 1])) for n in range(len(tokens))]
    assert found.position == (lives.index(False) if False in lives else len(tokens))
    assert (found.rejected is None) == all(lives)
    here = b"".join(pieces[: found.position])
    for token in (0, 1, 2, 3):
        before, after = (gv.regex(p).accepts_prefix(here + VOCABULARY.pieces[token]) for p in (old, new))
        assert (token in found.became_legal, token in found.became_illegal) == (after > before, before > after)
