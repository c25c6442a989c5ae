"""Measure what a format costs `clerk`: the prompt asks for it or not, a mask holds it or not. Lab 12 shows the record.

    python assets/train/format_tax.py

400 held-out prompts, each with and without its last line (which names the format), free and masked, sampled at
temperature 1 and greedy. Then 200 sums, answered in six ways: with and without a thought before the answer.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from datetime import date
from itertools import islice
from pathlib import Path

from tasks import FAMILIES, Task, fields_of, parses, stream
from tqdm import tqdm

import guidedviz as gv

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "traces" / "format-tax.json"
NUMBER = "0|[1-9][0-9]{0,2}"
SUMS = dict.fromkeys(FAMILIES, 0) | {"reason": 1}


def without_cue(prompt: str) -> str:
    """The prompt without its last line, which names the format.

    >>> without_cue("Ada is 36.\\nJSON with name, age:\\n")
    'Ada is 36.\\n'
    """
    return prompt[: prompt.rindex("\n", 0, -1) + 1]


def says_all(task: Task, output: str) -> bool:
    """Whether every value of the right answer occurs in the output, in whatever format."""
    return all(value.strip('"').lower() in output.lower() for value in fields_of(task, task.answer).values())


def write(model: gv.models.model.Model, prompt: str, guide: gv.Guide | None, seed: int, temperature: float) -> str:
    return gv.record(model, prompt, guide, temperature=temperature, seed=seed, max_tokens=200).text


def measure_format(model: gv.models.model.Model, tasks: list[Task], temperature: float) -> Iterator[dict[str, object]]:
    """One row per way and family: how many outputs parse, are exactly right, and say all the values."""
    tally: dict[tuple[bool, bool, str], Counter[str]] = {}
    for seed, task in enumerate(tqdm(tasks, desc=f"temperature {temperature}", mininterval=5)):
        guide = gv.guide(gv.regex(task.pattern), model.vocabulary)
        for asked in (True, False):
            prompt = task.prompt if asked else without_cue(task.prompt)
            for masked in (False, True):
                output = write(model, prompt, guide if masked else None, seed, temperature)
                tally.setdefault((asked, masked, task.family), Counter()).update(
                    prompts=1,
                    parses=int(parses(task, output)),
                    right=int(output == task.answer),
                    says=int(says_all(task, output)),
                )
    for (asked, masked, family), counts in sorted(tally.items()):
        yield {"temperature": temperature, "asked": asked, "masked": masked, "family": family, **counts}


def measure_thought(model: gv.models.model.Model, tasks: list[Task]) -> Iterator[dict[str, object]]:
    """One row per way to answer a sum, greedy: how many answers are right, and how many can be read."""
    number = gv.guide(gv.regex(NUMBER), model.vocabulary)
    opened = gv.tagged(begin="Answer: ", machine=gv.regex(NUMBER), at_least_one=True, stop_after_first=True)
    window = gv.guide(opened, model.vocabulary)
    whole = gv.guide(gv.regex(tasks[0].pattern), model.vocabulary)
    tally: dict[str, Counter[str]] = {}
    for seed, task in enumerate(tqdm(tasks, desc="sums", mininterval=5)):
        right = task.answer.rsplit(" ", 1)[1]
        thought = task.answer[: -len(right)]
        ways = {
            "think, no mask": (task.prompt, None),
            "think, mask on everything": (task.prompt, whole),
            "think, mask on the answer": (task.prompt, window),
            "no thought, mask on the answer": (task.prompt, number),
            "no thought, no mask": (task.prompt + "Answer: ", None),
            "right thought given, mask on the answer": (task.prompt + thought, number),
        }
        for way, (prompt, guide) in ways.items():
            said = write(model, prompt, guide, seed, 0.0).rsplit("Answer: ", 1)[-1]
            tally.setdefault(way, Counter()).update(prompts=1, reads=int(said.isdigit()), right=int(said == right))
    for way, counts in tally.items():
        yield {"way": way, **counts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="clerk")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--sums", type=int, default=200)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    model = gv.load_model(args.model)
    tasks = [task for task, _ in islice(stream(11, held_out=True), args.count)]
    sums = [task for task, _ in islice(stream(11, held_out=True, course=SUMS), args.sums)]
    formats = [row for temperature in (1.0, 0.0) for row in measure_format(model, tasks, temperature)]
    record = {
        "model": model.name,
        "device": model.device,
        "date": date.today().isoformat(),
        "formats": formats,
        "sums": list(measure_thought(model, sums)),
    }
    args.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
