"""Ask a real model, SmolLM2-135M-Instruct, and write down what came out: the records that the labs show.

    python assets/smollm2/record.py                 # all records
    python assets/smollm2/record.py dates labels    # some of them
    python assets/smollm2/record.py --tables        # judge the kept outputs again, and ask nothing
    python assets/smollm2/record.py --count 10      # a pilot: ten cases each, kept apart

Thirty-two runs go side by side, so that the weights are read once for all of them. Each output is kept in
`build/smollm2` as it ends; a run of this script that was stopped goes on there. The records are written to
`assets/traces/smollm2`. Everything is greedy (temperature 0) unless a way says otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from hashlib import file_digest
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import alone
import repairs
import tables
import talks
from questions import AFTER, AFTER_MASK, COUNTS, CUE, RECORDS, SEED, SUMS, Case, Way

import guidedviz as gv
from guidedviz.decoding.loop import settings_for, start, take_step
from guidedviz.models.chat import Prompt
from guidedviz.models.gguf import PINNED, SMOLLM2, kept_folder

HERE = Path(__file__).resolve().parent
KEPT, OUT = HERE.parents[1] / "build" / "smollm2", HERE.parent / "traces" / "smollm2"
ROWS = 32  # runs side by side


@dataclass
class Run:
    """A case asked in one way, and where its decode stands."""

    case: int
    way: str
    prompt: Prompt
    asked: Way
    guide: gv.Guide | None = None
    settings: Any = None
    point: Any = None
    cache: Any = None
    known: int = 0  # tokens whose keys and values the cache holds
    least: float = 1.0  # the smallest legal mass Z
    first: float = 1.0  # that of the first step
    end: str = ""


class SideBySide:
    """A model that has read several texts in one pass; it gives a row of logits for each."""

    def __init__(self, model: Any) -> None:
        self.model, self.rows = model, dict[tuple[int, ...], Any]()
        self.name, self.device, self.source, self.vocabulary = model.name, model.device, model.source, model.vocabulary

    def read(self, runs: Sequence[Run]) -> None:
        """Read what is new of these runs in one pass."""
        new = [run.point.tokens[run.known :] for run in runs]
        rows = self.model.network.read([run.cache for run in runs], new)
        self.rows = {run.point.tokens: row[-1] for run, row in zip(runs, rows, strict=True)}
        for run in runs:
            run.known = len(run.point.tokens)

    def encode(self, text: str) -> list[int]:
        """A text as the model's tokens."""
        return self.model.encode(text)

    def logits(self, tokens: Sequence[int]) -> Any:
        """The row of a text that was read."""
        return self.rows[tuple(tokens)]

    def all_logits(self, tokens: Sequence[int], start: int = 0) -> list[Any]:
        """The last row only: nothing is drafted here."""
        return [self.logits(tokens)]


@cache
def guide_of(machine: Any, vocabulary: Any) -> gv.Guide:
    """One guide per machine, whose masks are kept."""
    return gv.guide(machine, vocabulary)


def begin(model: Any, run: Run) -> Run:
    """A run before its first token."""
    run.guide = guide_of(run.asked.machine, model.vocabulary) if run.asked.machine else None
    asked = run.asked
    run.settings = settings_for(model, {"temperature": asked.temperature, "seed": asked.seed, "max_tokens": asked.most})
    run.point, run.cache = start(model, run.prompt, run.guide), model.network.new_cache()
    return run


