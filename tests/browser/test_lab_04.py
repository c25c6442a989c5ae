"""Lab 04 as a student works through it: films step, machine and map move, wrong answers are shown on a machine."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytestmark = pytest.mark.browser

COMPLETE = """def legal_tokens(machine, state, pieces):
    legal = set()
    for token, piece in enumerate(pieces):
        here = state
        for byte in piece:
            here = machine.step(here, byte) if here is not None else None
        if here is not None and machine.is_accepting(here):
            legal.add(token)
    return legal
gv.checks.legal_tokens(legal_tokens)"""
LEGAL = COMPLETE.replace(" and machine.is_accepting(here)", "")
LOOSE = 'price = r"\\$[0-9]{1,5}\\.[0-9]{2}"\ngv.checks.price(price)'
PRICE = LOOSE.replace("[0-9]{1,5}", "(0|[1-9][0-9]{0,4})")
EVENT = """event = {"type": "object", "properties": {
    "event": {"enum": ["concert", "meeting", "wedding"]},
    "date": {"type": "string", "format": "date"},
    "seats": {"type": "integer", "minimum": 1},
}, "required": ["event", "date", "seats"]}
gv.checks.event_schema(event)"""


def press(film, label):
    film.get_by_role("button", name=label, exact=True).click()


def step_through_the_films(notebook):
    for frames in ("nfa_frames", "dfa_frames", "minimal_frames", "trie_frames"):
        film = notebook.cell_of(frames).locator(".gv-film")
        words, seen = film.locator(".gv-film-words"), []
        while not seen or film.get_by_role("button", name="one frame on", exact=True).is_enabled():
            if seen:
                press(film, "one frame on")
            seen.append(words.inner_text())
        assert len(seen) == int(film.get_attribute("data-frame")) + 1
        assert len(set(seen)) > 3, "it says something else in other frames"
        press(film, "one frame back")
        assert words.inner_text() == seen[-2]
        notebook.shot(f"lab-04-{frames}", film)
    assert "cannot be read in q3" in seen[-1], "the last film was the trie"
    assert film.locator(".gv-tag:visible").count() >= 6, "what was cut is marked"


def step_through_the_stage(notebook):
    stage = notebook.stage(1)
    slot = stage.root.locator("[data-slot='machine']")
    stage.wait(0)
    ends, longest = [0], 0
    while stage.root.get_by_role("button", name="one step on").is_enabled():
        stage.press("one step on")
        stage.wait(len(ends))
        (now,) = slot.locator(".gv-state.gv-lit").evaluate_all("nodes => nodes.map(n => Number(n.dataset.state))")
        arrows = slot.locator(".gv-arrow.gv-on").evaluate_all("nodes => nodes.map(n => n.dataset.arrow)")
        assert not arrows or any(arrow.endswith(f"-{now}") for arrow in arrows)
        longest = max(longest, len(set(arrows)))
        ends.append(now)
    assert len(set(ends)) > 15, "it is seen to move"
    assert longest >= 4, "one token, several byte steps"
    text = "".join(stage.tokens)
    assert text.startswith('{"name":')
    stage.press("one step back")
    stage.wait(len(ends) - 2)
    notebook.shot("lab-04-stage", stage.root)


def look_at_the_map(notebook):
    chart = notebook.cell_of("gv.vocabulary_map").locator(".gv-chart")
    assert "123,049" in chart.locator(".gv-map-legend").inner_text()
    notebook.shot("lab-04-map", chart)


def see_one_token_on_the_machine(notebook):
    arrows = notebook.cell_of("the token 7.5").locator(".gv-arrow.gv-on")
    ways = arrows.evaluate_all("nodes => nodes.map(n => n.dataset.arrow)")
    assert sorted(ways) == [f"{a}-{b}" for a, b in pairwise([1, 1, 2, 3])]


def test_what_is_live_moves(lab_page):
    see_one_token_on_the_machine(lab_page)
    step_through_the_films(lab_page)
    step_through_the_stage(lab_page)
    look_at_the_map(lab_page)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    said = lab_page.answer("gv.checks.legal_tokens", COMPLETE)
    assert "not yet right" in said
    assert "every byte passes: q" in said
    assert lab_page.cell_of("gv.checks.legal_tokens").locator(".jp-OutputArea svg .gv-lit").count()
    lab_page.shot("lab-04-wrong-tokens", lab_page.cell_of("gv.checks.legal_tokens"))
    assert "not yet" not in lab_page.answer("gv.checks.legal_tokens", LEGAL)

    assert "$00.00" in lab_page.answer("gv.checks.price", LOOSE)
    lab_page.shot("lab-04-wrong-price", lab_page.cell_of("gv.checks.price"))
    assert "not yet" not in lab_page.answer("gv.checks.price", PRICE)
    lab_page.answer("gv.stage(clerk, costs")
    stage = lab_page.stage(0)
    stage.run_to_end()
    assert "".join(stage.tokens).startswith("$12.50"), "the student's own regex guides the model"

    assert '"seats":1000}' in lab_page.answer("gv.checks.event_schema", EVENT)
    lab_page.shot("lab-04-wrong-event", lab_page.cell_of("gv.checks.event_schema"))
    mended = EVENT.replace('"minimum": 1', '"minimum": 1, "maximum": 999')
    assert "not yet" not in lab_page.answer("gv.checks.event_schema", mended)
    wedding = lab_page.answer("print(gv.record(clerk, party")
    assert '{"event": "wedding", "date": "1987-06-19", "seats": 120}' in wedding


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
