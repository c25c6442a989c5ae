"""Time speculative decoding under a mask: drafts by look-up, by forced runs and by `clerk-small`, beside no draft.

`clerk` writes ten structures, greedily and at temperature 1. "accepted" is the share of the drafted tokens that stand,
"tokens" how many tokens a forward pass gives. "speed-up" is the time without a draft by the time with it, for the same
number of tokens; its interval holds 90% of the rounds. Every round runs all ways in turn, each with empty caches.
`clerk` runs on NumPy, or with `--device` on torch, where a pass takes longer; `clerk-small` always runs on NumPy.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import guidedviz as gv
from bench import pin_thread, print_about, share
from guidedviz.decoding.speculation import Draft, Forced, LookUp, Small

TEXT, COUNT = {"type": "string"}, {"type": "integer"}
SCHEMAS: dict[str, dict[str, Any]] = {
    "Ada Lovelace is 36 and lives in London.": {"name": TEXT, "age": COUNT, "city": TEXT},
    "Grace Hopper works as a sailor and is based in Lisbon.": {"name": TEXT, "job": TEXT, "city": TEXT},
    "The wedding has 141 seats.": {"event": TEXT, "seats": COUNT},
    "The lamp is pink and costs $12.50.": {"product": TEXT, "color": TEXT, "price": {"type": "number"}},
    '"The River and the Stone" is by Ida Wells and has 320 pages.': {"title": TEXT, "author": TEXT, "pages": COUNT},
    "The concert takes place in Oslo and seats 90.": {"event": TEXT, "city": TEXT, "seats": COUNT},
}
REGEXES = {
    "We met on May 3, 1987.\nDate as YYYY-MM-DD:\n": r"\d{4}-\d\d-\d\d",
    "Call me at 212.555.0199.\nPhone as (ddd) ddd-dddd:\n": r"\(\d{3}\) \d{3}-\d{4}",
    "Table users(name, age, city)\nname of all users with age above 30\nSQL:\n": r"SELECT [a-z, ]+ FROM users[^;]*;",
    "Ada has 14 books and buys 5 more. How many books are there now?\nThink, then answer:\n": r"[^:]{1,80}: [0-9]{1,3}",
}
COLUMNS = ("accepted", "tokens", "speed-up", "from", "to")


class Run(NamedTuple):
    """What one way of drafting did in one round: time, tokens, passes, and drafted tokens."""

    seconds: float
    tokens: int
    passes: int
    accepted: int
    drafted: int


def bench(options: Namespace) -> dict[str, Any]:
    """Print one table per temperature and return the figures."""
    about = print_about(threads=pin_thread())
    model: Any = gv.load_model("clerk", {"": "auto", "cpu": "torch"}.get(options.device, options.device))
    small = gv.load_model("clerk-small")
    tasks, ways = build_tasks(model.vocabulary), build_ways(small)
    ways = {name: way for name, way in ways.items() if options.only in name or way is None}
    figures = {}
    for temperature in (0.0, 1.0):
        time_ways([model, small], tasks, ways, temperature, 0)  # not counted: guides and caches are filled
        rounds = [time_ways([model, small], tasks, ways, temperature, seed) for seed in range(options.rounds)]
        title = f"{model.name} on {model.device}, {'greedy' if temperature == 0 else 'temperature 1'}"
        figures[title] = print_table(title, rounds)
    return {"about": about, "cases": figures}


def build_tasks(vocabulary: gv.Vocabulary) -> list[tuple[str, Any]]:
    """Prompts with their guides."""
    tasks = []
    for text, fields in SCHEMAS.items():
        machine = gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})
        tasks.append((f"{text}\nJSON with {', '.join(fields)}:\n", gv.guide(machine, vocabulary)))
    return tasks + [(prompt, gv.guide(gv.regex(pattern), vocabulary)) for prompt, pattern in REGEXES.items()]


def build_ways(small: Any) -> dict[str, Draft | None]:
    """The drafts, and none."""
    return {
        "no draft": None,
        "look-up, 4": LookUp(4),
        "look-up, 8, two branches": LookUp(8, width=2),
        "forced": Forced(),
        "small, 2": Small(small, 2),
        "small, 4": Small(small, 4),
        "small, 8": Small(small, 8),
        "small, 4, not masked": Small(small, 4, masked=False),
        "small, 4, two branches": Small(small, 4, width=2),
    }


def time_ways(
    models: Sequence[Any],
    tasks: Sequence[tuple[str, Any]],
    ways: Mapping[str, Draft | None],
    temperature: float,
    seed: int,
) -> dict[str, Run]:
    """All ways, one after the other on each task."""
    runs = dict.fromkeys(ways, Run(0.0, 0, 0, 0, 0))
    for prompt, masks in tasks:
        for name, draft in ways.items():
            for model in models:
                model.forget()
            begun = perf_counter()
            found = gv.record(models[0], prompt, masks, temperature=temperature, seed=seed, max_tokens=60, draft=draft)
            one = Run(perf_counter() - begun, len(found.tokens), found.passes, *found.drafted)
            runs[name] = Run._make(map(sum, zip(runs[name], one, strict=True)))
    return runs


def print_table(title: str, rounds: Sequence[Mapping[str, Run]]) -> dict[str, dict[str, float]]:
    """Print and return one line per way."""
    print(f"\n{title}, {len(rounds)} rounds\n{'':26}" + "".join(f"{name:>10}" for name in COLUMNS))
    table = {name: make_row([(one["no draft"], one[name]) for one in rounds]) for name in rounds[0]}
    for name, row in table.items():
        print(f"{name:26}" + "".join(f"{row[column]:10.2f}" for column in COLUMNS))
    return table


def make_row(pairs: Sequence[tuple[Run, Run]]) -> dict[str, float]:
    """The figures of a way beside no draft.

    >>> make_row([(Run(2.0, 10, 10, 0, 0), Run(1.0, 10, 4, 6, 8))])["speed-up"]
    2.0
    """
    ratios = [plain.seconds / plain.tokens / (drafted.seconds / drafted.tokens) for plain, drafted in pairs]
    _, tokens, passes, accepted, guesses = map(sum, zip(*(drafted for _, drafted in pairs), strict=True))
    spread = median(ratios), share(ratios, 0.05), share(ratios, 0.95)
    return dict(zip(COLUMNS, (accepted / guesses if guesses else 0.0, tokens / passes, *spread), strict=True))
