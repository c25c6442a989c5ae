"""Rank files: what is right is read exactly, what is damaged is named by its line."""

from base64 import b64encode

import pytest

from guidedviz.errors import VocabularyError
from guidedviz.tokens.vocabulary import Vocabulary


def write(tmp_path, *lines):
    path = tmp_path / "some.tiktoken"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return path


def line(piece, rank):
    return f"{b64encode(piece).decode()} {rank}"


def test_all_bytes_come_back(tmp_path):
    pieces = [bytes([byte]) for byte in range(256)] + [b"\x00\xff", "é🙂".encode()]
    path = write(tmp_path, *(line(piece, rank) for rank, piece in enumerate(pieces)), "")
    assert Vocabulary.from_ranks(path).pieces == tuple(pieces)
    assert Vocabulary.from_ranks(str(path)) == Vocabulary(pieces)


def test_special_texts_follow_the_ranks(tmp_path):
    v = Vocabulary.from_ranks(write(tmp_path, line(b"a", 0)), special=["<s>", "</s>"], eos=["</s>"])
    assert (v.pieces, v.special, v.eos) == ((b"a", b"<s>", b"</s>"), {1, 2}, {2})


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
