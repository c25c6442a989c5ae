"""Llama networks of a given shape with random weights, one token at a time: only their speed is meaningful.

The cache has a fixed length. On CUDA a whole step is one graph, so the CPU is free while it runs. On the CPU a step
runs in a thread, because torch releases the global interpreter lock (GIL).
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from bench.masks.tensors import find_device
from guidedviz.decoding.overlap import Span, choose_legal
from guidedviz.extras import need
from guidedviz.models.hub import name_cache
from guidedviz.tokens.arrays import Mask


@dataclass(frozen=True)
class Shape:
    """The sizes of a network; those named 0.5B-shaped are the sizes of Qwen2.5 0.5B."""

    name: str
    layers: int
    hidden: int
    heads: int
    shared: int  # heads of keys and values (grouped-query attention)
    inner: int  # of the MLP
    length: int = 512  # tokens that fit into the cache

    def weights(self, vocabulary: int) -> int:
        """The number of weights in matrices."""
        narrow = self.hidden * self.shared // self.heads
        return vocabulary * self.hidden + self.layers * self.hidden * (2 * self.hidden + 2 * narrow + 3 * self.inner)

    def say(self, vocabulary: int) -> str:
        """The shape in words."""
        millions = f"{self.weights(vocabulary) / 1e6:,.0f} million"
        return f"{self.name}, random weights: {self.layers} layers of {self.hidden}, {millions}"


SHAPES: Mapping[str, Shape] = {
    "cuda": Shape("0.5B-shaped", 24, 896, 14, 2, 4864),
    "cpu": Shape("small", 4, 256, 4, 2, 1024),
}


def build_network(shape: Shape, vocabulary: int, device: str) -> Any:
    """A Llama network with tied embeddings; the same weights each time."""
    models = need("transformers", "hub", "bench")
    torch, device = find_device(device)
    torch.manual_seed(0)
    config = models.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.shared,
        max_position_embeddings=shape.length,
        tie_word_embeddings=True,
    )
    kind = torch.bfloat16 if device.startswith("cuda") else torch.float32
    return models.LlamaForCausalLM(config).to(device, kind).eval().requires_grad_(False)


class Decoder:
    """A network and its cache. `step` reads one token and returns the logits; a full cache is reset."""

    def __init__(self, shape: Shape, vocabulary: int, device: str) -> None:
        self.torch, self.device = find_device(device)
        self.network = build_network(shape, vocabulary, device)
        self.cache = need("transformers", "hub", "bench").StaticCache(
            config=self.network.config, max_cache_len=shape.length
        )
        self._kept = {name_cache(self.network): self.cache}
        self.length, self.used = shape.length, 0

    def step(self, token: Any) -> Any:
        """The logits after a token, which is a tensor with one element. No call here synchronizes with the device."""
        return self.network(input_ids=token[None], **self._kept).logits[0, -1].float()

    def make_room(self) -> None:
        """Count one more token in the cache."""
        if self.used == self.length:
            self.reset()
        self.used += 1

    def reset(self) -> None:
        """Empty the cache."""
        self.cache.reset()
        self.used = 0


class ThreadForward:
    """A network on the CPU: each step runs in a worker thread."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder, self.threads = decoder, ThreadPoolExecutor(1)
        self.running: Future[tuple[Span, Any]] | None = None
        self.began = 0.0
        self.logits: Any = None

    def begin(self) -> None:
        """Run a warm-up step, then start the clock."""
        self.start(0)
        self.wait()
        self.decoder.reset()
        self.began = perf_counter()

    def start(self, token: int) -> None:
        """Start a step."""
        self.decoder.make_room()
        self.running = self.threads.submit(self._run, token)

    def _run(self, token: int) -> tuple[Span, Any]:
        began = perf_counter()
        logits = self.decoder.step(self.decoder.torch.tensor([token]))
        return ((began - self.began) * 1e3, (perf_counter() - self.began) * 1e3), logits

    def wait(self) -> Span:
        """Wait for the step; return when it began and ended."""
        assert self.running is not None
        span, self.logits = self.running.result()
        return span

    def choose(self, mask: Mask) -> int:
        """The likeliest legal token."""
        return choose_legal(self.logits.numpy(), mask)


class GraphForward:
    """A network on CUDA: a step is one CUDA graph, timed with CUDA events."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder, torch = decoder, decoder.torch
        self.token = torch.zeros(1, dtype=torch.long, device=decoder.device)
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                decoder.step(self.token)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.logits = decoder.step(self.token)
        self.zero, self.begun, self.ended = (torch.cuda.Event(enable_timing=True) for _ in range(3))

    def begin(self) -> None:
        """Run a warm-up step, then start the clock."""
        self.decoder.reset()
        self.graph.replay()
        self.decoder.reset()
        self.decoder.torch.cuda.synchronize()
        self.zero.record()
        self.decoder.torch.cuda.synchronize()

    def start(self, token: int) -> None:
        """Start a step."""
        self.decoder.make_room()
        self.token.fill_(token)
        self.begun.record()
        self.graph.replay()
        self.ended.record()

    def wait(self) -> Span:
        """Wait for the step; return when it began and ended by the device's clock."""
        self.ended.synchronize()
        return self.zero.elapsed_time(self.begun), self.zero.elapsed_time(self.ended)

    def choose(self, mask: Mask) -> int:
        """The likeliest legal token; the mask is copied to the device and the token is found there."""
        torch = self.decoder.torch
        legal = torch.from_numpy(mask.copy()).to(self.decoder.device, non_blocking=True)
        return int(self.logits.masked_fill(~legal, -torch.inf).argmax())


def build_forward(shape: Shape, vocabulary: int, device: str) -> ThreadForward | GraphForward:
    """The network on its device, ready to be timed."""
    decoder = Decoder(shape, vocabulary, device)
    return GraphForward(decoder) if device.startswith("cuda") else ThreadForward(decoder)
