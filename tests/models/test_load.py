"""Claims about loading models by name, from folders and from the hub."""

import json
import os
import shutil
import socket
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.checks import guard
from guidedviz.extras import installed
from guidedviz.models import hub, load
from guidedviz.models.weights import find_tensors
from tests.common import BYTES, bytes_of, constant_model, in_time

FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "model.safetensors",
         "model.safetensors.index.json", "a.safetensors"]  # fmt: skip


def write_index(folder, files, **more):
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files, **more}))


def headed(header, data):
    """A safetensors file of these bytes."""
    return len(header).to_bytes(8, "little") + header + data


def assert_same_logits(model, other):
    expected = other.logits([1, 2])
    np.testing.assert_allclose(model.logits([1, 2]), expected, atol=1e-3)


def test_bard_has_the_65_symbols_in_nanogpts_order(bard):
    pieces = bard.vocabulary.pieces
    assert len(pieces) == 65
    assert pieces[0] == b"\n"
    assert pieces[13] == b"A"
    assert pieces[64] == b"z"
    assert not bard.vocabulary.eos
    assert bytes_of(bard.vocabulary, bard.encode("To be\n")) == b"To be\n"


def test_clerk_has_every_byte_and_an_end(clerk):
    assert len(clerk.vocabulary) == 4096
    assert len(clerk.vocabulary.eos) == 1
    assert set(clerk.vocabulary.pieces).issuperset(BYTES)


@pytest.mark.parametrize("text", ["", "naïve 東京 🙂\x00", '{"name": "<|end|>"}', "  \n\n\t x"])
def test_clerks_tokens_spell_the_text_again(clerk, text):
    assert bytes_of(clerk.vocabulary, clerk.encode(text)) == text.encode()


def test_auto_is_clerk_unless_the_environment_says_otherwise(monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_MODEL", raising=False)
    assert gv.load_model("auto").name == "clerk"
    monkeypatch.setenv("GUIDEDVIZ_MODEL", "bard")
    assert gv.load_model("auto").name == "bard"
    assert gv.load_model("clerk").name == "clerk"


@pytest.fixture
def folder(tmp_path):
    """A copy of bard's folder."""
    shutil.copytree(load.embedded_folder("bard"), tmp_path / "mine")
    return tmp_path / "mine"


@pytest.mark.parametrize(("names", "loaded"), [("smollm2 or clerk", "clerk"), ("bard or clerk", "bard")])
def test_of_two_names_the_first_that_is_there_is_loaded(tmp_path, monkeypatch, names, loaded):
    monkeypatch.setattr("guidedviz.models.gguf.kept_folder", lambda name: tmp_path / name)
    assert gv.load_model(names).name == loaded
    with pytest.raises(gv.ModelError):
        gv.load_model("smollm2 or nothing/at/all")


def test_a_folder_loads_on_torch_and_without_torch_on_numpy(folder, monkeypatch):
    folder = folder.rename(folder.parent / "this or that")  # one model, although it looks like two names
    assert repr(gv.load_model(str(folder), device="cpu")).startswith("this or that · torch · cpu: 2.7 million")
    monkeypatch.setattr(load, "has_torch", lambda: False)
    for device in ("auto", "numpy"):
        assert gv.load_model(str(folder), device).device == "NumPy · cpu"


@pytest.mark.parametrize(
    ("device", "shown"), [("auto", "NumPy"), ("cpu", "NumPy"), ("numpy", "NumPy"), ("torch", "torch")]
)
def test_the_embedded_models_run_on_numpy_unless_torch_is_asked_for(device, shown):
    assert gv.load_model("bard", device=device).device == f"{shown} · cpu"


@pytest.mark.parametrize(("name", "device"), [("bard", "torch"), ("{}", "cuda"), ("someone/model", "auto")])
def test_what_needs_torch_says_which_extra_to_install(folder, monkeypatch, name, device):
    for module in (load, hub):
        monkeypatch.setattr(module, "has_torch", lambda: False)
    with pytest.raises(gv.ModelError, match=r"torch and transformers are not installed.*hub"):
        gv.load_model(name.format(folder), device=device)


def test_a_hub_name_without_network_names_the_embedded_models_at_once(monkeypatch):
    from huggingface_hub import constants

    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    began = time.monotonic()
    with socket.socket() as unused:  # bound and not listening: a hub that refuses
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(gv.ModelError, match=r"clerk.*bard"):
            gv.load_model("guidedviz-tests/no-such-model")
    assert time.monotonic() - began < 20  # the hub's own client would retry for half a minute


def test_a_folder_that_is_not_there_is_not_looked_for_on_the_hub():
    with pytest.raises(gv.ModelError, match="no such folder"):
        gv.load_model("./no/such/place")


BOTH = pytest.mark.parametrize("device", ["numpy", "torch"])


@BOTH
def test_pickled_weights_are_refused(folder, device):
    import torch

    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(gv.ModelError, match="safetensors"):
        gv.load_model(str(folder), device)


@BOTH
@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "../model.safetensors", "/tmp/model.safetensors", "", 3, "a/b.safetensors"]
)
def test_an_index_names_only_safetensors_of_its_folder(folder, device, name):
    import torch

    torch.save({}, folder / "pytorch_model.bin")
    write_index(folder, {"model.norm.weight": "model.safetensors", "model.embed_tokens.weight": name})
    with pytest.raises(gv.ModelError, match=r"model.safetensors.index.json: saw .*in the same folder"):
        gv.load_model(str(folder), device)


