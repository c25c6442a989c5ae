"""The models and recorded figures that ship with the library: in a wheel next to the code, in a clone under assets."""

from __future__ import annotations

from pathlib import Path

from guidedviz.errors import SettingError

PACKAGE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """The path of a shipped file.

    >>> shipped("traces/overlap-cpu.json").name
    'overlap-cpu.json'
    """
    for folder in (PACKAGE / "assets", PACKAGE.parent / "assets"):
        if (folder / name).exists():
            return folder / name
    hint = "reinstall guidedviz, or clone it again"
    raise SettingError("shipped", seen=f"no {name}", expected="a file that came with guidedviz", hint=hint)
