"""What runs on the way from a text to a mask and to a token: the files of the README's reading path, and not too many.

A stop is a function of the library that is called on the way. A stranger who follows a walk reads each of them.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

WALKS = """
import json, pkgutil, sys
from importlib import import_module
from pathlib import Path
import guidedviz as gv

HOME = Path(gv.__file__).parent
FUNCTION = 3  # a function's code is optimised and has locals of its own; the body of a class is not
for room in (gv.machines, gv.tokens, gv.decoding):  # all are imported before
    for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
        import_module(module.name)
pieces = [bytes([byte]) for byte in range(32, 127)] + [b"<eos>"]
toy = gv.ToyModel(pieces, lambda tokens: [0.0] * len(pieces), eos=[95])
digits = gv.guide(gv.regex("[0-9]+"), toy.vocabulary)
masks = [digits.mask(state) for state in (0, 1)]  # by a walk, then by the index


def mask_of(machine):
    guide = gv.guide(machine, gv.Vocabulary(pieces, eos=[95]))
    return guide, guide.mask(guide.initial)


def second_mask():
    guide = gv.guide(gv.regex("[a-z]+"), toy.vocabulary)
    return guide, guide.mask(0), guide.mask(1)


walks = {
    "regex": lambda: mask_of(gv.regex(r"[0-9]+(\\.[0-9]+)?")),
    "grammar": lambda: mask_of(gv.grammar('root ::= "(" root ")" | "x"')),
    "decode": lambda: next(iter(gv.decode(toy, "7", digits))),
    "index": second_mask,
}
held = []  # what is dropped would be taken apart on the way of another walk
stops = {}
for name, walk in walks.items():
    found = set()

    def note(frame, event, argument):
        code = frame.f_code
        file = Path(code.co_filename)
        if event == "call" and HOME in file.parents and code.co_flags & FUNCTION == FUNCTION:
            if not code.co_name.startswith("<") and file != HOME / "lazy.py":
                found.add((file.relative_to(HOME).as_posix(), code.co_qualname))

    sys.setprofile(note)
    held.append(walk())
    sys.setprofile(None)
    stops[name] = sorted(found)
print(json.dumps(stops))
"""


@pytest.fixture(scope="module")
def stops() -> dict[str, list[tuple[str, str]]]:
    ran = subprocess.run([sys.executable, "-c", WALKS], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def test_every_file_of_the_reading_path_runs(stops):
    readme = (ROOT / "README.md").read_text()
    path = re.findall(r"^\| \d+ \| \[`([^`]+)`\]", readme, re.MULTILINE)
    assert path
    assert set(path) <= {file for walk in stops.values() for file, _ in walk}


@pytest.mark.parametrize(("walk", "files", "functions"), [("regex", 20, 110), ("grammar", 29, 177), ("decode", 16, 80)])
def test_a_walk_has_few_stops(stops, walk, files, functions):
    assert len({file for file, _ in stops[walk]}) <= files
    assert len(stops[walk]) <= functions
