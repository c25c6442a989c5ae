"""Models that run on torch: those of the hub, any folder that transformers reads, and the embedded ones on request.

Weights are read from safetensors only, and no code of a model is run. The network reads several texts in one pass where
their caches allow.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from importlib.util import find_spec
from math import inf, prod
from pathlib import Path
from typing import Any

from guidedviz.errors import ModelError, quoted
from guidedviz.extras import headless, how_to_install, need
from guidedviz.files import check_values, read_bounded, size_of
from guidedviz.models.chat import Encoder
from guidedviz.models.language_model import Network
from guidedviz.models.model import SMALLER, Array, out_of_memory
from guidedviz.models.weights import StoredTensor, damaged, find_tensors, read_json


def is_full(error: BaseException) -> bool:
    return not isinstance(error, RuntimeError) or "memory" in str(error)


class Past:
    """The cache of one text; torch replaces it when texts are read together."""

    def __init__(self, cache: Any) -> None:
        self.cache = cache

    @property
    def nbytes(self) -> int:
        """The bytes of its keys and values."""
        full = (layer for layer in self.cache.layers if layer.keys is not None)
        return sum(layer.keys.nbytes + layer.values.nbytes for layer in full)

    def fork(self, length: int) -> Any:
        """A cache of its own that holds the first tokens; None if this kind of cache cannot be cropped."""
        cache = deepcopy(self.cache)
        try:
            if length < cache.get_seq_length():
                cache.crop(length - cache.get_seq_length())  # negative: how many to remove
        except (NotImplementedError, AttributeError, ValueError, RuntimeError):
            return None
        return Past(cache) if cache.get_seq_length() == length else None


class TorchNetwork:
    """A causal language model of transformers."""

    copies = 1

    def __init__(self, network: Any, device: str) -> None:
        self._torch = need("torch", "hub")
        self._cache_class = need("transformers", "hub").DynamicCache
        self.network = network
        self.device = f"torch · {device}"
        self._device = device
        self.context: int = getattr(network.config, "max_position_embeddings", 0) or 1 << 30
        self.size = network.get_output_embeddings().weight.shape[0]
        self.weights = network.num_parameters()
        named = inspect.signature(network.forward).parameters  # transformers 5.24 has renamed it
        self._cache_name = "cache" if "cache" in named else "past_key_values"

    def new_cache(self) -> Past:
        """An empty cache."""
        return Past(self._cache_class(config=self.network.config))

    def read(self, caches: Sequence[Past], texts: Sequence[Sequence[int]], every: bool = False) -> list[Array]:
        """Read the new tokens of several texts, in one pass where their caches can be joined."""
        try:
            with self._torch.inference_mode():
                if len(texts) > 1 and all(map(_is_plain, caches)):
                    return self._read_joined(caches, texts, every)
                return [self._read_one(past.cache, text, every) for past, text in zip(caches, texts, strict=True)]
        except RuntimeError as error:
            if not is_full(error):
                raise
            if self._torch.cuda.is_available():
                self._torch.cuda.empty_cache()
            raise MemoryError from None

    def _read_one(self, cache: Any, text: Sequence[int], every: bool) -> Array:
        ids = self._torch.tensor([text for _ in range(self.copies)], device=self._device)
        keep = 0 if every else 1
        out = self.network(input_ids=ids, use_cache=True, logits_to_keep=keep, **{self._cache_name: cache})
        return to_numpy(out.logits[0])

    def _read_joined(self, caches: Sequence[Past], texts: Sequence[Sequence[int]], every: bool) -> list[Array]:
        """Pad the caches on the left and the new tokens on the right, so that in between each text is whole."""
        torch = self._torch
        past = [past.cache.get_seq_length() for past in caches]
        new = [len(text) for text in texts]
        most = max(past)
        joined = self._join([past.cache for past in caches], past)
        last = torch.unique(torch.tensor(new) - 1)
        ids, mask, places = (
            part.repeat_interleave(self.copies, 0).to(self._device) for part in self._place(texts, past, most)
        )
        keep = 0 if every else last.to(self._device)
        out = self.network(input_ids=ids, attention_mask=mask, position_ids=places, use_cache=True,
                           logits_to_keep=keep, **{self._cache_name: joined})  # fmt: skip
        rows = to_numpy(out.logits[:: self.copies])
        for row, held in enumerate(caches):
            held.cache = self._cut_out(joined, row, slice(most - past[row], most + new[row]))
        if every:
            return [rows[row, : new[row]] for row in range(len(texts))]
        found = last.tolist()
        return [rows[row, [found.index(new[row] - 1)]] for row in range(len(texts))]

    def _place(self, texts: Sequence[Sequence[int]], past: list[int], most: int) -> tuple[Any, Any, Any]:
        """Per text: the new tokens, which tokens of cache and text there are, and the places of the new tokens."""
        torch = self._torch
        count = len(texts)
        wide = max(map(len, texts))
        ids = torch.zeros(count, wide, dtype=torch.long)
        mask = torch.zeros(count, most + wide, dtype=torch.long)
        places = torch.zeros(count, wide, dtype=torch.long)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = torch.tensor(text)
            mask[row, most - past[row] : most + len(text)] = 1
            places[row] = past[row] + torch.arange(wide)
        return ids, mask, places

    def _join(self, caches: Sequence[Any], past: list[int]) -> Any:
        """One cache of all texts, each padded on the left to the length of the longest."""
        most = max(past)
        joined = self.new_cache().cache
        if not most:
            return joined
        longest = caches[past.index(most)]
        for layer in range(self.network.config.num_hidden_layers):
            keys = []
            values = []
            for cache, length in zip(caches, past, strict=True):
                part = (cache if length else longest).layers[layer]
                keys.append(self._pad_left(part.keys, length, most))
                values.append(self._pad_left(part.values, length, most))
            joined.update(self._torch.cat(keys), self._torch.cat(values), layer)
        return joined

    def _pad_left(self, part: Any, length: int, most: int) -> Any:
        return self._torch.nn.functional.pad(part[:, :, :length], (0, 0, most - length, 0))

    def _cut_out(self, joined: Any, row: int, span: slice) -> Any:
        """The cache of one text, without padding."""
        cache = self.new_cache().cache
        copies = slice(row * self.copies, (row + 1) * self.copies)
        for layer, part in enumerate(joined.layers):
            cache.update(part.keys[copies, :, span].clone(), part.values[copies, :, span].clone(), layer)
        return cache


def _is_plain(past: Past) -> bool:
    """Whether all layers keep the keys and values of the whole text."""
    return all(type(layer).__name__ == "DynamicLayer" for layer in past.cache.layers)


def to_numpy(logits: Any) -> Array:
    """Logits as 32-bit floats of NumPy."""
    values: Array = logits.float().cpu().numpy()
    return values


MODEL_FILES = [
    "config.json",
    "generation_config.json",
    "tokenizer*",
    "vocab.json",
    "merges.txt",
    "special_tokens_map.json",
    "chat_template.jinja",
    "model*.safetensors",
    "model.safetensors.index.json",
]
TEXT_SUFFIXES = (".json", ".txt", ".jinja")
TEXT_BYTES = 64 << 20  # the tokenizer.json of Gemma 3 has 33 million bytes and 1.9 million values
TEXT_VALUES = 2_500_000
POSITIVE_SETTINGS = {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "rope_theta"}
MOST_LAYERS = 1_000


def has_torch() -> bool:
    """Whether the packages of the extra `hub` are installed."""
    return all(find_spec(package) for package in ("torch", "transformers"))


def pick_device(name: str, wanted: str) -> str:
    """The torch device: "auto" is cuda, else mps, else cpu, and cpu in a notebook run without a browser."""
    if not has_torch():
        hint = f"{how_to_install('hub')}, or load one that needs no torch: {SMALLER}"
        raise ModelError(f"model {quoted(name)}", seen="torch and transformers are not installed", hint=hint)
    import torch

    if wanted in ("torch", "cpu") or (wanted == "auto" and headless()):
        return "cpu"  # notebooks are built and checked with the same bits on every machine
    present = ["cpu"]
    if torch.backends.mps.is_available():
        present.insert(0, "mps")
    if torch.cuda.is_available():
        present.insert(0, "cuda")
    if wanted == "auto":
        return present[0]
    if wanted.split(":")[0] not in present:
        expected = " or ".join(["auto", "numpy", *present])
        raise ModelError(f"device {quoted(wanted)}", seen="not on this machine", expected=expected)
    return wanted


def read_torch(folder: Path, device: str) -> tuple[Network, Encoder]:
    """The network and the tokenizer of a folder, on torch."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()  # what it would warn of is an error here
    check_folder(folder)
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    safe: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
    network, report = AutoModelForCausalLM.from_pretrained(
        folder, dtype=dtype, use_safetensors=True, output_loading_info=True, ignore_mismatched_sizes=True, **safe
    )
    lost = [*report["missing_keys"], *report["mismatched_keys"]]
    if lost:
        raise ValueError(f"{len(lost)} tensors missing or of another shape, such as {min(map(str, lost))}")
    try:
        return TorchNetwork(network.eval().to(device), device), PlainText(tokenizer)
    except (MemoryError, RuntimeError) as error:
        if is_full(error):
            raise out_of_memory(folder.name, network.num_parameters()) from None
        raise


