"""What a larger class needs, by a simulation of replicas with the costs that were measured."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter, thread_time
from typing import Any

from guidedviz.bench.decoding.forward import SHAPES
from guidedviz.bench.decoding.replay import build_random
from guidedviz.bench.host.gpus import plan_gpus
from guidedviz.bench.host.simulation import CLASSES, SIZES, TEXT, Costs, fewest, megabits, simulate
from guidedviz.models.model import LanguageModel, Network


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
    return {"scale": scale, "on paper": plan_gpus(other), "other, ms": other}


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
            "network, Mbit/s": megabits(students, size),
        }
        if price:
            row["cost per hour"] = round(price * replicas, 2)
        print(f"{students:5,} students: " + ", ".join(f"{name} {value}" for name, value in row.items()))
        out[str(students)] = row
    return out
