"""The script that builds the site, as a module."""

import importlib.util
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "assets" / "site" / "build.py"


def load_site():
    spec = importlib.util.spec_from_file_location("site_build", BUILD)
    module = sys.modules["site_build"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
