"""`python -m bench masks`: measurements on this machine.

python -m bench masks --rounds 20 --json masks.json
python -m bench masks --only email --device cuda
python -m bench grammars --only "llama3, JSON"
python -m bench schemas --only kubernetes
python -m bench ablation
python -m bench overlap --device cuda
python -m bench jump --device cpu
python -m bench speculation --device cuda
python -m bench serving --device cuda --json assets/bench/serving.json
python -m bench start --kernels 30
python -m bench frameworks --json assets/bench/frameworks.json
python -m bench host --seconds 120 --json assets/bench/host.json
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path

from guidedviz.errors import GuidedVizError

SUBJECTS = {  # the module of each, which has `bench(options)`, and how often it compiles each case by default
    "masks": ("masks.latency", 15),
    "grammars": ("masks.grammars", 1),
    "ablation": ("masks.ablation", 5),
    "differences": ("masks.museum", 1),
    "schemas": ("schemas.run", 1),
    "overlap": ("decoding.overlap", 5),
    "jump": ("decoding.jump", 2),
    "speculation": ("decoding.speculation", 5),
    "start": ("start", 5),
    "serving": ("serving", 1),
    "frameworks": ("frameworks", 1),
    "host": ("host.run", 1),
}
# a subject takes at most three minutes (jump: five, host: twelve)


def main(arguments: list[str] | None = None) -> int:
    """Run one subject in one thread; no index of an earlier run is used."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measurements on this machine.")
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--rounds", type=int, default=0, help="compiles of each case by each engine")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--device", default="", help="cpu or cuda: also time the walk as torch tensors")
    parser.add_argument("--kernels", type=int, default=0, help="start: also measure the memory of this many kernels")
    parser.add_argument("--seconds", type=float, default=0, help="host: the length of the run without faults")
    parser.add_argument("--students", type=int, default=0, help="host: how many students step")
    parser.add_argument("--price", type=float, default=0, help="host: of a replica per hour, for the plan of a class")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args(arguments)
    module, rounds = SUBJECTS[options.subject]
    options.rounds = options.rounds or rounds
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
    for library in ("OMP", "OPENBLAS", "MKL", "RAYON"):  # must be set before NumPy is imported
        os.environ[f"{library}_NUM_THREADS"] = "1"
    try:
        figures = import_module(f"bench.{module}").bench(options)
    except GuidedVizError as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
