"""Claims about a model that reads no text twice."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.models.chat import ChatTemplate
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.load import embedded_folder
from guidedviz.models.model import Remembered
from guidedviz.models.tokenizer import Tokenizer
from tests.common import constant_model


def test_it_draws_the_same_texts_and_reads_each_beginning_once(clerk, monkeypatch):
    prompt = "Ada is 36.\nJSON with name, age:\n"
    read = []
    logits = clerk.logits

    def count(tokens):
        read.append(tuple(tokens))
        return logits(tokens)

    def drawn_by(model):
        return [gv.record(model, prompt, seed=seed, max_tokens=8).text for seed in range(6)]

    monkeypatch.setitem(vars(clerk), "logits", count)
    known = gv.decoding.remember(clerk)
    drawn = drawn_by(known)
    assert len(read) == len(set(read)) < 6 * 8
    assert drawn == drawn_by(clerk)


def test_it_is_the_model_in_all_else(bard):
    known = gv.decoding.remember(bard)
    for name in ("name", "device", "source", "context"):
        assert getattr(known, name) == getattr(bard, name)
    assert known.vocabulary == bard.vocabulary
    assert known.encode("so") == bard.encode("so")
    assert known.has_template == bard.has_template


def test_it_asks_a_chat_model_in_its_form_and_says_which_has_none(bard):
    words = Tokenizer(embedded_folder("bard"))
    template = ChatTemplate("{{ messages[0].content }}", words)
    model = LanguageModel("chat", bard.network, words, bard.vocabulary, template)
    known = gv.decoding.remember(model)
    assert known.has_template
    assert known.chat("so").tokens == tuple(bard.encode("so"))
    toy = constant_model([b"a", b"b"], [0.0, 1.0])
    remember = gv.decoding.remember
    for one in (bard, toy, remember(toy), remember(bard)):
        with pytest.raises(
            gv.ModelError, match=r'no chat template, expected a chat model; try: gv.load_model\("smollm2'
        ):
            one.chat("so")


def test_what_it_has_said_cannot_be_changed(bard):
    with pytest.raises(ValueError, match="read-only"):
        gv.decoding.remember(bard).logits([0])[0] = 1


def test_it_drops_what_was_used_longest_ago_when_memory_is_full():
    read = []

    def rule(tokens):
        read.append(tokens[-1])
        return np.zeros(2)

    toy = gv.ToyModel([b"a", b"b"], rule)
    known = Remembered(toy, most=2 * 8)
    for token in (0, 1, 0, 2, 1, 0):
        known.logits([token])
    assert read == [0, 1, 2, 1, 0]


def test_only_a_model_is_remembered():
    with pytest.raises(gv.SettingError, match="load_model"):
        gv.decoding.remember("clerk")
