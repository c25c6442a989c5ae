"""The constraint is edited on the page: an error shows its caret, a good text is taken over or waits."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

TOY = """import guidedviz as gv, zlib, numpy as np
PIECES = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b'{"', b'":', b'name', b'age', b'Ada', b'Bob', b'36', b'"}']
PIECES += [b'<img src=x onerror=window.hacked=1>', "\\u202e".encode()]
def rule(tokens):
    logits = np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(PIECES))
    logits[96:] += 5
    return logits
model = gv.ToyModel(PIECES, rule, eos={0})
"""
STAGE = r"""stage = gv.stage(model, 'say ', edit=r'\{"name": ?"[A-Z][a-z]+"\}', seed=3, steps=6)
stage"""
REJECTS = r'\{"age": ?[0-9]+\}'


def open_stage(open_notebook, cell=STAGE):
    notebook = open_notebook(TOY, cell)
    notebook.run_all()
    stage = notebook.stage()
    return notebook, stage, stage.root.locator(".gv-edit")


def write(box, text: str) -> None:
    box.locator("textarea").fill(text)


def wait_for(box, state: str) -> None:
    box.and_(box.page.locator(f"[data-state='{state}']")).wait_for(timeout=10000)


def test_a_wrong_text_shows_its_caret_and_the_old_constraint_runs_on(open_notebook):
    notebook, stage, box = open_stage(open_notebook)
    write(box, r'\{"name": ?"[A-Z')
    wait_for(box, "wrong")
    said = box.locator(".gv-edit-error")
    assert said.locator("p").inner_text().startswith("regex line 1, column 13: ")
    line, caret = said.locator("pre").inner_text().split("\n")
    assert line[caret.index("^")] == "["
    assert "monospace" in said.locator("pre").evaluate("node => getComputedStyle(node).fontFamily")
    notebook.shot("edit-wrong", stage.root)
    stage.press("one step on")
    stage.wait(7)
    notebook.run_cell(0, 'print(gv.regex(r\'\\{"name": ?"[A-Z][a-z]+"\\}\').accepts_prefix(stage.text.encode()))')
    assert notebook.outputs(0).strip() == "True"


def test_a_good_text_holds_at_once_and_says_what_may_come_now(open_notebook):
    _, stage, box = open_stage(open_notebook)
    states = stage.root.locator("[data-slot='machine'] svg:not(.gv-over) .gv-state").count()
    write(box, r'\{"name": ?"[A-Z][a-z]+"(, "age": [0-9]+)?\}')
    wait_for(box, "runs")
    assert stage.cursor == 6
    assert box.locator(".gv-edit-changes").is_visible()
    stage.root.locator("[data-slot='machine'] svg:not(.gv-over) .gv-state").nth(states).wait_for()
    assert "from step 7 on" in stage.root.locator(".gv-about").inner_text()
    stage.press("one step on")
    stage.wait(7)
    box.locator(".gv-edit-changes").wait_for(state="hidden")


def test_what_rejects_a_token_marks_it_and_goes_back_there(open_notebook):
    notebook, stage, box = open_stage(open_notebook)
    write(box, REJECTS)
    wait_for(box, "waits")
    tokens = stage.tokens
    marked = stage.root.locator(".gv-chip.gv-rejected")
    place = int(marked.get_attribute("data-place"))
    assert tokens[place] in box.locator(".gv-edit-rejects").inner_text()
    assert stage.cursor == 6, "the constraint before runs on"
    assert "only before the edit" in stage.root.locator("[data-slot='map'] .gv-map-legend").inner_text()
    notebook.shot("edit-rejected", stage.root)
    notebook.theme("JupyterLab Dark")
    notebook.shot("edit-rejected-dark", stage.root)
    notebook.theme("JupyterLab Light")
    box.get_by_role("button", name="go back there").click()
    stage.wait(place)
    assert stage.tokens == tokens[:place]
    wait_for(box, "runs")
    assert marked.count() == 0
    names = "nodes => nodes.map(node => node.textContent).join(' ')"
    assert "a g e" in stage.root.locator("[data-slot='machine'] .gv-label").evaluate_all(names), "the new machine"
    notebook.shot("edit-went-back", stage.root)
    stage.press("one step on")
    stage.wait(place + 1)
    assert stage.tokens[-1] == "age"


def test_letters_typed_are_letters_and_escape_gives_the_keys_back(open_notebook):
    notebook, stage, box = open_stage(open_notebook)
    text = box.locator("textarea")
    text.fill("")
    cells = notebook.page.locator(".jp-Cell").count()
    text.press_sequentially("r 1aabdd", delay=5)
    for key in ("ArrowLeft", "Home", "End", "Shift+Enter", "Control+Enter"):
        text.press(key)
    assert text.input_value().strip() == "r 1aabdd"
    assert notebook.page.locator(".jp-Cell").count() == cells, "and nothing of JupyterLab's"
    assert stage.cursor == 6
    assert stage.root.get_attribute("data-playing") == "false"
    text.press("Escape")
    notebook.page.keyboard.press("ArrowLeft")
    stage.wait(5)


def test_a_hostile_text_stays_text_and_another_language_is_a_press_away(open_notebook):
    notebook, stage, box = open_stage(open_notebook)
    write(box, "<img src=x onerror=window.hacked=1>\u202e(")
    wait_for(box, "wrong")
    assert "<U+202E>" in box.locator(".gv-edit-error").inner_text()
    write(box, "(<img src=x onerror=window.hacked=1>|say)")
    wait_for(box, "waits")
    box.get_by_role("button", name="go back there").click()
    wait_for(box, "runs")
    assert "<img␣src=x" in box.locator(".gv-edit-legal").inner_text()
    assert notebook.page.evaluate("window.hacked") is None
    write(box, 'root ::= "{" vlaue\nvalue ::= "a"')
    wait_for(box, "runs")  # as a regex it is right, and something else
    box.get_by_role("button", name="grammar").click()
    box.locator(".gv-edit-error:has-text('GBNF line 1, column 14')").wait_for()
    assert 'did you mean "value"' in box.locator(".gv-edit-error").inner_text()
    notebook.shot("edit-grammar", stage.root)
    notebook.page.set_viewport_size({"width": 560, "height": 1000})
    notebook.page.wait_for_timeout(300)
    notebook.shot("edit-narrow", stage.root)
