"""The scripts that build the site and the course for a browser tab, as modules."""

import importlib.util
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "assets" / "site" / "build.py"


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_site():
    return load("site_build", BUILD)
