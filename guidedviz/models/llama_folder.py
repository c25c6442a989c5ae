"""Read a folder of Llama's kind: the shape in config.json, and the weights, which must fit it.

The settings and the tensors' shapes are compared before anything is built or read.
"""

from __future__ import annotations

import os
from math import inf, pi, prod
from pathlib import Path
from typing import Any

import numpy as np

from guidedviz.errors import quoted
from guidedviz.models.language_model import too_large
from guidedviz.models.llama import Layer, Llama, Shape
from guidedviz.models.model import Array
from guidedviz.models.safetensors import FLOATS, Tensors, damaged, find_tensors, read_json

LARGEST_SIZE = 1 << 20  # of every number of a shape
WHOLE, NUMBER = (int,), (int, float)
NAMES = {
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
    config = read_json(file)
    for key, value in {"model_type": "llama", "hidden_act": "silu", "attention_bias": False, "mlp_bias": False}.items():
        if config.get(key, value) != value or (key == "model_type" and key not in config):
            raise damaged(file, f"{key} {quoted(config.get(key))}", quoted(value))
    sizes = {name: _number(file, config, key, None, 1, LARGEST_SIZE, WHOLE) for name, key in NAMES.items()}
    heads, width = sizes["heads"], sizes["width"]
    kv_heads = _number(file, config, "num_key_value_heads", heads, 1, LARGEST_SIZE, WHOLE)
    head_size = _number(
        file, config, "head_dim", width / heads if width % heads else width // heads, 1, LARGEST_SIZE, WHOLE
    )
    if heads % kv_heads or head_size % 2:
        raise damaged(file, f"{heads} heads of {head_size}, {kv_heads} for keys", "sizes that divide")
    tied = config.get("tie_word_embeddings", False)
    if not isinstance(tied, bool):
        raise damaged(file, f"tie_word_embeddings {quoted(tied)}", "true or false")
    return Shape(
        **sizes,
        kv_heads=kv_heads,
        head_size=head_size,
        epsilon=_number(file, config, "rms_norm_eps", 1e-6, 1e-12, 0.1),
        tied=tied,
        frequencies=_frequencies(file, config, head_size),
    )


def _number(
    file: Path, settings: dict[str, Any], key: str, default: Any, least: float, most: float, kinds: Any = NUMBER
) -> Any:
    """A setting from `least` to `most`."""
    value = settings.get(key)
    value = default if value is None else value
    if type(value) not in kinds or not least <= value <= most:
        whole = "whole " if kinds == WHOLE else ""
        raise damaged(file, f"{key} {quoted(value)}", f"a {whole}number from {least:g} to {most:,}")
    return value


def _frequencies(file: Path, config: dict[str, Any], size: int) -> Array:
    """The frequencies of the rotary embedding; Llama 3 lowers those whose waves are longer than its first context."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if not isinstance(rope, dict):
        raise damaged(file, f"rope settings {quoted(rope)}", "those of Llama")
    theta = _number(file, rope, "rope_theta", config.get("rope_theta", 10_000.0), 1, 1e12)
    plain = theta ** -(np.arange(0, size, 2, dtype=np.float32) / np.float32(size))
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "linear", "llama3"):
        raise damaged(file, f"rope_type {quoted(kind)}", "default, linear or llama3")
    factor: Any = 1.0 if kind == "default" else 1 / _number(file, rope, "factor", None, 1e-3, 1e6)
    if kind == "llama3":
        low = _number(file, rope, "low_freq_factor", None, 1e-3, 1e6)
        high = _number(file, rope, "high_freq_factor", None, 1e-3, 1e6)
        if low >= high:
            raise damaged(file, f"low_freq_factor {low}, high_freq_factor {high}", "a low one below the high one")
        context = _number(file, rope, "original_max_position_embeddings", None, 1, LARGEST_SIZE)
        waves = context * plain / (2 * pi)  # in the first context
        kept = np.clip((waves - low) / (high - low), 0, 1)
        factor = kept + (1 - kept) * factor
    frequencies: Array = (plain * factor).astype(np.float32)
    return frequencies


def read_llama(folder: Path) -> Llama:
    """The model in a folder; a tensor that is missing, unknown or of another shape is an error."""
    shape, stored, file = read_shape(folder), find_tensors(folder), folder / "model.safetensors"
    if 9 * shape.layers > len(stored):
        both = f"num_hidden_layers {shape.layers:,} and {len(stored):,} tensors"
        raise damaged(folder / "config.json", both, "nine tensors per layer")
    expected = _expected_shapes(shape)
    ignored = {name for name in stored if name.endswith("rotary_emb.inv_freq")} - expected.keys()
    if shape.tied:
        ignored.add("lm_head.weight")  # a copy of the embedding
    for name in sorted((expected.keys() | stored.keys()) - ignored):
        seen, wanted = stored[name].shape if name in stored else "nothing", expected.get(name, "nothing")
        if seen != wanted:
            raise damaged(file, f"tensor {quoted(name)}: {seen}", f"{wanted}, by config.json")
        if stored[name].kind not in FLOATS:
            raise damaged(file, f"tensor {quoted(name)}: {stored[name].kind}", " or ".join(FLOATS))
    weights = sum(map(prod, expected.values()))
    if 4 * weights > _memory():
        raise too_large(folder.name, weights * 4 / 1e6)
    tensors = {name: stored[name].read() for name in expected}
    layers = [_read_layer(tensors, f"model.layers.{number}") for number in range(shape.layers)]
    embedding = tensors["model.embed_tokens.weight"]
    head = embedding if shape.tied else tensors["lm_head.weight"]
    return Llama(shape, embedding, layers, tensors["model.norm.weight"], head)


def _memory() -> float:
    """The bytes of this machine's memory; infinite where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return inf


def _expected_shapes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor."""
    width, inner = shape.width, shape.inner
    query, key = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
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
    named = {f"model.layers.{n}.{name}.weight": size for n in range(shape.layers) for name, size in layer.items()}
    table = (shape.vocabulary, width)
    named |= {"model.embed_tokens.weight": table, "model.norm.weight": (width,)}
    return named if shape.tied else named | {"lm_head.weight": table}


def _read_layer(tensors: Tensors, name: str) -> Layer:
    """The weights of a layer; matrices that read the same vector are stacked, so that one product serves them."""

    def stacked(*names: str) -> Array:
        return np.concatenate([tensors.pop(f"{name}.{part}.weight") for part in names])

    return Layer(
        stacked("input_layernorm"),
        stacked("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
        stacked("self_attn.o_proj"),
        stacked("post_attention_layernorm"),
        stacked("mlp.gate_proj", "mlp.up_proj"),
        stacked("mlp.down_proj"),
    )
