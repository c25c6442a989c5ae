"""`python -m guidedviz.bench masks`: figures of this machine, today.

python -m guidedviz.bench masks --rounds 20 --json masks.json
python -m guidedviz.bench masks --only email --device cuda
python -m guidedviz.bench grammars --only "llama3, JSON"
python -m guidedviz.bench ablation
python -m guidedviz.bench overlap --device cuda
python -m guidedviz.bench jump --device cpu
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path

SUBJECTS = {"masks": 15, "grammars": 1, "ablation": 5, "overlap": 5, "jump": 2, "differences": 1}
# each a file of this folder with `bench(options)`, and so many rounds that it takes at most three minutes (jump: five)


def main(arguments: list[str] | None = None) -> int:
    """Run one subject in one thread, from nothing: no index of an earlier run is used."""
    parser = argparse.ArgumentParser(prog="python -m guidedviz.bench", description="Figures of this machine, today.")
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--rounds", type=int, default=0, help="compiles of each case by each engine")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--device", default="", help="cpu or cuda: the same walk as torch tensors, timed beside")
    parser.add_argument("--json", type=Path, help="keep the figures in this file")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or SUBJECTS[options.subject]
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
    for library in ("OMP", "OPENBLAS", "MKL", "RAYON"):  # before NumPy is loaded
        os.environ[f"{library}_NUM_THREADS"] = "1"
    os.environ["GUIDEDVIZ_CACHE"] = "0"
    figures = import_module(f"guidedviz.bench.{options.subject}").bench(options)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
