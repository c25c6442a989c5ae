"""Train `bard`: Tiny Shakespeare by characters, in NanoGPT's order.

    python assets/train/bard.py tinyshakespeare.txt

The text is karpathy/char-rnn's `data/tinyshakespeare/input.txt` (1,115,394 characters, 65 of them different).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import torch
from loop import Recipe, build_model, save_model, train
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

HERE = Path(__file__).resolve().parent
CONTEXT = 256
SHAPE = {
    "vocab_size": 65,
    "hidden_size": 192,
    "intermediate_size": 512,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "max_position_embeddings": 1024,
}


def build_tokenizer(symbols: str) -> PreTrainedTokenizerFast:
    """One token a character, numbered in code point order: '\\n' is 0, 'A' is 13, 'z' is 64."""
    tokenizer = Tokenizer(models.WordLevel({c: i for i, c in enumerate(symbols)}, unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, clean_up_tokenization_spaces=False)


def windows(data: torch.Tensor, size: int, seed: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Random windows of the training text, for ever."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        starts = torch.randint(len(data) - CONTEXT - 1, (size,), generator=generator)
        rows = torch.stack([data[s : s + CONTEXT + 1] for s in starts])
        yield rows[:, :-1], rows[:, 1:]


@torch.no_grad()
def validation_loss(model: LlamaForCausalLM, data: torch.Tensor) -> float:
    """Nats a character over the whole text, in separate windows of 256, as nanoGPT's own estimate."""
    model.eval()
    count = (len(data) - 1) // CONTEXT
    inputs, labels = data[: count * CONTEXT].view(count, -1), data[1 : count * CONTEXT + 1].view(count, -1)
    device, total = next(model.parameters()).device, 0.0
    for at in range(0, count, 32):
        logits = model(input_ids=inputs[at : at + 32].to(device)).logits.float()
        total += torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), labels[at : at + 32].to(device).flatten(), reduction="sum"
        ).item()
    return total / labels.numel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--out", type=Path, default=HERE.parent / "models" / "bard")
    parser.add_argument("--checkpoint", type=Path, default=HERE / "checkpoints" / "bard.pt")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=1900)
    parser.add_argument("--batch", type=int, default=24)
    args = parser.parse_args()
    text = args.text.read_text(encoding="utf-8")
    symbols = "".join(sorted(set(text)))
    if len(symbols) != 65:
        raise SystemExit(f"{args.text}: expected the 65 symbols of Tiny Shakespeare, found {len(symbols)}")
    tokenizer = build_tokenizer(symbols)
    tokenizer.save_pretrained(args.out)
    data = torch.tensor([symbols.index(c) for c in text])
    cut = int(0.9 * len(data))
    recipe = Recipe(steps=args.steps, dropout=0.1, average=0.99)
    torch.manual_seed(recipe.seed)
    model = build_model(**SHAPE, bos_token_id=None, eos_token_id=None)
    quick = data[cut : cut + 24 * CONTEXT * 2 + 1]
    train(
        model,
        windows(data[:cut], args.batch, recipe.seed),
        recipe,
        args.checkpoint,
        args.device,
        report=lambda m: f"validation (first 12k characters) {validation_loss(m, quick):.4f}",
    )
    save_model(model, args.out)
    model.float()
    figures = {
        "validation_nats": round(validation_loss(model, data[cut:]), 4),
        "steps": args.steps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "device": args.device,
    }
    (args.out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    print(figures)


if __name__ == "__main__":
    main()
