"""All spellings of a text, against a child's way: try every token at every byte."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.tokens.jump import build_forced_lattice, build_lattice
from guidedviz.tokens.vocabulary import longest_tokens
from tests.strategies import LETTERS, vocabularies


def all_spellings(vocabulary, text):
    """Every list of text tokens whose bytes are the text."""
    if not text:
        return [()]
    fitting = [t for t in vocabulary.text_ids if text.startswith(vocabulary.pieces[t])]
    return [(t, *rest) for t in fitting for rest in all_spellings(vocabulary, text[len(vocabulary.pieces[t]) :])]


def walk(lattice, at=0):
    """Every spelling that the lattice holds."""
    if at == len(lattice.run):
        return [()]
    pieces = lattice.vocabulary.pieces
    return [(t, *rest) for t in lattice.fits[at] for rest in walk(lattice, at + len(pieces[t]))]


@given(vocabularies(), st.text(st.sampled_from(LETTERS), max_size=6))
def test_the_lattice_holds_each_spelling_once(vocabulary, text):
    lattice = build_lattice(vocabulary, text)
    expected = all_spellings(vocabulary, text.encode())
    assert sorted(walk(lattice)) == sorted(expected)
    assert lattice.count == len(expected)
    assert lattice.count_beyond == 0


@given(
    vocabularies(), st.text(st.sampled_from(LETTERS), min_size=1, max_size=5), st.sampled_from(["", "?", "a?", ".*"])
)
def test_what_goes_beyond_a_forced_run_is_what_the_guide_allows(vocabulary, text, tail):
    guide = gv.guide(gv.regex(f"{text}{tail}!"), vocabulary)
    run = guide.forced(guide.initial)
    assume(run)
    lattice = build_forced_lattice(guide, guide.initial)
    inside, beyond = legal_walks(guide, guide.initial, len(run))
    assert sorted(walk(lattice)) == sorted(inside)
    assert lattice.count == len(inside)
    assert lattice.count_beyond == len(beyond)


def legal_walks(guide, state, left):
    """Every way through the masks until so many bytes are spelled: those that end there, those that go beyond."""
    inside, beyond = [], []
    for token in np.flatnonzero(guide.mask(state)).tolist():
        size = len(guide.vocabulary.pieces[token])
        if size < left:
            longer = legal_walks(guide, guide.advance(state, token), left - size)
            for found, more in zip((inside, beyond), longer, strict=True):
                found += [(token, *rest) for rest in more]
        else:
            (inside if size == left else beyond).append((token,))
    return inside, beyond


def test_thirty_bytes_have_more_spellings_than_anyone_would_list():
    vocabulary = gv.Vocabulary([b"a" * size for size in range(1, 31)])
    lattice = build_lattice(vocabulary, b"a" * 30)
    assert lattice.count == 2**29
    assert sum(map(len, lattice.fits)) == 30 * 31 / 2


def test_a_long_run_is_counted_at_once():
    lattice = build_lattice(gv.Vocabulary([b"a", b"aa"]), b"a" * 2_000)
    assert len(str(lattice.count)) == 418  # a Fibonacci number


def test_ids_with_the_same_bytes_are_spellings_of_their_own():
    assert build_lattice(gv.Vocabulary([b"a", b"a"]), b"aa").count == 4


def test_a_byte_that_no_token_has_leaves_no_spelling():
    assert build_lattice(gv.Vocabulary([b"a"]), b"ab").count == 0


def test_ends_and_special_tokens_spell_nothing():
    vocabulary = gv.Vocabulary([b"a", b"</s>", b"<b>"], eos={1}, special={2})
    assert build_lattice(vocabulary, b"</s>").count == build_lattice(vocabulary, b"<b>").count == 0


def test_no_spelling_has_a_place_where_none_can_get_to():
    guide = gv.guide(gv.regex("abc[xy]"), gv.Vocabulary([b"ab", b"bc", b"c", b"cx", b"bcx", b"y"]))
    lattice = build_forced_lattice(guide, guide.initial)
    assert lattice.fits == ((0,), (), (2,))
    assert lattice.beyond == ((), (), (3,))


@pytest.mark.parametrize("text", ['{"name": "', "order"])
def test_the_longest_spelling_is_one_of_them(text):
    vocabulary = gv.Vocabulary.llama3()
    longest = tuple(longest_tokens(vocabulary, text.encode()))
    assert longest in walk(build_lattice(vocabulary, text))


def test_llama3_spells_order_in_fourteen_ways_and_one_token_goes_beyond():
    vocabulary = gv.Vocabulary.llama3()
    guide = gv.guide(gv.regex("orderId|orderName"), vocabulary, engine="trie")  # the example of llguidance's documents
    lattice = build_forced_lattice(guide, guide.initial)
    assert lattice.run == b"order"
    assert lattice.count == 14
    assert [vocabulary.pieces[token] for token in sum(lattice.beyond, ())] == [b"orderId"]
