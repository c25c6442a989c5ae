"""From the import to the first token, in fresh processes: seconds, peak memory and milliseconds per token.

`clerk` gives its first guided token on NumPy and on torch, `scout` its first token on NumPy, SmolLM2 its first token of
one file and one prompt on NumPy, on torch and in transformers; all in turn, in one thread. A first start has no
compiled Python files.
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

import guidedviz as gv
from bench import print_about
from guidedviz.extras import is_missing, need
from guidedviz.models.gguf import GET, SMOLLM2, kept_folder

PROMPT = "Ada Lovelace is 36.\nJSON with name, age:\n"
START = f"""
from time import perf_counter
began = perf_counter()
import json, sys
place, backend, tokens, count = json.loads(sys.argv[1])
if backend == "transformers":
    import torch, transformers
    network = transformers.AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32).eval()
    past = transformers.DynamicCache()
    def ask(tokens):
        with torch.inference_mode():
            network(torch.tensor([tokens[past.get_seq_length():]]), past_key_values=past, logits_to_keep=1)
else:
    import guidedviz as gv
    model = gv.load_model(place, device=backend)
    ask = model.logits
loaded = perf_counter() - began
if place == "clerk":
    guide = gv.guide(gv.json_schema({{"type": "array", "items": {{"type": "string"}}}}), model.vocabulary)
    next(gv.decode(model, {PROMPT!r}, guide=guide))
else:
    ask(tokens)
first, steps = perf_counter() - began, []
for token in range(100, 100 + count):
    tokens.append(token)
    began = perf_counter()
    ask(tokens)
    steps.append(perf_counter() - began)
memory = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")) if sys.platform == "linux" else ""
print(json.dumps([loaded, first, sorted(steps)[count // 2] * 1e3, int(memory.split()[1]) / 1024 if memory else 0]))
"""
STAGE = f"""
import guidedviz as gv
model = gv.load_model("clerk")
stage = gv.stage(model, {PROMPT!r}, gv.guide(gv.json(), model.vocabulary))
for _ in range(5):
    stage.take()
"""
WEIGHTS = 4_262_144  # numbers in clerk
STEPS, REAL_STEPS = 200, 20  # timed ones, of clerk and of SmolLM2
Figures = dict[str, float]


def bench(options: Namespace) -> dict[str, Any]:
    """Print the tables and return the figures."""
    about, memory = print_about(), read_weights_once()
    backends = ["numpy", *([] if is_missing("torch") else ["torch"])]
    tokens = gv.load_model("clerk").encode(PROMPT)
    figures = measure(options.rounds, backends, "clerk", tokens, STEPS)
    for backend, row in figures.items():
        row["first start, s"] = start(backend, "clerk", tokens, STEPS, new=True)["first token, s"]
    show("clerk, the first token guided", figures)
    step = figures["numpy"]["step, ms"]
    question = [*gv.load_model("scout").chat(PROMPT).tokens]
    scout = measure(options.rounds, ["numpy"], "scout", question, STEPS)
    show("scout", scout)
    print(f"reading the weights once from memory {memory:.3g} ms; a NumPy step is {step / memory:.2f} times that")
    real: dict[str, Figures] = {}
    if (folder := kept_folder(SMOLLM2)).is_dir():
        backends += [] if is_missing("transformers") else ["transformers"]
        question = [*gv.load_model(SMOLLM2).chat(PROMPT).tokens]
        real = measure(max(1, options.rounds // 2), backends, str(folder), question, REAL_STEPS)
        show(SMOLLM2, real)
    else:
        print(f"{SMOLLM2} is not on this machine: {GET}")
    kernels = measure_kernels(options.kernels) if options.kernels else {}
    return {"about": about, "figures": figures, "scout": scout, SMOLLM2: real, "weights once, ms": memory} | kernels


def measure(rounds: int, backends: list[str], *asked: Any) -> dict[str, Figures]:
    """The medians of fresh processes, which alternate."""
    runs = [{backend: start(backend, *asked) for backend in backends} for _ in range(rounds)]
    return {name: {key: median(run[name][key] for run in runs) for key in runs[0][name]} for name in backends}


def show(title: str, figures: dict[str, Figures]) -> None:
    """One line per backend; the ratios are to NumPy."""
    print(f"\n{title}: median of fresh processes, one thread, and its ratio to NumPy")
    for backend, row in figures.items():
        cells = (f"{name} {value:.3g} ({value / figures['numpy'][name]:.2f}x)" for name, value in row.items())
        print(f"{backend:14}" + ", ".join(cells))


def start(backend: str, place: str, tokens: list[int], count: int, new: bool = False) -> Figures:
    """One fresh process; a new one finds no compiled Python files."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        if new:
            environment["PYTHONPYCACHEPREFIX"] = empty
        words = [sys.executable, "-c", START, json.dumps([place, backend, tokens, count])]
        ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return dict(zip(("load, s", "first token, s", "step, ms", "peak, MB"), json.loads(ran.stdout), strict=True))


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
