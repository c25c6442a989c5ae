"""What production pays for: schemas in each engine, packed masks, and a compile cache under a skewed load.

Every fifth schema of the sample is compiled and followed along a text in each engine, in a process of its own. Then our
engine serves a thousand requests with four ways of caching; the time of a request goes from its schema's text to its
first mask. With --device, packed masks are also applied as torch tensors. The record is saved beside the labs' traces.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.about import pin_thread, print_about, processor
from bench.masks.cases import Case
from bench.schemas.run import NAMES, share
from bench.schemas.sample import build_sample
from bench.schemas.worker import Worker
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.models.load import load_model
from guidedviz.serving.compile_cache import CompileCache, cache_key
from guidedviz.serving.measured import CacheRun, EngineCost, ForwardCost, Measured, PackedCost, SchemaCost
from guidedviz.serving.packed import apply_packed, pack_masks
from guidedviz.serving.timeline import percentile
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.machine_guide import guide
from guidedviz.tokens.vocabulary import Vocabulary

TRACES = Path(__file__).parents[1] / "assets/traces"
REQUESTS, SKEW, WARM, FULL = 1000, 1.0, 50, 2**40
ROWS, REPEATS = 32, 20
SLOW = "outlines-core"  # it takes seconds per schema, so it gets fewer
BATCHES = (1, 2, 4, 8, 16, 32)  # texts per pass


def bench(options: Namespace) -> dict[str, Any]:
    """Print three tables, save the record, and return the figures."""
    about = print_about(threads=pin_thread())
    cases = build_sample()
    vocabulary = Vocabulary.llama3()
    engines = tuple(time_engine(name, cases[:: 25 if name == SLOW else 5]) for name in NAMES)
    packed = tuple(time_packed(device, len(vocabulary)) for device in ("numpy", options.device) if device)
    forward = tuple(time_forward(rows) for rows in BATCHES)
    cache = tuple(run_caches(cases, vocabulary))
    device, date = f"{processor()}, one core", about["date"][:10]
    record = Measured(
        tuple(e for e in engines if not e.engine.startswith("missing")),
        packed,
        forward,
        cache,
        len(vocabulary),
        device,
        date,
    )
    print_record(record)
    if options.json:
        record.save(TRACES / "serving.json")
    return {"about": about} | {name: asdict(record)[name] for name in ("engines", "packed", "forward", "cache")}


def time_engine(name: str, cases: Sequence[Case]) -> EngineCost:
    """The costs of each schema that this engine compiles."""
    worker, found = Worker(name), []
    for case in () if worker.title.startswith("missing") else cases:
        figures = worker.time(case)
        if "said" not in figures:
            first, *rest = (seconds * 1e3 for seconds in figures["masks"])
            times = median(rest), share(rest, 0.99)
            found.append(SchemaCost(case.name, *(round(ms, 4) for ms in (figures["compile"] * 1e3 + first, *times))))
    worker.process.kill()
    return EngineCost(worker.title, len(cases), tuple(found))


def time_packed(device: str, size: int) -> PackedCost:
    """Pack the masks of a batch on the CPU and apply them to logits on a device, per row."""
    random = np.random.default_rng(0)
    masks = random.random((ROWS, size)) < 0.5
    logits: Any = random.normal(size=(ROWS, size)).astype(np.float32)
    packed = pack_masks(masks)
    if device != "numpy":
        import torch

        logits = torch.from_numpy(logits).to(device)
    pack, apply = [], []
    for _ in range(REPEATS):
        begun = perf_counter()
        pack_masks(masks)
        packed_at = perf_counter()
        apply_packed(logits, packed).argmax(-1).tolist()  # waits for the device
        pack.append(packed_at - begun)
        apply.append(perf_counter() - packed_at)
    return PackedCost(device, ROWS, *(round(median(times) * 1e3 / ROWS, 5) for times in (pack, apply)))


def time_forward(rows: int) -> ForwardCost:
    """The median pass of clerk in which this many texts read one token each."""
    model = load_model("clerk")
    texts = [model.encode(f"Ada {row} lives in Lisbon.\nJSON with name, city:\n") for row in range(rows)]
    model.batch(texts)
    times = []
    for _ in range(REPEATS):
        texts = [[*text, 100] for text in texts]
        begun = perf_counter()
        model.batch(texts)
        times.append(perf_counter() - begun)
    return ForwardCost("clerk", rows, round(median(times) * 1e3, 4))


def run_caches(cases: Sequence[Case], vocabulary: Vocabulary) -> list[CacheRun]:
    """A thousand requests for 200 schemas, the schema of rank r in proportion to 1 / r, with four ways of caching."""
    random = Random(18)
    order = random.sample(range(len(cases)), len(cases))
    asked = random.choices(order, [1 / rank**SKEW for rank in range(1, len(order) + 1)], k=REQUESTS)
    schemas: list[dict[str, Any]] = [case.schema or {} for case in cases]
    unique = [{**schemas[place], "title": f"request {number}"} for number, place in enumerate(asked)]
    skewed = [schemas[place] for place in asked]
    runs = []
    for name, requests, most, warm in (
        ("no cache", skewed, 0, 0),
        ("10 MB", skewed, 10_000_000, 0),
        ("no limit", skewed, FULL, 0),
        (f"no limit, {WARM} warmed up", skewed, FULL, WARM),
        ("unique schemas", unique, FULL, 0),
    ):
        cache: CompileCache[Guide] = CompileCache(most)
        for place in order[:warm]:
            ask(cache, schemas[place], vocabulary)
        cache.hits = cache.misses = 0
        times = [ask(cache, schema, vocabulary) for schema in requests]
        rate, marks = cache.hits / len(times), [percentile(times, at) for at in (0.5, 0.99)]
        p50, p99, total = (round(ms, 3) for ms in (*marks, sum(times)))
        runs.append(CacheRun(name, len(times), rate, p50, p99, total, round(cache.nbytes / 1e6, 1)))
        print(runs[-1], flush=True)
    return runs


def ask(cache: CompileCache[Guide], schema: Any, vocabulary: Vocabulary) -> float:
    """The milliseconds from a schema to its first mask."""
    begun = perf_counter()
    found = cache.get(cache_key(schema, vocabulary), lambda: guide(json_schema(schema), vocabulary))
    found.mask(found.initial)
    return (perf_counter() - begun) * 1e3


def print_record(record: Measured) -> None:
    """The tables."""
    print(record)
    for each in record.packed:
        print(f"{each.device}, {each.rows} rows: pack {each.pack_ms:.4f} ms per row, apply {each.apply_ms:.4f}")
    passes = ", ".join(f"{one.rows}: {one.ms:.2f}" for one in record.forward)
    print(f"a pass of {record.forward[0].model} by rows, ms: {passes}; {record.server()}")
    for run in record.cache:
        times = f"p50 {run.p50_ms:.2f} ms, p99 {run.p99_ms:.1f} ms, in all {run.total_ms / 1e3:.1f} s"
        print(f"{run.name}: {run.requests} requests, {run.hit_rate:.0%} hits, {times}, {run.megabytes:.1f} MB")
