"""The machine and date of a measurement."""

from __future__ import annotations

import os
import platform
from datetime import datetime
from pathlib import Path

from guidedviz.extras import installed


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


def name_device(device: str) -> str:
    """The kind of the device and its name."""
    if "cuda" not in device:
        return f"{device}: {processor()}, one thread"
    import torch

    return f"{device}: {torch.cuda.get_device_name(device.split()[-1])}"


def describe() -> dict[str, str]:
    """Date, machine and versions."""
    names = ("guidedviz", "numpy", "outlines-core", "xgrammar", "llguidance", "torch", "ray")
    system = f"{platform.system()}, Python {platform.python_version()}"
    return {
        "date": datetime.now().astimezone().isoformat(timespec="minutes"),
        "machine": f"{processor()}, {os.cpu_count()} cores, {system}",
        "versions": ", ".join(f"{name} {found}" for name in names if (found := installed(name))),
    }


def print_about(**more: str) -> dict[str, str]:
    """Print and return the date, the machine, the versions, and what else a subject says about itself."""
    about = describe() | more
    for name, text in about.items():
        print(f"{name:12}{text}")
    return about
