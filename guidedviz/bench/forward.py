"""A decoder of a given shape with random weights, one token at a time: only its time means anything.

The shape is Llama's (RMS norm, grouped queries, gated MLP, tied embeddings), the cache has a fixed length. On CUDA the
whole step is one graph, so that the CPU is free while it runs; on the CPU it runs in a thread, as torch lets go of
Python's lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from guidedviz.bench.tensors import find_device
from guidedviz.decoding.overlap import Span, choose_legal
from guidedviz.tokens.guide import Mask


@dataclass(frozen=True)
class Shape:
    """The sizes of a decoder; those named 0.5B-shaped are of Qwen2.5 0.5B."""

    name: str
    layers: int
    hidden: int
    heads: int
    shared: int  # heads of keys and values
    inner: int  # of the MLP
    length: int = 512  # tokens that fit into the cache

    def weights(self, vocabulary: int) -> int:
        """How many weights."""
        narrow = self.hidden * self.shared // self.heads
        return vocabulary * self.hidden + self.layers * self.hidden * (2 * self.hidden + 2 * narrow + 3 * self.inner)

    def say(self, vocabulary: int) -> str:
        """In words, and that the weights are random."""
        millions = f"{self.weights(vocabulary) / 1e6:,.0f} million"
        return f"{self.name}, random weights: {self.layers} layers of {self.hidden}, {millions}"


SHAPES: Mapping[str, Shape] = {
    "cuda": Shape("0.5B-shaped", 24, 896, 14, 2, 4864),
    "cpu": Shape("small", 4, 256, 4, 2, 1024),
}


class Decoder:
    """The weights and the cache on a device; `step` reads a token at a place and gives the logits."""

    def __init__(self, shape: Shape, vocabulary: int, device: str) -> None:
        self.torch, self.device = find_device(device)
        self.shape, torch = shape, self.torch
        self.kind = torch.bfloat16 if device.startswith("cuda") else torch.float32
        torch.manual_seed(0)
        self.embed = self._random(vocabulary, shape.hidden)
        wide, narrow = shape.hidden, shape.hidden * shape.shared // shape.heads
        self.layers = [
            {
                "query": self._random(wide, wide),
                "pair": self._random(2 * narrow, wide),
                "out": self._random(wide, wide),
                "up": self._random(2 * shape.inner, wide),
                "down": self._random(wide, shape.inner),
            }
            for _ in range(shape.layers)
        ]
        size = (2, shape.layers, shape.shared, shape.length, wide // shape.heads)
        self.cache = torch.zeros(size, dtype=self.kind, device=self.device)
        self.places = torch.arange(shape.length, device=self.device)

    def _random(self, *size: int) -> Any:
        return self.torch.randn(*size, dtype=self.kind, device=self.device) * size[-1] ** -0.5

    def step(self, token: Any, place: Any) -> Any:
        """The logits after a token at a place; both are tensors of one number."""
        torch, nn, shape = self.torch, self.torch.nn.functional, self.shape
        x = self.embed[token]
        seen = (self.places <= place)[None, None]
        for number, layer in enumerate(self.layers):
            y = nn.rms_norm(x, (shape.hidden,))
            query = nn.linear(y, layer["query"]).view(1, shape.heads, 1, -1)
            pair = nn.linear(y, layer["pair"]).view(2, shape.shared, 1, -1)
            self.cache[:, number].index_copy_(2, place, pair)
            each = self.cache[:, number, :, None].expand(-1, -1, shape.heads // shape.shared, -1, -1)
            keys, values = each.reshape(2, 1, shape.heads, shape.length, -1)
            read = nn.scaled_dot_product_attention(query, keys, values, attn_mask=seen)
            x = x + nn.linear(read.reshape(1, -1), layer["out"])
            gate, value = nn.linear(nn.rms_norm(x, (shape.hidden,)), layer["up"]).chunk(2, dim=-1)
            x = x + nn.linear(nn.silu(gate) * value, layer["down"])
        return torch.mv(self.embed, nn.rms_norm(x, (shape.hidden,))[0]).float()


class ThreadForward:
    """On the CPU: the step runs in a thread of its own."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder, self.threads = decoder, ThreadPoolExecutor(1)
        self.running: Future[tuple[Span, Any]] | None = None
        self.began, self.place = 0.0, 0
        self.logits: Any = None

    def begin(self) -> None:
        """A step that does not count, then the clock."""
        self.place = 0
        self.start(0)
        self.wait()
        self.place, self.began = 0, perf_counter()

    def start(self, token: int) -> None:
        """Hand the token over."""
        self.running = self.threads.submit(self._run, token, self.place % self.decoder.shape.length)
        self.place += 1

    def _run(self, token: int, place: int) -> tuple[Span, Any]:
        torch, began = self.decoder.torch, perf_counter()
        with torch.inference_mode():
            logits = self.decoder.step(torch.tensor([token]), torch.tensor([place]))
        return ((began - self.began) * 1e3, (perf_counter() - self.began) * 1e3), logits

    def wait(self) -> Span:
        """When it ran."""
        assert self.running is not None
        span, self.logits = self.running.result()
        return span

    def choose(self, mask: Mask) -> int:
        """The likeliest legal token."""
        return choose_legal(self.logits.numpy(), mask)


class GraphForward:
    """On CUDA: the step is one graph, and events on the device tell when it ran."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder, torch = decoder, decoder.torch
        self.token, self.place = (torch.zeros(1, dtype=torch.long, device=decoder.device) for _ in range(2))
        with torch.inference_mode():
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    decoder.step(self.token, self.place)
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.logits = decoder.step(self.token, self.place)
        self.zero, self.begun, self.ended = (torch.cuda.Event(enable_timing=True) for _ in range(3))

    def begin(self) -> None:
        """A step that does not count, then the clock."""
        self.place.zero_()
        self.graph.replay()
        self.place.zero_()
        self.decoder.torch.cuda.synchronize()
        self.zero.record()
        self.decoder.torch.cuda.synchronize()

    def start(self, token: int) -> None:
        """Hand the token over."""
        self.token.fill_(token)
        self.begun.record()
        self.graph.replay()
        self.place.add_(1).remainder_(self.decoder.shape.length)
        self.ended.record()

    def wait(self) -> Span:
        """When it ran, by the device's clock."""
        self.ended.synchronize()
        return self.zero.elapsed_time(self.begun), self.zero.elapsed_time(self.ended)

    def choose(self, mask: Mask) -> int:
        """The likeliest legal token, found on the device: the mask is sent there."""
        torch = self.decoder.torch
        legal = torch.from_numpy(mask.copy()).to(self.decoder.device, non_blocking=True)
        return int(self.logits.masked_fill(~legal, -torch.inf).argmax())


def build_forward(shape: Shape, vocabulary: int, device: str) -> ThreadForward | GraphForward:
    """The model on its device, ready to be timed."""
    decoder = Decoder(shape, vocabulary, device)
    return GraphForward(decoder) if device.startswith("cuda") else ThreadForward(decoder)
