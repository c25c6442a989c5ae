"""The modules beside the labs that build and export them."""

import sys
from importlib import import_module
from pathlib import Path

LABS = Path(__file__).resolve().parents[2] / "labs"
sys.path.insert(0, str(LABS))
build, export = import_module("build"), import_module("export")
NAMES = build.lab_names()
NUMBERED = [name for name in NAMES if "/" not in name]
