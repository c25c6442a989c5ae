"""Claims about the tokenizer: the same tokens as the package tokenizers, and quick on any text."""

from __future__ import annotations

import json
import shutil
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Reference

import guidedviz as gv
from guidedviz.models.load import embedded_folder
from guidedviz.models.tokenizer import Tokenizer, merge

CHARACTERS = st.characters(exclude_categories=["Cs", "Cn"])
PARTS = ['{"name": ', " is 36.\n", "\n\n", "  ", "\t x", "don't WE'LL", "½²", "Ⅷ", "naïve", "東京", " 🙂", "\x1c\x1d",
         "\x85", "\u2028", "\r\n", "<|end|>", "...\n\n", "\u00a0", "ﬁ", "e\u0301"]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(CHARACTERS, max_size=5), max_size=8).map("".join)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.fixture(scope="module")
def clerk_pair():
    folder = embedded_folder("clerk")
    reference = Reference.from_file(str(folder / "tokenizer.json"))
    reference.encode_special_tokens = True
    return Tokenizer(folder), reference


@given(TEXTS)
@example("\x1c\x1d \x1f")
def test_clerks_tokens_are_those_of_the_package_tokenizers(clerk_pair, text):
    own, reference = clerk_pair
    assert own.encode(text) == reference.encode(text).ids


def train(folder, splits, **settings):
    """A byte-level BPE trained on a few texts, with this pre-tokenizer."""
    tokenizer = Reference(models.BPE(**settings))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|begin|>", "<|end|>"])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(
        ["the naïve theory of the other 東京 don't we'll 1234 123 ", "\n\n  a  b\n"] * 9, trainer
    )
    return tokenizer


def load(tmp_path, tokenizer):
    (tmp_path / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    tokenizer.encode_special_tokens = True
    return Tokenizer(tmp_path)


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
SPLITS = {
    "llama3": [pre_tokenizers.Split(Regex(LLAMA3), "isolated"), BYTES],
    "gpt2": [pre_tokenizers.ByteLevel(add_prefix_space=False)],
    "digits": [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)],
}


@pytest.mark.parametrize("kind", SPLITS)
def test_the_usual_byte_level_tokenizers_give_the_same_tokens(tmp_path_factory, kind):
    tokenizer = train(None, SPLITS[kind], ignore_merges=kind == "llama3")
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken("<tool>", special=False), AddedToken("<tool>s", special=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|begin|> $A <|end|>", special_tokens=[("<|begin|>", 0), ("<|end|>", 1)]
    )
    own = load(tmp_path_factory.mktemp(kind), tokenizer)

    @given(st.lists(st.sampled_from(["<tool>", "<tool>s"]) | TEXTS, max_size=3).map("".join))
    def same(text):
        assert own.encode(text) == tokenizer.encode(text).ids

    same()


def test_a_long_word_takes_no_time_that_grows_with_its_square(clerk_pair):
    own, reference = clerk_pair
    word = "a" * 50_000 + " " * 50_000
    assert own.encode(word) == reference.encode(word).ids


def test_merging_takes_the_leftmost_pair_of_the_lowest_rank():
    ranks = {("a", "a"): 0, ("aa", "b"): 1, ("aa", "aa"): 2}
    assert merge([*"aaab"], ranks) == ["aa", "a", "b"]
    assert merge([*"aaaab"], ranks) == ["aa", "aab"]
    assert merge([], ranks) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("normalizer",), {"type": "Lowercase"}),
        (("pre_tokenizer",), {"type": "Metaspace"}),
        (("pre_tokenizer",), None),
        (("pre_tokenizer", "pretokenizers", 0, "pattern"), {"Regex": r"\p{Lu}+"}),
        (("pre_tokenizer", "pretokenizers", 0, "pattern"), {"Regex": r"\w+"}),
        (("pre_tokenizer", "pretokenizers", 0, "pattern"), {"Regex": "("}),
        (("pre_tokenizer", "pretokenizers", 0, "behavior"), "Removed"),
        (("post_processor",), {"type": "BertProcessing"}),
        (("model", "type"), "Unigram"),
        (("model", "byte_fallback"), True),
        (("model", "merges"), ["a b c"]),
        (("model", "vocab"), None),
        (("model",), []),
        (("added_tokens",), [{}]),
    ],
)
def test_a_tokenizer_of_another_kind_is_refused_with_what_was_seen(tmp_path, path, value):
    shutil.copytree(embedded_folder("clerk"), tmp_path / "m")
    config = json.loads((tmp_path / "m/tokenizer.json").read_text())
    part = config
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    (tmp_path / "m/tokenizer.json").write_text(json.dumps(config))
    with pytest.raises(gv.ModelError, match=r"tokenizer.json: saw .*expected byte-level BPE or single characters"):
        Tokenizer(tmp_path / "m")


def test_characters_of_every_category_are_split_as_the_package_does(clerk_pair):
    own, reference = clerk_pair
    for category in ("Lu", "Lo", "Lm", "Mn", "Mc", "Nd", "Nl", "No", "Pd", "Sm", "Zs", "Zl", "Cc", "Cf", "Co"):
        found = [chr(code) for code in range(0x3100) if unicodedata.category(chr(code)) == category][:60]
        text = "".join(f"a{char}1{char} {char}{char}\n" for char in found)
        assert own.encode(text) == reference.encode(text).ids, category
