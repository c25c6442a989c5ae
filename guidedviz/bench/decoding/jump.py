"""Time jump-forward: a rising fraction of fixed tokens, one text and many texts per batch, and a form of ten fields.

`clerk` decodes greedily with and without it. "speed-up" is per token, because a text without it may take more tokens.
"model" is the prediction of the cost model, with constants measured between the runs; "ideal" is 1 / (1 - fixed). On
CUDA a 0.5B-shaped model of random weights reads the same texts in the same passes. With `--device` the record is saved
in assets/traces.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import partial
from typing import Any

from guidedviz.bench.about import name_device, pin_thread, print_about
from guidedviz.bench.decoding.forward import SHAPES, Shape
from guidedviz.bench.decoding.overlap import TRACES
from guidedviz.bench.decoding.replay import build_random, measure_passes, replay
from guidedviz.bench.masks.tensors import find_device
from guidedviz.decoding.jump import (
    WAY,
    Cost,
    Payoff,
    Task,
    Timed,
    build_tasks,
    ideal,
    measure_cost,
    median_cost,
    median_run,
    time_once,
    time_task,
)
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.load import load_model
from guidedviz.tokens.vocabulary import Vocabulary

ROWS = (1, 8, 32, 128)
Figures = dict[str, float]  # a line of a table
WORD = {"type": "string", "pattern": "^[A-Z][a-z]{1,11}( [A-Z][a-z]{1,11})?$"}
FORM = {  # as in LMSYS's example for the compressed machine: ten short fields about a person
    "name": WORD,
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "job": {"enum": ["gardener", "painter", "teacher", "sailor"]},
    "city": WORD,
    "member": {"type": "boolean"},
    "color": {"enum": ["red", "green", "blue", "yellow"]},
    "points": {"type": "integer", "minimum": 0, "maximum": 99},
    "date": {"type": "string", "format": "date"},
    "status": {"enum": ["open", "closed"]},
    "grade": {"enum": ["A", "B", "C", "D"]},
}
ABOUT = "Ada Lovelace is 36 years old, works as a gardener and lives in London. She has 90 points and likes green."
COLUMNS = {
    "asked": ".0%", "fixed": ".0%", "tokens": "", "passes": "", "jump": "", "ms": ".1f", "jump ms": ".1f",
    "speed-up": ".2f", "model": ".2f", "of model": ".0%", "ideal": ".2f", "of ideal": ".0%",
}  # fmt: skip


def bench(options: Namespace) -> dict[str, Any]:
    """Print the tables, save the record, and return the figures."""
    about = print_about(threads=pin_thread())
    device = options.device or "cpu"
    try:
        model = load_model("clerk", find_device(device)[1])
    except GuidedVizError as error:
        print(error)
        return {"about": about, "said": str(error)}
    tasks, form = build_tasks(model), [build_form(model)]
    slider = {say_rows(rows): partial(time_all, model, tasks, rows) for rows in ROWS}
    forms = {f"a form, {say_rows(rows)}": partial(time_all, model, form, rows) for rows in ROWS}
    cost, found = time_cases(partial(measure_cost, model), slider | forms, options)
    figures = print_cases(model.name, cost, found)
    if options.device and not options.only:
        keep_record(device, model, cost, tasks, [run for name in slider for run in found[name]])
    if device.startswith("cuda"):
        figures |= bench_random(SHAPES["cuda"], len(Vocabulary.llama3()), device, model, tasks, options)
    return {"about": about, "cost": asdict(cost), "cases": figures}


def bench_random(
    shape: Shape, vocabulary: int, device: str, clerk: LanguageModel, tasks: Sequence[Task], options: Namespace
) -> dict[str, list[Figures]]:
    """Time a model of random weights that reads the same texts in the same passes."""
    random = build_random(shape, vocabulary, device)
    texts = [(task, time_once(clerk, task, WAY)[1]) for task in tasks]
    cases = {f"{shape.name}, {say_rows(rows)}": partial(replay_all, random, texts, rows) for rows in ROWS}
    return print_cases(shape.say(vocabulary), *time_cases(partial(measure_passes, random), cases, options))


def build_form(model: LanguageModel) -> Task:
    """The form as a task."""
    schema = {"type": "object", "properties": FORM, "required": list(FORM), "additionalProperties": False}
    return Task(0.0, f"{ABOUT}\nJSON with {', '.join(FORM)}:\n", schema, (), model.vocabulary)


def time_cases(
    measure: Callable[[], Cost], cases: Mapping[str, Callable[[], Iterator[Timed]]], options: Namespace
) -> tuple[Cost, dict[str, list[Timed]]]:
    """Time the selected cases and keep the medians. The constants are measured between the rounds."""
    costs, found = [measure()], dict[str, list[Timed]]()
    for name in filter(lambda name: options.only in name, cases):
        rounds = []
        for _ in range(options.rounds):
            rounds.append([*cases[name]()])
            costs.append(measure())
        found[name] = [median_run(same) for same in zip(*rounds, strict=True)]
    return median_cost(costs), found


def time_all(model: LanguageModel, tasks: Sequence[Task], rows: int) -> Iterator[Timed]:
    """Time every task, one after the other."""
    yield from filter(None, (time_task(model, task, rows) for task in tasks))


def replay_all(model: LanguageModel, texts: Sequence[tuple[Task, Trace]], rows: int) -> Iterator[Timed]:
    """Time every text read token by token, and with each forced run in one pass."""
    batch = model.side_by_side(rows)
    for task, trace in texts:
        yield replay(batch, task.fraction, model.encode(task.prompt), trace)


def print_cases(model: str, cost: Cost, found: Mapping[str, Sequence[Timed]]) -> dict[str, list[Figures]]:
    """Print one table per case and return the figures."""
    prices = (f"{say_rows(rows)}: {own:.2f} ms and {each:.3f} ms" for rows in ROWS for own, each in [cost.prices(rows)])
    print(f"\n{model}: a pass by itself, and each token that it reads, with {'; '.join(prices)}")
    rows = {name: [make_row(run, cost) for run in runs] for name, runs in found.items()}
    for name, lines in rows.items():
        print(f"\n{name}\n" + "".join(f"{head:>9}" for head in COLUMNS))
        for line in lines:
            print("".join(f"{line[head]:9{form}}" for head, form in COLUMNS.items()))
    return rows


def make_row(run: Timed, cost: Cost) -> Figures:
    """The figures of a run and their predictions. In pairs of passes and times, the second one is with jump-forward."""
    model, bound = cost.speedup(run.fraction, run.rows), ideal(run.fraction)
    values = (run.asked, run.fraction, run.tokens, run.naive_passes, run.jump_passes, run.naive_ms, run.jump_ms)
    said = (run.speedup, model, run.speedup / model, bound, run.speedup / bound)
    return dict(zip(COLUMNS, (*values, *said), strict=True))


def keep_record(device: str, model: LanguageModel, cost: Cost, tasks: Sequence[Task], runs: Sequence[Timed]) -> None:
    """Save the record that the slider shows if there is no model or the model is slow."""
    TRACES.mkdir(parents=True, exist_ok=True)
    previews, today = tuple(task.text for task in tasks), date.today().isoformat()
    record = Payoff(cost, tuple(runs), previews, model.name, name_device(model.device), today, WAY)
    record.save(TRACES / f"jump-{device.replace(':', '')}.json")


def say_rows(rows: int) -> str:
    """
    >>> say_rows(1), say_rows(8)
    ('1 row', '8 rows')
    """
    return f"{rows} row{'s' * (rows > 1)}"
