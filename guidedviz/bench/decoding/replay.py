"""Replay the texts of one model in the same passes with a model of random weights: only its speed is meaningful.

There is no guide and no decoding loop here, only forward passes whose logits are copied to the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from guidedviz.bench.decoding.forward import Shape, build_network
from guidedviz.decoding.jump import MANY, Cost, Timed, join_prices, mark_parts
from guidedviz.decoding.trace import Trace, standing
from guidedviz.models.hub import TorchNetwork
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.load import embedded_folder
from guidedviz.models.tokenizer import Tokenizer
from guidedviz.tokens.vocabulary import Vocabulary


def build_random(shape: Shape, vocabulary: int, device: str) -> LanguageModel:
    """A model of this shape with clerk's tokenizer."""
    folder = embedded_folder("clerk")
    tokenizer = Tokenizer(folder)
    words = Vocabulary.from_tokenizer(tokenizer, size=vocabulary)
    return LanguageModel(shape.name, TorchNetwork(build_network(shape, vocabulary, device), device), tokenizer, words)


def time_passes(model: LanguageModel, prompt: Sequence[int], tokens: Sequence[int], choices: Sequence[int]) -> float:
    """The milliseconds of one pass before each of the chosen tokens, after the prompt has been read."""
    model.logits([*prompt])
    began = perf_counter()
    for end in choices:
        model.logits([*prompt, *tokens[:end]])
    return (perf_counter() - began) * 1e3


def measure_passes(model: LanguageModel, size: int = 64, rounds: int = 5) -> Cost:
    """The cost of these passes: one per token, and one that reads all of them."""
    return join_prices(time_pass(model, 1, size, rounds), time_pass(model, MANY, size, rounds))


def time_pass(model: LanguageModel, rows: int, size: int, rounds: int) -> tuple[float, float]:
    """The fixed milliseconds of a pass, and the milliseconds per token that it reads, with this many rows."""
    prompt, tokens = [1] * 16, [2] * size
    batch = model.side_by_side(rows)
    each = min(time_passes(batch, prompt, tokens, range(size)) / size for _ in range(rounds))
    once = min(time_passes(batch, prompt, tokens, [size]) for _ in range(rounds))
    token_ms = max(0.0, (once - each) / (size - 1))
    return max(0.0, each - token_ms), token_ms


def replay(model: LanguageModel, asked: float, prompt: Sequence[int], trace: Trace) -> Timed:
    """Time a text read with one pass per token, and with one pass per chosen token."""
    steps = standing(trace.steps)
    tokens, chosen = [step.token for step in steps], [at for at, step in enumerate(steps) if step.how == "sampled"]
    return Timed(
        asked=asked,
        fraction=round(1 - len(chosen) / len(tokens), 4),
        rows=model.rows,
        naive_ms=round(time_passes(model, prompt, tokens, range(len(tokens))), 3),
        jump_ms=round(time_passes(model, prompt, tokens, chosen), 3),
        naive_passes=len(tokens),
        jump_passes=len(chosen),
        prefilled=trace.prefilled,
        tokens=len(tokens),
        parts=mark_parts(trace),
        difference="same tokens",
    )
