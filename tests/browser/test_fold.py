"""The folded machine on a bare page: a thick arrow unfolds and folds by mouse, keyboard and from Python."""

import pytest

import guidedviz as gv

pytestmark = pytest.mark.browser


def test_a_thick_arrow_unfolds_when_it_is_pressed_and_folds_again(bare):
    shown = gv.folded(gv.regex(r'\{"name": "[A-Z][a-z]+", "sex": "(male|female|other)", "age": [0-9]+\}'))
    root = bare.show(shown)
    first = root.get_by_role("button", name='{"name"')
    every = root.get_by_role("button", name="unfold all")
    first.wait_for()
    before = root.locator(".gv-state").count()

    def wait(count):
        bare.wait(lambda: root.locator(".gv-state").count() == count)

    first.locator(".gv-label").click()
    wait(before + 9)
    assert first.get_attribute("aria-expanded") == "true"
    root.locator(".gv-state.gv-turns").nth(4).click()
    wait(before)
    every.focus()
    bare.page.keyboard.press("Tab")  # there is nothing to fold yet: that button is skipped
    for count, key in ((before + 9, "Enter"), (before, " ")):
        bare.page.keyboard.press(key)
        wait(count)
        held = bare.page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert held.startswith('{"name":'), "the arrow is still held"
    every.click()
    wait(len(shown.machine))
    root.get_by_role("button", name="fold all", exact=True).click()
    wait(before)
    line = root.locator(".gv-arrow.gv-turns .gv-line").first.bounding_box()
    bare.page.mouse.click(line["x"] + line["width"] / 2, line["y"] + line["height"] + 8)  # beside the line
    wait(before + 9)
