"""Claims about the house: what an import loads, where dependencies are declared, what the documents say."""

import ast
import builtins
import doctest
import operator
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


def test_texts_and_labs_use_names_that_exist():
    pages = [ROOT / "README.md", ROOT / "assets/guide.md", *(ROOT / "labs/src").glob("*.py")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    texts.append((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1])
    gone = {".compare"}  # the changes say what is there in its place
    for path in {*re.findall(r"\bgv((?:\.[A-Za-z_]\w*)+)", "\n".join(texts))} - gone:
        operator.attrgetter(path.strip("."))(gv)


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!; ]", line)[0] for line in requirements}


def test_the_base_needs_numpy_and_nothing_large():
    assert names_of(PROJECT["dependencies"]) == {"numpy"}


def test_modules_import_only_the_base_before_they_are_used():
    allowed = sys.stdlib_module_names | names_of(PROJECT["dependencies"]) | {"guidedviz"}
    after_need = {
        "widgets/wire.py": {"anywidget", "ipywidgets", "traitlets"},
        "widgets/notebook_page.py": {"nbconvert"},  # nbconvert imports it
        "host/app.py": {"starlette"},  # the command asks for it
        "host/api/routes.py": {"starlette"},
        "host/classroom.py": {"starlette"},
        "host/server.py": {"uvicorn"},
    }
    found = {}
    for path in (ROOT / "guidedviz").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        loaded = set(re.findall(r"^(?:import|from) (\w+)\S*(?= import|$)", text, re.MULTILINE)) - allowed
        if loaded:
            found[path.relative_to(ROOT / "guidedviz").as_posix()] = loaded
    assert found == after_need


def test_the_reading_path_has_thirteen_files_and_each_names_the_next():
    path = re.findall(r"^\| \d+ \| \[`[^`]+`\]\((guidedviz/[^)]+)\)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(path) == 13
    for here, following in pairwise(path):
        opening = ast.get_docstring(ast.parse((ROOT / here).read_text()))
        assert f"Next: `{following.removeprefix('guidedviz/')}`" in opening, here


@pytest.mark.parametrize("name", gv.__all__)
def test_an_example_of_a_public_name_runs_as_it_is_copied(name):
    examples = doctest.DocTestParser().get_examples(getattr(gv, name).__doc__ or "")
    parts = list(ast.walk(ast.parse("".join(one.source for one in examples))))
    names = [part for part in parts if isinstance(part, ast.Name)]
    made = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    made |= {part.arg for part in parts if isinstance(part, ast.arg)}
    made |= {part.name for part in parts if isinstance(part, ast.ClassDef | ast.FunctionDef)}
    made |= {part.asname or part.name for part in parts if isinstance(part, ast.alias)}
    assert {name.id for name in names} - made - set(dir(builtins)) <= {"gv"}


def test_the_api_reference_says_what_the_docstrings_say():
    run(
        "import runpy, sys; sys.argv = ['build.py', '--check']; runpy.run_path('build.py', run_name='__main__')",
        cwd=ROOT / "assets/reference",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
