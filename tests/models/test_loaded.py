"""A model that transformers has loaded is taken as it is."""

import numpy as np
import pytest

import guidedviz as gv
from tests.common import regex_guide
from tests.models.chat_folder import build_folder

ADA = "Ada is 36.\nJSON with name, age:\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build_folder(tmp_path_factory.mktemp("loaded") / "mine")


@pytest.fixture(scope="module")
def loaded(folder):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return network, AutoTokenizer.from_pretrained(folder)


def test_it_is_the_model_of_its_folder(folder, loaded):
    taken = gv.load_model(*loaded)
    own = gv.load_model(str(folder), device="cpu")
    assert repr(taken) == repr(own)
    assert taken.vocabulary == own.vocabulary
    assert taken.encode(ADA) == own.encode(ADA)
    assert taken.chat("Hi") == own.chat("Hi")
    assert taken.vocabulary.eos == own.vocabulary.eos == {0, 4094, 4095}
    tokens = own.encode(ADA)
    np.testing.assert_allclose(taken.logits(tokens), own.logits(tokens), atol=1e-4)


def test_no_weight_is_copied_and_its_type_stays(loaded):
    import torch

    network, tokenizer = loaded
    places = [part.data_ptr() for part in network.parameters()]
    taken = gv.load_model(network, tokenizer=tokenizer)
    assert [part.data_ptr() for part in taken.network.network.parameters()] == places
    half = type(network)(network.config).to(torch.bfloat16).eval()
    row = gv.load_model(half, tokenizer).logits([5, 6])
    assert row.dtype == np.float32
    assert next(half.parameters()).dtype == torch.bfloat16


def test_it_decodes_and_is_watched(loaded):
    model = gv.load_model(*loaded)
    guide = regex_guide(model, r'\{"age": [0-9]+\}')
    trace = gv.record(model, model.chat(ADA), guide, max_tokens=20, temperature=0)
    assert guide.machine.accepts_prefix(trace.output)
    assert (trace.model, trace.device) == ("mine", "torch · cpu")


def test_a_guide_takes_the_tokenizer_and_reads_it_once(loaded):
    _, tokenizer = loaded
    guide = gv.guide(gv.regex("[0-9]+"), tokenizer)
    assert guide.vocabulary == gv.Vocabulary.from_tokenizer(tokenizer)
    assert gv.guide(gv.json(), tokenizer).vocabulary is guide.vocabulary
    size = len(tokenizer)
    tokenizer.add_tokens(["<grown>"])
    grown = gv.guide(gv.regex("a"), tokenizer).vocabulary
    assert len(grown) == size + 1


class Slow:
    """A tokenizer that is none of the fast ones."""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda network, _: gv.load_model(network), "tokenizer: saw no tokenizer, expected the fast tokenizer"),
        (lambda network, _: gv.load_model(network, Slow()), "tokenizer: saw Slow, expected the fast tokenizer"),
        (lambda network, words: gv.load_model(network.base_model, words), "expected a name, a folder, or a causal"),
        (lambda _, words: gv.load_model(words, words), "expected a folder, a hub name"),
        (lambda _, words: gv.load_model("clerk", tokenizer=words), "a tokenizer and 'clerk', expected a model of"),
        (lambda network, words: gv.load_model(network.train(), words), r"in training.*try: model.eval\(\)"),
        (lambda _, words: gv.guide(gv.regex("a"), Slow()), "guide: saw Slow, expected a Vocabulary"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_four_parts(loaded, call, said):
    network, tokenizer = loaded
    with pytest.raises(gv.GuidedVizError, match=said):
        call(network, tokenizer)
    network.eval()
