"""Claims about the embedded models, the cache and the errors of loading."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time

import numpy as np
import pytest
import torch

import guidedviz as gv
from guidedviz.decoding import models


@pytest.fixture(scope="module")
def bard():
    return gv.load_model("bard", device="cpu")


@pytest.fixture(scope="module")
def clerk():
    return gv.load_model("clerk", device="cpu")


def test_bard_has_the_65_symbols_in_nanogpts_order(bard):
    pieces = bard.vocabulary.pieces
    assert len(pieces) == 65
    assert (pieces[0], pieces[13], pieces[64]) == (b"\n", b"A", b"z")
    assert not bard.vocabulary.eos
    assert bard.encode("To be\n") == [pieces.index(c.encode()) for c in "To be\n"]


def test_clerk_has_every_byte_and_an_end(clerk):
    pieces = set(clerk.vocabulary.pieces)
    assert len(clerk.vocabulary) == 4096
    assert {bytes([b]) for b in range(256)} <= pieces
    assert len(clerk.vocabulary.eos) == 1


def test_the_embedded_models_are_small_enough_to_carry():
    sizes = {name: (models.embedded_folder(name) / "model.safetensors").stat().st_size for name in models.EMBEDDED}
    assert sizes["bard"] <= 6_000_000
    assert sizes["clerk"] <= 16_000_000


@pytest.mark.parametrize("text", ["", "naïve 東京 🙂\x00", '{"name": "<|end|>"}', "  \n\n\t x"])
def test_clerks_tokens_spell_the_text_again(clerk, text):
    assert b"".join(clerk.vocabulary.pieces[t] for t in clerk.encode(text)) == text.encode()


def test_back_then_forward_gives_bit_identical_logits(clerk):
    prompt = clerk.encode("Ada Lovelace is 36.\nJSON with name, age:\n")
    tokens, seen = list(prompt), []
    for _ in range(12):
        logits = clerk.logits(tokens)
        seen.append(logits)
        tokens.append(int(logits.argmax()))
    for length in (len(prompt) + 7, len(prompt) + 3, len(prompt), len(prompt) + 1):
        for at in range(length, len(prompt) + 12):
            np.testing.assert_array_equal(clerk.logits(tokens[:at]), seen[at - len(prompt)])


def test_a_branch_does_not_disturb_the_way_back(clerk):
    tokens = clerk.encode("Yes or no:\n")
    before = clerk.logits(tokens)
    clerk.logits([*tokens, 100, 101, 102])
    np.testing.assert_array_equal(clerk.logits(tokens), before)


def count_passes(model, monkeypatch):
    """The numbers of tokens that went through the model, pass by pass."""
    lengths, run = [], model._run
    monkeypatch.setattr(model, "_run", lambda tokens: lengths.append(len(tokens)) or run(tokens))
    return lengths


def test_tokens_that_are_new_go_through_in_one_pass_and_a_prompt_in_two(clerk, monkeypatch):
    lengths, prompt = count_passes(clerk, monkeypatch), clerk.encode("Ada is 36.\nJSON with name, age:\n")
    clerk.forget()
    clerk.logits(prompt)
    assert lengths == [len(prompt) - 1, 1]
    clerk.logits([*prompt, 100])
    clerk.logits([*prompt, 100, 101, 102, 103])
    assert lengths[2:] == [1, 3]


def test_what_went_through_together_goes_through_together_again(clerk, monkeypatch):
    prompt = clerk.encode("Ada is 36.\nJSON with name, age:\n")
    clerk.forget()
    texts = [[*prompt, 100], [*prompt, 100, 101, 102, 103], [*prompt, 100, 101, 102, 103, 104]]
    first = [clerk.logits(text) for text in texts]
    lengths = count_passes(clerk, monkeypatch)
    for place in (1, 0, 1, 2):
        np.testing.assert_array_equal(clerk.logits(texts[place]), first[place])
    assert lengths == [3, 1, 3, 1]


def test_a_run_in_one_pass_gives_the_same_logits_but_for_rounding(clerk):
    tokens = clerk.encode('Ada is 36.\nJSON with name, age:\n{"name": "Ada", "age": 36}')
    one_by_one = [clerk.logits(tokens[:end]) for end in range(20, len(tokens) + 1)][-1]
    clerk.logits(tokens[:20])
    np.testing.assert_allclose(clerk.logits(tokens), one_by_one, atol=1e-3)


def test_rows_read_copies_of_the_text_with_a_cache_of_their_own(clerk, monkeypatch):
    tokens = clerk.encode("Ada is 36.\nJSON with name, age:\n")
    alone, longer = clerk.logits(tokens), clerk.logits([*tokens, 9])
    batches, forward = [], clerk._network.forward
    see = lambda **given: batches.append(tuple(given["input_ids"].shape)) or forward(**given)  # noqa: E731
    monkeypatch.setattr(clerk._network, "forward", see)
    four = clerk.side_by_side(4)
    np.testing.assert_allclose(four.logits(tokens), alone, atol=1e-3)
    np.testing.assert_allclose(four.logits([*tokens, 9]), longer, atol=1e-3)
    np.testing.assert_array_equal(clerk.logits([*tokens, 9]), longer)
    assert batches == [(4, len(tokens) - 1), (4, 1), (4, 1), (1, 1)]
    assert (clerk.rows, four.rows) == (1, 4)


@pytest.mark.parametrize("rows", [0, -1, "4", 1.5])
def test_rows_that_are_none_are_refused(clerk, rows):
    with pytest.raises(gv.SettingError, match=r"rows: saw .*, expected a whole number from 1 up"):
        clerk.side_by_side(rows)


def test_a_model_may_be_asked_and_told_to_forget_from_two_threads(clerk):
    tokens = clerk.encode("Ada is 36.\nJSON with name, age:\n")
    texts = [tokens, [*tokens, 9], [*tokens, 9, 10, 11]]
    expected, done = [clerk.logits(text) for text in texts], threading.Event()

    def forget_often():
        while not done.wait(0.0005):
            clerk.forget()

    thread = threading.Thread(target=forget_often)
    thread.start()
    try:
        for _ in range(40):
            for text, answer in zip(texts, expected, strict=True):
                np.testing.assert_allclose(clerk.logits(text), answer, atol=1e-3)
    finally:
        done.set()
        thread.join()


def test_the_cache_changes_no_logit_by_more_than_rounding(bard):
    tokens = bard.encode("ROMEO:\nBut soft, what light")
    with_cache = [bard.logits(tokens[:n]) for n in range(1, len(tokens))]
    bard.keep_cache = False
    without = [bard.logits(tokens[:n]) for n in range(1, len(tokens))]
    bard.keep_cache = True
    np.testing.assert_allclose(with_cache, without, atol=1e-3)


def test_a_character_bard_does_not_know_is_named(bard):
    with pytest.raises(gv.SettingError, match="'7'"):
        bard.encode("Act 7")


def test_too_many_tokens_and_none_are_clear_errors(bard):
    with pytest.raises(gv.SettingError, match="at most 1024"):
        bard.logits([0] * 1025)
    with pytest.raises(gv.SettingError, match="at least one"):
        bard.logits([])


def test_auto_is_clerk_unless_the_environment_says_otherwise(monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_MODEL", raising=False)
    assert gv.load_model("auto").name == "clerk"
    monkeypatch.setenv("GUIDEDVIZ_MODEL", "bard")
    assert gv.load_model("auto").name == "bard"
    assert gv.load_model("clerk").name == "clerk"


def test_a_folder_loads_like_any_transformers_model(tmp_path):
    shutil.copytree(models.embedded_folder("bard"), tmp_path / "mine")
    assert gv.load_model(str(tmp_path / "mine")).name == "mine"


def test_a_hub_name_without_network_names_the_embedded_models_at_once(monkeypatch):
    from huggingface_hub import constants

    with socket.socket() as unused:  # bound and not listening: a hub that refuses
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{unused.getsockname()[1]}")
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        began = time.monotonic()
        with pytest.raises(gv.ModelError, match=r"clerk.*bard"):
            gv.load_model("guidedviz-tests/no-such-model")
        assert time.monotonic() - began < 20  # the hub's own client would retry for half a minute


def test_a_folder_that_is_not_there_is_not_looked_for_on_the_hub():
    with pytest.raises(gv.ModelError, match="no such folder"):
        gv.load_model("./no/such/place")


def test_pickled_weights_are_refused(tmp_path):
    shutil.copytree(models.embedded_folder("bard"), tmp_path / "m")
    (tmp_path / "m" / "model.safetensors").unlink()
    torch.save({}, tmp_path / "m" / "pytorch_model.bin")
    with pytest.raises(gv.ModelError, match="safetensors"):
        gv.load_model(str(tmp_path / "m"))


def test_remote_code_is_never_run(tmp_path):
    shutil.copytree(models.embedded_folder("bard"), tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.E", "AutoModelForCausalLM": "evil.M"}}
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    (tmp_path / "m" / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(gv.ModelError):
        gv.load_model(str(tmp_path / "m"))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_damaged_folder_is_a_clear_error(tmp_path, name):
    shutil.copytree(models.embedded_folder("bard"), tmp_path / "m")
    (tmp_path / "m" / name).write_text("{ damaged")
    with pytest.raises(gv.ModelError, match="model 'm'"):
        gv.load_model(str(tmp_path / "m"))


def test_a_device_that_is_not_here_is_named():
    with pytest.raises(gv.ModelError, match="expected auto"):
        gv.load_model("bard", device="warp")


def test_running_out_of_memory_names_the_size_and_leaves_the_model_usable(bard, monkeypatch):
    before = bard.logits([1, 2, 3])

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")

    with monkeypatch.context() as patch:
        patch.setattr(bard, "_run", full)
        with pytest.raises(gv.ModelError, match=r"weights take \d+ MB.*clerk"):
            bard.logits([1, 2, 3, 4])
    np.testing.assert_array_equal(bard.logits([1, 2, 3]), before)


def test_running_out_of_memory_while_loading_names_the_size(monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch.nn.Module, "to", full)
    with pytest.raises(gv.ModelError, match="out of memory"):
        gv.load_model("bard", device="cpu")


@pytest.mark.parametrize("name", ["bard", "clerk"])
def test_each_model_has_a_card_with_its_figures(name):
    card = (models.embedded_folder(name) / "README.md").read_text()
    for word in ("trained", "cannot", "python assets/train/"):
        assert word in card
