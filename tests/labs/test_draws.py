"""Every processor draws the texts of the labs alike: no number lies near the limit between two tokens."""

import json
import os
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.labs.sources import NAMES, build

ROOT = str(Path(__file__).resolve().parents[2])
WATCH = f"""import sys
sys.path.insert(0, {ROOT!r})
from tests.labs import draws
draws.watch()"""
TELL = """import json
from tests.labs import draws
print(json.dumps([len(draws.COUNTED), draws.NEAR]))"""


def run_watched(cells):
    """Run cells in a kernel that watches; gives the number of draws, and those near a limit."""
    notebook = new_notebook(cells=[new_code_cell(WATCH), *cells, new_code_cell(TELL)])
    build.run_notebook(notebook)
    count, near = json.loads(notebook.cells[-1].outputs[-1].text)
    return count, near


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_draw_of_a_lab_is_near_another_token(name):
    _, near = run_watched(build.build_notebook(name, True).cells)
    assert near == [], "choose another seed"


NEARLY = """import numpy as np
import guidedviz as gv
def chances(limit):
    return np.array([limit, 1 - limit] + [0] * 63)
number = gv.sampling.uniform(7, 3)
gv.sampling.sample(chances(number + 2e-6), seed=7, position=3)
gv.sampling.sample(chances(number + 2e-5), seed=7, position=3)"""
OTHERS = """from guidedviz.decoding import samplers, speculation
number = np.random.default_rng(5).random()
samplers.pick(chances(number - 2e-6), np.random.default_rng(5))
speculation.Dice(7).accept(gv.sampling.uniform(7, 3, stream=1) + 2e-6, 3)
gv.sampling.softmax([1, 1.00002], temperature=0)"""


@pytest.mark.slow
def test_a_draw_near_another_token_is_found():
    before = dict(os.environ)
    count, near = run_watched([new_code_cell(NEARLY), new_code_cell(OTHERS)])
    assert count == 5
    assert [told.split(" from ")[0] for told in near] == [
        "code cell 1: seed 7, position 3, number 0.975034 is 2.0e-06",
        "code cell 2: a sampler's draw, number 0.805003 is 2.0e-06",
        "code cell 2: a guess, seed 7, position 3 is 2.0e-06",
        "code cell 2: the likeliest token is 2.0e-05",
    ]
    assert dict(os.environ) == before, "what a kernel gets is not left in this process"