def check_folder(folder: Path) -> None:
    """Refuse what transformers would wait for, read without end, or build although the folder has no weights for it."""
    for file in folder.iterdir():
        if not file.is_dir():
            check_file(file)
    stored = find_tensors(folder)
    file = folder / "config.json"
    config = read_json(file)
    for part in (config, config.get("text_config"), config.get("rope_parameters")):
        if isinstance(part, dict):
            numbers = {key: value for key, value in part.items() if isinstance(value, int | float)}
            check_settings(file, numbers, stored)


def check_file(file: Path) -> None:
    """Refuse a file that is not regular, a text of an unusual size, and JSON with very many values."""
    try:
        size_of(file, TEXT_BYTES if file.suffix in TEXT_SUFFIXES else inf)
        if file.suffix == ".json":
            check_values(read_bounded(file, TEXT_BYTES), TEXT_VALUES)
    except (OSError, ValueError) as error:
        first_line, *_ = str(error).splitlines()
        raise damaged(file, first_line[:120], "a regular file of a usual size") from None


def check_settings(file: Path, settings: dict[str, float], stored: dict[str, StoredTensor]) -> None:
    """Refuse a constant that is not positive, and sizes for which there are too few weights."""
    for key in POSITIVE_SETTINGS & settings.keys():
        if not 0 < settings[key] < inf:
            raise damaged(file, f"{key} {quoted(settings[key])}", "a number above 0")
    layers = settings.get("num_hidden_layers", 1)
    rows = settings.get("vocab_size", 1)
    width = settings.get("hidden_size", 1)
    numbers = sum(prod(tensor.shape) for tensor in stored.values())
    fits = layers <= min(MOST_LAYERS, len(stored) / 2) and rows * width <= numbers
    if min(layers, rows, width) < 1 or not fits:
        sizes = f"a vocabulary of {quoted(rows)} and width {quoted(width)}"
        seen = f"{quoted(layers)} layers, {sizes}"
        raise damaged(file, seen, f"what fits {len(stored):,} tensors of {numbers:,} numbers")


