"""What each idea of XGrammar is worth: switched on one after the other, in the paper's order, on JSON and Llama 3.

The paper's figures (arXiv 2411.15100) were taken on another computer, with another JSON and another walk, so a row says
what an idea brings there and here, not who is quicker. Two differ most. Our first row is a walk of the trie, with the
moves it has made remembered, so it begins lower. And our rules are deterministic machines before any node is merged, so
that merging finds little left to do.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from guidedviz.bench.about import describe, pin_thread
from guidedviz.bench.languages import JSON_TEXTS
from guidedviz.machines.json_grammar import JSON_GBNF
from guidedviz.machines.pda import State, grammar
from guidedviz.tokens.longest import longest_tokens
from guidedviz.tokens.split import Split, build_split
from guidedviz.tokens.vocabulary import Vocabulary

IDEAS = ("merge", "cache", "inline", "expand", "remember")  # in the paper's order; the last is ours


@dataclass(frozen=True)
class Row:
    """One more idea switched on, and what the paper has for it; None where it has nothing."""

    name: str
    on: tuple[str, ...]
    paper_ms: float | None = None
    paper_ask: int | None = None


ROWS = (
    Row("the trie walked at every step", (), 65.8),
    Row("+ nodes merged", IDEAS[:1], 38.3),
    Row("+ what is sure is kept", IDEAS[:2], 0.154),
    Row("+ rules in the place of calls", IDEAS[:3], 0.035, 1134),
    Row("+ context expansion", IDEAS[:4], 0.018, 120),
    Row("+ answers remembered", IDEAS),
)
PAPER_BYTES = (160_000_000, 460_000)  # the masks of all nodes, and what is kept of them


def build(row: Row, vocabulary: Vocabulary) -> Split:
    """The split with these ideas alone, all nodes made where they are kept; the machine is read anew each time."""
    split = build_split(grammar(JSON_GBNF), vocabulary, **{idea: idea in row.on for idea in IDEAS})
    if split.cache:
        split.build()
    return split


def states_of(split: Split) -> list[State]:
    """The states on the way through real texts, one before each token and one after the last."""
    states = []
    for text in JSON_TEXTS:
        states.append(split.pda.initial)
        for token in longest_tokens(split.vocabulary, text.encode()):
            after = states[-1]
            for byte in split.vocabulary.pieces[token]:
                after = split.pda.step(after, byte) or split.pda.initial
            states.append(after)
    return states


def time_row(row: Row, vocabulary: Vocabulary, rounds: int) -> dict[str, Any]:
    """Milliseconds of a mask, the mean along the texts; the median of the rounds, each from nothing."""
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
    """The tokens that ask, and the memory."""
    parts = split.build()
    asked = {token for part in parts for token in part.ask.tolist()}
    return {
        "ask": len(asked),
        "most": max(len(part.ask) for part in parts),
        "all": sum(len(part.ask) for part in parts),
        "nbytes": split.nbytes,
        "dense": split.dense_nbytes,
    }


def bench(options: Namespace) -> dict[str, Any]:
    """The table, printed as it is measured; all that was printed, as data."""
    vocabulary = Vocabulary.llama3()
    about = describe() | {"vocabulary": repr(vocabulary), "threads": pin_thread()}
    for name, text in about.items():
        print(f"{name:12}{text}")
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


def cells(row: Row, found: dict[str, Any], before: tuple[float | None, float | None]) -> list[str]:
    """One line of the table: times with what the step brought, then counts."""
    times = [cell for now, last in zip((row.paper_ms, found["ms"]), before, strict=True) for cell in _time(now, last)]
    counts = [row.paper_ask, *(found.get(key) for key in ("ask", "most", "all"))]
    numbers = [found["nodes"], *counts]
    memory = f"{found['nbytes'] / 1e6:.2f} MB" if "nbytes" in found else "-"
    return [*times, *("-" if number is None else f"{number:,}" for number in numbers), memory]


def _time(now: float | None, last: float | None) -> tuple[str, str]:
    return ("-" if now is None else f"{now:.3f}"), (f"{last / now:.1f}x" if last and now else "-")


def say_memory(kept: dict[str, dict[str, Any]]) -> str:
    """The memory beside that of a table of all nodes and tokens."""
    whole = [found for found in kept.values() if "nbytes" in found]
    if not whole:
        return ""
    nbytes, dense = whole[-1]["nbytes"], whole[-1]["dense"]
    ours = f"{dense / 1e6:.2f} MB as bits, {dense * 8 / 1e6:.1f} MB as bytes -> {nbytes / 1e6:.2f} MB"
    share = f"{nbytes / dense:.1%} of the bits, {nbytes / dense / 8:.2%} of the bytes"
    paper = " -> ".join(f"{size / 1e6:.2f} MB" for size in PAPER_BYTES)
    return f"\nmemory: ours {ours} ({share}); the paper's {paper} ({PAPER_BYTES[1] / PAPER_BYTES[0]:.1%})"
