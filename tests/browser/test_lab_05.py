"""Lab 05 as a student works through it: the stack moves, a wrong grammar is shown, the rules change while it writes."""

from __future__ import annotations

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

LABS = Path(__file__).resolve().parents[2] / "labs"
CELLS = json.loads((LABS / "05_pda.ipynb").read_text(encoding="utf-8"))["cells"]

TAGS = '''tags = r"""
root   ::= ([a-z ] | bold | italic)*
bold   ::= "<b>" root "</b>"
italic ::= "<i>" {inside} "</i>"
"""
gv.check_tags(tags)'''
MISSPELT = TAGS.replace("{inside}", "rooot")
SHALLOW = TAGS.replace("{inside}", "[a-z ]*")
SUMS = 'sums = given.replace("root sign item | item", "item{rest}")\ngv.check_sums(sums)'
LISTS = '''lists = r"""
root   ::= "[" (item ("," item)*)? "]"
item   ::= number | root
number ::= {number}
"""
gv.check_lists(lists)'''


@pytest.fixture(scope="module")
def notebook(open_once, lab):
    shutil.copytree(LABS, lab[2] / "labs", dirs_exist_ok=True, ignore=shutil.ignore_patterns("src", ".*"))
    opened = open_once(name="labs/05_pda.ipynb")
    opened.run_all(timeout=300)
    assert opened.failed_cells() == []
    return opened


def place_of(words):
    return next(place for place, cell in enumerate(CELLS) if words in "".join(cell["source"]))


def cell_of(notebook, words):
    cell = notebook.page.locator(".jp-Cell").nth(place_of(words))
    cell.scroll_into_view_if_needed()
    return cell


def answer(notebook, words, source):
    """Run a student's answer, and what the check says to it."""
    notebook.run_cell(place_of(words), source)
    return notebook.outputs(place_of(words))


def step_to_the_end(stage):
    """How deep the stack was before each token and after the last."""
    stage.wait(0)
    depths = [depth_of(stage)]
    while stage.root.get_by_role("button", name="one step on").is_enabled():
        stage.press("one step on")
        stage.wait(len(depths))
        depths.append(depth_of(stage))
    return depths


def depth_of(stage):
    said = stage.root.locator("[data-slot='stack'] .gv-panel-head").inner_text()
    return int(re.search(r"depth (\d+)", said)[1])


def test_the_stack_is_seen_to_push_and_pop(notebook):
    notebook.page.emulate_media(reduced_motion="reduce")  # no waiting for frames to slide
    stage = notebook.stage(0)
    depths = step_to_the_end(stage)
    assert "".join(stage.tokens).startswith('{"piano":')
    assert depths[0] == depths[-1] == 1, "the root"
    assert max(depths) >= 6, "and an object for each box, and what is open in the innermost"
    assert max(before - after for before, after in pairwise(depths)) >= 4, "one token closes a string and four objects"
    stage.press("one step back")
    stage.press("one step back")
    stage.wait(len(depths) - 3)
    notebook.shot("lab-05-stage", stage.root)
    notebook.theme("JupyterLab Dark")
    notebook.shot("lab-05-stage-dark", stage.root)
    notebook.theme("JupyterLab Light")
    for name in ("tree", "chart", "depth"):
        stage.root.locator(f"[data-slot='stack'] [data-name='{name}']").click()
        stage.root.locator("[data-slot='stack'] .gv-stack-picture svg").wait_for()
        notebook.page.wait_for_timeout(500)
        notebook.shot(f"lab-05-{name}", stage.root)


def test_the_rules_change_while_it_writes(notebook):
    stage = notebook.stage(1)
    stage.run_to_end()
    box = stage.root.get_by_label("text of the constraint")
    box.fill(box.input_value().replace("[a-z]+", "[A-Z]+"))
    back = stage.root.get_by_role("button", name="go back there")
    back.wait_for()
    assert "piano" in stage.root.locator(".gv-edit-rejects").inner_text()
    notebook.shot("lab-05-edit", stage.root)
    back.click()
    stage.wait(1)
    stage.run_to_end()
    assert re.fullmatch(r'[A-Z":␣{}]+', "".join(stage.tokens[:-1])), "names in capitals"
    box.fill(box.input_value().replace("| string", "| sting"))
    stage.root.locator(".gv-edit-error").wait_for()
    assert 'did you mean "string"?' in stage.root.locator(".gv-edit-error").inner_text()
    notebook.shot("lab-05-edit-error", stage.root)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(notebook):
    said = answer(notebook, "gv.check_tags", MISSPELT)
    assert 'did you mean "root"?' in said
    said = answer(notebook, "gv.check_tags", SHALLOW)
    assert "<i><b></b></i>" in said
    assert "italic, which waits for" in said
    notebook.shot("lab-05-wrong-tags", cell_of(notebook, "gv.check_tags"))
    assert "not yet" not in answer(notebook, "gv.check_tags", TAGS.replace("{inside}", "root"))

    assert "refuses it" in answer(notebook, "gv.check_sums", SUMS.replace("{rest}", " (sign item)?"))
    notebook.shot("lab-05-wrong-sums", cell_of(notebook, "gv.check_sums"))
    assert "begins with itself" in answer(notebook, "gv.check_sums", SUMS.replace("item{rest}", "(root sign)? item"))
    assert "not yet" not in answer(notebook, "gv.check_sums", SUMS.replace("{rest}", " (sign item)*"))
    notebook.run_cell(place_of("gv.guide(gv.grammar(sums)"))
    assert "guided '(3 + 4) * 5'" in notebook.outputs(place_of("gv.guide(gv.grammar(sums)"))

    assert "[00]" in answer(notebook, "gv.check_lists", LISTS.replace("{number}", "[0-9]+"))
    notebook.shot("lab-05-wrong-lists", cell_of(notebook, "gv.check_lists"))
    assert "not yet" not in answer(notebook, "gv.check_lists", LISTS.replace("{number}", '"0" | [1-9] [0-9]*'))
