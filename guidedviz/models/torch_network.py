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
        parts = [part for layer in self.cache.layers for part in (layer.keys, layer.values) if part is not None]
        return sum(part.nbytes for part in parts)

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
        self._torch, self._cache_class = need("torch", "hub"), need("transformers", "hub").DynamicCache
        self.network, self.device, self._device = network, f"torch · {device}", device
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
        ids = self._torch.tensor([text] * self.copies, device=self._device)
        keep = 0 if every else 1
        out = self.network(input_ids=ids, use_cache=True, logits_to_keep=keep, **{self._cache_name: cache})
        return to_numpy(out.logits[0])

    def _read_joined(self, caches: Sequence[Past], texts: Sequence[Sequence[int]], every: bool) -> list[Array]:
        """Pad the caches on the left and the new tokens on the right, so that in between each text is whole."""
        torch, pad = self._torch, self._torch.nn.functional.pad
        past = [past.cache.get_seq_length() for past in caches]
        new, most = [len(text) for text in texts], max(past)
        wide, copies = max(new), self.copies
        ids, mask, places = (torch.zeros(len(texts), size, dtype=torch.long) for size in (wide, most + wide, wide))
        for row, text in enumerate(texts):
            ids[row, : new[row]] = torch.tensor(text)
            mask[row, most - past[row] : most + new[row]] = 1
            places[row] = past[row] + torch.arange(wide)
        joined = self.new_cache().cache
        for layer in range(self.network.config.num_hidden_layers if most else 0):
            known = [p.cache.layers[layer] if length else None for p, length in zip(caches, past, strict=True)]
            like = next(part for part in known if part is not None)
            both = []
            for kind in ("keys", "values"):
                parts = [getattr(part or like, kind)[:, :, :length] for part, length in zip(known, past, strict=True)]
                both.append(torch.cat([pad(part, (0, 0, most - part.shape[2], 0)) for part in parts]))
            joined.update(*both, layer)
        last = torch.unique(torch.tensor(new) - 1)
        ids, mask, places = (part.repeat_interleave(copies, 0).to(self._device) for part in (ids, mask, places))
        keep = 0 if every else last.to(self._device)
        out = self.network(input_ids=ids, attention_mask=mask, position_ids=places, use_cache=True,
                           logits_to_keep=keep, **{self._cache_name: joined})  # fmt: skip
        rows = to_numpy(out.logits[::copies])
        for row, held in enumerate(caches):
            held.cache = self.new_cache().cache
            span, of = slice(most - past[row], most + new[row]), slice(row * copies, (row + 1) * copies)
            for layer, part in enumerate(joined.layers):
                held.cache.update(part.keys[of, :, span].clone(), part.values[of, :, span].clone(), layer)
        if every:
            return [rows[row, : new[row]] for row in range(len(texts))]
        found = last.tolist()
        return [rows[row, [found.index(new[row] - 1)]] for row in range(len(texts))]


def _is_plain(past: Past) -> bool:
    """Whether all layers keep the keys and values of the whole text."""
    return all(type(layer).__name__ == "DynamicLayer" for layer in past.cache.layers)


def to_numpy(logits: Any) -> Array:
    """Logits as 32-bit floats of NumPy."""
    values: Array = logits.float().cpu().numpy()
    return values
