"""Export the exercises of the labs as assignments that nbgrader or Otter hands out and grades.

    python labs/export.py nbgrader COURSE   writes COURSE/source/NN_name/NN_name.ipynb, for nbgrader generate_assignment
    python labs/export.py otter FOLDER      writes FOLDER/NN_name.ipynb, for otter assign, and the wheel for its grader

An assignment holds the exercises of one lab and the cells that they need. An answer is a function or a literal. The
check of an exercise is a cell of its own, worth one point per star, and no cell shows a widget. It imports the
library anew, so an answer that replaces `gv.checks` or a part of the library gets no points. It runs in the kernel of
the answer, as both graders do it: an answer that changes Python itself, or a teacher's file, is not found.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import symtable
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build

CHECK = re.compile(r"gv\.checks\.(\w+)\((\w+)(?:, (\w+))?\)")
SHOWN = re.compile(r"^(gv|print)\b")
GRADE = """import pickle
import sys


def loaded():
    return [name for name in sys.modules if name.partition(".")[0] == "guidedviz"]


given = {given}
kept = {{name: sys.modules.pop(name) for name in loaded()}}
import guidedviz.checks  # anew, because an answer may have changed any part of the library

verdict = guidedviz.checks.{name}({read})
for name in loaded():
    del sys.modules[name]
sys.modules.update(kept)
assert verdict, verdict"""


@dataclass(frozen=True)
class Exercise:
    """One exercise: its text, the cells it needs that no exercise before it has shown, its answer and its check."""

    name: str
    text: str
    points: int
    needed: tuple[str, ...]
    solved: str
    opened: str
    answer: str
    check: str


def read_exercises(source: str) -> Iterator[Exercise]:
    """The exercises of a lab, in order."""
    cells = list(build.read_cells(source))
    codes = [(place, code) for place, (kind, code) in enumerate(cells) if kind != "markdown"]
    earlier: list[str] = []
    given: set[int] = set()
    for number, (place, code) in enumerate(codes):
        if "# solution:" in code:
            check = next(code for _, code in codes[number:] if "gv.checks." in code)
            start = max(one for one, (_, text) in enumerate(cells[:place]) if text.startswith("## Exercise "))
            text = "\n\n".join(text for _, text in cells[start:place])
            needed = [one for one in needed_cells(earlier, code) if one not in given]
            given.update([*needed, number])
            name, answer, model = CHECK.findall(check)[0]
            yield Exercise(
                name=name,
                text=build.fold_hints(text),
                points=len(build.STARS.findall(text)[0]),
                needed=tuple(filter(None, (without_shows(earlier[one]) for one in needed))),
                solved=without_check(build.settle_exercise(code, solved=True)),
                opened=without_check(build.settle_exercise(code, solved=False)),
                answer=answer,
                check=write_check(name, answer, model, is_function=f"def {answer}(" in code),
            )
        earlier.append(code)


def write_check(name: str, answer: str, model: str, is_function: bool) -> str:
    """The cell that grades an answer. A value goes to the library anew as a pickle, and a model is loaded anew.

    >>> write_check("only_answers", "only", "clerk", is_function=False).splitlines()[12]
    'verdict = guidedviz.checks.only_answers(pickle.loads(given), guidedviz.load_model("clerk"))'
    """
    given, read = (answer, "given") if is_function else (f"pickle.dumps({answer})", "pickle.loads(given)")
    return GRADE.format(given=given, name=name, read=f'{read}, guidedviz.load_model("{model}")' if model else read)


def without_check(code: str) -> str:
    """The code above the check.

    >>> without_check("x = 1\\n\\n\\ngv.checks.one(x)")
    'x = 1'
    """
    return code.partition("gv.checks.")[0].rstrip()


def without_shows(code: str) -> str:
    """The code without the lines that only show something.

    >>> without_shows("x = 1\\ngv.draw_machine(x)")
    'x = 1'
    """
    lines = code.splitlines()
    shows = (node for node in ast.parse(code).body if isinstance(node, ast.Expr) and SHOWN.match(ast.unparse(node)))
    gone = {line for node in shows for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in gone).strip()


def needed_cells(codes: Sequence[str], code: str) -> list[int]:
    """The places of the cells that define what this code reads or names in a comment, with the imports.

    >>> needed_cells(["import re", "a = 1", "b = a", "c = 2", "d = 3"], "print(b)  # as `d`")
    [0, 1, 2, 4]
    """
    found, wanted = {0}, [code]
    while wanted:
        reads = names_read(code := wanted.pop()) | set(re.findall(r"# .*`(\w+)`", code))
        for place, earlier in enumerate(codes):
            if place not in found and reads & names_defined(earlier):
                found.add(place)
                wanted.append(earlier)
    return sorted(found)


def names_defined(code: str) -> set[str]:
    """The names that the statements of a cell define; the variables of its loops are not meant for other cells."""
    body = ast.parse(code).body
    names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    stored = (one for node in body if isinstance(node, ast.Assign | ast.AnnAssign) for one in ast.walk(node))
    return names | {one.id for one in stored if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def names_read(code: str) -> set[str]:
    """The global names that a cell and its functions read.

    >>> sorted(names_read("def f(x):\\n    y = x + z\\n    return y"))
    ['z']
    """
    top = symtable.symtable(code, "cell", "exec")
    names = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    return names.union(*map(_globals_read, top.get_children()))


def _globals_read(table: symtable.SymbolTable) -> set[str]:
    own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return own.union(*map(_globals_read, table.get_children()))


# -- the two formats ------------------------------------------------------------------------------------------------


def nbgrader_cells(exercise: Exercise) -> Iterator[NotebookNode]:
    """Text, answer and check, as nbgrader marks them."""
    about = {"schema_version": 3, "task": False}
    yield new_markdown_cell(exercise.text)
    answer = {"grade": False, "grade_id": exercise.name, "locked": False, "solution": True}
    yield new_code_cell(
        f"{as_comment(exercise.opened)}\n### BEGIN SOLUTION\n{exercise.solved}\n### END SOLUTION",
        metadata={"nbgrader": about | answer},
    )
    check = {"grade": True, "grade_id": f"check_{exercise.name}", "locked": True, "solution": False}
    yield new_code_cell(exercise.check, metadata={"nbgrader": about | check | {"points": exercise.points}})


def otter_cells(exercise: Exercise) -> Iterator[NotebookNode]:
    """Text, answer and check, between the marks of Otter."""
    yield new_raw_cell(f"# BEGIN QUESTION\nname: {exercise.name}\npoints: {exercise.points}")
    yield new_markdown_cell(exercise.text)
    yield new_raw_cell("# BEGIN SOLUTION")
    prompt = f'""" # BEGIN PROMPT\n{exercise.opened}\n"""; # END PROMPT\n' if '"""' not in exercise.opened else ""
    yield new_code_cell(f"{prompt}# BEGIN SOLUTION\n{exercise.solved}\n# END SOLUTION")
    yield new_raw_cell("# END SOLUTION")
    yield new_raw_cell("# BEGIN TESTS")
    yield new_code_cell(exercise.check)
    yield new_raw_cell("# END TESTS")
    yield new_raw_cell("# END QUESTION")