@BOTH
def test_weights_in_several_files_are_read(folder, device, bard):
    stored = find_tensors(folder)
    weights = {name: np.array(tensor.read()) for name, tensor in stored.items()}
    (folder / "model.safetensors").unlink()
    name_of = "model.layers.2.mlp.{}_proj.weight".format
    second = {name_of(part): weights.pop(name_of(part)) for part in ("down", "up")}
    first = {name_of("gate"): weights.pop(name_of("gate")), **weights}  # it ends where `up` begins in the other file
    index = {}
    for file, tensors in (("a.safetensors", first), ("b.safetensors", second)):
        write_tensors(folder / file, tensors)
        index |= dict.fromkeys(tensors, file)
    write_index(folder, index, metadata={})
    assert_same_logits(gv.load_model(str(folder), device), bard)


def write_tensors(file, tensors):
    """A safetensors file whose header has 40,000 bytes."""
    header = {"__metadata__": {"format": "pt"}}
    begin = 0
    for name, value in tensors.items():
        end = begin + value.nbytes
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [begin, end]}
        begin = end
    data = b"".join(value.tobytes() for value in tensors.values())
    file.write_bytes(headed(json.dumps(header).encode().ljust(40_000), data))


@BOTH
@pytest.mark.parametrize("change", ["missing", "misshapen"])
def test_a_missing_or_misshapen_tensor_is_never_replaced_by_random_weights(folder, device, change):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    name = "model.layers.3.mlp.up_proj.weight"
    weights[name] = weights[name][:-1].clone()
    if change == "missing":
        del weights[name]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(gv.ModelError, match=r"layers.3.mlp.up_proj"):
        gv.load_model(str(folder), device)


@BOTH
def test_remote_code_is_never_run(folder, tmp_path, device):
    auto = {"AutoConfig": "evil.E", "AutoModelForCausalLM": "evil.M"}
    change_config(folder, model_type="evil", auto_map=auto)
    ran = tmp_path / "ran"
    (folder / "evil.py").write_text(f"open({str(ran)!r}, 'w')")
    with pytest.raises(gv.ModelError):
        gv.load_model(str(folder), device)
    assert not ran.exists()


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


@BOTH
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize(
    "text", ["{ damaged", "", "[]", "{}", "[" * 100_000], ids=["json", "empty", "list", "object", "deep"]
)
@pytest.mark.quick(every=2)
def test_a_damaged_folder_is_a_clear_error(folder, device, name, text):
    (folder / name).write_text(text)
    with pytest.raises(gv.ModelError, match="model 'mine'") as error:
        gv.load_model(str(folder), device)
    assert len(str(error.value)) < 700


def put(kind, file):
    """A file that a reader must not open, or not to its end."""
    file.unlink(missing_ok=True)
    match kind:
        case "fifo":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case "large":
            with file.open("wb") as stream:
                stream.truncate(10 << 30)
        case "many values":
            file.write_bytes(b'{"a": [' + b"[]," * 3_000_000 + b"0]}")


@BOTH
@pytest.mark.parametrize("kind", ["fifo", "device", "large", "many values"])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.quick(every=5)
def test_only_regular_files_of_a_bounded_size_are_read(folder, device, kind, name):
    if name == "a.safetensors":
        write_index(folder, {"x": name})
    put(kind, folder / name)
    # the first test on torch imports it, too
    with in_time(10), pytest.raises(gv.ModelError, match=rf"model 'mine', {name}: saw .*expected"):
        gv.load_model(str(folder), device)


@BOTH
def test_a_tensor_that_two_files_hold_is_refused(folder, device):
    (folder / "b.safetensors").symlink_to(folder / "model.safetensors")
    write_index(folder, {"x": "b.safetensors", "y": "model.safetensors"})
    with pytest.raises(gv.ModelError, match=r"as in b.safetensors, expected every tensor once"):
        gv.load_model(str(folder), device)


SAME = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "more",
    [
        {f"x{number}": SAME for number in range(300)},
        {f"{number}.rotary_emb.inv_freq": SAME for number in range(300)},
        {"x": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}},
    ],
    ids=["unknown", "frequencies", "empty"],
)
def test_names_that_the_model_does_not_need_are_refused_before_a_number_is_read(folder, monkeypatch, more):
    """300 names over the same bytes took three GB."""
    raw = (folder / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start]) | more
    (folder / "model.safetensors").write_bytes(headed(json.dumps(header).encode(), raw[start:]))
    monkeypatch.setattr(np, "fromfile", None)
    with pytest.raises(gv.ModelError, match=r"model.safetensors: saw tensor .*expected"):
        gv.load_model(str(folder), "numpy")


