"""Each notebook gives the outputs that are committed, with the packages of the extra `lab` alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.labs.sources import BUILT, build

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")

LONG = ("deeper/samplers", "deeper/who_is_right", "deeper/xgrammar_forensics")  # five seconds each
HALF = (  # most work is in the second half
    "00_start_here", "01_logit_bias", "02_static_masks", "06_json_schema", "11_jump_forward", "13_when_it_goes_wrong",
    "15_think_then_call", "deeper/a_request", "project",
)  # fmt: skip
QUICK = [f"solved-{name}" for name in BUILT if name not in LONG + HALF]


@pytest.fixture(scope="module")
def runner():
    """The process that runs labs."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    words = [sys.executable, "-m", "tests.labs.cells"]
    with subprocess.Popen(words, cwd=ROOT, env=os.environ | build.ALIKE, text=True, **pipes) as process:

        def run(folder, part, name):
            """The cells that do not give what is committed."""
            print(folder, part, name, file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield run
        process.stdin.close()


PARTS = [(part, name) for part in ("solved", "open") for name in BUILT] + [("half", name) for name in HALF]


@pytest.mark.parametrize(("part", "name"), PARTS)
@pytest.mark.quick(*QUICK, *(f"half-{name}" for name in HALF), "open-08_grammars_at_work")
def test_a_lab_gives_what_is_committed(runner, part, name):
    assert runner("labs", part, name) == []


def write_lab(file, cells):
    """A notebook with these cells, each a text and what it printed."""
    outputs = [[new_output("stream", text=printed)] if printed else [] for _, printed in cells]
    file.parent.mkdir(exist_ok=True)
    found = [new_code_cell(code, outputs=given) for (code, _), given in zip(cells, outputs, strict=True)]
    nbformat.write(new_notebook(cells=found), file)


def test_what_is_not_as_committed_is_found_in_both_notebooks(runner, tmp_path):
    above = [("x = 1", ""), ("print('above', x)", "above 1\n")]
    write_lab(tmp_path / "42.ipynb", [*above, ("y = ...", ""), ("print(x, y)", "1 Ellipsis\n"), ("1 / 0", "")])
    solved = [*above, ("y = 2", ""), ("print(x, y)", "1 3\n"), ("import torch", "")]
    write_lab(tmp_path / "solutions" / "42.ipynb", solved)
    opened = runner(tmp_path, "open", "42")
    other, missing = runner(tmp_path, "solved", "42")
    assert [wrong["error"] for wrong in opened] == ["ZeroDivisionError: division by zero"]
    assert (other["committed"], other["given"]) == (["printed: 1 3\n"], ["printed: 1 2\n"])
    assert missing["error"] == "ModuleNotFoundError: No module named 'torch'"
    assert runner(tmp_path, "half", "42") == [], "the cells that differ are in the second half"
