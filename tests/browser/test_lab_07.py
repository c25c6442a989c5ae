"""Lab 07 as a student works through it: the film steps, the columns of the grammar change, wrong moves are shown."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

PREDICT = """def predict(rules, column, place):
    column = list(column)
    for item in column:
        for symbols in rules.get(item.wanted, ()):
            new = Item(item.wanted, symbols, 0, {origin})
            if {new}:
                column.append(new)
    return column
gv.checks.predict(predict)"""
NEW = "new not in column"


def test_the_film_of_earley_s_parser_is_stepped_through(lab_page):
    film = lab_page.cell_of("gv.views.earley_frames").locator(".gv-film")
    shown = ".gv-sheets > svg:first-child .gv-item:not(.gv-absent)"
    on, words, seen = film.get_by_role("button", name="one frame on", exact=True), film.locator(".gv-film-words"), []
    while on.is_enabled():
        seen.append((film.locator(shown).count(), words.inner_text()))
        on.click()
        if len(seen) == 3:
            assert "nothing is added" in words.inner_text()
            assert film.locator(".gv-over .gv-on").count() == 1
            lab_page.shot("lab-07-film", film)
    sizes = [size for size, _ in seen]
    assert sizes[:4] == [1, 2, 3, 3]
    assert sizes == sorted(sizes)
    assert "The lexeme is a number." in " ".join(said for _, said in seen)
    assert film.locator(".gv-over .gv-lit").count() == 1
    lab_page.shot("lab-07-film-end", film)


def test_the_columns_change_while_it_writes(lab_page):
    stage = lab_page.stage(0)
    stage.run_to_end()
    assert "␣title" in stage.tokens[-7:]
    box = stage.root.get_by_label("text of the constraint")
    box.fill(box.input_value().replace('"title" | ', ""))
    back = stage.root.get_by_role("button", name="go back there")
    back.wait_for()
    assert "title" in stage.root.locator(".gv-edit-rejects").inner_text()
    lab_page.shot("lab-07-edit", stage.root)


def test_a_student_is_shown_what_is_wrong_and_then_that_it_is_right(lab_page):
    said = lab_page.answer("gv.checks.predict", PREDICT.format(origin="0", new=NEW))
    assert "it begins at this place, from 2" in said
    lab_page.shot("lab-07-wrong-predict", lab_page.cell_of("gv.checks.predict"))
    assert "does not end" in lab_page.answer("gv.checks.predict", PREDICT.format(origin="place", new="True"))
    assert "not yet" not in lab_page.answer("gv.checks.predict", PREDICT.format(origin="place", new=NEW))
    scan = "def scan(column, character):\n    return [item{moved} for item in column if item.wanted == character]\n"
    scan += "gv.checks.scan(scan)"
    assert "its dot has to move by one" in lab_page.answer("gv.checks.scan", scan.format(moved=""))
    assert "not yet" not in lab_page.answer("gv.checks.scan", scan.format(moved=".moved"))
    lab_page.run_cell(lab_page.place_of("def parse("))
    assert "1+2: True   1+2+: False   1++2: False   2+1+2: True" in lab_page.answer("digits =")


def test_every_prediction_is_answered_and_counted(lab_page):
    lab_page.answer_predictions()
