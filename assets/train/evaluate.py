"""Measure `clerk` on 400 held-out prompts, free and constrained, greedy and sampled, and write its figures.

    python assets/train/evaluate.py

Each prompt's constraint is the pattern of its task, as a regex over bytes; the labs' own engine makes the masks.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tasks import Task, fields_of, parses, stream
from tqdm import tqdm

import guidedviz as gv

HERE = Path(__file__).resolve().parent
MODES = {"greedy": 0.0, "sampled": 1.0}  # temperatures


@dataclass
class Tally:
    """What happened to the outputs of one way of decoding."""

    outputs: int = 0
    parsed: int = 0
    fields: int = 0
    right: int = 0
    exact: int = 0
    by_family: Counter[str] = field(default_factory=Counter)

    def add(self, task: Task, output: str) -> None:
        wanted, got = fields_of(task, task.answer), fields_of(task, output)
        self.outputs += 1
        self.parsed += parses(task, output)
        self.fields += len(wanted)
        self.right += sum(got.get(path) == value for path, value in wanted.items())
        self.exact += output == task.answer
        self.by_family[task.family] += output == task.answer

    def shares(self) -> dict[str, float]:
        return {
            "parses": round(self.parsed / self.outputs, 4),
            "fields_exact": round(self.right / self.fields, 4),
            "answers_exact": round(self.exact / self.outputs, 4),
        }


def answer(model: gv.models.model.Model, task: Task, constrained: bool, seed: int, temperature: float) -> str:
    """The model's output as text."""
    guide = gv.guide(gv.regex(task.pattern), model.vocabulary) if constrained else None
    trace = gv.record(model, task.prompt, guide, temperature=temperature, seed=seed, max_tokens=400)
    return trace.text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="clerk")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--failures", type=int, default=12, help="how many failed outputs to print for each way")
    args = parser.parse_args()
    model = gv.load_model(args.model)
    tasks = [task for task, _ in islice(stream(11, held_out=True), args.count)]
    families = Counter(task.family for task in tasks)
    figures: dict[str, object] = {"prompts": len(tasks), "device": model.device}
    for mode, temperature in MODES.items():
        for constrained in (False, True):
            name, tally, shown = f"{mode}, {'constrained' if constrained else 'free'}", Tally(), 0
            for seed, task in enumerate(tqdm(tasks, desc=name, mininterval=5)):
                output = answer(model, task, constrained, seed, temperature)
                tally.add(task, output)
                if output != task.answer and shown < args.failures:
                    shown += 1
                    tqdm.write(f"  {task.family}: {output!r}\n    wanted {task.answer!r}")
            figures[name] = tally.shares()
            figures[f"{name}, answers exact by family"] = {
                family: round(tally.by_family[family] / count, 2) for family, count in sorted(families.items())
            }
            print(name, tally.shares())
    (HERE.parent / "models" / model.name / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