@BOTH
@pytest.mark.parametrize("ends", [3.5, "ab", -1, 65, 10**400, [[1]], {"a": 1}, True], ids=range(8))
@pytest.mark.quick(every=3)
def test_ends_of_a_text_that_are_no_ids_are_refused(folder, device, ends):
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}))
    with pytest.raises(gv.ModelError, match=r"model 'mine'.*expected"):
        gv.load_model(str(folder), device)


@BOTH
@pytest.mark.parametrize("key", ["rms_norm_eps", "rope_theta"])
@pytest.mark.parametrize("value", [float("nan"), -1.0, 0])
def test_settings_that_make_logits_of_no_number_are_refused(folder, device, key, value):
    rope = {"rope_type": "default", "rope_theta": 1e4, key: value}
    change_config(folder, rope_parameters=rope, **{key: value})
    with pytest.raises(gv.ModelError, match=rf"config.json: saw {key} .*expected a number"):
        gv.load_model(str(folder), device)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory has no limit")
def test_a_refused_folder_takes_at_most_300_megabytes(folder, monkeypatch):
    """The JSON with the most memory per byte that is still parsed."""
    (folder / "config.json").write_bytes(b'{"a": [' + b'{"":0},' * 740_000 + b"0]}")
    monkeypatch.setattr(guard, "MORE_MEMORY", 300_000_000)

    def load_it():
        return gv.load_model(str(folder), "numpy")

    (outcome,) = guard.run(load_it, [()])
    assert "config.json: saw model_type None" in str(outcome.value)


@pytest.mark.parametrize(
    "answer",
    ["text", 10**400, [10**400, 0], [None, 0], ["1", "2"], [1j, 0], {0: 1}, [[1], [2, 3]], None, [], [1, 2, 3]],
)
def test_a_toy_rule_that_gives_no_logits_is_named(answer):
    toy = constant_model([b"a", b"b"], answer)
    with pytest.raises(gv.SettingError, match=r"^toy rule: saw .*, expected 2 logits"):
        toy.logits([0])


@pytest.mark.parametrize(("pieces", "rule"), [([b"a"], None), (None, len), (["a"], len), ([], len)])
def test_a_toy_of_something_else_is_refused(pieces, rule):
    with pytest.raises(gv.GuidedVizError, match=r"(toy rule|vocabulary).*expected"):
        gv.ToyModel(pieces, rule)


def test_a_toy_s_logits_may_be_whole_numbers_and_minus_infinity():
    logits = [1, -np.inf]
    toy = constant_model([b"a", b"b"], logits)
    assert toy.logits([0]).tolist() == [1.0, -np.inf]


@pytest.mark.parametrize("device", ["warp", "cuda", "mps:3", "", None, ["cpu"]])
def test_a_device_that_is_not_here_is_named(device, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(gv.ModelError, match=r"device .*: saw .*, expected auto or numpy or"):
        gv.load_model("bard", device=device)


def test_running_out_of_memory_while_loading_names_the_size(monkeypatch):
    import torch

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch.nn.Module, "to", full)
    with pytest.raises(gv.ModelError, match="out of memory"):
        gv.load_model("bard", device="torch")


@pytest.mark.parametrize("wrong", [None, 3, "", [], b"clerk"])
def test_anything_but_a_name_is_refused(wrong):
    with pytest.raises(gv.ModelError, match=r"^model: saw .*, expected a folder, a hub name, or .clerk."):
        gv.load_model(wrong)


@pytest.mark.parametrize("name", ["/" + "\x1b" * 10_000, "a" * 10_000, "a/" + "b" * 5_000, "x\0y", "~" * 300])
def test_a_hostile_name_is_quoted_in_part_and_escaped(name):
    with pytest.raises(gv.ModelError) as error:
        gv.load_model(name)
    assert len(str(error.value)) < 400
    assert str(error.value).isprintable()


def test_readiness_names_what_is_not_installed(monkeypatch):
    def without_jupyterlab(name):
        return "" if name == "jupyterlab" else installed(name)

    monkeypatch.setattr(load, "installed", without_jupyterlab)
    assert "widgets: jupyterlab not installed, ipywidgets" in repr(gv.readiness())
    assert '; to install it: pip install -e ".[lab]" in' in repr(gv.readiness())


def test_in_a_browser_tab_a_host_is_refused_at_once(monkeypatch):
    monkeypatch.setattr("guidedviz.models.remote.IN_TAB", True)
    with pytest.raises(gv.ModelError, match="a browser tab, which reaches no host"):
        gv.load_model("http://127.0.0.1:8765")


def test_a_saved_readiness_says_that_it_is_not_the_reader_s_machine(monkeypatch):
    said = "not your machine, but the one that ran this cell"
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)
    assert said not in gv.readiness()
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    assert gv.readiness().startswith(said)
    labs = Path(__file__).resolve().parents[2] / "labs"
    for folder in (labs, labs / "solutions"):
        assert said in (folder / "00_start_here.ipynb").read_text(encoding="utf-8")