def decode_side_by_side(model: Any, runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Decode the runs; one pass reads a token of each that goes on, and a new run begins where one has ended."""
    beside, waiting, going = SideBySide(model), iter(runs), list[Run]()
    while going := [*going, *(begin(model, run) for run in islice(waiting, ROWS - len(going)))]:
        beside.read(going)
        for run in going:
            step, run.point = take_step(beside, run.point, run.guide, run.settings)
            run.end, run.least = step.end, min(run.least, step.mass)
            run.first = step.mass if step.position == 0 else run.first
            if run.end:
                yield row_of(run, model.vocabulary)
        going = [run for run in going if not run.end]


def row_of(run: Run, vocabulary: gv.Vocabulary) -> dict[str, Any]:
    """What is kept of a run that has ended."""
    tokens = [token for token in run.point.output if token not in vocabulary.eos]
    text = b"".join(vocabulary.pieces[token] for token in tokens).decode("utf-8", "replace")
    masses = {"least": float(f"{run.least:.3g}"), "first": float(f"{run.first:.3g}")}
    return {"case": run.case, "way": run.way, "text": text, "end": run.end, "tokens": tokens, **masses}


def read_rows(name: str, count: int | None) -> list[dict[str, Any]]:
    """The outputs that are kept of a record."""
    file = kept_file(name, count)
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def kept_file(name: str, count: int | None) -> Path:
    """Where the outputs of a record are kept; a pilot has a folder of its own."""
    return KEPT / (f"pilot-{count}" if count else "all") / f"{name}.jsonl"


def keep(name: str, count: int | None, row: dict[str, Any]) -> None:
    """Add a row to those that are kept."""
    file = kept_file(name, count)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def cases_of(name: str, count: int | None) -> list[Case]:
    """The cases of a record."""
    make, _ = RECORDS[name]
    return list(islice(make(COUNTS[name]), count or COUNTS[name]))


def make_runs(model: Any, name: str, count: int | None) -> Iterator[Run]:
    """All runs of a record, the ways of a case beside each other."""
    _, ways = RECORDS[name]
    for number, case in enumerate(cases_of(name, count)):
        for way, asked in ways.items():
            yield Run(number, way, model.chat(f"{case.fact} {asked.words}"), asked)


def make_answers(model: Any, name: str, count: int | None) -> Iterator[Run]:
    """For each sum the thought that was written freely, a cue, and a masked number."""
    cases, asked = cases_of(name, count), Way("", AFTER_MASK)
    for row in read_rows(name, count):
        if row["way"] == "think, free":
            prompt = model.chat(f"{cases[row['case']].fact} {SUMS['think, free'].words}")
            said = row["text"].split(CUE.strip())[0].rstrip() + CUE
            yield Run(row["case"], AFTER, Prompt(prompt + said, (*prompt.tokens, *model.encode(said))), asked)


def ask(model: Any, name: str, count: int | None) -> None:
    """Decode what is not kept yet; a thought comes before the answer that follows it."""
    for make in [make_runs, *([make_answers] if name.startswith("sums") else [])]:
        known = {(row["case"], row["way"]) for row in read_rows(name, count)}
        left = [run for run in make(model, name, count) if (run.case, run.way) not in known]
        for number, row in enumerate(decode_side_by_side(model, left), 1):
            keep(name, count, row)
            if number % 50 == 0 or number == len(left):
                print(f"{name}: {number} of {len(left)} runs, {process_time():.0f} s of CPU", flush=True)


def ask_conversations(model: Any, asked: Iterable[tuple[int, list[dict[str, str]], Way]]) -> dict[int, dict[str, Any]]:
    """Answer conversations side by side: the row of each, by its number."""
    runs = [Run(number, "", model.chat(messages), way) for number, messages, way in asked]
    return {row["case"]: row for row in decode_side_by_side(model, runs)}


def about(day: str) -> dict[str, Any]:
    """Where the records come from."""
    weights = kept_folder(SMOLLM2) / "model.safetensors"
    with weights.open("rb") as stream:
        digest = file_digest(stream, "sha256").hexdigest()
    return {
        "model": "SmolLM2-135M-Instruct, Q4_1, read as 32-bit floats",
        "package": PINNED,
        "weights_sha256": digest,
        "device": f"NumPy on one core of {tables.processor()}",
        "date": day,
        "versions": f"guidedviz {version('guidedviz')}, NumPy {version('numpy')}, Python {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "threads": os.environ.get("OMP_NUM_THREADS", "not set"),
        "seed": SEED,
        "settings": f"greedy unless a way says otherwise; {ROWS} runs side by side",
    }


def write(name: str, count: int | None, made: dict[str, Any]) -> None:
    """Write a record as JSON, one case per line."""
    folder = OUT if count is None else kept_file(name, count).parent
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for key, value in made.items():
        rows = value if isinstance(value, list) else [value]
        text = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
        parts.append(f' "{key}": ' + (f"[\n  {text}\n ]" if isinstance(value, list) else text))
    (folder / f"{name}.json").write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def compare_alone(model: Any, count: int | None) -> dict[str, Any]:
    """Decode the first case of each record again, each run alone: rounding may decide where two tokens nearly tie."""
    table, others = [], []
    for name in RECORDS:
        kept = {(row["case"], row["way"]): row["text"] for row in read_rows(name, count)}
        runs = [run for run in make_runs(model, name, 1) if (run.case, run.way) in kept]
        texts = [decode_alone(model, run) for run in runs]
        pairs = [(run.way, kept[run.case, run.way], text) for run, text in zip(runs, texts, strict=True)]
        table.append({"record": name, "same": sum(one == other for _, one, other in pairs), "of": len(pairs)})
        others += [{"record": name, "way": way, "beside": one, "alone": two} for way, one, two in pairs if one != two]
        print("alone:", table[-1], flush=True)
    return {"table": table, "others": others}


def decode_alone(model: Any, run: Run) -> str:
    """The text of a run that goes alone."""
    asked, guide = run.asked, guide_of(run.asked.machine, model.vocabulary) if run.asked.machine else None
    settings = {"temperature": asked.temperature, "seed": asked.seed, "max_tokens": asked.most}
    return gv.record(model, run.prompt, guide, **settings).text


def make(model: Any, name: str, count: int | None) -> dict[str, Any]:
    """A record: its table, and what stands behind it."""
    if name in RECORDS:
        words = {way: asked.words for way, asked in RECORDS[name][1].items()}
        return {"words": words, **tables.make_table(name, cases_of(name, count), read_rows(name, count))}
    if name == "classes":
        return tables.count_classes(model.vocabulary, {kind: read_rows(kind, count) for kind in RECORDS})
    if name == "talks":
        return talks.record_talks(model, count, OUT)
    if name == "repairs":
        return repairs.record_repairs(partial(ask_conversations, model), OUT, count)
    if name == "alone":
        return compare_alone(model, count)
    return alone.RECORDS[name](model, count, OUT)


def main() -> None:
    every = [*RECORDS, *alone.RECORDS, "talks", "repairs", "classes", "alone"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(every)}; all without a name")
    parser.add_argument("--count", type=int, help="cases per record, for a pilot")
    parser.add_argument("--tables", action="store_true", help="judge the kept outputs, and ask nothing")
    args = parser.parse_args()
    if wrong := set(args.names) - set(every):
        parser.error(f"no such record: {', '.join(sorted(wrong))}")
    model = gv.load_model(SMOLLM2)
    said = about(date.today().isoformat())
    for name in args.names or every:
        if args.tables and name not in (*RECORDS, "classes"):
            continue
        if name in RECORDS and not args.tables:
            ask(model, name, args.count)
        file = OUT / f"{name}.json"
        kept = json.loads(file.read_text(encoding="utf-8"))["about"] if args.tables and file.exists() else said
        write(name, args.count, {"about": kept, **make(model, name, args.count)})


if __name__ == "__main__":
    main()
