"""Read the weights of a model folder: where each tensor lies in `*.safetensors`, and its numbers as 32-bit floats.

A file is eight bytes with the length of its header, a JSON header with the name, type, shape and place of every
tensor, and the numbers (https://github.com/huggingface/safetensors). The tensors lie one after the other, without
gaps. All headers are checked before any number is read. For a model of Llama's kind, config.json gives its shape, and
so the shape of every tensor.
"""

import os
import re
from functools import partial
from itertools import pairwise
from math import inf, pi, prod
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from guidedviz.errors import ModelError, quoted
from guidedviz.files import parse_json, read_bounded, size_of
from guidedviz.models.llama import Layer, Llama, Shape
from guidedviz.models.model import SMALLER, Array, out_of_memory

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
BITS = {"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I16": 16, "U16": 16, "F16": 16,
        "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64, "C64": 64, "F4": 4,
        "F6_E2M3": 6, "F6_E3M2": 6}  # fmt: skip
FLOATS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # those that NumPy reads here
PLAIN_NAME = re.compile(r"[\w.-]+\.safetensors")
JSON_BYTES = 24 << 20  # the tokenizer.json of Llama 3 has 17 million
JSON_VALUES = 1_500_000
DIMENSIONS = 8
LARGEST_DIMENSION = 1 << 40  # of a dimension


def damaged(file: Path, seen: str, expected: str) -> ModelError:
    """The error for a file of a model that cannot be used."""
    where = f"model {quoted(file.parent.name)}, {file.name}"
    return ModelError(where, seen=seen, expected=expected, hint=f"load one that needs no network: {SMALLER}")


def read_json(file: Path) -> dict[str, Any]:
    """A file that holds one JSON object."""
    try:
        found = parse_json(read_bounded(file, JSON_BYTES), JSON_VALUES)
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(file, str(error).splitlines()[0][:120], "a JSON object") from None
    if not isinstance(found, dict):
        raise damaged(file, type(found).__name__, "a JSON object")
    return found


def weight_files(folder: Path) -> list[Path]:
    """The weight files of a folder. An index may name nothing but safetensors files in this folder."""
    listing = folder / INDEX
    if not listing.exists():
        return [folder / SINGLE]
    named = read_json(listing).get("weight_map")
    if not isinstance(named, dict) or not named:
        raise damaged(listing, "no weight_map", "an object from tensors to files")
    for name in named.values():
        if not isinstance(name, str) or not PLAIN_NAME.fullmatch(name):
            raise damaged(listing, quoted(name), "names of *.safetensors files in the same folder")
    names = sorted(set(named.values()))
    return [folder / name for name in names]


class StoredTensor(NamedTuple):
    """Where a tensor is stored."""

    file: Path
    kind: str
    shape: tuple[int, ...]
    begin: int  # in the file
    end: int

    def follows(self, other: Self) -> bool:
        """Whether it lies right after another one of its type, so that both can be read as one."""
        return (self.file, self.kind, self.begin) == (other.file, other.kind, other.end)

    def read(self) -> Array:
        """Its numbers as 32-bit floats; those that are stored so stay in the file, and the system reads them."""
        if self.kind == "F32" and 0 not in self.shape:
            return np.memmap(self.file, "<f4", "r", self.begin, self.shape)
        raw = np.fromfile(self.file, FLOATS[self.kind], prod(self.shape), offset=self.begin)
        if self.kind == "BF16":  # the upper half of a 32-bit float
            numbers = (raw.astype(np.uint32) << 16).view(np.float32)
        else:
            numbers = raw.astype(np.float32, copy=False)
        return numbers.reshape(self.shape)


def find_tensors(folder: Path) -> dict[str, StoredTensor]:
    """All tensors of a folder by name; no number is read yet.

    >>> from guidedviz.files import shipped
    >>> stored = find_tensors(shipped("models/bard"))["model.embed_tokens.weight"]
    >>> stored.kind, stored.read().shape
    ('BF16', (65, 192))
    """
    found: dict[str, StoredTensor] = {}
    for file in weight_files(folder):
        for name, stored in read_header(file).items():
            if name in found:
                seen = f"tensor {quoted(name)}, as in {found[name].file.name}"
                raise damaged(file, seen, "every tensor once")
            found[name] = stored
    return found


def read_header(file: Path) -> dict[str, StoredTensor]:
    """The tensors of one file, which must fill it without gaps."""
    try:
        size = size_of(file)
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            start = 8 + length
            fits = start <= min(size, JSON_BYTES)
            text = stream.read(length) if fits else b""
        header = parse_json(text, JSON_VALUES)
    except OSError as error:
        raise damaged(file, error.strerror or str(error), "weights as *.safetensors") from None
    except (ValueError, RecursionError):
        raise damaged(file, f"no header in its {size:,} bytes", "a whole safetensors file") from None
    if not isinstance(header, dict) or size == start:
        raise damaged(file, "no tensors", "a whole safetensors file")
    header.pop("__metadata__", None)
    found = {name: _locate(file, name, about, start) for name, about in header.items()}
    check_gaps(file, found, start, size)
    return found


def check_gaps(file: Path, found: dict[str, StoredTensor], start: int, size: int) -> None:
    """Refuse tensors that do not fill a file from the end of its header on, one after the other."""
    end = start
    in_order = sorted(found.items(), key=lambda item: (item[1].begin, item[1].end))
    for name, stored in in_order:
        if stored.begin != end:
            seen = f"tensor {quoted(name)}: from byte {stored.begin}"
            raise damaged(file, seen, f"from byte {end}, without a gap")
        end = stored.end
    if end != size:
        raise damaged(file, f"{size:,} bytes", f"{end:,}, by its header")


def _locate(file: Path, name: str, about: Any, start: int) -> StoredTensor:
    where = f"tensor {quoted(name)}"
    match about:
        case {"dtype": str(kind), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if kind in BITS:
            plain = len(shape) <= DIMENSIONS and all(type(n) is int and 0 <= n <= LARGEST_DIMENSION for n in shape)
            if plain and 0 <= begin <= end and (end - begin) * 8 == prod(shape) * BITS[kind]:
                return StoredTensor(file, kind, tuple(shape), start + begin, start + end)
            seen = f"{where}: bytes {quoted(begin)} to {quoted(end)} for {kind} of shape {quoted(shape)}"
            raise damaged(file, seen, "as many bytes as its shape takes")
    raise damaged(file, f"{where}: {quoted(about)}", "a type, a shape and offsets")


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
            seen = f"{key} {quoted(config[key])}"
            raise damaged(file, seen, quoted(value))
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
        expected = f"a {kind} from {least:g} to {most:,}"
        raise damaged(file, f"{key} {quoted(value)}", expected)
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
        where = f"tensor {quoted(name)}"
        seen = stored[name].shape if name in stored else "nothing"
        wanted = expected.get(name, "nothing")
        if seen != wanted:
            raise damaged(file, f"{where}: {seen}", f"{wanted}, by config.json")
        kind = stored[name].kind
        if kind not in FLOATS:
            raise damaged(file, f"{where}: {kind}", " or ".join(FLOATS))


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
