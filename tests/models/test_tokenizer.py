"""Claims about the tokenizer: the same tokens as the package tokenizers, and quick on any text."""

import copy
import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Reference

import guidedviz as gv
from guidedviz.models.load import embedded_folder
from guidedviz.models.tokenizer import Tokenizer
from tests.common import in_time

CHARACTERS = st.characters(exclude_categories=["Cs", "Cn"])
PARTS = ['{"name": ', " is 36.\n", "\n\n", "  ", "\t x", "don't WE'LL", "½²", "Ⅷ", "naïve", "東京", " 🙂", "\x1c\x1d",
         "\x85", "\u2028", "\r\n", "<|end|>", "...\n\n", "\u00a0", "ﬁ", "e\u0301"]  # fmt: skip
part = st.sampled_from(PARTS) | st.text(CHARACTERS, max_size=5)
TEXTS = st.lists(part, max_size=8).map("".join)
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
    "qwen2": [pre_tokenizers.Split(Regex(LLAMA3.replace("{1,3}", "")), "isolated"), BYTES],
    "gpt2": [pre_tokenizers.ByteLevel(add_prefix_space=False)],
    "digits": [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)],
}


@pytest.mark.parametrize("kind", SPLITS)
def test_the_usual_byte_level_tokenizers_give_the_same_tokens(tmp_path_factory, kind):
    tokenizer = train(None, SPLITS[kind], ignore_merges=kind == "llama3")
    tokenizer.normalizer = normalizers.NFC()
    tool = AddedToken("<tool>", special=False)
    tokenizer.add_tokens([tool, AddedToken("<tool>s", special=False)])
    marks = [("<|begin|>", 0), ("<|end|>", 1)]
    template = processors.TemplateProcessing(single="<|begin|> $A <|end|>", special_tokens=marks)
    tokenizer.post_processor = template
    own = load(tmp_path_factory.mktemp(kind), tokenizer)

    words = st.lists(st.sampled_from(["<tool>", "<tool>s"]) | TEXTS, max_size=3)

    @given(words.map("".join))
    def same(text):
        assert own.encode(text) == tokenizer.encode(text).ids

    same()


def test_a_long_word_takes_no_time_that_grows_with_its_square(clerk_pair):
    own, reference = clerk_pair
    word = "a" * 50_000 + " " * 50_000
    assert own.encode(word) == reference.encode(word).ids


CLERK = json.loads((embedded_folder("clerk") / "tokenizer.json").read_text())
SPLIT = ("pre_tokenizer", "pretokenizers", 0, "pattern")


def added(**changes):
    return [{"content": "<a>", "id": 1, "special": False} | changes]


def around(count, *ids):
    """A post-processor that puts these ids before every text, some times."""
    single = [{"SpecialToken": {"id": "x"}}] * count
    return {"type": "TemplateProcessing", "single": single, "special_tokens": {"x": {"ids": ids}}}


def nested(depth):
    part = {"type": "ByteLevel"}
    for _ in range(depth):
        part = {"type": "Sequence", "pretokenizers": [part]}
    return part


REGEXES = [r"\p{Lu}+", r"\w+", "(", 7, "a" * 9_000, "(" * 450 + ")" * 450, "a{99999999999999}"]
REGEXES += ["(a+)+$", "(?x)( a+ ) +$", "(?:a|b){1,}", "a*a*a*a*a*a*b", "a?" * 30 + "a" * 30, "(a|a)" * 30]
REGEXES += ["(?:a*|b|a*|b|a*|b|a*)c"]
BAD = {  # per place in tokenizer.json the values that are refused
    ("normalizer",): [{"type": "Lowercase"}, [1]],
    ("pre_tokenizer",): [{"type": "Metaspace"}, None, nested(450)],
    ("pre_tokenizer", "pretokenizers"): [[{"type": "Digits", "individual_digits": True}] * 100_000],
    SPLIT: [{"Regex": regex} for regex in REGEXES],
    ("pre_tokenizer", "pretokenizers", 0, "behavior"): ["Removed"],
    ("post_processor",): [
        {"type": "BertProcessing"},
        *(around(1, *ids) for ids in ([-1], ["x"], [10**400], range(100))),
        around(100_000, *range(60)),
    ],
    ("model", "type"): ["Unigram"],
    ("model", "byte_fallback"): [True],
    ("model", "merges"): [["a b c"], ["no merge"], [[1, 2]], 7, ["a b"] * 2_000_000],
    ("model", "vocab"): [None],
    ("model", "vocab", "new"): ["7", [7], -1, 1.5, 10**400],
    ("model", "vocab", "\ud800"): [7],
    ("model",): [[]],
    ("decoder",): [7],
    ("added_tokens",): [
        [{}],
        *(added(content=content) for content in ("\udfff", "", 1)),
        added(id=float("inf")),
        added(id=[1], special=True),
        [added(content=f"<{number}>")[0] for number in range(5_000)],
    ],
}


@pytest.mark.parametrize(("path", "value"), [(path, value) for path, values in BAD.items() for value in values])
@pytest.mark.quick(every=4)
def test_a_tokenizer_of_another_kind_is_refused_with_what_was_seen(tmp_path, path, value):
    part = config = copy.deepcopy(CLERK)
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    (tmp_path / "tokenizer.json").write_text(json.dumps(config))
    said = r"tokenizer.json: saw .*expected (byte-level BPE or sin|a JSON)"
    # the first test on torch imports it, too
    with in_time(10), pytest.raises(gv.ModelError, match=said) as error:
        Tokenizer(tmp_path)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("replace", [("", "x" * 1_000_000), ("a", "aa")])
def test_a_decoder_that_makes_a_piece_very_long_is_refused(replace):
    letters = Reference(models.WordLevel({"a": 0, "b": 1}, "b"))
    letters.decoder = decoders.Sequence([decoders.Replace(*replace)] * 40)
    with pytest.raises(gv.VocabularyError, match="a Replace that makes a token very long"):
        gv.Vocabulary.from_tokenizer(letters)


def test_characters_of_every_category_are_split_as_the_package_does(clerk_pair):
    own, reference = clerk_pair
    for category in ("Lu", "Lo", "Lm", "Mn", "Mc", "Nd", "Nl", "No", "Pd", "Sm", "Zs", "Zl", "Cc", "Cf", "Co"):
        characters = map(chr, range(0x3100))
        found = [char for char in characters if unicodedata.category(char) == category]
        text = "".join(map("a{0}1{0} {0}{0}\n".format, found[:60]))
        assert own.encode(text) == reference.encode(text).ids, category
