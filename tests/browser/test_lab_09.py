"""Lab 09 as a student works through it: the walk steps, wrong answers are shown, another grammar is asked."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

JUMP = """def jump(machine, state, tree):
    legal, states, i = set(), [state], 0
    while i < len(tree.byte):
        {back}
        after = machine.step(states[-1], tree.byte[i])
        if after is None:
            i += {cut}
        else:
            states.append(after)
            legal.update(tree.ends[i])
            i += 1
    return legal"""
BACK = "del states[tree.depth[i] :]"
WHOLE = """def whole(machine, state, part):
    pairs = [(state, part.initial)]
    for here, there in pairs:
        for byte in range(256):
            if (inner := part.step(there, byte)) is not None:
                after = machine.step(here, byte)
                if after is None:
                    return False
                if {new}:
                    pairs.append((after, inner))
    return True
gv.checks.whole(whole)"""
COMPLETE = """def complete(chart, done):
    return [moved(item) for item in chart[{where}] if wanted(item) == done.rule]
gv.checks.complete(complete)"""


def test_the_walk_is_stepped_through(lab_page):
    film = lab_page.cell_of("gv.sketches.trie_frames").locator(".gv-film")
    words, seen = film.locator(".gv-film-words"), []
    on = film.get_by_role("button", name="one frame on", exact=True)
    while on.is_enabled():
        on.click()
        seen.append(words.inner_text())
    assert any("the subtree is cut, a, and and ant are illegal" in said for said in seen)
    lab_page.shot("lab-09-film", film)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    lab_page.answer("def jump", JUMP.format(back=BACK, cut="1"))
    said = lab_page.answer("gv.checks.jump")
    assert "not yet right" in said
    lab_page.shot("lab-09-wrong-jump", lab_page.cell_of("gv.checks.jump"))
    lab_page.answer("def jump", JUMP.format(back=BACK, cut="0"))
    assert "does not end" in lab_page.answer("gv.checks.jump")
    lab_page.answer("def jump", JUMP.format(back=BACK, cut="tree.size[i]"))
    assert "looks at no node below a refused one" in lab_page.answer("gv.checks.jump")
    assert "asked     1,356 times" in call(lab_page, "count_decimal").splitlines()[-1]
    assert "asked     4,221 times" in call(lab_page, "count_rest")

    assert "aaaa" in lab_page.answer("gv.checks.whole", WHOLE.format(new="False"))
    lab_page.shot("lab-09-wrong-slice", lab_page.cell_of("gv.checks.whole"))
    assert "not yet" not in lab_page.answer("gv.checks.whole", WHOLE.format(new="(after, inner) not in pairs"))
    assert "at most 3  False" in lab_page.answer('"at most 3"')

    assert "root → digit • (from 0)" in lab_page.answer("gv.checks.complete", COMPLETE.format(where="-1"))
    lab_page.shot("lab-09-wrong-complete", lab_page.cell_of("gv.checks.complete"))
    assert "not yet" not in lab_page.answer("gv.checks.complete", COMPLETE.format(where="done.origin"))
    yours, ours = call(lab_page, "show_columns").strip().splitlines()
    assert yours.split("[")[1] == ours.split("[")[1]


def call(lab_page, function):
    """What a function of the lab prints that a question would call."""
    cell = lab_page.sources[lab_page.place_of(f"def {function}(")]
    return lab_page.answer(f"def {function}(", f"{cell}\n\n{function}()")


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()


def test_another_constraint_is_asked_about(lab_page):
    lab_page.answer("constraint, text =", r'constraint, text = r"[0-9]+(\.[0-9]+)?", "3.14"')
    said = lab_page.answer("gv.draw_comparison")
    cell = lab_page.cell_of("gv.draw_comparison")
    assert "outlines-core" in said or "outlines-core" in cell.locator("svg").inner_text()
    lab_page.shot("lab-09-compared", cell)


def test_every_picture_is_there(lab_page):
    for name in ("draw_break_even", "draw_museum"):
        cell = lab_page.cell_of(f"{name}(")
        assert cell.locator(".jp-OutputArea svg").first.is_visible()
        lab_page.shot(f"lab-09-{name}", cell)
