"""From the import to the first guided token, in fresh processes: seconds, memory and milliseconds per step.

The embedded model runs on NumPy and on torch in turn, in one thread. A first start has no compiled Python files.
`--kernels 30` also starts so many kernels, each with an open stage, and adds up their memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from statistics import median
from timeit import repeat
from typing import Any

import numpy as np

from bench import print_about
from guidedviz.extras import is_missing, need

PROMPT = "Ada Lovelace is 36.\nJSON with name, age:\n"
START = f"""
from time import perf_counter
began = perf_counter()
import json, sys
import guidedviz as gv
model = gv.load_model("clerk", device=sys.argv[1])
guide = gv.guide(gv.json_schema({{"type": "array", "items": {{"type": "string"}}}}), model.vocabulary)
step = next(gv.decode(model, {PROMPT!r}, guide=guide))
first, tokens, steps = perf_counter() - began, model.encode({PROMPT!r}), []
memory = next(line for line in open("/proc/self/status") if line.startswith("VmRSS")) if sys.platform == "linux" else ""
for token in range(100, 300):
    tokens.append(token)
    began = perf_counter()
    model.logits(tokens)
    steps.append(perf_counter() - began)
print(json.dumps([first, sorted(steps)[100] * 1e3, int(memory.split()[1]) / 1024 if memory else 0]))
"""
STAGE = f"""
import guidedviz as gv
model = gv.load_model("clerk")
stage = gv.stage(model, {PROMPT!r}, gv.guide(gv.json(), model.vocabulary))
for _ in range(5):
    stage.take()
"""
WEIGHTS = 4_262_144  # numbers in clerk
Figures = dict[str, float]


def bench(options: Namespace) -> dict[str, Any]:
    """Print the table and return the figures."""
    about = print_about()
    backends = ["numpy", *([] if is_missing("torch") else ["torch"])]
    found: dict[str, list[Figures]] = {backend: [] for backend in backends}
    firsts = {backend: start(backend, new=True)["seconds"] for backend in backends}
    for _ in range(options.rounds):
        for backend in backends:
            found[backend].append(start(backend))
    figures = {
        backend: {"first start, s": firsts[backend]} | {key: median(run[key] for run in runs) for key in runs[0]}
        for backend, runs in found.items()
    }
    memory = read_weights_once()
    print(f"\nmedian of {options.rounds} fresh processes, one thread")
    for backend, row in figures.items():
        print(f"{backend:8}" + ", ".join(f"{name} {value:.3g}" for name, value in row.items()))
    step = figures["numpy"]["step, ms"]
    print(f"reading the weights once from memory {memory:.3g} ms; a NumPy step is {step / memory:.2f} times that")
    if "torch" in figures:
        print("torch / NumPy: " + ", ".join(f"{k} {v / figures['numpy'][k]:.2f}" for k, v in figures["torch"].items()))
    kernels = measure_kernels(options.kernels) if options.kernels else {}
    return {"about": about, "figures": figures, "weights once, ms": memory} | kernels


def start(backend: str, new: bool = False) -> Figures:
    """One fresh process; a new one finds no compiled Python files."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        if new:
            environment["PYTHONPYCACHEPREFIX"] = empty
        ran = subprocess.run(
            [sys.executable, "-c", START, backend], env=environment, capture_output=True, text=True, check=True
        )
    seconds, step, megabytes = json.loads(ran.stdout)
    return {"seconds": seconds, "step, ms": step, "resident, MB": megabytes}


def read_weights_once(rounds: int = 20) -> float:
    """The milliseconds that a product with a matrix of clerk's size takes: the least that a step can take."""
    matrix, vector = np.ones((WEIGHTS // 256, 256), np.float32), np.ones(256, np.float32)
    return median(repeat(lambda: matrix @ vector, number=1, repeat=rounds)) * 1e3


def measure_kernels(count: int) -> dict[str, float]:
    """The memory of so many kernels, each with an open stage; what they share is counted once."""
    manager = need("jupyter_client.manager", "lab", "bench start --kernels")
    kernels = []
    try:
        for number in range(count):
            kernel, client = manager.start_new_kernel(kernel_name="python3")
            kernels.append((kernel, client))
            answer = client.execute_interactive(STAGE, timeout=120, output_hook=lambda _: None)
            if answer["content"]["status"] != "ok":
                raise RuntimeError(f"kernel {number}: {answer['content']}")
        megabytes = sum(map(resident, (kernel.provisioner.pid for kernel, _ in kernels)))
    finally:
        for kernel, client in kernels:
            client.stop_channels()
            kernel.shutdown_kernel(now=True)
    print(f"{count} kernels with an open stage: {megabytes:,.0f} MB in all, {megabytes / count:.0f} MB each")
    return {"kernels": count, "kernels, MB": megabytes}


def resident(process: int) -> float:
    """The memory of a process in MB; memory shared with other processes counts in part."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024
