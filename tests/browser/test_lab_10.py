"""Lab 10 as a student works through it: a chain unfolds, wrong answers are shown, the slider builds its curve."""

from __future__ import annotations

import pytest

from tests.browser.test_fraction import SliderPage

pytestmark = pytest.mark.browser

FORCED = """def forced(machine, state):
    run = b""
    while {more}:
        ways = [byte for byte in range(256) if machine.step(state, byte) is not None]
        if len(ways) != 1:
            break
        run += bytes(ways)
        state = machine.step(state, ways[0])
    return run
gv.checks.forced(forced)"""
HEAL = """def heal(tokens, legal):
    for place in range(len(tokens)):
        left = b"".join(tokens[place:])
        if any({beyond} for piece in legal[place]):
            return place
    return len(tokens)
gv.checks.heal(heal)"""


def test_a_chain_unfolds(lab_page):
    root = lab_page.cell_of("gv.folded(person)").locator(".gv-folded")
    before = root.locator(".gv-state").count()
    root.get_by_role("button", name='{"name"').locator(".gv-label").click()
    arg = [root.element_handle(), before + 9]
    lab_page.page.wait_for_function("([root, n]) => root.querySelectorAll('.gv-state').length === n", arg=arg)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    said = lab_page.answer("gv.checks.forced", FORCED.format(more="True"))
    assert "not yet right" in said
    assert "may end" in said
    lab_page.shot("lab-10-wrong-forced", lab_page.cell_of("gv.checks.forced"))
    right = FORCED.format(more="not machine.is_accepting(state)")
    assert "not yet" not in lab_page.answer("gv.checks.forced", right)
    assert "not yet right" in lab_page.answer("gv.checks.heal", HEAL.format(beyond="piece.startswith(left)"))
    lab_page.shot("lab-10-wrong-heal", lab_page.cell_of("gv.checks.heal"))
    right = HEAL.format(beyond="piece.startswith(left) and len(piece) > len(left)")
    assert "not yet" not in lab_page.answer("gv.checks.heal", right)


def test_forced_tokens_are_seen_on_the_stage(lab_page):
    stage = lab_page.stage()
    stage.run_to_end()
    assert stage.root.locator(".gv-chip.gv-how-forced").count() == 8
    stage.root.locator(".gv-chip").nth(5).click()
    stage.wait(5)
    assert not stage.root.locator("[data-slot='next'] .gv-rows").is_visible()
    lab_page.shot("lab-10-stage", stage.root)
    stage.go_on(1)
    assert "the model was not asked" in stage.words


def test_the_slider_builds_its_curve_by_mouse_and_keyboard(lab_page):
    slider = SliderPage(lab_page)
    slider.wait_runs(1)  # without a move
    slider.page.mouse.move(*slider.spot(0.7))
    slider.page.mouse.down()
    slider.page.mouse.move(*slider.spot(0.9), steps=8)
    slider.page.mouse.up()
    slider.share.focus()
    slider.page.keyboard.press("ArrowLeft")
    slider.wait_runs(2)  # where it rests after both
    assert slider.points == (2, 0)


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
