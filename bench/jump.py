"""Time jump-forward: a rising fraction of forced tokens of a text, one text and many per pass.

`clerk` decodes greedily with and without it, in turn. "speed-up" is per token, because a text without it may take more
tokens. "model" is the prediction of the cost model, with constants measured between the runs; "ideal" is
1 / (1 - forced). On a CPU the clock is the CPU time of the one thread: other programs disturb it least. With
`--device` the record that the slider shows is saved in assets/traces.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import guidedviz as gv
from bench import pin_thread, print_about, processor
from guidedviz.decoding import timing
from guidedviz.decoding.payoff import Cost, Payoff, Timed, ideal, median_cost, median_run
from guidedviz.decoding.records import save_record
from guidedviz.decoding.timing import build_tasks, measure_cost, time_task

ROWS = (1, 16)
TRACES = Path(__file__).resolve().parents[1] / "assets" / "traces"
COLUMNS = {
    "asked": ".0%", "forced": ".0%", "tokens": "", "passes": "", "jump": "", "ms": ".1f", "jump ms": ".1f",
    "speed-up": ".2f", "model": ".2f", "of model": ".0%", "ideal": ".2f", "of ideal": ".0%",
}  # fmt: skip


def bench(options: Namespace) -> dict[str, Any]:
    """Print the tables, save the record, and return the figures."""
    about = print_about(threads=pin_thread())
    model: Any = gv.load_model("clerk", options.device or "cpu")
    with patch.object(timing, "perf_counter", perf_counter if "cuda" in model.device else process_time):
        return time_cases(options, model, about)


def time_cases(options: Namespace, model: Any, about: Any) -> dict[str, Any]:
    """Time all cases, print and save."""
    tasks = build_tasks(model)
    cases = {f"{rows} row{'s' * (rows > 1)}": rows for rows in ROWS}
    costs, found = [measure_cost(model)], dict[str, list[Timed]]()
    for name in filter(lambda name: options.only in name, cases):
        rounds = []
        for _ in range(options.rounds):
            rounds.append([timed for task in tasks if (timed := time_task(model, task, cases[name]))])
            costs.append(measure_cost(model))
        found[name] = [median_run(same) for same in zip(*rounds, strict=True)]
    cost = median_cost(costs)
    figures = print_cases(f"{model.name} on {model.device}", cost, found)
    if options.device and not options.only:
        previews = tuple(task.text for task in tasks)
        device = model.device if "cuda" in model.device else f"{model.device}: {processor()}, CPU time of one thread"
        runs = tuple(run for row in found.values() for run in row)
        record = Payoff(cost, runs, previews, model.name, device, date.today().isoformat(), "canonical")
        save_record(record, TRACES / f"jump-{options.device.replace(':', '')}.json")
    return {"about": about, "cost": asdict(cost), "cases": figures}


def print_cases(model: str, cost: Cost, found: dict[str, list[Timed]]) -> dict[str, list[dict[str, float]]]:
    """Print one table per case and return the figures."""
    prices = (f"{rows} rows {own:.2f} ms and {each:.3f} ms" for rows in ROWS for own, each in [cost.prices(rows)])
    print(f"\n{model}: a pass by itself, and each token that it reads: {'; '.join(prices)}")
    rows = {name: [make_row(run, cost) for run in runs] for name, runs in found.items()}
    for name, lines in rows.items():
        print(f"\n{name}\n" + "".join(f"{head:>9}" for head in COLUMNS))
        for line in lines:
            print("".join(f"{line[head]:9{form}}" for head, form in COLUMNS.items()))
    return rows


def make_row(run: Timed, cost: Cost) -> dict[str, float]:
    """The figures of a run and their predictions. In pairs of passes and times, the second one is with jump-forward."""
    model, bound = cost.speedup(run.fraction, run.rows), ideal(run.fraction)
    values: Sequence[float] = (
        run.asked, run.fraction, run.tokens, run.naive_passes, run.jump_passes, run.naive_ms, run.jump_ms,
        run.speedup, model, run.speedup / model, bound, run.speedup / bound,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))
