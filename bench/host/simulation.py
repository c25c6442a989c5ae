"""Replicas of a host in simulated time: how long students wait, and how many replicas a class needs.

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

import numpy as np

from guidedviz.host.batcher import MOST, WAIT
from guidedviz.models.frames import rows_bytes

CLASSES = (30, 300, 3000)
SIZES = (1, 2, 4, 8, 16, 32)  # texts per pass
TEXT = 100  # tokens that are kept per text
HEADS = 600  # bytes of the head of a request, of its tokens and of the head of an answer
RATE = 5.0
GOAL = {"p95, ms": 60.0, "p99, ms": 150.0}
SPAN = 6.0  # simulated seconds
Costs = Mapping[int, float]  # texts per pass -> milliseconds


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


def megabits(students: int, size: int) -> float:
    """The Mbit per second of a class, for rows of a vocabulary of this size."""
    return round(students * RATE * (rows_bytes(1, size) + HEADS) * 8 / 1e6, 1)
