"""Read `*.safetensors`: where each tensor of a model folder lies, and its numbers as 32-bit floats.

A file is eight bytes with the length of its header, a JSON header with the name, type, shape and place of every
tensor, and the numbers (https://github.com/huggingface/safetensors). The tensors lie one after the other, without
gaps. All headers are checked before any number is read.
"""

import re
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from guidedviz.errors import ModelError, quoted
from guidedviz.files import parse_json, read_bounded, size_of
from guidedviz.models.model import SMALLER, Array

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


def damaged(file: Path, seen: str, expected: str = "") -> ModelError:
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
                raise damaged(file, f"tensor {quoted(name)}, as in {found[name].file.name}", "every tensor once")
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
    for name, stored in sorted(found.items(), key=lambda item: (item[1].begin, item[1].end)):
        if stored.begin != end:
            raise damaged(file, f"tensor {quoted(name)}: from byte {stored.begin}", f"from byte {end}, without a gap")
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
