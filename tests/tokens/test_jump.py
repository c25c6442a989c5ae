"""Jumps stay in the language and put nothing that could still merge; all spellings of a run are counted."""

from functools import lru_cache

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.decoding.spellings import count_spellings
from guidedviz.tokens.build_guide import guide as make_guide
from guidedviz.tokens.jump import SPELLING_WAYS, find_jump
from guidedviz.tokens.vocabulary import Vocabulary, longest_tokens
from tests.common import BYTES, bytes_of, legal_tokens, with_end
from tests.strategies import LETTERS, draw_walk, regexes, vocabularies

MORE = [b"ab", b"ba", b"aba", b"AB", b"1_", "é".encode(), b"a\xc3", b" a"]
SMALL = with_end([*BYTES, *MORE])


@lru_cache
def clerk():
    return gv.load_model("clerk")


def longest(v):
    return lambda text: list(longest_tokens(v, text.encode()))


def jump_from_start(guide, way):
    return find_jump(guide, longest(guide.vocabulary), [], [guide.initial], way)


def gv_literal(text):
    return '"' + text.replace("\n", "\\n") + '"'


def gv_choice(words):
    return f"({' | '.join(words)})"


VOCABULARIES = {
    "small": lambda: (SMALL, longest(SMALL)),
    "clerk": lambda: (clerk().vocabulary, clerk().encode),
}


_words = st.text(st.sampled_from(LETTERS), min_size=1, max_size=6).map(gv_literal)
_choices = st.lists(_words, min_size=2, max_size=3).map(gv_choice)
_parts = _words | _choices | st.just("s?")
_chains = st.lists(_parts, min_size=1, max_size=4).map(" ".join)
chains = st.builds("root ::= {}\ns ::= {}".format, _chains, _words)
"""Grammars of words one after the other, some of them with a choice: here a run is forced almost everywhere."""


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("way", SPELLING_WAYS)
@pytest.mark.quick(every=4)
@settings(max_examples=15)
@given(regexes | chains, st.data())
def test_every_way_stays_in_the_language_and_writes_the_forced_bytes(name, way, constraint, data):
    v, encode = VOCABULARIES[name]()
    try:
        machine = gv.grammar(constraint) if "::=" in constraint else gv.regex(constraint)
    except gv.GuidedVizError:
        return
    guide = make_guide(machine, v, "trie")
    walk = draw_walk(data, guide, steps=4)
    tokens = walk[-1][1]
    states = [state for state, _ in walk]
    if not v.eos.isdisjoint(tokens):
        return
    jump = find_jump(guide, encode, tokens, states, way)
    if jump is None:
        return
    at = len(tokens) - jump.back
    after = [*tokens[:at], *jump.tokens]
    state = states[at]
    for token in jump.tokens:
        state = guide.advance(state, token)
    before = bytes_of(v, tokens)
    written = bytes_of(v, after)
    assert written.startswith(before)
    within = (before + guide.forced(states[-1])).startswith(written) and written != before
    alone = jump.back == 0 and legal_tokens(guide, states[-1]) == list(jump.tokens)
    assert alone if way == "minimal" else within or alone
    assert jump.back == 0 or way == "canonical"


_runs = st.text(st.sampled_from(LETTERS), min_size=1, max_size=8)


@given(_runs, st.sampled_from(SPELLING_WAYS[:2]))
@example("1b", "longest")
@example("a", "longest")
@example("b1 ", "canonical")
def test_a_jump_ends_where_a_legal_token_begins_that_goes_beyond_the_run_and_not_before(text, way):
    """Brute force: of all tokens, does one that is legal begin with what is left of the run, and go on?"""
    grammar = gv.grammar(f'root ::= {gv_literal(text)} ("a" | "b" | "é" | "1")')
    guide = make_guide(grammar, SMALL, "trie")
    jump = jump_from_start(guide, way)
    left = guide.forced(guide.initial)
    state = guide.initial
    assert left == text.encode()
    for token in jump.tokens if jump else ():
        assert not could_merge(guide, state, left)
        assert left.startswith(SMALL.pieces[token])
        left = left[len(SMALL.pieces[token]) :]
        state = guide.advance(state, token)
    assert could_merge(guide, state, left) if left else jump


