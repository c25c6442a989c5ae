"""The folded machine on a bare page: a thick arrow unfolds and folds by mouse, keyboard and from Python."""

from __future__ import annotations

import pytest

import guidedviz as gv

pytestmark = pytest.mark.browser

RECORD = r'\{"name": "[A-Z][a-z]+", "sex": "(male|female|other)", "age": [0-9]+\}'


def show(bare, machine=None):
    folded = gv.folded(machine or gv.regex(RECORD))
    root = bare.show(folded)
    bare.wait(lambda: folded.display.widget._answered)
    return folded, root


def states(root):
    return root.locator(".gv-state").count()


def wait_for(bare, root, count):
    check = "([root, count]) => root.querySelectorAll('.gv-state').length === count"
    bare.page.wait_for_function(check, arg=[root.element_handle(), count])


def test_a_thick_arrow_unfolds_when_it_is_pressed_and_folds_again(bare):
    _, root = show(bare)
    before, first = states(root), root.get_by_role("button", name='{"name"')
    assert "of them folded" in root.locator("header").inner_text()
    first.locator(".gv-label").click()
    wait_for(bare, root, before + 9)
    assert first.get_attribute("aria-expanded") == "true"
    bare.shot("fold-unfolded", root)
    root.locator(".gv-state.gv-turns").nth(4).click()
    wait_for(bare, root, before)


def test_the_keyboard_does_the_same_and_keeps_its_place(bare):
    _, root = show(bare)
    before, first = states(root), root.get_by_role("button", name='{"name"')
    root.get_by_role("button", name="unfold all").focus()
    bare.page.keyboard.press("Tab")  # there is nothing to fold yet: that button is skipped
    held = "document.activeElement.getAttribute('aria-label')"
    assert bare.page.evaluate(held).startswith('{"name":')
    for count, key in ((before + 9, "Enter"), (before, " "), (before + 9, "Enter")):
        bare.page.keyboard.press(key)
        wait_for(bare, root, count)
        assert bare.page.evaluate(held).startswith('{"name":'), "the arrow is still held"
    bare.page.keyboard.press("Enter")
    wait_for(bare, root, before)
    assert first.get_attribute("aria-expanded") == "false"


def test_all_at_once_and_from_python(bare):
    folded, root = show(bare)
    before = states(root)
    root.get_by_role("button", name="unfold all").click()
    wait_for(bare, root, len(folded.machine))
    bare.shot("fold-all", root)
    assert root.get_by_role("button", name="unfold all").is_disabled()
    root.get_by_role("button", name="fold all", exact=True).click()
    wait_for(bare, root, before)
    folded.turn(3)
    wait_for(bare, root, before + 9)
    root.get_by_role("button", name="unfold all").click()  # with one chain open the others still unfold
    wait_for(bare, root, len(folded.machine))


def test_a_grammar_unfolds_inside_its_rules(bare):
    grammar = 'root ::= "begin here" word\nword ::= "é☃" | [0-9]+ "kg" word'
    _, root = show(bare, gv.grammar(grammar))
    before = states(root)
    root.get_by_role("button", name="é☃").locator(".gv-label").click()
    wait_for(bare, root, before + 4)
    root.get_by_role("button", name="begin").locator(".gv-label").click()
    wait_for(bare, root, before + 4 + len("begin here") - 1)
    bare.shot("fold-grammar", root)
