"""Read a folder of Llama's kind: the shape in config.json, and the weights, which must fit it."""

from __future__ import annotations

from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from guidedviz.errors import quoted
from guidedviz.models.llama import Layer, Llama, Shape
from guidedviz.models.safetensors import Array, Tensors, damaged, read_json, read_weights

MOST = 1 << 20  # of every number of a shape
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
    sizes = {name: _whole(file, config, key) for name, key in NAMES.items()}
    kv_heads = _whole(file, config, "num_key_value_heads", sizes["heads"])
    head_size = _whole(file, config, "head_dim", sizes["width"] // sizes["heads"])
    if sizes["heads"] % kv_heads or head_size % 2:
        raise damaged(file, f"{sizes['heads']} heads of {head_size}, {kv_heads} for keys", "sizes that divide")
    epsilon, tied = config.get("rms_norm_eps", 1e-6), config.get("tie_word_embeddings", False)
    if not isinstance(epsilon, float) or not 0 < epsilon < 1 or not isinstance(tied, bool):
        raise damaged(file, f"rms_norm_eps {quoted(epsilon)}, tie_word_embeddings {quoted(tied)}", "1e-6 and a bool")
    return Shape(
        **sizes,
        kv_heads=kv_heads,
        head_size=head_size,
        epsilon=epsilon,
        tied=tied,
        frequencies=_frequencies(file, config, head_size),
    )


def _whole(file: Path, config: dict[str, Any], key: str, default: int = 0) -> int:
    value = config.get(key) or default
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise damaged(file, f"{key} {quoted(config.get(key))}", "a whole number from 1 up")
    return value


def _frequencies(file: Path, config: dict[str, Any], size: int) -> Array:
    """The frequencies of the rotary embedding; Llama 3 lowers those whose waves are longer than its first context."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    try:
        theta = float(rope.get("rope_theta", config.get("rope_theta", 10_000.0)))
        plain = theta ** -(np.arange(0, size, 2, dtype=np.float32) / np.float32(size))
        factor = _rope_factor(rope, plain)
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise damaged(file, f"rope settings {quoted(rope)}", f"those of Llama ({error})") from None
    frequencies: Array = (plain * factor).astype(np.float32)
    return frequencies


def _rope_factor(rope: dict[str, Any], plain: Array) -> Any:
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "default":
        return 1.0
    if kind == "linear":
        return 1 / float(rope["factor"])
    if kind == "llama3":
        low, high = float(rope["low_freq_factor"]), float(rope["high_freq_factor"])
        waves = rope["original_max_position_embeddings"] * plain / (2 * pi)  # in the first context
        kept = np.clip((waves - low) / (high - low), 0, 1)
        return kept + (1 - kept) / float(rope["factor"])
    raise ValueError("rope_type default, linear or llama3")


def read_llama(folder: Path) -> Llama:
    """The model in a folder; a tensor that is missing, unknown or of another shape is an error."""
    shape, tensors = read_shape(folder), read_weights(folder)
    if shape.tied:
        tensors.pop("lm_head.weight", None)  # a copy of the embedding
    expected = _expected_shapes(shape)
    for name in sorted(expected.keys() | tensors.keys()):
        seen, wanted = tensors[name].shape if name in tensors else "nothing", expected.get(name, "nothing")
        if seen != wanted and not name.endswith("rotary_emb.inv_freq"):
            raise damaged(folder / "model.safetensors", f"tensor {quoted(name)}: {seen}", f"{wanted}, by config.json")
    layers = [_read_layer(tensors, f"model.layers.{number}") for number in range(shape.layers)]
    embedding = tensors["model.embed_tokens.weight"]
    head = embedding if shape.tied else tensors["lm_head.weight"]
    return Llama(shape, embedding, layers, tensors["model.norm.weight"], head)


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