def as_comment(code: str) -> str:
    """Code as a comment, for a student to begin with."""
    return "\n".join(["# begin with:", *(f"# {line}".rstrip() for line in code.splitlines())])


FORMATS = {"nbgrader": nbgrader_cells, "otter": otter_cells}


def build_wheel(folder: Path) -> str:
    """The library as a wheel in the folder. No registry has it: an install by its name would take a stranger's."""
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    ready = ["--no-build-isolation"] if find_spec("hatchling") else []
    subprocess.run([*words, *ready, str(build.LABS.parent)], check=True)
    return max(folder.glob("guidedviz-*.whl"), key=lambda path: path.stat().st_mtime).name


def otter_config(wheel: str) -> str:
    """The files and packages of an assignment; its grader unpacks the files there."""
    needed = f"guidedviz[lab] @ file:///autograder/source/files/{wheel}"
    return f"# ASSIGNMENT CONFIG\nrequirements: ['{needed}']\nautograder_files: ['{wheel}']"


def assignment(name: str, form: str, wheel: str = "") -> NotebookNode:
    """The exercises of a lab as one notebook."""
    source = build.read_source(name)
    notebook = new_notebook(metadata=build.METADATA)
    if form == "otter":
        notebook.cells.append(new_raw_cell(otter_config(wheel)))
    title = re.findall(r"^# # (.*)$", source, re.MULTILINE)[0]
    notebook.cells.append(new_markdown_cell(f"# {title}: exercises"))
    for exercise in read_exercises(source):
        notebook.cells.extend(new_code_cell(code) for code in exercise.needed)
        notebook.cells.extend(FORMATS[form](exercise))
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{re.sub('[_/]', '-', name)}-{number:02}"
    return notebook


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Export the exercises for nbgrader or Otter.")
    parser.add_argument("form", choices=list(FORMATS))
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    wheel = build_wheel(chosen.folder) if chosen.form == "otter" else ""
    for name in (name for name in build.lab_names() if "/" not in name):
        place = chosen.folder / ("source/" + name if chosen.form == "nbgrader" else "")
        place.mkdir(parents=True, exist_ok=True)
        nbformat.write(assignment(name, chosen.form, wheel), place / f"{name}.ipynb")
        print(place / f"{name}.ipynb")
    return 0


if __name__ == "__main__":
    sys.exit(main())
