"""Every kind of tokenizer and rank file gives pieces whose bytes in a row are the text; what is damaged is named."""

from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from guidedviz.errors import VocabularyError
from guidedviz.tokens.vocabulary import Vocabulary
from tests.common import BYTES

CORPUS = ["the cat sat on the mat, naïve café 🙂", '{"name": "Ada", "age": 36}\n', "  two  blanks\ttab"]
MODELS = Path(__file__).parents[2] / "assets" / "models"


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


def letters():
    ids = {letter: i for i, letter in enumerate("\n abé")}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
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
    assert v.ids(b"<tool>")


def test_a_byte_token_is_a_byte_only_where_the_decoder_says_so():
    byte = Vocabulary.from_tokenizer(sentencepiece_like(True))
    assert byte.pieces[3 + 0x41] == b"A"
    assert byte.ids(b"<0x41>") == ()
    assert byte.ids(b" th")
    literal = Tokenizer(models.WordLevel({"<0x41>": 0, "A": 1}, unk_token="A"))
    assert Vocabulary.from_tokenizer(literal).pieces == (b"<0x41>", b"A")
    tokenizer = byte_level()
    tokenizer.add_tokens(["<0x41>"])
    assert Vocabulary.from_tokenizer(tokenizer).ids(b"<0x41>")


def test_the_unknown_token_is_special():
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    assert Vocabulary.from_tokenizer(tokenizer).special == {1}
    pieces = [("<unk>", 0.0), ("▁a", -1.0)]
    unigram = Tokenizer(models.Unigram(pieces, 0))
    unigram.decoder = decoders.Metaspace()
    v = Vocabulary.from_tokenizer(unigram)
    assert v.special == {0}
    assert v.pieces[1] == b" a"


def test_a_model_wider_than_its_tokenizer_has_padded_ids():
    v = Vocabulary.from_tokenizer(letters(), size=8)
    assert v.pieces[5:] == (b"", b"", b"")
    assert Vocabulary.from_tokenizer(letters(), size=3).pieces == (b"\n", b" ", b"a")


def test_eos_may_be_many_and_must_exist():
    v = Vocabulary.from_tokenizer(letters(), eos=[0, 1])
    assert v.eos == {0, 1}
    with pytest.raises(VocabularyError, match="EOS 7"):
        Vocabulary.from_tokenizer(letters(), eos=[7])


def test_a_transformers_tokenizer_brings_its_eos():
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), eos_token="<|end|>")
    v = Vocabulary.from_tokenizer(tokenizer)
    assert v.eos == {0}
    assert v.special == {0, *v.ids(b"<tool>")}


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


@pytest.mark.parametrize("size", [0, -1])
def test_a_size_holds_at_least_one_id(size):
    with pytest.raises(VocabularyError, match="size"):
        Vocabulary.from_tokenizer(letters(), size=size)


@pytest.mark.parametrize(("name", "size"), [("bard", 65), ("clerk", 4096)])
def test_the_embedded_tokenizers_are_read(name, size):
    tokenizer = Tokenizer.from_file(str(MODELS / name / "tokenizer.json"))
    v = Vocabulary.from_tokenizer(tokenizer)
    text = "To be, or not to be\n" if name == "bard" else '{"name": "Zoë 🙂"}\n'
    assert len(v) == size
    assert joined(v, tokenizer.encode(text).ids) == text.encode()


def write(tmp_path, *lines):
    path = tmp_path / "some.tiktoken"
    written = [line if isinstance(line, bytes) else line.encode() for line in lines]
    path.write_bytes(b"\n".join(written))
    return path


def line(piece, rank):
    return f"{b64encode(piece).decode()} {rank}"


def test_all_bytes_come_back(tmp_path):
    pieces = [*BYTES, b"\x00\xff", "é🙂".encode()]
    lines = [line(piece, rank) for rank, piece in enumerate(pieces)]
    path = write(tmp_path, *lines, "")
    assert Vocabulary.from_ranks(path).pieces == tuple(pieces)
    assert Vocabulary.from_ranks(str(path)) == Vocabulary(pieces)


def test_special_texts_follow_the_ranks(tmp_path):
    path = write(tmp_path, line(b"a", 0))
    v = Vocabulary.from_ranks(path, special=["<s>", "</s>"], eos=["</s>"])
    assert v.pieces == (b"a", b"<s>", b"</s>")
    assert v.special == {1, 2}
    assert v.eos == {2}


def test_a_hole_between_ranks_is_an_empty_id(tmp_path):
    v = Vocabulary.from_ranks(write(tmp_path, line(b"b", 2), line(b"a", 0)))
    assert v.pieces == (b"a", b"", b"b")


@pytest.mark.parametrize(
    "damage",
    ["YQ==", "YQ== one", "Y!== 1", "YQ 1", "YQ== 1 2", "YQ== -1", "YQ== 99999999999", "YQ== 0", b"\xff\xfe 1", "é 1"],
)
def test_a_damaged_line_is_named_by_its_number(tmp_path, damage):
    with pytest.raises(VocabularyError, match=r"some\.tiktoken, line 3"):
        Vocabulary.from_ranks(write(tmp_path, line(b"a", 0), "", damage, line(b"b", 1)))


def test_a_missing_and_an_empty_file_are_said_so(tmp_path):
    with pytest.raises(VocabularyError, match="readable file"):
        Vocabulary.from_ranks(tmp_path / "nowhere")
    with pytest.raises(VocabularyError, match="no ranks"):
        Vocabulary.from_ranks(write(tmp_path, ""))


def test_an_eos_that_is_not_among_the_special_texts_is_refused(tmp_path):
    with pytest.raises(VocabularyError, match="EOS '</s>'"):
        Vocabulary.from_ranks(write(tmp_path, line(b"a", 0)), eos=["</s>"])
