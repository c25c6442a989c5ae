"""Claims about the house: what an import loads, where dependencies are declared, what the documents say."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import guidedviz as gv

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run(code: str, **options) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **options)
    return done.stdout.strip()


def test_import_is_light():
    heavy = "torch transformers plotly ipywidgets anywidget numpy IPython"
    code = f"import sys, guidedviz; print([m for m in {heavy.split()!r} if m in sys.modules])"
    assert run(code) == "[]"


ROOMS = ("checks", "decoding", "machines", "serving", "tokens", "views")


def test_the_front_door_has_about_seventy_names_and_every_one_opens():
    assert len(gv.__all__) <= 70
    for package in (gv, *(getattr(gv, room) for room in ROOMS)):
        assert [name for name in package.__all__ if getattr(package, name, None) is None] == []
        assert set(package.__all__) == set(dir(package))
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = package.nothing


def test_readme_and_labs_use_names_that_exist():
    texts = [ROOT / "README.md", ROOT / "assets/guide.md", *(ROOT / "labs/src").glob("*.py")]
    for path in re.findall(r"\bgv((?:\.[A-Za-z_]\w*)+)", "\n".join(text.read_text() for text in texts)):
        found = gv
        for name in path.strip(".").split("."):
            found = getattr(found, name)


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!; ]", line)[0] for line in requirements}


def test_the_base_needs_numpy_and_nothing_large():
    assert names_of(PROJECT["dependencies"]) == {"numpy"}


def test_modules_import_only_the_base_before_they_are_used():
    allowed = sys.stdlib_module_names | names_of(PROJECT["dependencies"]) | {"guidedviz"}
    after_need = {
        "guidedviz/widgets/wire.py": {"anywidget", "ipywidgets", "traitlets"},
        "guidedviz/widgets/notebook_page.py": {"nbconvert"},  # nbconvert imports it
        "guidedviz/host/app.py": {"starlette"},  # the command asks for it
        "guidedviz/host/api/routes.py": {"starlette"},
        "guidedviz/host/classroom.py": {"starlette"},
        "guidedviz/host/server.py": {"uvicorn"},
    }
    for path in sorted((ROOT / "guidedviz").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        found = set()
        for line in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in line.names}
            elif isinstance(line, ast.ImportFrom):
                found.add(str(line.module).partition(".")[0])
        assert found - allowed == after_need.get(name, set()), name


def test_the_reading_path_has_thirteen_files_and_each_names_the_next():
    path = re.findall(r"^\| \d+ \| \[`[^`]+`\]\((guidedviz/[^)]+)\)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(path) == 13
    for here, following in pairwise(path):
        opening = ast.get_docstring(ast.parse((ROOT / here).read_text()))
        assert f"Next: `{following.removeprefix('guidedviz/')}`" in opening, here


def test_the_api_reference_says_what_the_docstrings_say():
    run(
        "import runpy, sys; sys.argv = ['build.py', '--check']; runpy.run_path('build.py', run_name='__main__')",
        cwd=ROOT / "assets/reference",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
