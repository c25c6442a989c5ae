"""Language models: two small ones inside the project, any other from a folder or the hub.

The only file that knows torch. The key-value cache stays between calls and is cropped to the part that still holds,
so going back costs nothing. Where the model was asked once it gives the same bits again: the tokens that went through
it in one pass then go through it in one pass again. A prompt takes two, its last token alone.
"""

from __future__ import annotations

import os
import platform
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from guidedviz.decoding.trace import Source
from guidedviz.errors import ModelError, SettingError
from guidedviz.files import shipped
from guidedviz.headless import headless
from guidedviz.tokens.compare import shared_length
from guidedviz.tokens.vocabulary import Vocabulary

EMBEDDED = ("clerk", "bard")
SMALLER = '"clerk" (4 million weights) or "bard" (3 million), both embedded'


def embedded_folder(name: str) -> Path:
    """Where an embedded model lies."""
    try:
        return shipped(f"models/{name}/model.safetensors").parent
    except SettingError as error:
        raise ModelError(f"embedded model {name!r}", seen="no weights", hint=error.hint) from None


def pick_device(wanted: str = "auto") -> str:
    """cuda, then mps, then cpu; a device by name must be there. A headless notebook keeps to the cpu."""
    import torch

    if wanted == "auto" and headless():
        return "cpu"  # notebooks are built and checked with the same bits everywhere
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return next(device for device, here in present.items() if here)
    if not present.get(wanted.split(":")[0], False):
        expected = " or ".join(["auto", *(device for device, here in present.items() if here)])
        raise ModelError(f"device {wanted!r}", seen="not on this machine", expected=expected)
    return wanted


