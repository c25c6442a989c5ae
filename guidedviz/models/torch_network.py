"""A causal language model of transformers as a network: it reads several texts in one pass where their caches allow."""

import inspect
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from guidedviz.extras import need
from guidedviz.models.model import Array


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
