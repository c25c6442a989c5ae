"""Claims about the ways to install: make leaves the environment of another clone alone and shows what pip says.

The Makefile is run in a folder of its own, with a Python that only notes what it is asked for.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTING = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/asked"\necho "no such package" >&2\nexit 1\n'
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def clone(tmp_path):
    """A folder with the Makefile, and an environment in which this folder is installed."""
    folder = tmp_path / "clone"
    packages = folder / ".venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "_guidedviz.pth").write_text(str(folder))
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir()
    python.write_text(NOTING)
    python.chmod(0o755)
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    return folder


def make(folder, goal=".venv/test-is-ready"):
    """What make says, and what it asked the Python of the environment for."""
    words = ["make", f"PYTHON={sys.executable}", goal]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(words, cwd=folder, env=alone, capture_output=True, text=True, check=False)
    asked = folder / ".venv" / "bin" / "asked"
    return done.stdout + done.stderr, asked.read_text() if asked.exists() else ""


@needs_make
def test_an_error_of_the_installer_is_shown(clone):
    said, asked = make(clone)
    assert asked == "-m pip install --quiet --no-compile --editable .[test]\n"
    assert "no such package" in said
    assert not (clone / ".venv" / "test-is-ready").exists()


@needs_make
def test_an_environment_in_which_another_clone_is_installed_is_refused_before_anything_is_installed(clone, tmp_path):
    other = clone.rename(tmp_path / "moved")
    said, asked = make(other)
    assert "saw the environment of another clone" in said
    assert "try: rm -rf .venv" in said
    assert asked == ""


@needs_make
@pytest.mark.parametrize("goal", [".venv/test-is-ready", "lab"])
def test_an_environment_that_is_a_link_is_refused_although_it_is_ready(clone, tmp_path, goal):
    second = tmp_path / "second"
    second.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, second)
    (second / ".venv").symlink_to(clone / ".venv")
    for ready in ("lab-is-ready", "test-is-ready"):
        (clone / ".venv" / ready).touch()
    said, asked = make(second, goal)
    assert "saw the environment of another clone" in said
    assert asked == ""
