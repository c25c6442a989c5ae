"""Read the weights of a model folder of Llama's kind: config.json gives its shape, and so the shape of every tensor."""

import os
from functools import partial
from itertools import pairwise
from math import inf, pi, prod
from pathlib import Path
from typing import Any

import numpy as np

from guidedviz.errors import quoted
from guidedviz.models.llama import Layer, Llama, Shape
from guidedviz.models.model import Array, out_of_memory
from guidedviz.models.safetensors import FLOATS, SINGLE, StoredTensor, damaged, find_tensors, read_json

LARGEST_SIZE = 1 << 20  # of every number of a shape
FIXED = {"model_type": "llama", "hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
CONFIG_NAMES = {
    "vocabulary": "vocab_size",
    "width": "hidden_size",
    "inner": "intermediate_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "context": "max_position_embeddings",
}


def read_shape(folder: Path) -> Shape:
    """The shape in a folder's config.json; a model of another kind is refused.

    >>> from guidedviz.files import shipped
    >>> read_shape(shipped("models/bard")).layers
    6
    """
    file = folder / "config.json"
    config = {"model_type": None, "tie_word_embeddings": False} | read_json(file)
    for key, value in FIXED.items():
        if config.get(key, value) != value:
            raise damaged(file, f"{key} {quoted(config[key])}", quoted(value))
    number = partial(number_setting, file, config)
    sizes = {name: number(key, 1, LARGEST_SIZE, whole=True) for name, key in CONFIG_NAMES.items()}
    heads = sizes["heads"]
    width = sizes["width"]
    tied = config["tie_word_embeddings"]
    kv_heads = number("num_key_value_heads", 1, LARGEST_SIZE, heads, whole=True)
    usual = width / heads if width % heads else width // heads
    head_size = number("head_dim", 1, LARGEST_SIZE, usual, whole=True)
    if heads % kv_heads or head_size % 2:
        raise damaged(file, f"{heads} heads of {head_size}, {kv_heads} for keys", "sizes that divide")
    if not isinstance(tied, bool):
        raise damaged(file, f"tie_word_embeddings {quoted(tied)}", "true or false")
    epsilon = number("rms_norm_eps", 1e-12, 0.1, 1e-6)
    frequencies = _frequencies(file, config, head_size)
    return Shape(**sizes, kv_heads=kv_heads, head_size=head_size, epsilon=epsilon, tied=tied, frequencies=frequencies)


def number_setting(
    file: Path, settings: dict[str, Any], key: str, least: float, most: float, default: Any = None, whole: bool = False
) -> Any:
    """A setting from `least` to `most`."""
    value = settings.get(key)
    value = default if value is None else value
    kinds = (int,) if whole else (int, float)
    if type(value) not in kinds or not least <= value <= most:
        kind = "whole number" if whole else "number"
        raise damaged(file, f"{key} {quoted(value)}", f"a {kind} from {least:g} to {most:,}")
    return value


def _frequencies(file: Path, config: dict[str, Any], size: int) -> Array:
    """The frequencies of the rotary embedding; Llama 3 lowers those whose waves are longer than its first context."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if not isinstance(rope, dict):
        raise damaged(file, f"rope settings {quoted(rope)}", "those of Llama")
    number = partial(number_setting, file, rope)
    theta = number("rope_theta", 1, 1e12, config.get("rope_theta", 10_000.0))
    plain = theta ** -(np.arange(0, size, 2, dtype=np.float32) / np.float32(size))
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "linear", "llama3"):
        raise damaged(file, f"rope_type {quoted(kind)}", "default, linear or llama3")
    factor: Any = 1.0
    if kind != "default":
        factor = 1 / number("factor", 1e-3, 1e6)
    if kind == "llama3":
        low = number("low_freq_factor", 1e-3, 1e6)
        high = number("high_freq_factor", 1e-3, 1e6)
        if low >= high:
            raise damaged(file, f"low_freq_factor {low}, high_freq_factor {high}", "a low one below the high one")
        context = number("original_max_position_embeddings", 1, LARGEST_SIZE)
        waves = context * plain / (2 * pi)  # in the first context
        kept = np.clip((waves - low) / (high - low), 0, 1)
        factor = kept + (1 - kept) * factor
    return np.asarray(plain * factor, np.float32)


def read_llama(folder: Path) -> Llama:
    """The model in a folder; a tensor that is missing, unknown or of another shape is an error."""
    shape = read_shape(folder)
    stored = find_tensors(folder)
    if 9 * shape.layers > len(stored):
        both = f"num_hidden_layers {shape.layers:,} and {len(stored):,} tensors"
        raise damaged(folder / "config.json", both, "nine tensors per layer")
    expected = _expected_shapes(shape)
    check_tensors(folder / SINGLE, stored, expected)
    weights = sum(map(prod, expected.values()))
    if 4 * weights > memory():
        raise out_of_memory(folder.name, weights)
    names = [f"model.layers.{number}" for number in range(shape.layers)]
    layers = [_read_layer(stored, name) for name in names]
    embedding = stored["model.embed_tokens.weight"].read()
    head = embedding if shape.tied else stored["lm_head.weight"].read()
    return Llama(shape, embedding, layers, stored["model.norm.weight"].read(), head)


def check_tensors(file: Path, stored: dict[str, StoredTensor], expected: dict[str, tuple[int, ...]]) -> None:
    """Refuse tensors that are missing, unknown, of another shape or of another type."""
    for name in sorted(expected.keys() | stored.keys()):
        if name not in expected and (name == "lm_head.weight" or name.endswith("rotary_emb.inv_freq")):
            continue  # a copy of the embedding, and what the settings say
        seen = stored[name].shape if name in stored else "nothing"
        wanted = expected.get(name, "nothing")
        if seen != wanted:
            raise damaged(file, f"tensor {quoted(name)}: {seen}", f"{wanted}, by config.json")
        if stored[name].kind not in FLOATS:
            raise damaged(file, f"tensor {quoted(name)}: {stored[name].kind}", " or ".join(FLOATS))


def memory() -> float:
    """The bytes of this machine's memory; infinite where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return inf


def _expected_shapes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor."""
    width = shape.width
    inner = shape.inner
    query = shape.heads * shape.head_size
    key = shape.kv_heads * shape.head_size
    layer = {
        "input_layernorm": (width,),
        "self_attn.q_proj": (query, width),
        "self_attn.k_proj": (key, width),
        "self_attn.v_proj": (key, width),
        "self_attn.o_proj": (width, query),
        "post_attention_layernorm": (width,),
        "mlp.gate_proj": (inner, width),
        "mlp.up_proj": (inner, width),
        "mlp.down_proj": (width, inner),
    }
    table = (shape.vocabulary, width)
    named: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": table, "model.norm.weight": (width,)}
    if not shape.tied:
        named["lm_head.weight"] = table
    for number in range(shape.layers):
        for name, size in layer.items():
            named[f"model.layers.{number}.{name}.weight"] = size
    return named


def _read_layer(stored: dict[str, StoredTensor], name: str) -> Layer:
    """The weights of a layer; matrices that read the same vector are stacked, so that one product serves them."""

    def stacked(*names: str) -> Array:
        parts = [stored[f"{name}.{part}.weight"] for part in names]
        pairs = pairwise(parts)
        if all(other.follows(one) for one, other in pairs):
            rows = sum(part.shape[0] for part in parts)
            return parts[0]._replace(shape=(rows, *parts[0].shape[1:]), end=parts[-1].end).read()
        return np.concatenate([part.read() for part in parts])

    return Layer(
        stacked("input_layernorm"),
        stacked("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
        stacked("self_attn.o_proj"),
        stacked("post_attention_layernorm"),
        stacked("mlp.gate_proj", "mlp.up_proj"),
        stacked("mlp.down_proj"),
    )
