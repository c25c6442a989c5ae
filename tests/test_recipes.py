"""Claims about the ways to install: they name extras that exist, and those that say so install what `make lab` does.

`make` leaves the environment of another clone alone and shows what pip says. For that, the Makefile is run in a folder
of its own, with a Python that only notes what it is asked for.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RECIPES = ("README.md", "assets/guide.md", "environment.yml", "binder/requirements.txt", "deploy/jupyterhub/README.md")
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


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def extras_in(text):
    """The extras of each install in a text, as sets."""
    found = re.findall(r"(?<![\w\]])\.\[([\w,]+)\]|EXTRAS=([\w,]+)|^FOR_\w+ := (\S+)", text, re.MULTILINE)
    return [set("".join(names).split(",")) for names in found]


MAKE_LAB, MAKE_TEST, _ = extras_in(read("Makefile"))


@pytest.mark.parametrize("name", [*RECIPES, "Makefile", "deploy/jupyterhub/Dockerfile"])
def test_a_recipe_names_extras_that_exist(name):
    known = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    found = extras_in(read(name))
    assert found
    assert set().union(*found) <= set(known)


def test_what_says_that_it_is_the_same_as_make_lab_installs_the_same():
    assert extras_in(read("environment.yml")) == [MAKE_LAB]
    without_torch, image = extras_in(read("deploy/jupyterhub/Dockerfile"))
    assert image == MAKE_LAB | {"classroom"}
    assert without_torch == image - {"hub"}
    assert extras_in(read("deploy/jupyterhub/README.md"))[0] == image
    (row,) = re.findall(r"^.*`make lab` installs this.*$", read("README.md"), re.MULTILINE)
    assert extras_in(row) == [MAKE_LAB]


def test_the_image_is_sent_what_it_copies_and_no_environment():
    copied = re.findall(r"^COPY (.+) \S+$", read("deploy/jupyterhub/Dockerfile"), re.MULTILINE)
    lines = read(".dockerignore").splitlines()
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert sent == set(" ".join(copied).split())
    assert "*" in lines
