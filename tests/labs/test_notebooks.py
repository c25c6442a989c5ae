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


WORDS = [sys.executable, "-m", "tests.labs.cells"]

LONG = ("deeper/samplers", "deeper/who_is_right", "deeper/xgrammar_forensics")  # five seconds each
HALF = ("00_start_here", "01_logit_bias", "06_json_schema", "15_think_then_call")  # most work is in the second half
QUICK = [f"solved-{name}" for name in BUILT if name not in LONG + HALF]


@pytest.fixture(scope="module")
def runner():
    """The process that runs labs."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*WORDS, "labs"], cwd=ROOT, env=os.environ | build.ALIKE, text=True, **pipes) as process:
        yield process
        process.stdin.close()


PARTS = [(part, name) for part in ("solved", "open") for name in BUILT] + [("half", name) for name in HALF]


@pytest.mark.parametrize(("part", "name"), PARTS)
@pytest.mark.quick(*QUICK, *(f"half-{name}" for name in HALF), "open-03_fsm")
def test_a_lab_gives_what_is_committed(runner, part, name):
    print(part, name, file=runner.stdin, flush=True)
    assert json.loads(runner.stdout.readline()) == []


def write_lab(file, cells):
    """A notebook with these cells, each a text and what it printed."""
    outputs = [[new_output("stream", text=printed)] if printed else [] for _, printed in cells]
    file.parent.mkdir(exist_ok=True)
    found = [new_code_cell(code, outputs=given) for (code, _), given in zip(cells, outputs, strict=True)]
    nbformat.write(new_notebook(cells=found), file)


def test_what_is_not_as_committed_is_found_in_both_notebooks(tmp_path):
    above = [("x = 1", ""), ("print('above', x)", "above 1\n")]
    write_lab(tmp_path / "42.ipynb", [*above, ("y = ...", ""), ("print(x, y)", "1 Ellipsis\n"), ("1 / 0", "")])
    solved = [*above, ("y = 2", ""), ("print(x, y)", "1 3\n"), ("import torch", "")]
    write_lab(tmp_path / "solutions" / "42.ipynb", solved)
    words = {"input": "open 42\nsolved 42\nhalf 42\n", "capture_output": True, "text": True, "check": True}
    done = subprocess.run([*WORDS, str(tmp_path)], cwd=ROOT, env=os.environ | build.ALIKE, **words)
    opened, (other, missing), half = map(json.loads, done.stdout.splitlines())
    assert [wrong["error"] for wrong in opened] == ["ZeroDivisionError: division by zero"]
    assert (other["committed"], other["given"]) == (["printed: 1 3\n"], ["printed: 1 2\n"])
    assert missing["error"] == "ModuleNotFoundError: No module named 'torch'"
    assert half == [], "the cells that differ are in the second half"
