"""The exercises of a lab with the cells that they need, read from its two notebooks: the open one and the solved one.

An answer is a function or a literal. The check of an exercise becomes a cell that imports the library anew, so that an
answer that replaces `gv.checks` or a part of the library gets no points. It runs in the kernel of the answer, as the
graders do it: an answer that changes Python itself, or a teacher's file, is not found.
"""

import ast
import json
import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guidedviz.commands.labs import find_labs
from guidedviz.errors import SettingError, quoted

CHECK = re.compile(r"gv\.checks\.(\w+)\((\w+)(?:, (\w+))?\)")
HOME = " · home"  # how the heading of homework ends
STARS = re.compile(rf"^#+ .*?(★+)(?:{HOME})?$", re.MULTILINE)
NAMED_FUNCTION = re.compile(r"# .*`(\w+)`")  # a comment of an open answer may name a function of an earlier cell
ONLY_SHOWS = re.compile(r"^(gv|print)\b")
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
class LabCell:
    """One cell of a lab, as its two notebooks have it."""

    kind: str
    opened: str
    solved: str
    is_exercise: bool


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


def numbered_labs() -> list[str]:
    """The names of the labs of the course and of the project, without the optional pages.

    >>> numbered_labs()[0]
    '00_start_here'
    """
    return [name.removesuffix(".ipynb") for name in find_labs() if "/" not in name]


def read_cells(name: str) -> list[LabCell]:
    """The cells of a lab.

    >>> read_cells("00_start_here")[0].opened.splitlines()[0]
    '# Lab 00 · Start here'
    """
    labs = find_labs(solutions=True)
    solved_name = f"solutions/{name}.ipynb"
    if solved_name not in labs:
        raise SettingError(f"lab {quoted(name)}", seen="no solution", expected="a lab such as 03_fsm")
    opened = _read_notebook(labs[f"{name}.ipynb"])
    solved = _read_notebook(labs[solved_name])
    del solved[1]  # it says that these are the solutions
    cells = []
    for first, second in zip(opened, solved, strict=True):
        is_exercise = "exercise" in first["metadata"].get("tags", ())
        code = "".join(first["source"])
        answer = "".join(second["source"])
        cells.append(LabCell(first["cell_type"], code, answer, is_exercise))
    return cells


def _read_notebook(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_bytes())["cells"])


def read_title(name: str) -> str:
    """The title of a lab.

    >>> read_title("03_fsm")
    'Lab 03 · Finite-state machines'
    """
    first_line, *_ = read_cells(name)[0].opened.splitlines()
    return first_line.removeprefix("# ")


def read_exercises(name: str) -> Iterator[Exercise]:
    """The exercises of a lab, in order.

    >>> [exercise.name for exercise in read_exercises("03_fsm")]
    ['advance', 'compile_pattern']
    """
    cells = read_cells(name)
    given: set[int] = set()
    for place, cell in enumerate(cells):
        if not cell.is_exercise:
            continue
        needed = [one for one in needed_cells(cells[:place], cell) if one not in given]
        given.update([*needed, place])
        text = _read_text(cells[:place])
        later = [one.solved for one in cells[place:]]
        check = next(code for code in later if "gv.checks." in code)
        graded, answer, model = CHECK.findall(check)[0]
        is_function = is_defined(answer, cell.solved)
        shown = [without_shows(cells[one].solved) for one in needed]
        points = len(STARS.findall(text)[0])
        yield Exercise(
            name=graded,
            text=text,
            points=points,
            needed=tuple(filter(None, shown)),
            solved=without_check(cell.solved),
            opened=without_check(cell.opened),
            answer=answer,
            check=write_check(graded, answer, model, is_function),
        )


def _read_text(before: Sequence[LabCell]) -> str:
    """The text of an exercise: from its heading on to its answer."""
    start = max(place for place, cell in enumerate(before) if STARS.search(cell.opened))
    return "\n\n".join(cell.opened for cell in before[start:])


def is_defined(name: str, code: str) -> bool:
    """Whether the code defines a function or a class of this name.

    >>> is_defined("Engine", "class Engine:\\n    ..."), is_defined("only", "only = 1")
    (True, False)
    """
    return f"def {name}(" in code or f"class {name}:" in code


def write_check(name: str, answer: str, model: str, is_function: bool) -> str:
    """The cell that grades an answer. A value goes to the library anew as a pickle, and a model is loaded anew.

    >>> write_check("only_answers", "only", "clerk", is_function=False).splitlines()[12]
    'verdict = guidedviz.checks.only_answers(pickle.loads(given), guidedviz.load_model("clerk"))'
    """
    given = answer
    read = "given"
    if not is_function:
        given = f"pickle.dumps({answer})"
        read = "pickle.loads(given)"
    if model:
        read += f', guidedviz.load_model("{model}")'
    return GRADE.format(given=given, name=name, read=read)


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
    gone: set[int] = set()
    for node in ast.parse(code).body:
        if isinstance(node, ast.Expr) and ONLY_SHOWS.match(ast.unparse(node)):
            last = node.end_lineno or node.lineno
            gone.update(range(node.lineno, last + 1))
    lines = enumerate(code.splitlines(), 1)
    kept = [line for number, line in lines if number not in gone]
    return "\n".join(kept).strip()


def needed_cells(before: Sequence[LabCell], exercise: LabCell) -> list[int]:
    """The places of the cells that define what an exercise reads or names in a comment, with the imports.

    >>> codes = [LabCell("code", code, code, False) for code in ("import re", "a = 1", "b = a", "c = 2", "d = 3")]
    >>> needed_cells(codes, LabCell("code", "...  # as `d`", "print(b)", True))
    [0, 1, 2, 4]
    """
    codes = {place: cell.solved for place, cell in enumerate(before) if cell.kind == "code"}
    found = {min(codes)}
    wanted = [exercise]
    while wanted:
        cell = wanted.pop()
        reads = names_read(cell.solved)
        reads.update(NAMED_FUNCTION.findall(cell.solved))
        reads.update(NAMED_FUNCTION.findall(cell.opened))
        for place, code in codes.items():
            if place not in found and reads & names_defined(code):
                found.add(place)
                wanted.append(before[place])
    return sorted(found)


def names_defined(code: str) -> set[str]:
    """The names that the statements of a cell define; the variables of its loops are not meant for other cells.

    >>> sorted(names_defined("def f(): x = 1\\na, b = 1, 2\\nfor c in (): pass"))
    ['a', 'b', 'f']
    """
    names = set()
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            stored = (one for one in ast.walk(node) if isinstance(one, ast.Name))
            names.update(one.id for one in stored if isinstance(one.ctx, ast.Store))
    return names


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