def fetch_folder(place: Path | str) -> Path:
    """A folder as it is; the folder of a model of the hub, downloaded if it is not there yet."""
    if isinstance(place, Path):
        return place
    snapshot_download = need("huggingface_hub", "hub", f"model {quoted(place)}").snapshot_download
    with as_model_error(place):
        return Path(snapshot_download(place, allow_patterns=MODEL_FILES, local_files_only=not hub_answers(place)))


def hub_answers(name: str, seconds: float = 3.0) -> bool:
    """Whether the hub can be reached. If not, only the cache is read: the hub's client would retry for 25 seconds."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(name, timeout=seconds)
    except HfHubHTTPError:
        return True  # it answered, if only with an error
    except Exception:  # offline mode, no network, or an invalid name: each library raises its own
        return False
    return True


@contextmanager
def as_model_error(name: str) -> Iterator[None]:
    """Every failure of the hub or of a folder becomes one readable error."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # each reader raises its own kind for a damaged file
        said = str(error).strip() or type(error).__name__
        expected = "a folder with config.json, tokenizer.json and model.safetensors, or a hub name and a network"
        hint = f"load one that needs no network: {SMALLER}"
        raise ModelError(
            f"model {quoted(name)}", seen=said.splitlines()[0][:200], expected=expected, hint=hint
        ) from error


class PlainText:
    """A tokenizer of transformers that takes the text of a special token as plain text where it can."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.backend_tokenizer = tokenizer.backend_tokenizer
        self.eos_token_id = tokenizer.eos_token_id
        self.all_special_ids = tokenizer.all_special_ids
        self.special = {one.content: number for number, one in tokenizer.added_tokens_decoder.items() if one.special}
        names = tokenizer.special_tokens_map
        self.names = {key: text for key, text in names.items() if isinstance(text, str)}

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, split_special_tokens=True)["input_ids"])

    def encode_plain(self, text: str) -> list[int]:
        """The same without tokens around the text."""
        return list(self._tokenizer(text, split_special_tokens=True, add_special_tokens=False)["input_ids"])

    def encode_special(self, text: str) -> list[int]:
        """A text in which the texts of special tokens stand for them."""
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])
