"""What a larger class needs: a simulation of replicas with the costs that were measured.

A replica takes up to 32 texts that wait, two milliseconds after the first one; then it is busy for the pass and for the
handling of each request, which is counted as if nothing ran beside it. A request goes to the shorter queue of two
replicas. Students step every 200 ms, each at a phase of their own that drifts a little.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Mapping
from math import ceil
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from guidedviz.bench.decoding.forward import SHAPES
from guidedviz.bench.decoding.replay import build_random
from guidedviz.host.batcher import MOST, WAIT
from guidedviz.models.frames import rows_bytes
from guidedviz.models.language_model import LanguageModel, Network

CLASSES = (30, 300, 3000)
SIZES = (1, 2, 4, 8, 16, 32)  # texts per pass
TEXT = 100  # tokens that are kept per text
HEADS = 600  # bytes of the head of a request, of its tokens and of the head of an answer
RATE = 5.0
GOAL = {"p95, ms": 60.0, "p99, ms": 150.0}
SPAN = 6.0  # simulated seconds
Costs = Mapping[int, float]  # texts per pass -> milliseconds


def plan(model: LanguageModel, figures: Mapping[str, Any], device: str = "", price: float = 0.0) -> dict[str, Any]:
    """Print and return what classes of 30, 300 and 3,000 students need."""
    calm = figures.get("plain, no fault")
    if not calm:
        return {}
    costs = time_passes(model.network)
    other = find_other(calm)
    print(f"\n{model}: a pass of {say_costs(costs)}; {other:.2f} ms of a core for all else of a step")
    said = {name: calm[name] for name in ("p50, ms", "p95, ms", "p99, ms")}
    print(f"30 students and one process, measured {said}, simulated {simulate(30, 1, costs, other)}")
    scale = {model.name: plan_classes(model, costs, other, price)}
    if device:
        shape = SHAPES["cuda" if "cuda" in device else "cpu"]
        big = build_random(shape, len(model.vocabulary), device)
        costs = time_passes(big.network)
        print(f"\n{shape.say(len(model.vocabulary))}, {big.device}: a pass of {say_costs(costs)}")
        scale[f"{shape.name}, {big.device}"] = plan_classes(big, costs, other, price)
    return {"scale": scale, "other, ms": other}


def say_costs(costs: Costs) -> str:
    """The milliseconds of passes in words."""
    return ", ".join(f"{size} texts {took:.1f} ms" for size, took in costs.items())


def time_passes(network: Network, rounds: int = 15) -> dict[int, float]:
    """The milliseconds of passes that read one more token of so many texts: on a CPU those of the core."""
    found, clock = {}, perf_counter if "cuda" in network.device else thread_time
    for size in SIZES:
        caches = [network.new_cache() for _ in range(size)]
        network.read(caches, [[5] * TEXT] * size)
        times = []
        for _ in range(rounds):
            began = clock()
            network.read(caches, [[7]] * size)
            times.append(clock() - began)
        found[size] = round(1e3 * sorted(times)[rounds // 2], 3)
    return found


def find_other(calm: Mapping[str, Any]) -> float:
    """The milliseconds of a core per step beside the pass: those of the process less those of its passes."""
    step = 1e3 * float(calm["cores"]) / max(1.0, float(calm["per second"]))
    return max(0.0, round(step - float(calm["pass, ms of a core per step"]), 3))


def cost_of(costs: Costs, texts: float) -> float:
    """The milliseconds of a pass with so many texts.

    >>> cost_of({1: 1.0, 2: 1.5, 4: 3.0}, 3)
    2.25
    """
    return float(np.interp(texts, [*costs], [*costs.values()]))


def simulate(students: int, replicas: int, costs: Costs, other: float) -> dict[str, float]:
    """The milliseconds that students wait, with so many replicas."""
    dice = random.Random(0)
    queues: list[deque[float]] = [deque() for _ in range(replicas)]
    busy, took = [False] * replicas, list[float]()
    events: list[tuple[float, int, int]] = [(dice.random() / RATE, 0, n) for n in range(students)]
    heapq.heapify(events)  # (time, 0: a student asks, 1: a pass begins, 2: a pass ends; who)
    known = [cost_of(costs, n) / 1e3 + n * other / 1e3 for n in range(MOST + 1)]
    taken: list[list[float]] = [[] for _ in range(replicas)]
    while events and events[0][0] < SPAN:
        now, kind, who = heapq.heappop(events)
        if kind == 0:
            heapq.heappush(events, (now + dice.uniform(0.95, 1.05) / RATE, 0, who))
            one, two = dice.randrange(replicas), dice.randrange(replicas)
            who = min(one, two, key=lambda n: len(queues[n]) + len(taken[n]))
            queues[who].append(now)
            if not busy[who]:
                busy[who] = True
                heapq.heappush(events, (now + WAIT, 1, who))
            continue
        if kind == 2:
            took += [now - asked for asked in taken[who]]
            taken[who] = []
        if kind == 1 or queues[who]:
            taken[who] = [queues[who].popleft() for _ in range(min(MOST, len(queues[who])))]
            heapq.heappush(events, (now + known[len(taken[who])], 2, who))
        else:
            busy[who] = False
    left = [SPAN - asked for queue in (*queues, *taken) for asked in queue]  # they wait at least so long
    levels = {"p50, ms": 50, "p95, ms": 95, "p99, ms": 99}
    return {name: round(1e3 * float(np.percentile(took + left, level)), 1) for name, level in levels.items()}


def plan_classes(model: LanguageModel, costs: Costs, other: float, price: float) -> dict[str, dict[str, float]]:
    """For each class the fewest replicas that reach the goal, and what they take."""
    cache, size = model.network.new_cache(), len(model.vocabulary)
    model.network.read([cache], [[5] * TEXT])
    out = {}
    for students in CLASSES:
        replicas = fewest(students, costs, other)
        kept = students * cache.nbytes / 1e6
        row = {
            "replicas": replicas,
            **simulate(students, replicas, costs, other),
            "weights, MB": round(replicas * model.network.megabytes),
            "kept texts, MB": round(kept),
            "network, Mbit/s": round(students * RATE * (rows_bytes(1, size) + HEADS) * 8 / 1e6, 1),
        }
        if price:
            row["cost per hour"] = round(price * replicas, 2)
        print(f"{students:5,} students: " + ", ".join(f"{name} {value}" for name, value in row.items()))
        out[str(students)] = row
    return out


def fewest(students: int, costs: Costs, other: float) -> int:
    """The fewest replicas that reach the goal; one per student if no number does."""
    least = (other + costs[MOST] / MOST) / 1e3 * students * RATE  # with full passes
    replicas = max(1, ceil(least))
    while replicas < students:
        found = simulate(students, replicas, costs, other)
        if all(found[name] <= most for name, most in GOAL.items()):
            break
        replicas += max(1, replicas // 20)
    return min(replicas, students)
