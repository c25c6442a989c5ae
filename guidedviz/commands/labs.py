"""`guidedviz labs` copies the notebooks to a folder of the student, `guidedviz teach` adds all that a teacher needs.

A file that is there is never overwritten. Then JupyterLab opens on the first page.
"""

import argparse
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from guidedviz.errors import SettingError, escaped, quoted
from guidedviz.extras import need
from guidedviz.files import PACKAGE

FOLDER = "guidedviz-labs"
FIRST_LAB = "00_start_here.ipynb"
PLAN = "teaching/course.md"
MOST_PORT = 65535


def add_labs(parser: argparse.ArgumentParser) -> None:
    """The options of `labs`."""
    add_folder(parser)
    parser.add_argument("--solutions", action="store_true", help="copy the solved labs, too")
    parser.add_argument("--fresh", metavar="LAB", default="", help="copy only this lab, such as 03, beside yours")
    parser.set_defaults(run=run_labs)


def add_teach(parser: argparse.ArgumentParser) -> None:
    """The options of `teach`."""
    add_folder(parser)
    parser.set_defaults(run=run_teach)


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Where the copies go, and what opens afterwards."""
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="a new one, or one with labs from before")
    parser.add_argument("--no-open", action="store_true", help="only copy")
    parser.add_argument("--port", type=int, help="of JupyterLab")


def run_labs(options: argparse.Namespace) -> None:
    """Copy the labs, say what was kept, and open JupyterLab on the first one."""
    folder = options.folder.expanduser()
    check_port("labs", options.port)
    with writing("labs", folder):
        if options.fresh:
            copy = copy_fresh(folder, options.fresh, options.solutions)
            print(f"a fresh copy: {escaped(str(copy))}")
            return
        new, changed = copy_files(find_labs(options.solutions), folder)
    print(f"{len(new)} notebooks copied to {escaped(str(folder))}")
    for name in changed:
        print(f"kept {name}: it was changed; for a fresh copy beside it: --fresh {name[:-6]}")
    if not options.no_open:
        open_jupyterlab("labs", [str(folder / FIRST_LAB)], options.port)


def run_teach(options: argparse.Namespace) -> None:
    """Copy the teacher's pages with all labs and solutions, and open JupyterLab on the plan of the course."""
    folder = options.folder.expanduser()
    check_port("teach", options.port)
    with writing("teach", folder):
        new, changed = copy_files(find_pages() | find_labs(solutions=True), folder)
    print(f"{len(new)} pages and notebooks copied to {escaped(str(folder))}")
    for name in changed:
        print(f"kept {name}: it was changed")
    print(f"begin with {escaped(str(folder / PLAN))}; in JupyterLab, right-click the text: Show Markdown Preview")
    if not options.no_open:
        words = [f"--ServerApp.root_dir={folder.resolve()}"]
        words.append(f"--LabApp.default_url=/lab/tree/{PLAN}")
        open_jupyterlab("teach", words, options.port)


def check_port(command: str, port: int | None) -> None:
    """Refuse a number that is no port.

    >>> check_port("labs", 8888)
    """
    if port is not None and not 0 <= port <= MOST_PORT:
        raise SettingError(f"{command}, --port", seen=str(port), expected=f"0 to {MOST_PORT}")


def open_jupyterlab(command: str, words: list[str], port: int | None) -> None:
    """Run JupyterLab until it is ended."""
    lab = need("jupyterlab.labapp", "lab", f"guidedviz {command}")
    if port is not None:
        words.append(f"--port={port}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")
    lab.main(words)


@contextmanager
def writing(command: str, folder: Path) -> Iterator[None]:
    """Say in one error that a folder cannot be written."""
    try:
        yield
    except OSError as error:
        where = f"{command}, folder {quoted(str(folder))}"
        seen = error.strerror or str(error)
        raise SettingError(where, seen=seen, expected="a folder that can be written") from error


# -- the files -----------------------------------------------------------------------------------------------------


def find_course() -> Path:
    """The folder with the course: in a wheel beside the code, in a clone at the top."""
    for folder in (PACKAGE / "assets" / "labs", PACKAGE.parent / "labs"):
        if (folder / FIRST_LAB).is_file():
            return folder
    raise SettingError("labs", seen="no notebooks", expected="labs that came with guidedviz", hint="install it again")


def find_labs(solutions: bool = False) -> dict[str, Path]:
    """The notebooks by their names; the solved ones on request.

    >>> list(find_labs())[0]
    '00_start_here.ipynb'
    """
    course = find_course()
    hidden = {".ipynb_checkpoints"}
    if not solutions:
        hidden.add("solutions")
    names = [path.relative_to(course) for path in sorted(course.rglob("*.ipynb"))]
    shown = [name for name in names if hidden.isdisjoint(name.parts)]
    return {name.as_posix(): course / name for name in shown}


def find_pages() -> dict[str, Path]:
    """The teacher's pages by their names.

    >>> PLAN in find_pages()
    True
    """
    course = find_course()
    pages = sorted(course.glob("teaching/*.*"))
    return {page.relative_to(course).as_posix(): page for page in pages}


def copy_files(files: Mapping[str, Path], folder: Path) -> tuple[list[str], list[str]]:
    """Copy the files that the folder lacks; the names of the copied ones, and of those that differ and stay."""
    new = []
    changed = []
    for name, source in files.items():
        content = source.read_bytes()
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(copy):
            with open(copy, "xb") as file:  # never writes over a student's work
                file.write(content)
            new.append(name)
        elif not copy.is_file() or copy.read_bytes() != content:
            changed.append(name)
    return new, changed


def copy_fresh(folder: Path, lab: str, solutions: bool = False) -> Path:
    """Copy one lab again, under a new name beside the student's file; the path of the copy."""
    labs = find_labs(solutions)
    found = [name for name in labs if name.startswith(lab)]
    if len(found) != 1:
        seen = f"{quoted(lab)}, {len(found)} labs"
        raise SettingError("labs, --fresh", seen=seen, expected="the start of one name, such as 03")
    copy = folder / found[0]
    copy.parent.mkdir(parents=True, exist_ok=True)
    path = copy.with_stem(f"{copy.stem}-fresh")
    number = 1
    while os.path.lexists(path):
        number += 1
        path = copy.with_stem(f"{copy.stem}-fresh-{number}")
    with open(path, "xb") as file:
        file.write(labs[found[0]].read_bytes())
    return path
