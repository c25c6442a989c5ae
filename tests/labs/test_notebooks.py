"""Each notebook gives the outputs that are committed, with the packages of the extra `lab` alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.labs.sources import BUILT, NUMBERED, build

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")

QUICK = ("open-08_grammars_at_work", "solved-08_grammars_at_work", "half-deeper/a_request", "half-project")


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


@pytest.mark.parametrize("name", BUILT)
@pytest.mark.parametrize("part", ["open", "solved", "half"])
@pytest.mark.quick(*QUICK, *(f"half-{name}" for name in NUMBERED))
def test_a_lab_gives_what_is_committed(runner, part, name):
    assert runner("labs", part, name) == []


def test_what_is_not_as_committed_is_found(runner, tmp_path):
    cells = [("y = 2", ""), ("print(1, y)", "1 2\n"), ("print(1, y)", "1 3\n"), ("import torch", "")]
    given = [[new_output("stream", text=printed)] if printed else [] for _, printed in cells]
    found = [new_code_cell(code, outputs=outputs) for (code, _), outputs in zip(cells, given, strict=True)]
    nbformat.write(new_notebook(cells=found), tmp_path / "42.ipynb")
    other, missing = runner(tmp_path, "open", "42")
    assert (other["committed"], other["given"]) == (["printed: 1 3\n"], ["printed: 1 2\n"])
    assert missing["error"] == "ModuleNotFoundError: No module named 'torch'"
