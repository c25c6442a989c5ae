"""Lab 04 as a student works through it: the films step, and wrong answers are shown on a machine and on a trie."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

STEP = """def step_set(nfa, states, byte):
    found = {{target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high}}
    waiting = list(found){closure}
    return found
gv.checks.step_set(step_set)"""
CLOSURE = """
    for state in waiting:
        new = set(nfa.epsilon[state]) - found
        found |= new
        waiting += new"""
WALK = """def walk(node, machine, state):
    found = dict.fromkeys(node.tokens, state) if state is not None else {{}}
    for byte, child in node.children.items():
        after = machine.step(state, byte)
        {if_read}found.update(walk(child, machine, after))
    return found
gv.checks.walk(walk)"""
INDEX = """def build_index(root, machine, walk):
    index, waiting = {{}}, [machine.initial]
    for state in waiting:
        if state not in index:
            index[state] = walk(root, machine, state){more}
    return index
gv.checks.index(build_index)"""


def test_the_films_are_stepped_through(lab_page):
    for frames in ("nfa_reading_frames", "minimal_frames", "trie_frames"):
        film = lab_page.cell_of(f"gv.views.{frames}").locator(".gv-film")
        words, seen = film.locator(".gv-film-words"), []
        on = film.get_by_role("button", name="one frame on", exact=True)
        while not seen or on.is_enabled():
            if seen:
                on.click()
            seen.append((words.inner_text(), film.locator(".gv-state.gv-lit").count()))
        assert len(seen) == int(film.get_attribute("data-frame")) + 1
        assert len({said for said, _ in seen}) > 3, "it says something else in other frames"
        if frames == "nfa_reading_frames":
            assert [lit for _, lit in seen] == [1, 4, 3, 9, 3, 9, 9]
        film.get_by_role("button", name="one frame back", exact=True).click()
        assert words.inner_text() == seen[-2][0]
        lab_page.shot(f"lab-04-{frames}", film)
    assert "cannot be read in q3" in seen[-1][0], "the last film was the trie"
    assert film.locator(".gv-tag:visible").count() >= 6, "what was cut is marked"


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    assert "an epsilon edge leads from n2" in lab_page.answer("gv.checks.step_set", STEP.format(closure=""))
    assert lab_page.cell_of("gv.checks.step_set").locator(".jp-OutputArea svg .gv-lit").count()
    lab_page.shot("lab-04-wrong-step", lab_page.cell_of("gv.checks.step_set"))
    assert "not yet" not in lab_page.answer("gv.checks.step_set", STEP.format(closure=CLOSURE))

    assert "nothing below that node is legal" in lab_page.answer("gv.checks.walk", WALK.format(if_read=""))
    lab_page.shot("lab-04-wrong-walk", lab_page.cell_of("gv.checks.walk"))
    assert "not yet" not in lab_page.answer("gv.checks.walk", WALK.format(if_read="if after is not None: "))

    assert "q1 has no row, and token 0 leads there" in lab_page.answer("gv.checks.index", INDEX.format(more=""))
    more = "; waiting += index[state].values()"
    assert "not yet" not in lab_page.answer("gv.checks.index", INDEX.format(more=more))
    assert "ms" in lab_page.answer("time.perf_counter")


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
