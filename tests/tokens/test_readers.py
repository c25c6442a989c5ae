"""Every kind of tokenizer and rank file gives pieces whose bytes in a row are the text; what is damaged is named."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from guidedviz.errors import VocabularyError
from guidedviz.tokens.vocabulary import Vocabulary
from tests.common import BYTES

CORPUS = ["the cat sat on the mat, naïve café 🙂", '{"name": "Ada", "age": 36}\n', "  two  blanks\ttab"]


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    blanks = AddedToken("  two blanks é", normalized=False)
    tokenizer.add_tokens([blanks, AddedToken("<tool>", normalized=False)])
    return tokenizer


def sentencepiece_like(metaspace):
    text = "".join(CORPUS).replace(" ", "")
    letters = sorted({"▁", *text} - set("🙂\n\tï"))
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary = ["<unk>", "<s>", "</s>", *byte_tokens, *letters, "▁t", "th", "▁th"]
    ids = {text: i for i, text in enumerate(vocabulary)}
    merges = [("▁", "t"), ("t", "h"), ("▁t", "h")]
    tokenizer = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", byte_fallback=True))
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    if metaspace:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
        parts = [decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="never")]
    else:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        blanks = decoders.Replace("▁", " ")
        parts = [blanks, decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(parts)
    return tokenizer


def joined(vocabulary, ids):
    return b"".join(vocabulary.pieces[token] for token in ids)


TEXTS = st.text(st.sampled_from("the catlool é🙂\n\t{\"▁'<0x41>"), max_size=12)


@given(TEXTS)
def test_the_pieces_of_a_byte_level_text_in_a_row_are_the_text(text):
    tokenizer = byte_level()
    v = Vocabulary.from_tokenizer(tokenizer)
    assert joined(v, tokenizer.encode(text).ids) == text.encode()


@given(TEXTS.filter(lambda text: "▁" not in text))
@pytest.mark.parametrize("metaspace", [True, False])
def test_the_pieces_of_a_sentencepiece_text_in_a_row_are_the_text(metaspace, text):
    tokenizer = sentencepiece_like(metaspace)
    v = Vocabulary.from_tokenizer(tokenizer)
    assert joined(v, tokenizer.encode(text).ids) == text.encode()


def test_byte_level_specials_keep_their_text_and_added_tokens_are_literal():
    v = Vocabulary.from_tokenizer(byte_level())
    assert v.special == {0, *v.ids(b"<tool>")}
    assert v.pieces[0] == b"<|end|>"
    assert v.ids("  two blanks é".encode())
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), eos_token="<|end|>")
    v = Vocabulary.from_tokenizer(tokenizer)
    assert v.eos == {0}
    assert v.special == {0, *v.ids(b"<tool>")}


def test_a_size_pads_or_cuts_the_ids_and_an_eos_must_be_one():
    letters = Tokenizer(models.WordLevel({"a": 0, "b": 1, "c": 2}, unk_token="?"))
    letters.decoder = decoders.Fuse()
    assert Vocabulary.from_tokenizer(letters, size=5).pieces == (b"a", b"b", b"c", b"", b"")
    assert Vocabulary.from_tokenizer(letters, size=2, eos=[0, 1]).eos == {0, 1}
    for settings, said in (({"size": 0}, "size"), ({"eos": [7]}, "EOS 7")):
        with pytest.raises(VocabularyError, match=said):
            Vocabulary.from_tokenizer(letters, **settings)


def test_a_byte_token_is_a_byte_only_where_the_decoder_says_so():
    byte = Vocabulary.from_tokenizer(sentencepiece_like(True))
    assert byte.pieces[3 + 0x41] == b"A"
    literal = Tokenizer(models.WordLevel({"<0x41>": 0, "A": 1}, unk_token="A"))
    assert Vocabulary.from_tokenizer(literal).pieces == (b"<0x41>", b"A")


def test_the_unknown_token_is_special():
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    assert Vocabulary.from_tokenizer(tokenizer).special == {1}
    pieces = [("<unk>", 0.0), ("▁a", -1.0)]
    unigram = Tokenizer(models.Unigram(pieces, 0))
    unigram.decoder = decoders.Metaspace()
    v = Vocabulary.from_tokenizer(unigram)
    assert v.special == {0}
    assert v.pieces[1] == b" a"


def word_piece():
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0, "##a": 1}, unk_token="[UNK]"))
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def words():
    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace()])
    return tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "seen"),
    [(word_piece(), "WordPiece"), (words(), "drops blanks"), (object(), "object"), (None, "None")],
)
def test_an_unknown_kind_is_refused_with_what_was_seen(tokenizer, seen):
    with pytest.raises(VocabularyError, match=f"{seen}.*expected"):
        Vocabulary.from_tokenizer(tokenizer)


def line(piece, rank):
    return f"{b64encode(piece).decode()} {rank}"


def test_a_rank_file_has_the_pieces_in_the_order_of_their_ranks_and_then_special_texts(tmp_path):
    pieces = [*BYTES, b"", b"\x00\xff", "é🙂".encode()]
    lines = [line(piece, rank) for rank, piece in enumerate(pieces) if piece]
    path = tmp_path / "some.tiktoken"
    path.write_text("\n".join([*reversed(lines), ""]))
    v = Vocabulary.from_ranks(path, special=["<s>", "</s>"], eos=["</s>"])
    assert v.pieces == (*pieces, b"<s>", b"</s>"), "a hole between ranks is an empty id"
    assert v.special == {259, 260}
    assert v.eos == {260}
    with pytest.raises(VocabularyError, match="EOS '</a>'"):
        Vocabulary.from_ranks(str(path), eos=["</a>"])


@pytest.mark.parametrize(
    "damage",
    ["YQ==", "YQ== one", "Y!== 1", "YQ== 1 2", "YQ== -1", "YQ== 99999999999", "YQ== 0", b"\xff\xfe 1"],
)
def test_a_damaged_line_is_named_by_its_number(tmp_path, damage):
    path = tmp_path / "some.tiktoken"
    damaged = damage if isinstance(damage, bytes) else damage.encode()
    path.write_bytes(b"YQ== 0\n\n" + damaged + b"\nYg== 1")
    with pytest.raises(VocabularyError, match=r"some\.tiktoken, line 3"):
        Vocabulary.from_ranks(path)


def test_a_missing_and_an_empty_file_are_said_so(tmp_path):
    with pytest.raises(VocabularyError, match="readable file"):
        Vocabulary.from_ranks(tmp_path / "nowhere")
    (tmp_path / "empty").touch()
    with pytest.raises(VocabularyError, match="no ranks"):
        Vocabulary.from_ranks(tmp_path / "empty")
