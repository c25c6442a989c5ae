"""Texts of another model, read by one of random weights in the same passes: only its time means anything.

There is no guide and no loop here, only passes whose logits are fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from guidedviz.bench.forward import Shape
from guidedviz.decoding.models import LanguageModel, embedded_folder
from guidedviz.decoding.payoff import Cost, Timed
from guidedviz.decoding.timing import MANY, join_prices, mark_parts
from guidedviz.decoding.trace import Trace, standing


def build_random(shape: Shape, vocabulary: int, device: str) -> LanguageModel:
    """A model of this shape that reads what clerk's tokenizer cuts."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
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
    network = LlamaForCausalLM(config).to(device, kind).eval()
    return LanguageModel(shape.name, device, network, AutoTokenizer.from_pretrained(embedded_folder("clerk")))


def time_passes(model: LanguageModel, prompt: Sequence[int], tokens: Sequence[int], choices: Sequence[int]) -> float:
    """Milliseconds to be asked before each of these tokens, after the prompt has been read."""
    model.logits([*prompt])
    began = perf_counter()
    for end in choices:
        model.logits([*prompt, *tokens[:end]])
    return (perf_counter() - began) * 1e3


def measure_passes(model: LanguageModel, size: int = 64, rounds: int = 5) -> Cost:
    """The prices of these passes: asked before each token, and once after all of them."""
    return join_prices(time_pass(model, 1, size, rounds), time_pass(model, MANY, size, rounds))


def time_pass(model: LanguageModel, rows: int, size: int, rounds: int) -> tuple[float, float]:
    """Milliseconds of a pass by itself, and of each token that it reads, with so many rows."""
    prompt, tokens = [1] * 16, [2] * size
    batch = model.side_by_side(rows)
    each = min(time_passes(batch, prompt, tokens, range(size)) / size for _ in range(rounds))
    once = min(time_passes(batch, prompt, tokens, [size]) for _ in range(rounds))
    token_ms = max(0.0, (once - each) / (size - 1))
    return max(0.0, each - token_ms), token_ms


def replay(model: LanguageModel, asked: float, prompt: Sequence[int], trace: Trace) -> Timed:
    """A text with a pass for each token, and with one for each token that was chosen."""
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
