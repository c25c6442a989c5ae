"""The gain of each optimization of XGrammar: enabled one after the other, in the paper's order, on JSON and Llama 3.

The paper (arXiv 2411.15100) used another computer, another JSON grammar and another walk. So a row compares the gain of
an optimization there and here, not the speed of the engines. Two rows differ most: our first row walks the trie and
caches moves, so it starts lower; our rules are deterministic before nodes are merged, so merging gains little.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from guidedviz.bench.about import pin_thread, print_about
from guidedviz.bench.masks.languages import JSON_TEXTS
from guidedviz.machines.pushdown.pda import JSON_GBNF, grammar
from guidedviz.machines.pushdown.stacks import State
from guidedviz.tokens.spelling import longest_tokens
from guidedviz.tokens.split.split import Split, build_split
from guidedviz.tokens.vocabulary import Vocabulary

IDEAS = ("merge", "cache", "inline", "expand", "remember")  # in the paper's order; the last one is ours


@dataclass(frozen=True)
class Ablation:
    """One more optimization, and the paper's figures; None if the paper has none."""

    name: str
    on: tuple[str, ...]
    paper_ms: float | None = None
    paper_ask: int | None = None


ROWS = (
    Ablation("the trie walked at every step", (), 65.8),
    Ablation("+ nodes merged", IDEAS[:1], 38.3),
    Ablation("+ what is sure is kept", IDEAS[:2], 0.154),
    Ablation("+ rules in the place of calls", IDEAS[:3], 0.035, 1134),
    Ablation("+ context expansion", IDEAS[:4], 0.018, 120),
    Ablation("+ answers remembered", IDEAS),
)
PAPER_BYTES = (160_000_000, 460_000)  # the memory for the masks of all nodes, and the memory after compression


def build(row: Ablation, vocabulary: Vocabulary) -> Split:
    """A new split with only these optimizations; if nodes are stored, all nodes are built."""
    split = build_split(grammar(JSON_GBNF), vocabulary, **{idea: idea in row.on for idea in IDEAS})
    if split.cache:
        split.build()
    return split


def states_of(split: Split) -> list[State]:
    """The states along the texts: one before each token and one after the last."""
    states = []
    for text in JSON_TEXTS:
        states.append(split.pda.initial)
        for token in longest_tokens(split.vocabulary, text.encode()):
            after = states[-1]
            for byte in split.vocabulary.pieces[token]:
                after = split.pda.step(after, byte) or split.pda.initial
            states.append(after)
    return states


def time_row(row: Ablation, vocabulary: Vocabulary, rounds: int) -> dict[str, Any]:
    """The mean milliseconds of a mask along the texts; the median of the rounds, each with a new split."""
    means = []
    for _ in range(rounds):
        split = build(row, vocabulary)
        states = states_of(split)
        began = perf_counter()
        for state in states:
            split.mask(state)
        means.append((perf_counter() - began) * 1e3 / len(states))
    return {"ms": median(means), "nodes": len(split.pda.nodes)} | (count(split) if split.cache else {})


def count(split: Split) -> dict[str, int]:
    """Context-dependent tokens and memory."""
    parts = split.build()
    asked = {token for part in parts for token in part.dependent.tolist()}
    return {
        "ask": len(asked),
        "most": max(len(part.dependent) for part in parts),
        "all": sum(len(part.dependent) for part in parts),
        "nbytes": split.nbytes,
        "dense": split.dense_nbytes,
    }


def bench(options: Namespace) -> dict[str, Any]:
    """Print the table during the measurement, and return its figures."""
    vocabulary = Vocabulary.llama3()
    about = print_about(vocabulary=repr(vocabulary), threads=pin_thread())
    heads = ("paper", "step", "ours", "step", "nodes", "ask (paper)", "ask", "at one node", "at all", "kept")
    print(f"\n{'mean of one mask, ms':32}" + "".join(f"{head:>12}" for head in heads))
    kept: dict[str, dict[str, Any]] = {}
    before: tuple[float | None, float | None] = (None, None)
    for row in ROWS:
        if options.only in row.name:
            kept[row.name] = found = time_row(row, vocabulary, options.rounds)
            print(f"{row.name:32}" + "".join(f"{cell:>12}" for cell in cells(row, found, before)))
            before = row.paper_ms, found["ms"]
    print(say_memory(kept))
    return {"about": about, "rows": kept, "paper": {row.name: [row.paper_ms, row.paper_ask] for row in ROWS}}


def cells(row: Ablation, found: dict[str, Any], before: tuple[float | None, float | None]) -> list[str]:
    """One line of the table: times with the gain of the optimization, then counts."""
    times = [cell for now, last in zip((row.paper_ms, found["ms"]), before, strict=True) for cell in _time(now, last)]
    counts = [row.paper_ask, *(found.get(key) for key in ("ask", "most", "all"))]
    numbers = [found["nodes"], *counts]
    memory = f"{found['nbytes'] / 1e6:.2f} MB" if "nbytes" in found else "-"
    return [*times, *("-" if number is None else f"{number:,}" for number in numbers), memory]


def _time(now: float | None, last: float | None) -> tuple[str, str]:
    return ("-" if now is None else f"{now:.3f}"), (f"{last / now:.1f}x" if last and now else "-")


def say_memory(kept: dict[str, dict[str, Any]]) -> str:
    """The memory compared with a table of all nodes and tokens."""
    whole = [found for found in kept.values() if "nbytes" in found]
    if not whole:
        return ""
    nbytes, dense = whole[-1]["nbytes"], whole[-1]["dense"]
    ours = f"{dense / 1e6:.2f} MB as bits, {dense * 8 / 1e6:.1f} MB as bytes -> {nbytes / 1e6:.2f} MB"
    share = f"{nbytes / dense:.1%} of the bits, {nbytes / dense / 8:.2%} of the bytes"
    paper = " -> ".join(f"{size / 1e6:.2f} MB" for size in PAPER_BYTES)
    return f"\nmemory: ours {ours} ({share}); the paper's {paper} ({PAPER_BYTES[1] / PAPER_BYTES[0]:.1%})"
