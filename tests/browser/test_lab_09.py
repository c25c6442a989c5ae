"""Lab 09 as a student works through it: the walk steps, wrong answers are shown, another grammar is asked."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

JUMP = """def jump(machine, state, tree):
    legal, states, i = set(), [state], 0
    while i < len(tree.byte):
        del states[tree.depth[i] :]
        after = machine.step(states[-1], tree.byte[i])
        if after is not None:
            states.append(after)
            legal.update(tree.ends[i])
        i += 1 if after is not None else {cut}
    return legal
gv.checks.jump(jump)"""
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
    return [item.moved for item in chart[{where}] if item.wanted == done.rule]
gv.checks.complete(complete)"""


def test_the_walk_is_stepped_through(lab_page):
    film = lab_page.cell_of("gv.views.trie_frames").locator(".gv-film")
    words, seen = film.locator(".gv-film-words"), []
    on = film.get_by_role("button", name="one frame on", exact=True)
    while on.is_enabled():
        on.click()
        seen.append(words.inner_text())
    assert any("the subtree is cut, a, and and ant are illegal" in said for said in seen)
    lab_page.shot("lab-09-film", film)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    assert "not yet right" in lab_page.answer("gv.checks.jump", JUMP.format(cut="1"))
    lab_page.shot("lab-09-wrong-jump", lab_page.cell_of("gv.checks.jump"))
    assert "does not end" in lab_page.answer("gv.checks.jump", JUMP.format(cut="0"))
    assert "looks at no node below a refused one" in lab_page.answer("gv.checks.jump", JUMP.format(cut="tree.size[i]"))
    assert "asked 267,888 times" in lab_page.answer("count(jump, gv.json(), inside, large)")

    assert "the machine refuses its last byte" in lab_page.answer("gv.checks.whole", WHOLE.format(new="False"))
    assert "not yet" not in lab_page.answer("gv.checks.whole", WHOLE.format(new="(after, inner) not in pairs"))

    assert "root → digit • (from 0)" in lab_page.answer("gv.checks.complete", COMPLETE.format(where="-1"))
    assert "not yet" not in lab_page.answer("gv.checks.complete", COMPLETE.format(where="done.origin"))


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
