"""The module beside the labs that builds them, and the names of the labs."""

import sys
from importlib import import_module
from pathlib import Path

LABS = Path(__file__).resolve().parents[2] / "labs"
sys.path.insert(0, str(LABS))
build = import_module("build")
BUILT = build.lab_names()
NAMES = [name for name in BUILT if name != build.PROJECT]  # the laws of a lab are not those of a homework of hours
NUMBERED = [name for name in NAMES if "/" not in name]


def run_cells(lab, *begins, until="", **names):
    """The names after the cells of a lab that begin so; of each cell, what stands before `until`."""
    cells = build.read_cells(build.read_source(lab))
    codes = [code for kind, code in cells if kind == "code"]
    for begin in begins:
        code = next(code for code in codes if code.startswith(begin))
        exec(code.partition(until)[0] if until else code, names)
    return names
