"""A vocabulary is bytes a token id, whatever tokenizer it comes from."""

import importlib.util
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import IllegalToken, VocabularyError
from guidedviz.tokens.vocabulary import Vocabulary
from tests.strategies import vocabularies


@pytest.mark.parametrize("token", ["a", None, -1, 10**100, "x" * 999])
def test_what_is_no_id_is_displayed_and_refused_in_a_short_message(token):
    v = Vocabulary([b"a"])
    shown = v.display(token)
    assert shown.startswith("<no token ")
    assert shown.isprintable()
    assert len(shown) < 100
    with pytest.raises(IllegalToken, match="no such id") as raised:
        v.as_id(token)
    assert len(str(raised.value)) < 150


@given(vocabularies())
def test_the_order_is_that_of_the_bytes_and_ids_without_text_come_last(v):
    every = range(len(v))
    text = sorted(v.text_ids, key=lambda token: (v.pieces[token], token))
    others = [token for token in every if token not in v.text_ids]
    assert v.order.tolist() == [*text, *others]
    assert v.order[v.rank].tolist() == list(every)
    assert not v.order.flags.writeable
    assert not v.rank.flags.writeable


starts = st.binary(min_size=1, max_size=2) | st.sampled_from([b"a", b"ab", b"\xc3", b"\xff\xff"])


@given(vocabularies(), starts)
def test_longer_tokens_are_found_by_brute_force(v, start):
    beginning = {token for token in v.text_ids if v.pieces[token].startswith(start)}
    longer = {token for token in beginning if v.pieces[token] != start}
    assert set(v.longer(start).tolist()) == longer


@pytest.mark.parametrize(
    ("pieces", "eos", "special"),
    [([b"a", b"b"], {1}, {1}), ([b"a", b"b"], {0}, {1}), ([b"a", b"b"], {1}, ()),
     ([b"", b"ab"], {1}, ())],
)  # fmt: skip
def test_the_fingerprint_tells_any_two_vocabularies_apart(pieces, eos, special):
    others = [Vocabulary([b"a", b"b"], eos={0}), Vocabulary([b"a", b"b"]), Vocabulary([b"b", b"a"], eos={1})]
    assert Vocabulary(pieces, eos, special).fingerprint not in {v.fingerprint for v in others}


@pytest.mark.parametrize(
    ("pieces", "said"),
    [([], "no tokens"), (["a"], "token 0: saw 'a', expected bytes; try: piece.encode()"), ([b"a", None], "token 1"),
     (b"abc", "a list of bytes"), ([b"a", 3], "token 1"), 
     ({b"a", b"b"}, "try: list(pieces)"), 
     (None, "saw None"), 
     ([b"a", b"x" * 1_000_000], "token 1: saw 1,000,000 bytes, expected at most 65,536")],
)  # fmt: skip
def test_pieces_are_bytes(pieces, said):
    with pytest.raises(VocabularyError, match=re.escape(said)) as raised:
        Vocabulary(pieces)
    assert len(str(raised.value)) < 250


@pytest.mark.parametrize("ids", [{2}, {-1}, {"a"}, {True}, None])
@pytest.mark.parametrize("name", ["eos", "special"])
def test_eos_and_special_are_ids_of_the_vocabulary(name, ids):
    with pytest.raises(VocabularyError, match=name):
        Vocabulary([b"a", b"b"], **{name: ids})


def test_llama3_has_its_128256_tokens():
    v = Vocabulary.llama3()
    assert len(v) == 128_256
    assert len(v.special) == 256
    ends = [v.display(token) for token in sorted(v.eos)]
    assert ends == ["<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"]
    assert sorted(v.eos) == [128_001, 128_008, 128_009]
    assert v.pieces[v.ids(b" the")[0]] == b" the"
    for byte in range(256):
        assert v.ids(bytes([byte]))


@pytest.mark.slow
def test_tekken_has_its_131072_tokens_and_the_bytes_that_mistral_says():
    v = Vocabulary.tekken()
    assert len(v) == 131_072
    assert len(v.special) == 1_000
    assert v.eos == {2}
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    folder = importlib.util.find_spec("mistral_common").submodule_search_locations[0]
    real = tekken.Tekkenizer.from_file(f"{folder}/data/tekken_240911.json")
    assert real.n_words == len(v)
    assert real.eos_id == 2
    for token in range(1_000, len(v), 97):
        assert real.id_to_byte_piece(token, tekken.SpecialTokenPolicy.IGNORE) == v.pieces[token]


@pytest.mark.parametrize(
    ("name", "package", "extra"), [("llama3", "llama_models", "lab"), ("tekken", "mistral_common", "engines")]
)
def test_a_missing_package_is_named_with_what_to_install(name, package, extra, monkeypatch):
    monkeypatch.setattr("guidedviz.tokens.token_bytes.find_spec", lambda _: None)
    with pytest.raises(VocabularyError, match=rf"no package {package}.*pip install .*\[{extra}\]"):
        getattr(Vocabulary, name).__wrapped__(Vocabulary)


def test_a_mark_that_a_tokenizer_adds_is_a_special_token_even_if_it_is_not_called_so():
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, "a"))
    made.decoder = tokenizers.decoders.Metaspace()
    for text in ("<tool_call>", "</think>", "[ARGS]", "word"):
        made.add_tokens([tokenizers.AddedToken(text, special=False)])
    v = Vocabulary.from_tokenizer(made)
    assert set(v.special_ids) >= {"<tool_call>", "</think>", "[ARGS]"}
    assert "word" not in v.special_ids
