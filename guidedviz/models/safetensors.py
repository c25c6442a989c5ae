"""Read the weights of a model folder: `*.safetensors` only, as 32-bit floats.

A file is eight bytes with the length of its header, a JSON header with the name, type, shape and place of every
tensor, and the numbers (https://github.com/huggingface/safetensors).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import prod
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from guidedviz.errors import ModelError, quoted

Array = npt.NDArray[np.float32]
Tensors = dict[str, Array]

SMALLER = '"clerk" (4 million weights) or "bard" (3 million), both embedded'
INDEX, SINGLE = "model.safetensors.index.json", "model.safetensors"
BYTES = {"F32": 4, "F16": 2, "BF16": 2}
PLAIN_NAME = re.compile(r"[\w.-]+\.safetensors")


def damaged(file: Path, seen: str, expected: str = "") -> ModelError:
    """The error for a file of a model that cannot be used."""
    where = f"model {quoted(file.parent.name)}, {file.name}"
    return ModelError(where, seen=seen, expected=expected, hint=f"load one that needs no network: {SMALLER}")


def read_json(file: Path) -> dict[str, Any]:
    """A file that holds one JSON object."""
    try:
        found = json.loads(file.read_bytes())
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
    return [folder / name for name in sorted(set(named.values()))]


def read_weights(folder: Path) -> Tensors:
    """All tensors of a folder by name."""
    return {name: tensor for file in weight_files(folder) for name, tensor in read_file(file)}


def read_file(file: Path) -> Iterator[tuple[str, Array]]:
    """The tensors of one file.

    >>> from guidedviz.files import shipped
    >>> weights = dict(read_file(shipped("models/bard/model.safetensors")))
    >>> weights["model.embed_tokens.weight"].shape
    (65, 192)
    """
    header, start = _read_header(file)
    data = np.memmap(file, dtype=np.uint8, mode="r")[start:]
    for name, about in header.items():
        if name != "__metadata__":
            yield name, _read_tensor(file, name, about, data)


def _read_header(file: Path) -> tuple[dict[str, Any], int]:
    try:
        with file.open("rb") as stream:
            length, size = int.from_bytes(stream.read(8), "little"), file.stat().st_size
            text = stream.read(length) if length <= size - 8 else b""
        header = json.loads(text)
    except OSError:
        raise damaged(file, "no such file", "weights as *.safetensors") from None
    except (ValueError, RecursionError):
        raise damaged(file, f"no header in its {size:,} bytes", "a whole safetensors file") from None
    if not isinstance(header, dict) or size == 8 + length:
        raise damaged(file, "no tensors", "a whole safetensors file")
    return header, 8 + length


def _read_tensor(file: Path, name: str, about: Any, data: npt.NDArray[np.uint8]) -> Array:
    where = f"tensor {quoted(name)}"
    try:
        kind, shape = str(about["dtype"]), tuple(map(index, about["shape"]))
        begin, end = map(index, about["data_offsets"])
        whole = min(shape, default=1) >= 0 and 0 <= begin <= end <= len(data)
        fits = whole and end - begin == prod(shape) * BYTES[kind]
    except (KeyError, TypeError, ValueError):
        raise damaged(file, f"{where}: {quoted(about)}", f"a shape, offsets and one of {', '.join(BYTES)}") from None
    if not fits:
        raise damaged(file, f"{where}: bytes {begin} to {end} of {len(data)} for the shape {shape}", "a whole file")
    raw = data[begin:end]
    if kind == "BF16":  # the upper half of a 32-bit float
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return raw.view("<f2" if kind == "F16" else "<f4").astype(np.float32).reshape(shape)
