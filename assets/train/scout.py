"""Train `scout`: a model that thinks and calls tools, on conversations that a program writes.

    python assets/train/scout.py

It starts from the weights of `clerk`, whose tokens it has, with eight special tokens more. No data is needed: a seed
gives the same conversations everywhere. A rerun goes on from the checkpoint.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

import torch
from clerk import SHAPE
from loop import Recipe, build_model, save_model, train
from scout_tokens import CLERK, ENDS, FOLDER, MARKS, NOT_LEARNED, PAD, Transcript, batches, build_tokenizer, curriculum
from transformers import LlamaForCausalLM

HERE = Path(__file__).resolve().parent


def widen(model: LlamaForCausalLM, seed: int) -> None:
    """Take the weights of `clerk`; the new tokens begin as noise of the size of the others."""
    old = LlamaForCausalLM.from_pretrained(CLERK, dtype=torch.float32).state_dict()
    known = old["model.embed_tokens.weight"]
    noise = torch.randn(len(MARKS), known.shape[1], generator=torch.Generator().manual_seed(seed))
    wide = torch.cat([known, noise * known.std()])
    model.load_state_dict(old | {"model.embed_tokens.weight": wide, "lm_head.weight": wide})


@torch.no_grad()
def exact_turns(model: LlamaForCausalLM, transcript: Transcript) -> str:
    """How many of some other conversations the likeliest tokens write exactly, each token after the right ones."""
    model.eval()
    right: list[bool] = []
    for inputs, labels in islice(batches(transcript.rows(900), 900, 4096), 12):
        guesses = model(input_ids=inputs.to(model.device)).logits.argmax(-1).cpu()
        right += ((guesses == labels) | (labels == NOT_LEARNED)).all(-1).tolist()
    return f"whole conversations {sum(right) / len(right):.3f} of {len(right)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--switch", type=int, default=440, help="the step at which the second course begins")
    parser.add_argument("--tokens", type=int, default=3072, help="tokens in a batch")
    parser.add_argument("--checkpoint", type=Path, default=HERE / "checkpoints" / "scout.pt")
    parser.add_argument("--out", type=Path, default=FOLDER)
    args = parser.parse_args()
    recipe = Recipe(steps=args.steps, average=0.99, muon_rate=0.015, adam_rate=1.5e-3, decay=0.02)
    tokenizer = build_tokenizer()
    tokenizer.save_pretrained(args.out)
    transcript = Transcript(tokenizer)
    ends, padding = tokenizer.convert_tokens_to_ids([ENDS, PAD])
    shape = SHAPE | {"vocab_size": len(tokenizer)}
    model = build_model(**shape, eos_token_id=ends, bos_token_id=None, pad_token_id=padding)
    widen(model, recipe.seed)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokenizer)} tokens")
    train(
        model,
        curriculum(transcript, recipe.seed, args.tokens, args.switch),
        recipe,
        args.checkpoint,
        args.device,
        report=lambda m: exact_turns(m, transcript),
    )
    save_model(model, args.out)


if __name__ == "__main__":
    main()