def find_model(name: str) -> tuple[str, Path | str]:
    """A model's short name, and the folder or hub name to load it from."""
    if name == "auto":
        name = os.environ.get("GUIDEDVIZ_MODEL") or "clerk"
    if name in EMBEDDED:
        return name, embedded_folder(name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder.resolve().name, folder
    if folder.is_absolute() or name.count("/") > 1 or name.startswith("."):
        raise ModelError(f"model {name!r}", seen="no such folder", expected=f"a folder, a hub name, or {SMALLER}")
    return name, name


def load_model(name: str = "auto", device: str = "auto") -> LanguageModel:
    """An embedded model ("clerk", "bard"), a hub name, or a folder; "auto" is GUIDEDVIZ_MODEL, else clerk.

    >>> load_model("bard").vocabulary.pieces[13]
    b'A'
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    short, place = find_model(name)
    device = pick_device(device)
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    safe = {"trust_remote_code": False, "local_files_only": isinstance(place, Path) or not hub_answers()}
    with _told_as_model_error(short):
        config = AutoConfig.from_pretrained(place, **safe)
        tokenizer = AutoTokenizer.from_pretrained(place, **safe)
        network = AutoModelForCausalLM.from_pretrained(place, config=config, dtype=dtype, use_safetensors=True, **safe)
    with _enough_memory(short, network):
        network = network.eval().to(device)
    return LanguageModel(short, device, network, tokenizer)


def hub_answers(seconds: float = 3.0) -> bool:
    """Whether the hub can be reached; without it only the cache is asked, and nothing retries for half a minute."""
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE

    if HF_HUB_OFFLINE or any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY")):
        return not HF_HUB_OFFLINE  # behind a proxy only a real request can tell
    address = urlsplit(ENDPOINT)
    try:
        socket.create_connection((address.hostname or "", address.port or 443), seconds).close()
    except OSError:
        return False
    return True


@contextmanager
def _told_as_model_error(name: str) -> Iterator[None]:
    """Whatever a hub or a folder does wrong becomes one readable error."""
    try:
        yield
    except Exception as error:  # a damaged file raises whatever its reader likes, safetensors its own kind
        said = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        expected = "a folder with config.json, tokenizer.json and model.safetensors, or a hub name and a network"
        hint = f"load one that needs no network: {SMALLER}"
        raise ModelError(f"model {name!r}", seen=said, expected=expected, hint=hint) from error


@contextmanager
def _enough_memory(name: str, network: Any) -> Iterator[None]:
    """Out of memory becomes an error that names the size and what is smaller."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        seen = f"out of memory; its weights take {_megabytes(network):,.0f} MB"
        hint = f'{SMALLER}, or device="cpu"; restart nothing, this notebook is alive'
        raise ModelError(f"model {name!r}", seen=seen, expected="a device with room for it", hint=hint) from None


def _megabytes(network: Any) -> float:
    return float(sum(p.numel() * p.element_size() for p in network.parameters())) / 1e6


class LanguageModel:
    """A causal language model with its cache and its vocabulary."""

    source: Source = "LIVE"
    rows = 1  # copies of the text in every pass, as in a server's batch

    def __init__(self, name: str, device: str, network: Any, tokenizer: Any, keep_cache: bool = True) -> None:
        self.name, self.device, self.keep_cache = name, device, keep_cache
        self._network, self._tokenizer = network, tokenizer
        self.vocabulary = read_vocabulary(network, tokenizer)
        self.context: int = getattr(network.config, "max_position_embeddings", 0) or 1 << 30
        self._lock = threading.RLock()
        self.forget()

    def __repr__(self) -> str:
        weights = sum(p.numel() for p in self._network.parameters())
        return f"{self.name} on {self.device}: {weights / 1e6:.1f} million weights, {len(self.vocabulary):,} tokens"

    def forget(self) -> None:
        """Drop the cache and what it takes."""
        with self._lock:
            self._cache: Any = None
            self._cached: list[int] = []
            self._began: list[int] = []  # for each of these tokens the place where its pass began

    def side_by_side(self, rows: int) -> LanguageModel:
        """The same weights with a cache of their own, that read so many copies of the text in every pass."""
        if not isinstance(rows, int) or rows < 1:
            raise SettingError("rows", seen=repr(rows), expected="a whole number from 1 up")
        other = copy(self)
        other.rows, other._lock = rows, threading.RLock()
        other.forget()
        return other

    def encode(self, text: str) -> list[int]:
        """A text as tokens, special text taken as plain text where the tokenizer can."""
        try:
            tokens: list[int] = self._tokenizer(text, split_special_tokens=True)["input_ids"]
        except Exception as error:  # tokenizers raises bare Exception
            known = {piece.decode("utf-8", "replace") for piece in self.vocabulary.pieces}
            strange = next((c for c in text if c not in known), "")
            raise SettingError(
                "prompt", seen=repr(strange) if strange else str(error), expected=f"characters that {self.name} knows"
            ) from None
        return list(tokens)

    def logits(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        """The next token's logits; what the cache still holds of a shared prefix is not computed again.

        >>> load_model("bard").logits([0]).shape
        (65,)
        """
        if not tokens:
            raise SettingError("tokens", seen="none", expected="at least one")
        if len(tokens) > self.context:
            hint = "shorten the prompt or lower max_tokens"
            raise SettingError("tokens", seen=f"{len(tokens)}", expected=f"at most {self.context}", hint=hint)
        with self._lock, _enough_memory(self.name, self._network):
            try:
                return self._forward(tokens)
            except BaseException:
                self.forget()
                raise

    def _forward(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        if not self.keep_cache:
            self.forget()
        shared = shared_length(self._cached, tokens)
        kept = self._crop(shared if shared < len(tokens) else self._began[len(tokens) - 1])
        if not kept and len(tokens) > 1:
            kept = self._read(tokens, 0, len(tokens) - 1)
        self._read(tokens, kept, len(tokens))
        return self._logits

    def _read(self, tokens: list[int], kept: int, end: int) -> int:
        """One pass over the tokens between two places."""
        self._logits = self._run(tokens[kept:end])
        self._began = [*self._began[:kept], *[kept] * (end - kept)]
        self._cached = tokens[:end]
        return end

    def _crop(self, length: int) -> int:
        """Cut the cache to a length; one that cannot be cut is dropped."""
        from transformers import DynamicCache

        if self._cache is not None and length < len(self._cached):
            try:
                self._cache.crop(length - len(self._cached))  # negative: how many to remove
            except (NotImplementedError, AttributeError, ValueError, RuntimeError):
                self.forget()
        if self._cache is None or self._cache.get_seq_length() != length:
            self._cache, length = DynamicCache(config=self._network.config), 0
        return length

    def _run(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        import torch

        ids = torch.tensor([tokens] * self.rows, device=self.device)
        with torch.inference_mode():
            out = self._network(input_ids=ids, past_key_values=self._cache, use_cache=True, logits_to_keep=1)
        values: npt.NDArray[np.float32] = out.logits[0, -1].float().cpu().numpy()
        return values


def read_vocabulary(network: Any, tokenizer: Any) -> Vocabulary:
    """The tokenizer's vocabulary, padded to the model's logits, with every id that ends a text."""
    size = network.get_output_embeddings().weight.shape[0]
    plain = Vocabulary.from_tokenizer(tokenizer, size=size)
    ends = getattr(network.generation_config, "eos_token_id", None)
    more = {ends} if isinstance(ends, int) else set(ends or ())
    return replace(plain, eos=plain.eos | more, special=plain.special | more)


@dataclass(frozen=True)
class Readiness:
    """What this machine has, in words."""

    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.lines)


def readiness() -> Readiness:
    """Is this machine ready? Versions, device, and which models need no network."""
    device = pick_device()
    words = {
        "cuda": "a CUDA GPU: large models are fine",
        "mps": "an Apple GPU: models up to a few billion weights are fine",
    }
    speed = words.get(device, "no GPU needed: the embedded models run on this processor")
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "jupyterlab", "anywidget"))
    models = ", ".join(f"{name} ({_weights_file(name)})" for name in EMBEDDED)
    return Readiness(
        (f"Python {platform.python_version()}: ready", packages, f"device: {device}, {speed}", f"models: {models}")
    )


def _weights_file(name: str) -> str:
    return f"{(embedded_folder(name) / 'model.safetensors').stat().st_size / 1e6:.1f} MB"
