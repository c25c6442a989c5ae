"""Train `clerk`: text to structure, on tasks the generator in tasks.py writes.

    python assets/train/clerk.py
    python assets/train/clerk.py --small

No data is needed: a seed gives the same tasks everywhere. `clerk-small` has the tokenizer of `clerk` and a fifth of its
weights; it writes the drafts of speculative decoding.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import torch
from loop import Recipe, build_model, save_model, train
from tasks import SECOND_COURSE, lessons, stream
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

HERE = Path(__file__).resolve().parent
END = "<|end|>"
SPLIT = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SHAPE = {
    "vocab_size": 4096,
    "hidden_size": 256,
    "intermediate_size": 704,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "max_position_embeddings": 1024,
}
SMALL = SHAPE | {"hidden_size": 128, "intermediate_size": 352, "num_hidden_layers": 2, "num_attention_heads": 2}


def build_tokenizer(seed: int, size: int = 4096, examples: int = 60_000) -> PreTrainedTokenizerFast:
    """Byte-level BPE: every byte is a token, digits stand alone, `{"` and `": "` grow together."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    texts = (text for prompt, answer in islice(lessons(seed), examples) for text in (prompt, answer))
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=END, clean_up_tokenization_spaces=False
    )


def encode_pairs(tokenizer: PreTrainedTokenizerFast, pairs: list[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
    """Inputs and labels: only the answer and its end are asked for."""
    prompts = tokenizer([p for p, _ in pairs])["input_ids"]
    answers = tokenizer([a for _, a in pairs])["input_ids"]
    end = tokenizer.eos_token_id
    return [(p + a, [-100] * (len(p) - 1) + a + [end]) for p, a in zip(prompts, answers, strict=True)]


def padded(length: int) -> int:
    """Widths in steps of 16: few shapes, so that nothing caches a kernel for each.

    >>> padded(33)
    48
    """
    return -(-length // 16) * 16


def pad(rows: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, torch.Tensor]:
    width = padded(max(len(x) for x, _ in rows))
    inputs = torch.tensor([x + [0] * (width - len(x)) for x, _ in rows])
    return inputs, torch.tensor([y + [-100] * (width - len(y)) for _, y in rows])


Batches = Iterator[tuple[torch.Tensor, torch.Tensor]]


def curriculum(tokenizer: PreTrainedTokenizerFast, seed: int, tokens: int, switch: int) -> Batches:
    """The first course for `switch` batches, then the second."""
    yield from islice(batches(tokenizer, lessons(seed), seed, tokens), switch)
    yield from batches(tokenizer, lessons(seed + 1, SECOND_COURSE), seed, tokens)


def batches(tokenizer: PreTrainedTokenizerFast, source: Iterator[tuple[str, str]], seed: int, tokens: int) -> Batches:
    """Batches of about `tokens` tokens, of examples of like length, for ever."""
    shuffle = Random(seed)
    while True:
        pool = sorted(encode_pairs(tokenizer, list(islice(source, 4000))), key=lambda row: len(row[0]))
        cut, rows = [], []
        for row in pool:
            if rows and (len(rows) + 1) * padded(len(row[0])) > tokens:
                cut.append(rows)
                rows = []
            rows.append(row)
        shuffle.shuffle(cut)
        yield from map(pad, cut)


@torch.no_grad()
def exact_share(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, count: int = 280) -> str:
    """How many plain held-out prompts greedy decoding answers exactly, by family."""
    model.eval()
    device = next(model.parameters()).device
    tasks = [t for t, chatty in islice(stream(7, held_out=True), count) if not chatty]
    tally: dict[str, list[bool]] = {}
    for at in range(0, len(tasks), 40):
        part = tasks[at : at + 40]
        inputs, labels = pad(encode_pairs(tokenizer, [(t.prompt, t.answer) for t in part]))
        guesses = model(input_ids=inputs.to(device)).logits.argmax(-1).cpu()
        right = ((guesses == labels) | (labels == -100)).all(-1)
        for task, ok in zip(part, right.tolist(), strict=True):
            tally.setdefault(task.family, []).append(ok)
    everything = [ok for oks in tally.values() for ok in oks]
    shares = " ".join(f"{k} {sum(v) / len(v):.2f}" for k, v in sorted(tally.items()))
    return f"exact {sum(everything) / len(everything):.3f} ({shares})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="train clerk-small")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=3400)
    parser.add_argument("--switch", type=int, default=2400, help="the step at which the second course begins")
    parser.add_argument("--tokens", type=int, default=4096, help="tokens in a batch")
    args = parser.parse_args()
    name = "clerk-small" if args.small else "clerk"
    out, checkpoint = HERE.parent / "models" / name, HERE / "checkpoints" / f"{name}.pt"
    recipe = Recipe(steps=args.steps, average=0.99, muon_rate=0.02, decay=0.05)
    tokenizer = build_tokenizer(recipe.seed)
    tokenizer.save_pretrained(out)
    torch.manual_seed(recipe.seed)
    model = build_model(
        **(SMALL if args.small else SHAPE),
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        pad_token_id=tokenizer.eos_token_id,
    )
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokenizer)} tokens")
    train(
        model,
        curriculum(tokenizer, recipe.seed, args.tokens, args.switch),
        recipe,
        checkpoint,
        args.device,
        report=lambda m: exact_share(m, tokenizer),
    )
    save_model(model, out)
    print(exact_share(model.float(), tokenizer))


if __name__ == "__main__":
    main()
