"""One training loop for both embedded models.

Matrices learn by Muon, the rest by AdamW (Jordan et al. 2024, "Muon"); the rate warms up, stays, and falls to zero.
A checkpoint is written every few minutes, and a rerun goes on from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm import tqdm
from transformers import LlamaConfig, LlamaForCausalLM


@dataclass(frozen=True)
class Recipe:
    """How long and how hard to train."""

    steps: int
    muon_rate: float = 0.02
    adam_rate: float = 2e-3
    warmup: int = 60
    cooldown: float = 0.6  # the share of steps over which the rates fall to zero
    decay: float = 0.1
    dropout: float = 0.0
    average: float = 0.0  # >0: keep a moving average of the weights with this decay
    seed: int = 1

    def rate(self, step: int) -> float:
        """The factor on both learning rates at a step."""
        left = (self.steps - step) / (self.steps * self.cooldown)
        return min(1.0, (step + 1) / self.warmup, max(left, 0.0))


def build_model(**shape: int | None) -> LlamaForCausalLM:
    """A fresh Llama-shaped model with tied embeddings."""
    config = LlamaConfig(tie_word_embeddings=True, attention_bias=False, mlp_bias=False, **shape)
    return LlamaForCausalLM(config)


def add_dropout(model: LlamaForCausalLM, p: float) -> None:
    """Drop a share of what each block adds to the residual stream, while training."""
    if p:
        for block in model.model.layers:
            block.self_attn.o_proj.register_forward_hook(lambda m, a, out: torch.dropout(out, p, m.training))
            block.mlp.down_proj.register_forward_hook(lambda m, a, out: torch.dropout(out, p, m.training))


def train(
    model: LlamaForCausalLM,
    batches: Iterable[tuple[torch.Tensor, torch.Tensor]],
    recipe: Recipe,
    checkpoint: Path,
    device: str = "cpu",
    report: Callable[[LlamaForCausalLM], str] | None = None,
    report_every: int = 250,
) -> LlamaForCausalLM:
    """Train in place; `batches` gives (inputs, labels), label -100 where nothing is asked."""
    torch.manual_seed(recipe.seed)
    model.to(device)
    add_dropout(model, recipe.dropout)
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    optimizers = [
        torch.optim.Muon(matrices, lr=recipe.muon_rate, weight_decay=recipe.decay, momentum=0.95),
        torch.optim.AdamW(others, lr=recipe.adam_rate, weight_decay=0.0, betas=(0.9, 0.98)),
    ]
    base = [o.param_groups[0]["lr"] for o in optimizers]
    mean = {n: p.detach().clone() for n, p in model.named_parameters()} if recipe.average else {}
    start = 0
    if checkpoint.exists():
        mean, start = load_checkpoint(checkpoint, model, optimizers, device)
    forward = torch.compile(model.model, dynamic=True) if device == "cuda" else model.model
    bar = tqdm(total=recipe.steps, initial=start, unit="step", mininterval=5)
    wrote, smooth = time.monotonic(), 0.0
    for step, (inputs, labels) in enumerate(batches):
        if step < start:
            continue
        if step >= recipe.steps:
            break
        model.train()
        with torch.autocast(device, dtype=torch.bfloat16):
            asked = (labels != -100).to(device)
            hidden = forward(input_ids=inputs.to(device)).last_hidden_state[asked]
            loss = torch.nn.functional.cross_entropy(model.lm_head(hidden).float(), labels.to(device)[asked])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        for optimizer, rate in zip(optimizers, base, strict=True):
            optimizer.param_groups[0]["lr"] = rate * recipe.rate(step)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        for name, parameter in model.named_parameters() if mean else ():
            mean[name].lerp_(parameter.detach(), 1 - recipe.average)
        smooth = loss.item() if not smooth else 0.98 * smooth + 0.02 * loss.item()
        bar.set_postfix_str(f"loss {smooth:.4f}", refresh=False)
        bar.update()
        if report and (step + 1) % report_every == 0:
            with swapped(model, mean):
                bar.write(f"step {step + 1}: train {smooth:.4f}, {report(model)}")
        if time.monotonic() - wrote > 180:
            wrote = time.monotonic()
            save_checkpoint(checkpoint, model, optimizers, mean, step + 1)
    if mean:
        model.load_state_dict(mean, strict=False)
    return model.eval()


def save_checkpoint(path: Path, model: LlamaForCausalLM, optimizers: list, mean: dict, step: int) -> None:
    """Write to a temporary name first, so that a cut never leaves half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "optimizers": [o.state_dict() for o in optimizers]}
    torch.save(state | {"mean": mean, "step": step}, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def load_checkpoint(path: Path, model: LlamaForCausalLM, optimizers: list, device: str) -> tuple[dict, int]:
    """Go on where a run was cut: the averaged weights and the next step."""
    saved = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(saved["model"])
    for optimizer, state in zip(optimizers, saved["optimizers"], strict=True):
        optimizer.load_state_dict(state)
    return saved["mean"], saved["step"]


class swapped:
    """Lend a model its averaged weights for the length of a `with`."""

    def __init__(self, model: LlamaForCausalLM, mean: dict[str, torch.Tensor]) -> None:
        self.model, self.mean = model, mean

    def __enter__(self) -> None:
        self.own = {n: p.detach().clone() for n, p in self.model.named_parameters()}
        self.model.load_state_dict(self.mean, strict=False)

    def __exit__(self, *_: object) -> None:
        self.model.load_state_dict(self.own, strict=False)


def save_model(model: LlamaForCausalLM, folder: Path) -> None:
    """The ordinary transformers layout, weights in bf16."""
    model.to("cpu").to(torch.bfloat16).save_pretrained(folder)
