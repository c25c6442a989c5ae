"""Jumps stay in the language and put nothing that could still merge; all spellings of a run are counted."""

import re
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
    "llama3": lambda: (Vocabulary.llama3(), longest(Vocabulary.llama3())),
}


_words = st.text(st.sampled_from(LETTERS), min_size=1, max_size=6).map(gv_literal)
_choices = st.lists(_words, min_size=2, max_size=3).map(gv_choice)
_parts = _words | _choices | st.just("s?")
_chains = st.lists(_parts, min_size=1, max_size=4).map(" ".join)
chains = st.builds("root ::= {}\ns ::= {}".format, _chains, _words)
"""Grammars of words one after the other, some of them with a choice: here a run is forced almost everywhere."""


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("way", SPELLING_WAYS)
@pytest.mark.quick(every=5)
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
        assert guide.mask(state)[token]
        state = guide.advance(state, token)
    before = bytes_of(v, tokens)
    written = bytes_of(v, after)
    assert written.startswith(before)
    more = written[len(before) :]
    within = guide.forced(states[-1]).startswith(more)
    legal = legal_tokens(guide, states[-1])
    alone = jump.back == 0 and legal == list(jump.tokens)
    assert alone if way == "minimal" else within or alone
    assert jump.back == 0 or way == "canonical"
    if written == before:
        assert alone
        assert jump.tokens[0] in v.eos


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


def test_minimal_puts_only_what_is_the_one_legal_token_an_end_too():
    v = with_end([b"a", b"b", b"ab"])
    guide = make_guide(gv.regex("ab"), v)
    assert jump_from_start(guide, "minimal") is None  # a or ab
    inside = guide.advance(guide.initial, 0)
    states = [guide.initial, inside]
    jump = find_jump(guide, longest(v), [0], states, "minimal")
    assert jump.tokens == (1,)
    states.append(guide.advance(inside, 1))
    jump = find_jump(guide, longest(v), [0, 1], states, "minimal")
    assert jump.tokens == (3,)


def test_what_the_model_cut_otherwise_is_taken_back():
    v = Vocabulary([b"n", b"a", b"m", b"e", b"na", b"me", b"name", b"!", b"?"])
    guide = make_guide(gv.regex("name[!?]"), v)
    states = [guide.initial, guide.advance(guide.initial, 4)]
    jump = find_jump(guide, longest(v), [4], states, "canonical")
    assert (jump.back, jump.tokens) == (1, (6,))
    jump = find_jump(guide, longest(v), [4], states, "longest")
    assert jump.tokens == (5,)


def test_a_tokenizer_that_adds_a_blank_is_not_trusted():
    v = Vocabulary([b"n", b"a", b" n", b" ", b"x", b"y"])
    guide = make_guide(gv.regex("na[xy]"), v)

    def encode(text):
        return longest(v)(" " + text)

    jump = find_jump(guide, encode, [], [guide.initial], "canonical")
    assert jump.tokens == (0, 1)


def test_what_a_tokenizer_puts_in_front_of_every_prompt_is_no_spelling():
    v = Vocabulary([b"n", b"a", b"na", b"x", b"y", b"<s>"], special={5})
    guide = make_guide(gv.regex("na[xy]"), v)

    def encode(text):
        return [5, *longest(v)(text)]

    states = [guide.initial, guide.advance(guide.initial, 0)]
    jump = find_jump(guide, encode, [0], states)
    assert (jump.back, jump.tokens) == (1, (2,))


def test_bytes_that_no_token_has_are_left_to_the_model():
    v = Vocabulary([b"a", b"b"])
    guide = make_guide(gv.regex("(a|b)xa"), v)
    states = [guide.initial, guide.initial]
    assert find_jump(guide, longest(v), [0], states, "longest") is None


def all_spellings(vocabulary, text):
    """Every list of text tokens whose bytes are the text."""
    if not text:
        return [()]
    fitting = [t for t in vocabulary.text_ids if text.startswith(vocabulary.pieces[t])]
    found = []
    for token in fitting:
        left = text[len(vocabulary.pieces[token]) :]
        found += [(token, *rest) for rest in all_spellings(vocabulary, left)]
    return found


@given(vocabularies(), st.text(st.sampled_from(LETTERS), max_size=6))
def test_each_spelling_of_a_forced_run_is_counted_once(vocabulary, text):
    guide = gv.guide(gv.regex(re.escape(text)), vocabulary)
    run = guide.forced(guide.initial)
    assert count_spellings(guide, run) == (len(all_spellings(vocabulary, run)), 0)


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
