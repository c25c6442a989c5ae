"""Measurements on this machine, run from a clone: `python -m bench NAME`.

Each bench compares in one run: ours with the real engines, or a way with the plain way. It prints ratios.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import quantiles

from guidedviz.extras import installed

PACKAGES = ("guidedviz", "numpy", "outlines-core", "xgrammar", "llguidance", "torch", "ray")


def pin_thread() -> str:
    """Pin the process to one core, if the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        return "one core, one thread"
    return "one thread"


def processor() -> str:
    """The name of the processor, if the system provides it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def print_about(**more: str) -> dict[str, str]:
    """Print and return the date, the machine, the versions, and what else a bench says about itself."""
    system = f"{platform.system()}, Python {platform.python_version()}"
    about = {
        "date": datetime.now().astimezone().isoformat(timespec="minutes"),
        "machine": f"{processor()}, {os.cpu_count()} cores, {system}",
        "versions": ", ".join(f"{name} {found}" for name in PACKAGES if (found := installed(name))),
    } | more
    for name, text in about.items():
        print(f"{name:12}{text}")
    return about


def share(values: Sequence[float], part: float) -> float:
    """The value below which this part of the values lies.

    >>> share([3, 1, 2], 0.5), share([1, 2, 3], 1.0), share([7], 0.99)
    (2.0, 3.0, 7.0)
    """
    if len(values) == 1 or part == 1.0:
        return float(max(values))
    return float(quantiles(values, n=100, method="inclusive")[round(part * 100) - 1])