def could_merge(guide, state, left):
    mask = guide.mask(state)
    longer = [token for token, piece in enumerate(SMALL.pieces) if piece != left and piece.startswith(left)]
    return bool(mask[longer].any())


def test_the_rest_of_a_token_is_left_to_the_model_only_where_it_may_come():
    v = Vocabulary([b"o", b"order", b"orderId", b"Id", b"s", b" "])
    either = make_guide(gv.regex("order(Id|s)"), v)
    alone = make_guide(gv.regex("order(s| )"), v)
    assert jump_from_start(either, "longest") is None
    assert jump_from_start(alone, "longest").tokens == (1,)
    assert jump_from_start(either, "raw").tokens == (1,)
    lacking = make_guide(gv.regex("xa"), Vocabulary([b"a", b"b"]))
    assert jump_from_start(lacking, "longest") is None, "no token has an x"


def test_minimal_puts_only_what_is_the_one_legal_token_an_end_too():
    v = with_end([b"a", b"b", b"ab"])
    guide = make_guide(gv.regex("ab"), v)
    assert jump_from_start(guide, "minimal") is None  # a or ab
    states = [guide.initial]
    for token, following in ((0, 1), (1, 3)):
        states.append(guide.advance(states[-1], token))
        assert find_jump(guide, longest(v), [0, 1][: len(states) - 1], states, "minimal").tokens == (following,)


def test_what_the_model_cut_otherwise_is_taken_back():
    v = Vocabulary([b"n", b"a", b"m", b"e", b"na", b"me", b"name", b"!", b"?"])
    guide = make_guide(gv.regex("name[!?]"), v)
    states = [guide.initial, guide.advance(guide.initial, 4)]
    jump = find_jump(guide, longest(v), [4], states, "canonical")
    assert (jump.back, jump.tokens) == (1, (6,))
    jump = find_jump(guide, longest(v), [4], states, "longest")
    assert jump.tokens == (5,)


@pytest.mark.parametrize(("front", "blank"), [([5], ""), ([], " ")])
def test_what_a_tokenizer_puts_in_front_of_a_text_is_no_spelling_of_it(front, blank):
    v = Vocabulary([b"n", b"a", b"na", b"x", b"y", b"<s>", b" n"], special={5})
    guide = make_guide(gv.regex("na[xy]"), v)

    def encode(text):
        return [*front, *longest(v)(blank + text)]

    assert find_jump(guide, encode, [], [guide.initial], "canonical").tokens == (2,)


_short_runs = st.text(st.sampled_from(LETTERS), min_size=1, max_size=5)


@given(vocabularies(), _short_runs, st.sampled_from(["", "?", "a?", ".*"]))
def test_what_goes_beyond_a_forced_run_is_what_the_guide_allows(vocabulary, text, tail):
    guide = gv.guide(gv.regex(f"{text}{tail}!"), vocabulary)
    run = guide.forced(guide.initial)
    assume(run)
    inside, beyond = legal_walks(guide, guide.initial, len(run))
    assert count_spellings(guide, run) == (len(inside), len(beyond))


def legal_walks(guide, state, left):
    """Every way through the masks until so many bytes are spelled: those that end there, those that go beyond."""
    inside = []
    beyond = []
    for token in legal_tokens(guide, state):
        size = len(guide.vocabulary.pieces[token])
        if size < left:
            longer = legal_walks(guide, guide.advance(state, token), left - size)
            for found, more in zip((inside, beyond), longer, strict=True):
                found += [(token, *rest) for rest in more]
        else:
            (inside if size == left else beyond).append((token,))
    return inside, beyond
