"""`python -m bench masks`: measurements on this machine. A bench takes at most three minutes, jump five, host ten.

python -m bench masks --rounds 20 --json masks.json
python -m bench masks --only email
python -m bench schemas --only kubernetes
python -m bench schemas --only public --before ../other --engines guidedviz,llguidance
python -m bench jump --device cpu
python -m bench speculation --device cuda
python -m bench start --kernels 30
python -m bench host --seconds 120 --only plain
python -m bench answers --seconds 30
python -m bench frameworks --json frameworks.json
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path

from guidedviz.errors import GuidedVizError

ROUNDS = {"masks": 15, "schemas": 1, "jump": 5, "speculation": 5, "start": 5, "host": 1, "answers": 1, "frameworks": 1}


def main(arguments: list[str] | None = None) -> int:
    """Run one bench in one thread; no index of an earlier run is used."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measurements on this machine.")
    parser.add_argument("name", choices=ROUNDS)
    parser.add_argument("--rounds", type=int, default=0, help="how often each case is timed")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--device", default="", help="jump, speculation: decode there")
    parser.add_argument("--kernels", type=int, default=0, help="start: also measure the memory of this many kernels")
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="host, answers: the length of a run without faults"
    )
    parser.add_argument("--students", type=int, default=30, help="host, answers: how many students")
    parser.add_argument("--schemas", type=Path, help="schemas: a folder of public schemas, one folder per split")
    engines = "guidedviz,xgrammar,llguidance,outlines-core"
    parser.add_argument("--engines", default=engines, help="schemas: those that take turns")
    parser.add_argument("--before", type=Path, help="schemas: another checkout, to compare with")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or ROUNDS[options.name]
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
    for library in ("OMP", "OPENBLAS", "MKL", "RAYON"):  # must be set before NumPy is imported
        os.environ[f"{library}_NUM_THREADS"] = "1"
    try:
        figures = import_module(f"bench.{options.name}").bench(options)
    except GuidedVizError as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
