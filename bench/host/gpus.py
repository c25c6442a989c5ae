"""A class on named GPUs, with a model of 0.5B's shape and Llama 3's vocabulary: on paper, as no GPU was measured.

A pass takes the time in which the memory of the GPU can be read once, or in which its cores can multiply, if that is
longer; a real pass is slower. The other costs of a step are measured: those of the host, and those of a longer row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from time import thread_time

import numpy as np

from bench.decoding.forward import SHAPES, Shape
from bench.host.simulation import CLASSES, SIZES, TEXT, Costs, fewest, megabits, simulate
from guidedviz.models.frames import pack_rows

SHAPE, VOCABULARY, SMALL = SHAPES["cuda"], 128_256, 4_096  # tokens of Llama 3, tokens of `clerk`
BYTES = 2  # of a weight, a key and a value
LINK = 10_000  # Mbit/s of the network of one machine


@dataclass(frozen=True)
class Gpu:
    """What the maker and a cloud publish of a GPU."""

    name: str
    bandwidth: float  # GB per second, data sheet
    flops: float  # 10^12 dense multiplications and additions per second with 16 bits, data sheet
    price: float  # US dollars per hour

    def pass_ms(self, shape: Shape, texts: int) -> float:
        """The least milliseconds of a pass that reads one token of so many texts.

        >>> round(GPUS[0].pass_ms(SHAPE, 1), 1)
        3.2
        """
        weights = shape.weights(VOCABULARY)
        kept = texts * TEXT * shape.layers * 2 * shape.hidden * shape.shared // shape.heads  # keys and values
        read = BYTES * (weights + kept) / (self.bandwidth * 1e9)
        return 1e3 * max(read, 2 * weights * texts / (self.flops * 1e12))


PRICES = "docs.runpod.io/serverless/pricing, flex workers, read in November 2026"
GPUS = (
    Gpu("L4", 300, 121, 0.00019 * 3600),
    Gpu("L40S", 864, 362, 0.00053 * 3600),
    Gpu("A100 80 GB", 1_935, 312, 0.00076 * 3600),
    Gpu("H100 80 GB", 3_350, 989, 0.00116 * 3600),
)


def plan_gpus(other: float) -> dict[str, dict[str, dict[str, float]]]:
    """Print and return what classes need on each GPU; `other` are the milliseconds of a core per step of `clerk`."""
    longer = other + max(0.0, time_row(VOCABULARY) - time_row(SMALL))
    print(f"\n{SHAPE.say(VOCABULARY)}, on paper; {longer:.2f} ms of a core for all else of a step; {PRICES}")
    return {gpu.name: plan_gpu(gpu, longer) for gpu in GPUS}


def plan_gpu(gpu: Gpu, other: float) -> dict[str, dict[str, float]]:
    """What each class needs on one kind of GPU, with one process per GPU."""
    costs: Costs = {size: gpu.pass_ms(SHAPE, size) for size in SIZES}
    out = {}
    for students in CLASSES:
        needed, network = fewest(students, costs, other), megabits(students, VOCABULARY)
        row = {
            "a pass of 1 text, ms": round(costs[1], 2),
            "a pass of 32 texts, ms": round(costs[SIZES[-1]], 2),
            "GPUs": needed,
            **simulate(students, needed, costs, other),
            "network, Mbit/s": network,
            "machines for the network": ceil(network / LINK),
            "USD per hour": round(gpu.price * needed, 2),
        }
        print(f"{gpu.name}, {students:5,} students: " + ", ".join(f"{name} {value}" for name, value in row.items()))
        out[str(students)] = row
    return out


def time_row(size: int, rounds: int = 15, clock: Callable[[], float] = thread_time) -> float:
    """The milliseconds of a core to write one row of logits as bytes."""
    row, times = np.random.default_rng(0).normal(size=(1, size)).astype(np.float32), []
    for _ in range(rounds):
        began = clock()
        pack_rows(row)
        times.append(clock() - began)
    return 1e3 * sorted(times)[rounds // 2]
