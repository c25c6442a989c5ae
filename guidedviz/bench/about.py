"""Where and when a figure was measured, so that it can be read later."""

from __future__ import annotations

import os
import platform
from datetime import datetime
from pathlib import Path

from guidedviz.tokens.real.matcher import installed


def pin_thread() -> str:
    """Stay on one core, where the system lets us."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        return "one core, one thread"
    return "one thread"


def processor() -> str:
    """The processor's own name, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def name_device(device: str) -> str:
    """The device's own name, after what it is."""
    if not device.startswith("cuda"):
        return f"{device}: {processor()}, one thread"
    import torch

    return f"{device}: {torch.cuda.get_device_name(device)}"


def describe() -> dict[str, str]:
    """Date, machine and versions."""
    names = ("guidedviz", "numpy", "outlines-core", "xgrammar", "llguidance", "torch")
    system = f"{platform.system()}, Python {platform.python_version()}"
    return {
        "date": datetime.now().astimezone().isoformat(timespec="minutes"),
        "machine": f"{processor()}, {os.cpu_count()} cores, {system}",
        "versions": ", ".join(f"{name} {found}" for name in names if (found := installed(name))),
    }
