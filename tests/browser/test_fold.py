"""The folded machine in a real JupyterLab: a thick arrow unfolds and folds by mouse, keyboard and from the kernel."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

RECORD = r"""machine = gv.regex(r'\{"name": "[A-Z][a-z]+", "sex": "(male|female|other)", "age": [0-9]+\}')"""


def open_folded(open_notebook, machine=RECORD):
    notebook = open_notebook(f"import guidedviz as gv\n{machine}", "shown = gv.folded(machine)\nshown")
    notebook.run_all()
    root = notebook.page.locator(".gv-fold")
    root.locator(".gv-machine .gv-state").first.wait_for()
    return notebook, root


def states(root):
    return root.locator(".gv-state").count()


def wait_for(notebook, root, count):
    notebook.page.wait_for_function(
        "([root, count]) => root.querySelectorAll('.gv-state').length === count", arg=[root.element_handle(), count]
    )


def test_a_thick_arrow_unfolds_when_it_is_pressed_and_folds_again(open_notebook):
    notebook, root = open_folded(open_notebook)
    before, first = states(root), root.get_by_role("button", name='{"name"')
    notebook.shot("fold-light", root)
    assert "of them folded" in root.locator("header").inner_text()
    first.locator(".gv-label").click()
    wait_for(notebook, root, before + 9)
    assert first.get_attribute("aria-expanded") == "true"
    notebook.page.wait_for_timeout(500)
    notebook.shot("fold-unfolded-light", root)
    notebook.theme("JupyterLab Dark")
    notebook.shot("fold-unfolded-dark", root)
    root.locator(".gv-state.gv-turns").nth(4).click()
    wait_for(notebook, root, before)
    notebook.page.wait_for_timeout(500)
    notebook.shot("fold-dark", root)
    notebook.theme("JupyterLab Light")


def test_the_keyboard_does_the_same_and_keeps_its_place(open_notebook):
    notebook, root = open_folded(open_notebook)
    before, first = states(root), root.get_by_role("button", name='{"name"')
    root.get_by_role("button", name="unfold all").focus()
    notebook.page.keyboard.press("Tab")
    held = "document.activeElement.getAttribute('aria-label')"
    assert notebook.page.evaluate(held).startswith('{"name":')
    notebook.shot("fold-keyboard", root)
    for count, key in ((before + 9, "Enter"), (before, " "), (before + 9, "Enter")):
        notebook.page.keyboard.press(key)
        wait_for(notebook, root, count)
        assert notebook.page.evaluate(held).startswith('{"name":'), "the arrow is still held"
    notebook.page.keyboard.press("Enter")
    wait_for(notebook, root, before)
    assert first.get_attribute("aria-expanded") == "false"


def test_all_at_once_and_from_the_kernel(open_notebook):
    notebook, root = open_folded(open_notebook)
    before = states(root)
    root.get_by_role("button", name="unfold all").click()
    root.get_by_role("button", name="fold all", exact=True).wait_for()
    notebook.run_cell(0, "print(len(machine))")
    wait_for(notebook, root, int(notebook.outputs(0)))
    notebook.page.wait_for_timeout(500)
    notebook.shot("fold-all", root)
    root.get_by_role("button", name="fold all", exact=True).click()
    wait_for(notebook, root, before)
    notebook.run_cell(0, "shown.turn(3).unfolded")
    wait_for(notebook, root, before + 9)


def test_a_grammar_unfolds_inside_its_rules_and_hostile_text_stays_text(open_notebook):
    machine = r"""machine = gv.grammar('root ::= "<script>hacked=1</script>" word\nword ::= "é☃" | [0-9]+ "kg" word')"""
    notebook, root = open_folded(open_notebook, machine)
    before = states(root)
    assert root.locator("script").count() == 0
    notebook.shot("fold-grammar", root)
    root.get_by_role("button", name="é☃").locator(".gv-label").click()
    wait_for(notebook, root, before + 4)
    notebook.page.wait_for_timeout(500)
    notebook.shot("fold-grammar-unfolded", root)
    root.get_by_role("button", name="<script>").locator(".gv-label").click()
    wait_for(notebook, root, before + 4 + len("<script>hacked=1</script>") - 1)
    assert notebook.page.evaluate("window.hacked") is None
