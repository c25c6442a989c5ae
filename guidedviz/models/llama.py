"""A Llama-shaped language model in NumPy: the whole forward pass.

Every layer adds attention over the text so far and a small network to each token's vector (arXiv 2302.13971).
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from guidedviz.models.model import Array

Rotation = tuple[Array, Array]  # the cosine and the sine of the angle at each new token's place


@dataclass(frozen=True)
class Shape:
    """The sizes of a model."""

    vocabulary: int
    width: int  # numbers per token
    inner: int  # numbers in the middle of a layer's network
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    context: int
    epsilon: float
    tied: bool  # whether the embedding is also the output matrix
    frequencies: Array = field(repr=False)  # of the rotary embedding, one per pair of numbers of a head


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of one layer; a matrix has one row per number that it gives."""

    attention_norm: Array
    query_key_value: Array
    out: Array
    network_norm: Array
    gate_up: Array
    down: Array


class Cache:
    """The keys and values of a text, for every layer: they stay the same when tokens are added."""

    def __init__(self, shape: Shape, copies: int) -> None:
        self.length = 0
        empty = (shape.layers, 2, copies, shape.kv_heads, 0, shape.head_size)
        self._room = np.empty(empty, np.float32)

    def fork(self, length: int) -> "Cache":
        """A cache of its own that holds the first tokens of this one."""
        other = copy(self)
        other.length = length
        other._room = self._room[..., :length, :].copy()
        return other

    @property
    def nbytes(self) -> int:
        """The bytes that it takes, with its spare room."""
        return self._room.nbytes

    def make_room(self, tokens: int) -> npt.NDArray[np.int64]:
        """Make room for new tokens and give their places; the room doubles, so that copies are few."""
        need = self.length + tokens
        room = self._room.shape[-2]
        if need > room:
            size = list(self._room.shape)
            size[-2] = max(need, 2 * room, 64)
            larger = np.zeros(size, np.float32)
            larger[..., :room, :] = self._room
            self._room = larger
        return np.arange(self.length, need)

    def store(self, layer: int, keys: Array, values: Array) -> tuple[Array, Array]:
        """Store a layer's keys and values of the new tokens; gives those of the whole text."""
        end = self.length + keys.shape[-2]
        room = self._room[layer]
        room[0, :, :, self.length : end] = keys
        room[1, :, :, self.length : end] = values
        return room[0, :, :, :end], room[1, :, :, :end]


class Llama:
    """The model's weights, and the pass that turns new tokens into logits. It reads `copies` copies of every text."""

    device = "NumPy · cpu"
    copies = 1

    def __init__(self, shape: Shape, embedding: Array, layers: list[Layer], norm: Array, head: Array) -> None:
        self.shape = shape
        self.embedding = embedding
        self.layers = layers
        self.norm = norm
        self.head = head
        self.context = shape.context
        self.size = shape.vocabulary
        parts = [getattr(layer, name) for layer in layers for name in Layer.__slots__]
        parts += [embedding, norm]
        if not shape.tied:
            parts.append(head)
        self.weights = sum(part.size for part in parts)

    def new_cache(self) -> Cache:
        """An empty cache."""
        return Cache(self.shape, self.copies)

    def read(self, caches: Sequence[Cache], texts: Sequence[Sequence[int]], every: bool = False) -> list[Array]:
        """Read the new tokens of several texts in one pass.

        The result has one array per text: the logits after its last token, or after every new token.
        """
        ids = np.concatenate(texts).astype(np.int64)
        ends = np.cumsum([len(text) for text in texts])
        spans = [slice(end - len(text), end) for text, end in zip(texts, ends, strict=True)]
        parts = list(zip(caches, spans, strict=True))
        places = np.concatenate([cache.make_room(span.stop - span.start) for cache, span in parts])
        angles = places.astype(np.float32)[:, None, None] * self.shape.frequencies
        rotation = np.cos(angles), np.sin(angles)
        x = np.tile(self.embedding[ids], (self.copies, 1))
        for number in range(len(self.layers)):
            x += self._attend(number, x, rotation, parts)
            x += self._think(number, x)
        for cache, span in parts:
            cache.length += span.stop - span.start
        wanted = np.arange(len(ids)) if every else ends - 1
        x = x.reshape(self.copies, len(ids), -1)[:, wanted]
        x = x.reshape(-1, self.shape.width)
        logits = linear(self._normalized(x, self.norm), self.head)
        if every:
            return [logits[span] for span in spans]
        return list(logits[: len(texts), None])

    def _normalized(self, x: Array, weights: Array) -> Array:
        """RMSNorm: each vector divided by the root of the mean of its squares."""
        mean = np.einsum("ij,ij->i", x, x) / np.float32(self.shape.width)
        root = np.sqrt(mean + np.float32(self.shape.epsilon))
        normalized: Array = x / root[:, None] * weights
        return normalized

    def _attend(self, number: int, x: Array, rotation: Rotation, parts: list[tuple[Cache, slice]]) -> Array:
        """Attention: each new token looks at the tokens before it in its own text."""
        layer = self.layers[number]
        heads = self.shape.heads
        kv_heads = self.shape.kv_heads
        both = linear(self._normalized(x, layer.attention_norm), layer.query_key_value)
        both = both.reshape(self.copies, -1, heads + 2 * kv_heads, self.shape.head_size)
        turned = rotated(both[:, :, :-kv_heads], rotation).swapaxes(1, 2)
        query = turned[:, :heads]
        key = turned[:, heads:]
        value = both[:, :, -kv_heads:].swapaxes(1, 2)
        mixed = np.empty_like(query)
        for cache, span in parts:
            here = np.s_[:, :, span]
            keys, values = cache.store(number, key[here], value[here])
            mixed[here] = attention(query[here], keys, values)
        mixed = mixed.swapaxes(1, 2).reshape(len(x), -1)
        return linear(mixed, layer.out)

    def _think(self, number: int, x: Array) -> Array:
        """SwiGLU: the small network of a layer, where one half of the numbers scales the other half."""
        layer = self.layers[number]
        middle = linear(self._normalized(x, layer.network_norm), layer.gate_up)
        gate = middle[:, : self.shape.inner]
        up = middle[:, self.shape.inner :]
        middle = gate / (1 + np.exp(-gate)) * up
        return linear(middle, layer.down)


def linear(x: Array, weights: Array) -> Array:
    """A linear layer, `x @ weights.T`; for 2 to 16 vectors this order takes half the time."""
    return np.ascontiguousarray((weights @ x.T).T)


def rotated(x: Array, rotation: Rotation) -> Array:
    """Rotary position embedding: pairs of numbers are rotated by an angle that grows with the position."""
    cos, sin = rotation
    half = x.shape[-1] // 2
    one = x[..., :half]
    other = x[..., half:]
    turned = [one * cos - other * sin, other * cos + one * sin]
    return np.concatenate(turned, axis=-1)


def attention(query: Array, keys: Array, values: Array) -> Array:
    """The values of the tokens so far, weighted by how well their keys match each query."""
    copies, kv_heads, length, size = keys.shape
    new = query.shape[-2]
    asked = query.reshape(copies, kv_heads, -1, size)
    scores = asked @ keys.swapaxes(-1, -2) / np.float32(size**0.5)
    if new > 1:  # no token sees the tokens after it
        scores = scores.reshape(copies, kv_heads, -1, new, length)
        later = np.triu(np.ones((new, length), np.bool_), length - new + 1)
        scores[..., later] = -np.inf
        scores = scores.reshape(copies, kv_heads, -1, length)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed: Array = weights @ values
    return mixed.reshape(query.shape)
