"""200 schemas through all engines in one run: compile, masks along a text, and the whole request.

    compile   from the text of the schema to a compiled constraint
    mask      one mask along the text, at the first read: median, p99 and maximum of all schemas
    whole     the compile and all masks along the text, the time that a user waits for the constraint

The engines take turns on each schema, each in a process of its own on the same core. After four minutes an engine gets
no more schemas; the four kinds take turns, so that those before are a fair sample. x is the ratio of our time to
the engine's on the same schema; "fastest" is the fastest other engine on each schema. With --json the picture of all
whole requests is written beside the file.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import Any

from bench.about import pin_thread, print_about
from bench.masks.cases import Case
from bench.schemas.picture import draw_requests
from bench.schemas.sample import build_sample
from bench.schemas.worker import Worker

NAMES = ("guidedviz", "xgrammar, schema", "llguidance, schema", "outlines-core")
Figures = Mapping[str, Any]  # of one schema in one engine


def bench(options: Namespace) -> dict[str, Any]:
    """Time and print, and return the figures of every schema."""
    about = print_about(threads=pin_thread())
    workers = [worker for worker in map(Worker, NAMES) if not worker.title.startswith("missing")]
    cases = [case for case in sorted(build_sample(), key=number_of) if options.only in case.name]
    rows: dict[str, dict[str, Figures]] = {}
    for number, case in enumerate(cases):
        turn = number % len(workers)
        rounds = [
            {worker.title: worker.time(case) for worker in (*workers[turn:], *workers[:turn])}
            for _ in range(options.rounds)
        ]
        rows[case.name] = {worker.title: best_of([each[worker.title] for each in rounds]) for worker in workers}
        said = (f"{w.title} {say(rows[case.name][w.title])}" for w in workers)
        print(f"{case.name}: {' · '.join(said)}", flush=True)
    for worker in workers:
        worker.pipe.send(None)
    titles = [worker.title for worker in workers]
    summary = {title: summarise(title, titles, rows) for title in titles}
    for title, line in summary.items():
        print(title)
        for name, value in line.items():
            print(f"    {name:28}{value}")
    kept = {name: pack(row) for name, row in rows.items()}
    if options.json and kept:
        draw_requests(kept).save(options.json.with_suffix(".svg"))
    return {"about": about, "summary": summary, "schemas": kept}


def number_of(case: Case) -> int:
    """The number of a schema among those of its kind."""
    return int(case.name.split()[1])


def say(figures: Figures) -> str:
    """The whole request of one schema, or the refusal."""
    return figures["said"][:60] if "said" in figures else f"{whole(figures) * 1e3:.0f} ms"


def best_of(rounds: Sequence[Figures]) -> Figures:
    """The round with the smallest total time, or the refusal."""
    return next((each for each in rounds if "said" in each), None) or min(rounds, key=whole)


def whole(figures: Figures) -> float:
    """The compile and all masks."""
    return float(figures["compile"] + sum(figures["masks"]))


def summarise(title: str, titles: Sequence[str], rows: Mapping[str, Mapping[str, Figures]]) -> dict[str, Any]:
    """The figures of one engine in milliseconds, and our times as multiples of its times."""
    ours = titles[0]
    done = {name: row[title] for name, row in rows.items() if "said" not in row[title]}
    refused = [row[title] for row in rows.values() if "said" in row[title]]
    masks = [seconds for figures in done.values() for seconds in figures["masks"]]
    line: dict[str, Any] = {"schemas": f"{len(done)} of {len(rows)}"}
    if refused:
        line["refused"] = dict(Counter(figures["said"][:90] for figures in refused).most_common(5))
        line["slowest refusal"] = show([max(figures.get("after", 0.0) for figures in refused)], 1.0)
    if not done:
        return line
    line["compile median, p95"] = show([figures["compile"] for figures in done.values()])
    line["first mask median"] = show([figures["masks"][0] for figures in done.values()], 0.5)
    line["mask median, p99, max"] = show(masks, 0.5, 0.99, 1.0)
    line["whole median, p95, max"] = show([whole(figures) for figures in done.values()], 0.5, 0.95, 1.0)
    for name, unit in (("nbytes", 1e6), ("states", 1.0)):
        if known := [figures[name] / unit for figures in done.values() if figures.get(name)]:
            said = {"nbytes": "memory median, p95, MB", "states": "states median, p95"}[name]
            line[said] = f"{share(known, 0.5):.3g}, {share(known, 0.95):.3g}"
    if title != ours:
        both = [(rows[name][ours], figures) for name, figures in done.items() if "said" not in rows[name][ours]]
        ratios = {
            "compile": [a["compile"] / b["compile"] for a, b in both],
            "mask median": [median(a["masks"]) / median(b["masks"]) for a, b in both],
            "mask p99": [share(a["masks"], 0.99) / share(b["masks"], 0.99) for a, b in both],
            "whole": [whole(a) / whole(b) for a, b in both],
        }
        line |= {
            f"x {name} median, p95": f"{share(r, 0.5):.2f}, {share(r, 0.95):.2f}" for name, r in ratios.items() if r
        }
    else:
        fastest = {
            name: [whole(row[other]) for other in titles[1:] if "said" not in row[other]]
            for name, row in rows.items()
            if name in done
        }
        found = [whole(done[name]) / min(times) for name, times in fastest.items() if times]
        line["x whole of fastest"] = f"{share(found, 0.5):.2f}, {share(found, 0.95):.2f}" if found else "-"
    return line


def share(values: Sequence[float], part: float) -> float:
    """The value below which this part of the values lies.

    >>> share([3, 1, 2], 0.5), share([1, 2, 3], 1.0), share([7], 0.99)
    (2.0, 3.0, 7.0)
    """
    if len(values) == 1 or part == 1.0:
        return float(max(values))
    return float(quantiles(values, n=100, method="inclusive")[round(part * 100) - 1])


def show(seconds: Sequence[float], *parts: float) -> str:
    """Milliseconds."""
    return ", ".join(f"{share(seconds, part) * 1e3:.3g}" for part in parts or (0.5, 0.95)) + " ms"


def pack(row: Mapping[str, Figures]) -> dict[str, Any]:
    """The figures that are kept of one schema."""
    kept: dict[str, Any] = {}
    for title, figures in row.items():
        if "said" in figures:
            kept[title] = {"said": figures["said"]}
            continue
        masks = figures["masks"]
        kept[title] = {
            "compile": round(figures["compile"], 6),
            "first": round(masks[0], 6),
            "mask": round(median(masks), 7),
            "p99": round(share(masks, 0.99), 7),
            "max": round(max(masks), 6),
            "whole": round(whole(figures), 6),
            "nbytes": figures["nbytes"],
            "states": figures.get("states"),
        }
    return kept
