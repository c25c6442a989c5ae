"""Jump-forward against the clock: a rising fraction of fixed tokens, one text and many at a time, a form of ten fields.

`clerk` decodes greedily with and without; "speed-up" is counted by the token, as a text without may be spelled in more
of them. "model" is what the cost model says of the fixed fraction, by constants that are measured at the start; "ideal"
is 1 / (1 - fixed). On CUDA a model of random weights, 0.5B-shaped, reads the same texts in the same passes. With
`--device` the record is kept in assets/traces.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from functools import partial
from typing import Any

from guidedviz.bench.about import describe, name_device, pin_thread
from guidedviz.bench.forward import SHAPES, Shape
from guidedviz.bench.overlap import TRACES
from guidedviz.bench.replay import build_random, measure_passes, replay
from guidedviz.bench.tensors import find_device
from guidedviz.decoding.models import LanguageModel, load_model
from guidedviz.decoding.payoff import Cost, Payoff, Timed, ideal
from guidedviz.decoding.tasks import Task, build_tasks
from guidedviz.decoding.timing import MANY, WAY, measure_cost, time_once, time_task
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError
from guidedviz.tokens.vocabulary import Vocabulary

ROWS = (1, 8, 32, 128)
Row = dict[str, float]  # of a table
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
    """The tables printed, the record kept; all that was printed, as data."""
    about = describe() | {"threads": pin_thread()}
    for name, text in about.items():
        print(f"{name:12}{text}")
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
        keep_record(model, cost, tasks, [run for name in slider for run in found[name]])
    if device.startswith("cuda"):
        figures |= bench_random(SHAPES["cuda"], len(Vocabulary.llama3()), model, tasks, options)
    return {"about": about, "cost": asdict(cost), "cases": figures}


def bench_random(
    shape: Shape, vocabulary: int, clerk: LanguageModel, tasks: Sequence[Task], options: Namespace
) -> dict[str, list[Row]]:
    """The same texts in the same passes, read by a model of random weights."""
    random = build_random(shape, vocabulary, clerk.device)
    texts = [(task, time_once(clerk, task, WAY)[1]) for task in tasks]
    cases = {f"{shape.name}, {say_rows(rows)}": partial(replay_all, random, texts, rows) for rows in ROWS}
    return print_cases(shape.say(vocabulary), *time_cases(partial(measure_passes, random), cases, options))


def build_form(model: LanguageModel) -> Task:
    """The form as a task; no fraction was asked for."""
    schema = {"type": "object", "properties": FORM, "required": list(FORM), "additionalProperties": False}
    return Task(0.0, f"{ABOUT}\nJSON with {', '.join(FORM)}:\n", schema, (), model.vocabulary)


def time_cases(
    measure: Callable[[], Cost], cases: Mapping[str, Callable[[], Iterator[Timed]]], options: Namespace
) -> tuple[Cost, dict[str, list[Timed]]]:
    """The cases that were asked for; of everything the quickest of the rounds, which lie as far apart as they can."""
    costs, found = [measure()], dict[str, list[Timed]]()
    for name in filter(lambda name: options.only in name, cases):
        rounds = []
        for _ in range(options.rounds):
            rounds.append([*cases[name]()])
            costs.append(measure())
        found[name] = [keep_quickest(same) for same in zip(*rounds, strict=True)]
    return min(costs, key=lambda cost: sum(cost.prices(1) + cost.prices(MANY))), found


def keep_quickest(runs: Sequence[Timed]) -> Timed:
    """Of runs of one task the quickest times: what slows a run down is another program."""
    naive_ms, jump_ms = min(run.naive_ms for run in runs), min(run.jump_ms for run in runs)
    return replace(runs[0], naive_ms=naive_ms, jump_ms=jump_ms)


def time_all(model: LanguageModel, tasks: Sequence[Task], rows: int) -> Iterator[Timed]:
    """Every task, one after the other."""
    yield from filter(None, (time_task(model, task, rows, rounds=1) for task in tasks))


def replay_all(model: LanguageModel, texts: Sequence[tuple[Task, Trace]], rows: int) -> Iterator[Timed]:
    """Every text token by token, and with its forced runs in one pass."""
    batch = model.side_by_side(rows)
    for task, trace in texts:
        yield replay(batch, task.fraction, model.encode(task.prompt), trace)


def print_cases(model: str, cost: Cost, found: Mapping[str, Sequence[Timed]]) -> dict[str, list[Row]]:
    """A table for each case; all that was printed, as data."""
    prices = (f"{say_rows(rows)}: {own:.2f} ms and {each:.3f} ms" for rows in ROWS for own, each in [cost.prices(rows)])
    print(f"\n{model}: a pass by itself, and each token that it reads, with {'; '.join(prices)}")
    rows = {name: [make_row(run, cost) for run in runs] for name, runs in found.items()}
    for name, lines in rows.items():
        print(f"\n{name}\n" + "".join(f"{head:>9}" for head in COLUMNS))
        for line in lines:
            print("".join(f"{line[head]:9{form}}" for head, form in COLUMNS.items()))
    return rows


def make_row(run: Timed, cost: Cost) -> Row:
    """The figures of a run beside what is said of them; of the two passes and times the second is with jump-forward."""
    model, bound = cost.speedup(run.fraction, run.rows), ideal(run.fraction)
    values = (run.asked, run.fraction, run.tokens, run.naive_passes, run.jump_passes, run.naive_ms, run.jump_ms)
    said = (run.speedup, model, run.speedup / model, bound, run.speedup / bound)
    return dict(zip(COLUMNS, (*values, *said), strict=True))


def keep_record(model: LanguageModel, cost: Cost, tasks: Sequence[Task], runs: Sequence[Timed]) -> None:
    """For the slider, where a model is too slow or there is none."""
    TRACES.mkdir(parents=True, exist_ok=True)
    previews, today = tuple(task.text for task in tasks), date.today().isoformat()
    record = Payoff(cost, tuple(runs), previews, model.name, name_device(model.device), today, WAY)
    record.save(TRACES / f"jump-{model.device.replace(':', '')}.json")


def say_rows(rows: int) -> str:
    """
    >>> say_rows(1), say_rows(8)
    ('1 row', '8 rows')
    """
    return f"{rows} row{'s' * (rows > 1)}"
