"""Claims about the forward pass in NumPy: the same logits and texts as torch, for every shape of Llama."""

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

import guidedviz as gv
from guidedviz.models import weights
from guidedviz.models.hub import TorchNetwork
from guidedviz.models.weights import read_llama, read_shape
from tests.common import in_time

pytestmark = pytest.mark.filterwarnings("error:.*deprecated:FutureWarning")  # transformers renames parameters

LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32, "rope_theta": 500.0}  # fmt: skip
PLAIN = {"rope_type": "default", "rope_theta": 10_000.0}


@pytest.fixture(scope="module", params=["clerk", "bard"])
def pair(request):
    """One model on both backends."""
    return [gv.load_model(request.param, device) for device in ("numpy", "torch")]


@pytest.mark.quick("clerk")
@settings(max_examples=8)
@given(st.data())
def test_both_forward_passes_give_the_same_logits(pair, data):
    """With and without cache, one token at a time and many, after any text read before."""
    numpy, reference = pair
    ids = st.integers(0, len(numpy.vocabulary) - 1)
    tokens = data.draw(st.lists(ids, min_size=1, max_size=12))
    ends = st.lists(st.integers(1, len(tokens)), min_size=1, max_size=4)
    for end in data.draw(ends):
        for model in pair:
            if data.draw(st.booleans()):
                model.forget()
        np.testing.assert_allclose(numpy.logits(tokens[:end]), reference.logits(tokens[:end]), atol=1e-3)
    start = data.draw(st.integers(0, len(tokens) - 1))
    np.testing.assert_allclose(numpy.all_logits(tokens, start), reference.all_logits(tokens, start), atol=1e-3)


def build_folder(folder, **changes):
    """A small model of random weights and this shape, on torch and saved."""
    import torch  # here, or every worker would load it to collect the tests
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"vocab_size": 50, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "head_dim": 8,
             "num_attention_heads": 4, "max_position_embeddings": 64, "rope_parameters": PLAIN}  # fmt: skip
    torch.manual_seed(0)
    network = LlamaForCausalLM(LlamaConfig(**sizes | changes)).eval()
    for part in network.parameters():
        torch.nn.init.normal_(part, std=0.3)
    network.save_pretrained(folder)
    return TorchNetwork(network, "cpu")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"num_key_value_heads": 2},
        {"num_key_value_heads": 1, "tie_word_embeddings": True},
        {"head_dim": 6, "rms_norm_eps": 1e-3},
        {"rope_parameters": LLAMA3},
        {"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10_000.0}},
    ],
    ids=["plain", "grouped", "tied", "sizes", "llama3", "linear"],
)
def test_every_shape_of_llama_gives_torchs_logits(tmp_path, changes):
    network = build_folder(tmp_path, **changes)
    numpy = read_llama(tmp_path)
    assert numpy.weights == network.weights
    our_cache = numpy.new_cache()
    torch_cache = network.new_cache()
    for tokens in ([*range(40)], [3], [7, 8, 9]):
        ours = numpy.read([our_cache], [tokens], True)[0]
        torchs = network.read([torch_cache], [tokens], True)[0]
        np.testing.assert_allclose(ours, torchs, atol=2e-4)


NAN = float("nan")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder of a small model, and its configuration."""
    folder = tmp_path_factory.mktemp("small")
    build_folder(folder)
    return folder, json.loads((folder / "config.json").read_text())


@pytest.fixture
def change_config(small):
    """The folder with other settings."""
    folder, config = small
    file = folder / "config.json"

    def write_config(**changes):
        file.write_text(json.dumps(config | changes))
        return folder

    yield write_config
    write_config()


BAD = {  # per key of config.json the values that are refused
    "model_type": ["qwen3", ["llama"]],
    "hidden_act": ["gelu"],
    "attention_bias": [True],
    "num_hidden_layers": [0, 10**9, 2.0, True],
    "hidden_size": ["24"],
    "vocab_size": [None],
    "max_position_embeddings": [10**4000],
    "num_key_value_heads": [3, 0],
    "num_attention_heads": [-4],
    "head_dim": [7],
    "rms_norm_eps": ["small", NAN, 10**400],
    "tie_word_embeddings": ["yes"],
    "rope_parameters": [
        *({"rope_theta": theta} for theta in (NAN, -10_000.0, float("inf"), "10000")),
        *({"rope_type": kind} for kind in ("yarn", ["linear"], "llama3")),
        *({"rope_type": "linear", "factor": factor} for factor in (0, NAN)),
        LLAMA3 | {"high_freq_factor": 1.0},
        [1],
    ],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in BAD.items() for value in values])
def test_a_config_of_another_model_is_refused_by_its_key(change_config, key, value):
    with pytest.raises(gv.ModelError, match=r"config.json: saw .*expected"):
        read_shape(change_config(**{key: value}))


def test_heads_that_do_not_divide_the_width_are_refused(change_config):
    with pytest.raises(gv.ModelError, match=r"head_dim 4.8, expected a whole number"):
        read_shape(change_config(num_attention_heads=5, head_dim=None))


FITTING = ["vocab_size", "hidden_size", "intermediate_size", "num_attention_heads", "head_dim"]
UNFIT = [*((key, 1 << 20) for key in FITTING), *(("num_hidden_layers", count) for count in (-1, 900, 10**9))]


@pytest.mark.parametrize(("key", "value"), UNFIT)
@pytest.mark.parametrize("device", ["numpy", "torch"])
def test_settings_that_do_not_fit_the_tensors_are_refused_before_a_model_is_built(change_config, key, value, device):
    # the first test on torch imports it, too
    with in_time(10), pytest.raises(gv.ModelError, match=r"model '.*expected"):
        gv.load_model(str(change_config(**{key: value})), device)


def test_a_model_larger_than_the_memory_is_refused_before_it_is_read(small, monkeypatch):
    monkeypatch.setattr(weights, "memory", lambda: 1000)
    with pytest.raises(gv.ModelError, match="out of memory; its weights take"):
        read_llama(small[0])


def test_a_tensor_that_the_shape_does_not_name_is_refused(change_config):
    with pytest.raises(
        gv.ModelError, match=r"tensor 'model.layers.1.input_layernorm.weight': \(24,\), expected nothing"
    ):
        read_llama(change_config(num_hidden_layers=1))


@pytest.mark.slow
def test_a_text_may_be_as_long_as_the_context(bard):
    tokens = [number % 65 for number in range(1024)]
    assert np.isfinite(bard.logits(tokens)).all()
    last = bard.all_logits(tokens, 1000)[-1]
    np.testing.assert_allclose(last, bard.logits(tokens), atol=1e-3)
    bard.forget()


@pytest.mark.skipif("OPENBLAS_CORETYPE" not in os.environ, reason="no kernel of OpenBLAS is asked for")
def test_openblas_uses_the_kernel_that_is_asked_for():
    """If it did not, `make kernel` would compare nothing."""
    asked = os.environ["OPENBLAS_CORETYPE"]
    first_names = {"Prescott": "Katmai"}  # of kernels with several names: OpenBLAS tells the first
    libraries = threadpool_info()
    kernels = {library["architecture"] for library in libraries if library["internal_api"] == "openblas"}
    assert first_names.get(asked, asked) in kernels
