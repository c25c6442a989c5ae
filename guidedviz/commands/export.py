"""`guidedviz export`: the exercises of the labs as assignments that nbgrader or Otter hands out and grades.

    guidedviz export nbgrader COURSE   writes COURSE/source/NN_name/NN_name.ipynb, for nbgrader generate_assignment
    guidedviz export otter FOLDER      writes FOLDER/NN_name.ipynb, for otter assign, and the wheel for its grader

An assignment holds the exercises of one lab and the cells that they need. The check of an exercise is a cell of its
own, worth one point per star, and no cell shows a widget.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from guidedviz.commands.exercises import Exercise, numbered_labs, read_exercises, read_title
from guidedviz.commands.labs import writing
from guidedviz.errors import SettingError, escaped
from guidedviz.files import PACKAGE
from guidedviz.progress import with_progress

OF_INSTALLER = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}


def make_wheel(folder: Path) -> str:
    """Write the wheel into the folder; its name."""
    if (PACKAGE.parent / "pyproject.toml").exists():
        return build_wheel(folder, PACKAGE.parent)
    try:
        return pack_wheel(folder, distribution("guidedviz"))
    except PackageNotFoundError:
        where = "export otter, the wheel of the library"
        raise SettingError(where, seen="a copied folder", expected="an installed wheel or a clone") from None


def build_wheel(folder: Path, clone: Path) -> str:
    """Let pip build the wheel of a clone."""
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    if find_spec("hatchling"):
        words.append("--no-build-isolation")
    words.append(str(clone))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        expected = "pip and hatchling build it"
        raise SettingError("export otter, the wheel of the library", seen=done.stderr[-500:], expected=expected)
    wheels = folder.glob("guidedviz-*.whl")
    newest = max(wheels, key=lambda path: path.stat().st_mtime)
    return newest.name


def pack_wheel(folder: Path, installed: Distribution) -> str:
    """Pack the installed files again; compiled modules and what an installer adds stay out."""
    name = f"guidedviz-{installed.version}-py3-none-any.whl"
    files = [file for file in installed.files or () if _is_packed(file)]
    record = []
    with ZipFile(folder / name, "w", ZIP_DEFLATED) as wheel:
        for file in files:
            path = file.as_posix()
            wheel.write(str(file.locate()), path)
            digest = ""
            if file.hash:
                digest = f"{file.hash.mode}={file.hash.value}"
            record.append(f"{path},{digest},{file.size}\n")
        metadata = next(file for file in files if file.name == "METADATA")
        path = f"{metadata.parent.as_posix()}/RECORD"
        record.append(f"{path},,\n")
        wheel.writestr(path, "".join(record))
    return name


def _is_packed(file: PackagePath) -> bool:
    if file.parts[0] == "guidedviz":
        return "__pycache__" not in file.parts
    return file.parts[0].endswith(".dist-info") and file.name not in OF_INSTALLER


Notebook = dict[str, Any]
NotebookCell = dict[str, Any]  # as its JSON has it
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def add_export(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    parser.add_argument("form", choices=list(FORMATS))
    parser.add_argument("folder", type=Path, help="nbgrader's folder of the course, or a folder for otter assign")
    parser.set_defaults(run=run_export)


def run_export(options: argparse.Namespace) -> None:
    """Write the assignments of all labs, and say where each is."""
    folder = options.folder.expanduser()
    with writing("export", folder):
        folder.mkdir(parents=True, exist_ok=True)
        wheel = make_wheel(folder) if options.form == "otter" else ""
        names = numbered_labs()
        for name in with_progress(names, "export", "lab", len(names)):
            path = folder / f"{name}.ipynb"
            if options.form == "nbgrader":
                path = folder / "source" / name / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(assignment(name, options.form, wheel), ensure_ascii=False, indent=1)
            path.write_text(text + "\n", encoding="utf-8")
            print(escaped(str(path)))


def assignment(name: str, form: str, wheel: str = "") -> Notebook:
    """The exercises of a lab as one notebook."""
    cells = []
    if form == "otter":
        cells.append(new_cell("raw", otter_config(wheel)))
    cells.append(new_cell("markdown", f"# {read_title(name)}: exercises"))
    for exercise in read_exercises(name):
        cells.extend(new_cell("code", code) for code in exercise.needed)
        cells.extend(FORMATS[form](exercise))
    start = name.replace("_", "-").replace("/", "-")
    for number, cell in enumerate(cells):
        cell["id"] = f"{start}-{number:02}"
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def new_cell(kind: str, source: str, **about: Mapping[str, object]) -> NotebookCell:
    """One cell of a notebook.

    >>> new_cell("markdown", "one\\ntwo")
    {'cell_type': 'markdown', 'metadata': {}, 'source': ['one\\n', 'two']}
    """
    lines = source.splitlines(keepends=True)
    cell: NotebookCell = {"cell_type": kind, "metadata": about, "source": lines}
    if kind == "code":
        cell["execution_count"] = None
        cell["outputs"] = []
    return cell


def nbgrader_cells(exercise: Exercise) -> Iterator[NotebookCell]:
    """Text, answer and check, as nbgrader marks them."""
    about = {"schema_version": 3, "task": False}
    yield new_cell("markdown", exercise.text)
    answer = {"grade": False, "grade_id": exercise.name, "locked": False, "solution": True}
    code = f"{as_comment(exercise.opened)}\n### BEGIN SOLUTION\n{exercise.solved}\n### END SOLUTION"
    yield new_cell("code", code, nbgrader=about | answer)
    check = {"grade": True, "grade_id": f"check_{exercise.name}", "locked": True, "solution": False}
    check |= {"points": exercise.points}
    yield new_cell("code", exercise.check, nbgrader=about | check)


def otter_cells(exercise: Exercise) -> Iterator[NotebookCell]:
    """Text, answer and check, between the marks of Otter."""
    yield new_cell("raw", f"# BEGIN QUESTION\nname: {exercise.name}\npoints: {exercise.points}")
    yield new_cell("markdown", exercise.text)
    yield new_cell("raw", "# BEGIN SOLUTION")
    code = f"# BEGIN SOLUTION\n{exercise.solved}\n# END SOLUTION"
    if '"""' not in exercise.opened:
        code = f'""" # BEGIN PROMPT\n{exercise.opened}\n"""; # END PROMPT\n{code}'
    yield new_cell("code", code)
    yield new_cell("raw", "# END SOLUTION")
    yield new_cell("raw", "# BEGIN TESTS")
    yield new_cell("code", exercise.check)
    yield new_cell("raw", "# END TESTS")
    yield new_cell("raw", "# END QUESTION")


FORMATS: dict[str, Callable[[Exercise], Iterator[NotebookCell]]] = {
    "nbgrader": nbgrader_cells,
    "otter": otter_cells,
}


def otter_config(wheel: str) -> str:
    """The files and packages of an assignment; its grader unpacks the files there."""
    needed = f"guidedviz[lab] @ file:///autograder/source/files/{wheel}"
    return f"# ASSIGNMENT CONFIG\nrequirements: ['{needed}']\nautograder_files: ['{wheel}']"


def as_comment(code: str) -> str:
    """Code as a comment, for a student to begin with.

    >>> as_comment("x = ...")
    '# begin with:\\n# x = ...'
    """
    lines = ["begin with:", *code.splitlines()]
    return "\n".join(f"# {line}".rstrip() for line in lines)
