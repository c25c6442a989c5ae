"""The cost of the mask per token, computed after the forward pass or during it, with a record of the times.

The overhead is the time for which the logits wait for their mask. Each run has a new guide; if a text returns to
a state, its mask is cached. On CUDA the network is 0.5B-shaped. On the CPU it is small and runs in its own thread;
the total shows how much mask and network slow each other down. With `--device` the record is saved in assets/traces.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from guidedviz.bench.about import name_device, print_about
from guidedviz.bench.decoding.forward import SHAPES, Shape, build_forward
from guidedviz.bench.masks.grammars import build_all
from guidedviz.bench.masks.languages import JSON_TEXTS
from guidedviz.decoding.overlap import Overlap, record_runs
from guidedviz.errors import SettingError
from guidedviz.machines.pushdown.pda import JSON_GBNF, grammar
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.machine_guide import guide
from guidedviz.tokens.spelling import longest_tokens
from guidedviz.tokens.vocabulary import Vocabulary

TRACES = Path(__file__).resolve().parents[2] / "assets" / "traces"
ENGINES: dict[str, Callable[..., Guide]] = {"trie": partial(guide, engine="trie"), "split": build_all}


def record_overlap(device: str, vocabulary: Vocabulary, rounds: int, shape: Shape | None = None) -> Overlap:
    """Run JSON along a text with the lazy walk and with the split; keep the fastest round of each."""
    shape = shape or SHAPES["cuda" if device.startswith("cuda") else "cpu"]
    forward = build_forward(shape, len(vocabulary), device)
    tokens = list(longest_tokens(vocabulary, JSON_TEXTS[0].encode()))
    build = {name: partial(_build, engine, vocabulary) for name, engine in ENGINES.items()}
    for engine in build.values():  # work done once per vocabulary is not timed
        warm = engine()
        warm.mask(warm.initial)
    runs = record_runs(forward, build, tokens, rounds)
    named, today = name_device(device), date.today().isoformat()
    return Overlap(runs, shape.say(len(vocabulary)), named, today, "JSON (RFC 8259)", len(vocabulary))


def _build(engine: Callable[..., Guide], vocabulary: Vocabulary) -> Guide:
    return engine(grammar(JSON_GBNF), vocabulary)


def bench(options: Namespace) -> dict[str, Any]:
    """Print the table, save the record, and return the figures."""
    about = print_about()
    device = options.device or "cpu"
    sys.setswitchinterval(1e-4)  # the thread of the forward pass waits for the GIL, by default up to 5 ms
    try:
        record = record_overlap(device, Vocabulary.llama3(), options.rounds)
    except SettingError as error:
        print(error)
        return {"about": about, "said": str(error)}
    figures = print_record(record)
    if options.device:
        TRACES.mkdir(parents=True, exist_ok=True)
        record.save(TRACES / f"overlap-{device.replace(':', '')}.json")
    return {"about": about, "model": record.model, "device": record.device, "ms": figures}


def print_record(record: Overlap) -> dict[str, dict[str, float]]:
    """Print and return milliseconds per token."""
    print(f"\n{record.model}; {record.device}; {record.constraint}, {len(record.runs[0].turns)} tokens")
    heads = ("forward", "mask", "overhead", "in all")
    print(f"{'ms per token':24}" + "".join(f"{head:>12}" for head in heads))
    rows: dict[str, dict[str, float]] = {}
    for run in record.runs:
        forward = fmean(turn.forward[1] - turn.forward[0] for turn in run.turns)
        mask = fmean(turn.mask[1] - turn.mask[0] for turn in run.turns)
        name = f"{run.engine}, {'side by side' if run.beside else 'one by one'}"
        rows[name] = dict(zip(heads, (forward, mask, run.overhead, run.per_token), strict=True))
        print(f"{name:24}" + "".join(f"{ms:12.3f}" for ms in rows[name].values()))
    return rows
