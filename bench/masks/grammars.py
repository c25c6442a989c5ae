"""Time the split, the lazy walk and the real engines on grammars that need a stack: one language, one run, one thread.

masks.py describes the measurements. Here `guidedviz` builds the splits of all nodes when it compiles, as
xgrammar does, and unpacks up to 16 MB of masks. "as asked" is the default: it builds the split of a node when a text
first reaches the node. "trie" walks at every new state. xgrammar gets the grammar in GBNF, llguidance in Lark's
syntax with one lexeme per character. If a case also has a schema, "schema" is the schema compiled by the engine's own
parser, the engine's main use; its language then differs in whitespace and escapes.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from time import perf_counter
from typing import Any

from bench.about import pin_thread, print_about
from bench.masks.cases import Case
from bench.masks.engines import Build, find_engines
from bench.masks.languages import build_languages
from bench.masks.latency import find_walk, print_case, time_case
from bench.masks.museum import VOCABULARIES
from bench.masks.tensors import TensorWalk, find_moves
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.tokens.machine_guide import MachineGuide, guide, split_guide
from guidedviz.tokens.split.split import build_split
from guidedviz.tokens.vocabulary import Vocabulary


def build_all(machine: PDA, vocabulary: Vocabulary) -> MachineGuide:
    """The splits of all nodes, before the first mask."""
    split = build_split(machine, vocabulary)
    split.build()
    return split_guide(split)


REAL = ("xgrammar", "llguidance", "xgrammar, schema", "llguidance, schema")
OURS: dict[str, Build] = {
    "guidedviz": build_all,
    "guidedviz, as asked": guide,
    "guidedviz, trie": partial(guide, engine="trie"),
}


def bench(options: Namespace) -> dict[str, Any]:
    """Time and print every language on every vocabulary, and return the figures."""
    about = print_about(threads=pin_thread())
    kept: dict[str, Any] = {}
    for name, read in VOCABULARIES.items():
        chosen = [case for case in build_languages() if options.only in f"{name}, {case.name}"]
        engines, missing = find_engines(read(), OURS, REAL) if chosen else ([], [])
        walk = find_walk(options.device, read()) if chosen else None
        for line in missing:
            print(line)
        for case in chosen:
            able = [engine for engine in engines if case.schema is not None or "schema" not in engine.name]
            samples = time_case(case, able, read(), options.rounds)
            print_case(case, samples, name)
            kept[f"{name}, {case.name}"] = {engine: sample.figures() for engine, sample in samples.items()}
            if walk is not None:
                kept[f"{name}, {case.name}"]["torch"] = time_nodes(case, walk, read(), options.rounds)
    return {"about": about, "cases": kept}


def time_nodes(case: Case, walk: TensorWalk, vocabulary: Vocabulary, rounds: int) -> dict[str, Any]:
    """Time the walk of all nodes by torch with a given table, and compare its answers with the split."""
    split = build_split(grammar(case.grammar), vocabulary)
    began = perf_counter()
    parts = split.build()
    built = perf_counter() - began
    moves = find_moves(split)
    same = bool((walk.answers(moves).cpu().numpy() == [part.verdicts for part in parts]).all())
    seconds = walk.time(lambda: walk.answers(moves), rounds)
    shown = (
        f"torch on {walk.device} {seconds * 1e3:.2f} ms with the table known, NumPy {built * 1e3:.2f} ms from nothing"
    )
    print(f"all tokens from {len(parts)} nodes: {shown}, {'the same answers' if same else 'DIFFERENT ANSWERS'}")
    return {"device": seconds, "numpy": built, "name": walk.device, "same": same}
