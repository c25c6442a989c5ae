"""Schemas through all engines in one run: compile, masks along a text, and the whole request.

    compile   from the text of the schema to a compiled constraint
    mask      one mask along the text, at the first read: median, p99 and maximum of all schemas
    again     the same masks once more
    whole     the compile and all masks along the text, the time that a user waits for the constraint

There are two tables: 200 small, closed schemas (`cases.py`), and public, open ones (`public.py`), of `--schemas FOLDER`
or written there. The engines take turns on each schema, each in a process of its own on the same core; a time is that
of the processor, with the garbage that Python collects meanwhile. `--before FOLDER` is another checkout of this
project, which takes turns as one more engine. After four minutes an engine gets no more schemas; the kinds take turns,
so that those before are a fair sample. x is the ratio of our time to the engine's on the same schema; "fastest" is the
fastest other engine on each schema.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import guidedviz as gv
from bench import pin_thread, print_about, share
from bench.cases import Case, build_sample
from bench.masks import Engine, asked_of, find_engines
from bench.public import TITLE, public_cases
from guidedviz.tokens.vocabulary import longest_tokens

NAMES = ("guidedviz", "xgrammar", "llguidance", "outlines-core")
BEFORE = "guidedviz before"
WARM_UP = Case("warm-up", ('{"a": 1}',), schema={"type": "object", "properties": {"a": {"type": "integer"}}})
PATIENCE, MOST = 10.0, 240.0  # seconds for one schema, and for all schemas
Figures = Mapping[str, Any]  # of one schema in one engine


def time_schema(engine: Engine, case: Case, vocabulary: gv.Vocabulary) -> dict[str, Any]:
    """Seconds of the compile, and of the mask before every token of the text and after the last, twice."""
    tokens = list(longest_tokens(vocabulary, case.texts[0].encode()))
    engine.forget()
    asked_of(case, vocabulary)
    began = process_time()
    try:
        compiled = engine.compile(case)
        spent = process_time() - began
        masks = time_masks(compiled.copy(), tokens)
        again = time_masks(compiled.copy(), tokens)
    except Exception as error:  # a refusal is a result
        return {"said": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    return {"compile": spent, "masks": masks, "again": again, "whole": spent + sum(masks)}


def time_masks(session: Any, tokens: Sequence[int]) -> list[float]:
    """Seconds of each mask along a text; an error if the engine refuses a token."""
    masks = []
    for token in [*tokens, None]:
        start = process_time()
        session.fill()
        masks.append(process_time() - start)
        if token is not None and not session.take(token):
            raise gv.IllegalToken("it refuses its text")
    return masks


def serve(name: str, pipe: Connection) -> None:
    """Answer cases until there are no more."""
    vocabulary = gv.Vocabulary.llama3()
    found, missing = find_engines(vocabulary, [name.removesuffix(" before")])
    for engine in found:
        time_schema(engine, WARM_UP, vocabulary)
    pipe.send(missing)
    while found and (case := pipe.recv()) is not None:
        pipe.send(time_schema(found[0], case, vocabulary))


@dataclass
class Worker:
    """The process of an engine; started again after a schema that took too long, it gets no more after `MOST`."""

    name: str
    before: Path | None = None  # the checkout of BEFORE
    spent: float = 0.0
    pipe: Connection = field(init=False)

    def __post_init__(self) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(self.name, other), daemon=True)
        with another_library(self.before if self.name == BEFORE else None):
            self.process.start()
            other.close()  # so that a process that ends is noticed
            self.missing: list[str] = self.pipe.recv()

    def time(self, case: Case) -> Figures:
        """The figures of one schema."""
        if self.spent > MOST:
            return {"said": f"not asked after {MOST:g} s"}
        began = perf_counter()
        self.pipe.send(case)
        answered = self.pipe.poll(PATIENCE)
        self.spent += perf_counter() - began
        if answered:
            figures: Figures = self.pipe.recv()
            return figures
        self.process.kill()
        self.__post_init__()
        return {"said": f"no answer within {PATIENCE:g} s"}


@contextmanager
def another_library(checkout: Path | None) -> Iterator[None]:
    """Processes that start meanwhile import these benches, and the library of another checkout."""
    if checkout is None:
        yield
        return
    with TemporaryDirectory() as folder:
        (Path(folder) / "bench").symlink_to(Path(__file__).resolve().parent)
        for name in ("guidedviz", "assets"):
            (Path(folder) / name).symlink_to(checkout.resolve() / name)
        sys.path.insert(0, folder)
        try:
            yield
        finally:
            sys.path.remove(folder)


def bench(options: Namespace) -> dict[str, Any]:
    """Time and print both tables, and return the figures of every schema."""
    about = print_about(threads=pin_thread())
    small = sorted(build_sample(), key=lambda case: int(case.name.split()[1]))
    public = public_cases(options.schemas, gv.Vocabulary.llama3(), options.only)
    tables = {"small closed schemas": small, TITLE: public}
    return {"about": about} | {title: time_table(title, cases, options) for title, cases in tables.items()}


def time_table(title: str, cases: Sequence[Case], options: Namespace) -> dict[str, Any]:
    """Time and print the schemas of one table."""
    cases = [case for case in cases if options.only in f"{title}, {case.name}"]
    if not cases:
        return {}
    print(f"\n{title}")
    names = [name for name in NAMES if name in options.engines.split(",")]
    if options.before:
        names.append(BEFORE)
    workers = {name: Worker(name, options.before) for name in names}
    for name in [name for name, worker in workers.items() if worker.missing]:
        print(*workers.pop(name).missing)
    rows: dict[str, dict[str, Figures]] = {}
    for turn, case in enumerate(cases):
        row: dict[str, Figures] = {}
        first = turn % len(names)
        for _ in range(options.rounds):
            for name in (*names[first:], *names[:first]):
                if name in workers and "said" not in row.get(name, {}):
                    row[name] = faster(workers[name].time(case), row.get(name))
        rows[case.name] = row
        print(f"{case.name}: {' · '.join(f'{name} {say(row[name])}' for name in workers)}", flush=True)
    for worker in workers.values():
        worker.pipe.send(None)
    summary = {name: summarise(name, rows) for name in workers}
    for name, line in summary.items():
        print(name + "".join(f"\n    {head:30}{value}" for head, value in line.items()))
    times = {case: {name: say(figures) for name, figures in row.items()} for case, row in rows.items()}
    return {"summary": summary, "whole": times}


def faster(figures: Figures, before: Figures | None) -> Figures:
    """The round with the smaller total time, or the refusal."""
    return figures if before is None or "said" in figures or figures["whole"] < before["whole"] else before


def say(figures: Figures) -> str:
    """The whole request of one schema, or the refusal."""
    return str(figures["said"])[:60] if "said" in figures else f"{figures['whole'] * 1e3:.0f} ms"


def summarise(name: str, rows: Mapping[str, Mapping[str, Figures]]) -> dict[str, Any]:
    """The figures of one engine in milliseconds, and our times as multiples of its times."""
    done = {case: row[name] for case, row in rows.items() if "said" not in row[name]}
    refused = Counter(str(row[name]["said"])[:90] for row in rows.values() if "said" in row[name])
    line: dict[str, Any] = {"schemas": f"{len(done)} of {len(rows)}"}
    if refused:
        line["refused"] = dict(refused.most_common(5))
    if not done:
        return line
    masks = [seconds for figures in done.values() for seconds in figures["masks"]]
    line["compile median, p95"] = show([figures["compile"] for figures in done.values()])
    line["first mask median"] = show([figures["masks"][0] for figures in done.values()], 0.5)
    line["mask median, p99, max"] = show(masks, 0.5, 0.99, 1.0)
    line["again median"] = show([seconds for figures in done.values() for seconds in figures["again"]], 0.5)
    line["whole median, p95, max"] = show([figures["whole"] for figures in done.values()], 0.5, 0.95, 1.0)
    pairs = [(rows[case][NAMES[0]], figures) for case, figures in done.items() if "said" not in rows[case][NAMES[0]]]
    ratios = {
        "compile": [ours["compile"] / theirs["compile"] for ours, theirs in pairs],
        "mask median": [median(ours["masks"]) / median(theirs["masks"]) for ours, theirs in pairs],
        "again median": [median(ours["again"]) / median(theirs["again"]) for ours, theirs in pairs],
        "mask p99": [share(ours["masks"], 0.99) / share(theirs["masks"], 0.99) for ours, theirs in pairs],
        "whole": [ours["whole"] / theirs["whole"] for ours, theirs in pairs],
    }
    if name == NAMES[0]:
        others = {
            case: [one["whole"] for key, one in rows[case].items() if key not in (name, BEFORE) and "said" not in one]
            for case in done
        }
        ratios = {"whole of fastest": [done[case]["whole"] / min(times) for case, times in others.items() if times]}
    times = [sum(one["whole"] for one in side) for side in zip(*pairs, strict=True)] if pairs else []
    if times:
        line["x whole, all schemas"] = f"{times[0] / times[1]:.2f}"
    return line | {
        f"x {key} median, p95": f"{share(r, 0.5):.2f}, {share(r, 0.95):.2f}" for key, r in ratios.items() if r
    }


def show(seconds: list[float], *parts: float) -> str:
    """Milliseconds."""
    return ", ".join(f"{share(seconds, part) * 1e3:.3g}" for part in parts or (0.5, 0.95)) + " ms"
