"""The figures of assets/bench/host.json as tables in guidedviz/host/README.md.

`python -m bench.host.table` writes them there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.host.gpus import PRICES, SHAPE, VOCABULARY
from guidedviz.files import PACKAGE

PAGE, FIGURES = PACKAGE / "host" / "README.md", PACKAGE.parent / "assets" / "bench" / "host.json"
BEGIN, END = "<!-- figures: written by bench/host/table.py -->\n", "<!-- end of figures -->\n"
RUNS = {"p50, ms": "p50", "p95, ms": "p95", "p99, ms": "p99", "max, ms": "longest", "lost": "lost", "wrong": "wrong",
        "retries": "repeated", "load": "load"}  # fmt: skip
SCALE = {"replicas": "processes", "p95, ms": "p95", "p99, ms": "p99", "weights, MB": "weights, MB",
         "kept texts, MB": "keys and values, MB", "network, Mbit/s": "network, Mbit/s"}  # fmt: skip
PAPER = {"GPUs": "GPUs", "p95, ms": "p95", "p99, ms": "p99", "network, Mbit/s": "network, Mbit/s",
         "machines for the network": "machines of 10 Gbit/s", "USD per hour": "USD per hour"}  # fmt: skip
KINDS = {"plain": "one process", "ray": "two replicas of Ray"}
SPANS = ("while it lasts", "ten seconds after the kill")


def write_tables(found: Mapping[str, Any]) -> str:
    """The runs, and what larger classes need."""
    about, lines = found["about"], []
    lines += [f"{about['machine']}; {about['versions']}; {about['date']}.", "", *head("run", RUNS)]
    for name, row in found["runs"].items():
        kind, _, fault = name.partition(", ")
        lines.append(line(f"{KINDS[kind]}, {fault}", row, RUNS))
        lines += [line(f"… {span}", row[span], RUNS) for span in SPANS if span in row]
    for name, row in found["runs"].items():
        if "date" in row:
            lines += ["", f"{name.partition(', ')[2].capitalize()}: {row['date']}, {row['device']}."]
    for model, classes in found.get("scale", {}).items():
        lines += ["", f"By simulation with the measured costs of `{model}`, which knows no other load:", ""]
        lines += head("students", SCALE)
        lines += [line(f"{int(students):,}", row, SCALE) for students, row in classes.items()]
    if paper := found.get("on paper"):
        lines += ["", f"On paper: {SHAPE.say(VOCABULARY)}, 16 bits, {VOCABULARY:,} tokens, one process per GPU.", ""]
        lines += head("GPU, students", PAPER)
        lines += [
            line(f"{gpu}, {int(students):,}", row, PAPER)
            for gpu, classes in paper.items()
            for students, row in classes.items()
        ]
        lines += ["", f"Prices: {PRICES}."]
    return "\n".join([*lines, ""])


def head(first: str, columns: Mapping[str, str]) -> list[str]:
    """The first two lines of a table."""
    return [f"| {first} | {' | '.join(columns.values())} |", "| --- |" + " ---: |" * len(columns)]


def line(first: str, row: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    """A line of a table."""
    return f"| {first} | " + " | ".join(str(row.get(name, "")) for name in columns) + " |"


def put(page: str, tables: str) -> str:
    """A page with these tables between its two marks.

    >>> put(f"a\\n{BEGIN}old\\n{END}b\\n", "new\\n") == f"a\\n{BEGIN}new\\n{END}b\\n"
    True
    """
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + tables + END + rest.partition(END)[2]


def update(page: Path = PAGE, figures: Path = FIGURES) -> str:
    """The page as it has to be."""
    return put(page.read_text(encoding="utf-8"), write_tables(json.loads(figures.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    PAGE.write_text(update(), encoding="utf-8")
