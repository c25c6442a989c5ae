"""Claims about the reader of weights: the three types, and a clear error for every damage."""

import json
import random
from contextlib import suppress

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.models.weights import read_header


def read_file(file):
    return {name: stored.read() for name, stored in read_header(file).items()}


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
def test_each_type_is_read_exactly(tmp_path, kind):
    import torch
    from safetensors.torch import save_file

    kind = getattr(torch, kind)
    tensors = {"a": torch.randn(3, 5).to(kind), "b": torch.tensor(2.5).to(kind), "none": torch.zeros(0, 4).to(kind)}
    save_file(tensors, tmp_path / "m.safetensors")
    found = read_file(tmp_path / "m.safetensors")
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(found[name], tensor.float().numpy(), strict=True)


def write(path, header, data=b"\0" * 16):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    length = len(text).to_bytes(8, "little")
    path.write_bytes(length + text + data)
    return path


GOOD = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}


BAD = {
    "dtype": ["I64", None, ["F32"]],
    "shape": [[2, 3], [-2, -2], 4, ["x"], [1 << 70, 2], [True, 4]],
    "data_offsets": [[0, 10**400], [0, 17], [16, 0], [-16, 0], [8, 24], [0], ["0", "16"], [0.0, 16.0]],
}
EMPTY = [{"shape": shape, "data_offsets": [0, 0]} for shape in ([0, 10**30], [0] * 100_000)]
WRONG = [GOOD | change for change in [*EMPTY, *({key: value} for key, values in BAD.items() for value in values)]]


@pytest.mark.parametrize("about", [*WRONG, None, 3, [], "F32", {}])
def test_a_tensor_that_does_not_fit_its_bytes_is_refused(tmp_path, about):
    file = write(tmp_path / "m.safetensors", {"a": about})
    with pytest.raises(gv.ModelError, match=r"m.safetensors: saw tensor 'a'"):
        read_file(file)


@pytest.mark.parametrize(
    ("offsets", "size"),
    [
        ([[0, 16], [0, 16]], 16),
        ([[0, 16], [8, 16]], 16),
        ([[0, 8], [12, 20]], 20),
        ([[4, 12]], 12),
        ([[0, 16]], 20),
    ],
    ids=["over the same bytes", "over a part", "a gap", "a gap before the first", "bytes left"],
)
def test_tensors_that_overlap_or_leave_a_gap_are_refused(tmp_path, offsets, size):
    header = {}
    for begin, end in offsets:
        header[f"t{len(header)}"] = {"dtype": "F32", "shape": [(end - begin) // 4], "data_offsets": [begin, end]}
    with pytest.raises(gv.ModelError, match=r"m.safetensors: saw .*, expected (from byte|\d+, by its header)"):
        read_file(write(tmp_path / "m.safetensors", header, b"\0" * size))


def test_a_header_of_very_many_names_is_refused_before_it_is_parsed(tmp_path):
    good = json.dumps(GOOD).encode()
    text = b'{"a":' + good + b',"b":[' + b"[]," * 800_000 + b"[]]}"
    with pytest.raises(gv.ModelError, match="no header"):
        read_file(write(tmp_path / "m.safetensors", text))


@pytest.mark.parametrize(
    "content", [b"", b"1234567", b"\xff" * 100, b"\2\0\0\0\0\0\0\0{}", b"\2\0\0\0\0\0\0\0[]abc", b"PK\3\4" + b"x" * 99]
)
def test_a_file_of_another_kind_is_refused(tmp_path, content):
    (tmp_path / "m.safetensors").write_bytes(content)
    with pytest.raises(gv.ModelError, match=r"m.safetensors: saw no (header|tensors)"):
        read_file(tmp_path / "m.safetensors")


def test_a_cut_file_and_flipped_bytes_never_fail_in_another_way(tmp_path, bard):
    from guidedviz.models.load import embedded_folder

    whole = (embedded_folder("bard") / "model.safetensors").read_bytes()
    draw = random.Random(0)
    for length in [*range(0, 64, 7), 5000, 10_000, len(whole) - 1]:
        (tmp_path / "m.safetensors").write_bytes(whole[:length])
        with pytest.raises(gv.ModelError, match=r"m.safetensors: saw"):
            read_file(tmp_path / "m.safetensors")
    header = {"a": GOOD, "__metadata__": {"format": "pt"}}
    small = write(tmp_path / "s.safetensors", header).read_bytes()
    for _ in range(400):
        damaged = bytearray(small)
        byte = draw.randrange(256)
        damaged[draw.randrange(len(small) - 16)] = byte
        (tmp_path / "s.safetensors").write_bytes(damaged)
        with suppress(gv.ModelError):
            read_file(tmp_path / "s.safetensors")
