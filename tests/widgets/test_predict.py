"""A prediction without a page: what can be asked and answered, when the truth is computed, what is kept and scored."""

import json

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.widgets import display
from guidedviz.widgets.predict import ASKED
from tests.widgets.toy import told

HOSTILE = '<img src=x onerror="window.hacked=1">`<b>`'
COLOURS = {"choices": ["red", "green", HOSTILE], "answer": "green"}


@pytest.fixture(autouse=True)
def own_notebook(monkeypatch):
    """No predictions of other tests; `this_cell` is what the returned function sets."""
    ASKED.clear()
    run = {"now": (("", ""), set())}
    monkeypatch.setattr("guidedviz.widgets.predict.this_cell", lambda: run["now"])
    monkeypatch.setattr(display, "this_cell", lambda: run["now"])

    def set_cell(cell, number, deleted=()):
        run["now"] = (cell, str(number)), set(deleted)

    yield set_cell
    ASKED.clear()


@pytest.mark.parametrize(
    ("said", "truth", "within", "right", "words"),
    [
        (3, 3, 0, True, "Right: 3"),
        (4, 3, 0, False, "1 away"),
        (5, 3, 1, False, "2 away. Up to 1 away counts as right."),
        (0.5, 0.4999999, 1e-3, True, "Near enough"),
        (128_000, np.int64(128_256), 300, True, "the true number is 128,256"),
        (0.25, np.float32(0.25), 0, True, "Right: 0.25"),
    ],
)
def test_a_number_is_right_if_it_is_near_enough(said, truth, within, right, words):
    shown = gv.predict("How many?", number=truth, within=within).commit(said)
    assert shown.grade.right == told(shown)["right"] == right
    assert words in shown.grade.words


def test_the_order_of_the_choices_is_that_of_the_question_and_an_answer_is_a_text_and_no_place():
    given = ["a DFA", "a stack", "a list", "none of them"]

    def ask(number):
        return gv.predict(f"What does text {number} need?", choices=given, answer="a DFA")

    orders = [list(ask(number).form.texts) for number in range(40)]
    assert {order.index("a DFA") for order in orders} == {0, 1, 2}
    assert {order.index("none of them") for order in orders} == {3}
    again = ask(7)
    assert list(again.form.texts) == told(again)["choices"] == orders[7], "also after a restart, and for each student"
    assert again.commit("a DFA").grade.right
    for scale in (["0.7", "2.5", "6"], ["more than 95: short", "about 95: the same", "fewer than 20: keys"]):
        assert list(gv.predict("How many?", choices=scale, answer=scale[2]).form.texts) == scale


def test_nothing_is_computed_and_no_truth_is_sent_before_the_commitment():
    computed = []

    def truth():
        computed.append("truth")
        return 3

    shown = gv.predict("How many?", number=truth, reveal=lambda: computed.append("reveal"))
    page = told(shown)
    assert [page[name] for name in ("truth", "words", "parts", "answer")] == ["", "", [], None]
    assert not computed
    shown.commit(3)
    assert computed == ["truth", "reveal"]
    secret = gv.predict("Colour?", **COLOURS, reveal="because of the leaves")
    assert "leaves" not in json.dumps([told(secret), secret._repr_mimebundle_()[0]])
    assert told(secret)["truth"] == ""
    assert told(secret)["words"] == ""


def test_a_reveal_is_texts_figures_and_functions_in_their_order():
    figure = gv.draw_machine(gv.regex("ab"))

    def show():
        print("a row")
        return figure

    shown = gv.predict("How many?", number=3, reveal=["one\n\ntwo", show, "three"])
    shown = shown.commit(3)
    assert [part[:2] for part in told(shown)["parts"]] == [
        ["text", "one"], ["text", "two"], ["print", "a row"], ["drawing", figure.alt], ["text", "three"],
    ]  # fmt: skip
    assert told(shown)["parts"][3][2] == figure.drawing.shapes


def test_a_function_that_fails_leaves_a_note_and_no_score():
    shown = gv.predict("How many?", number=lambda: 1 / 0).commit(3)
    assert told(shown)["note"] == "ZeroDivisionError: division by zero"
    assert shown.grade is None
    late = gv.predict("How many, then?", number=3, reveal=lambda: 7).commit(3)
    assert "gv.predict, reveal: saw 7" in late.note
    assert repr(gv.score()) == "1 of 1 prediction right; 1 not answered yet."


@pytest.mark.parametrize(
    "junk",
    [{}, None, 7, {"do": "commit"}, {"do": "commit", "answer": "blue"}, {"do": "commit", "answer": None},
     {"do": "commit", "answer": [1]}, {"do": "commit", "answer": {"a": 1}}, {"do": "commit", "answer": "\ud800"}],
)  # fmt: skip
def test_a_page_that_says_nonsense_commits_to_nothing(junk):
    for shown in (gv.predict("Colour?", **COLOURS), gv.predict("How many?", number=3)):
        shown.display.hear(junk)
        assert shown.answer is None
    for number in (-3, float("nan"), float("inf"), 10**400, True, "3"):
        shown.display.hear({"do": "commit", "answer": number})
        assert shown.answer is None


def test_a_choice_is_right_if_it_is_the_true_one_and_the_first_answer_counts():
    right = gv.predict("Colour?", **COLOURS).commit("green")
    assert (right.grade.right, right.grade.words) == (True, "✓ Right: green")
    wrong = gv.predict("Other colour?", **COLOURS).commit("red").commit("green")
    wrong.display.hear({"do": "commit", "answer": "green"})
    assert (wrong.answer, wrong.grade.right) == ("red", False)
    assert wrong.grade.words == "✗ Your answer: red. True: green."
    with pytest.raises(SettingError, match=r"^Prediction\.commit, answer: saw 'blue'"):
        gv.predict("Which colour?", **COLOURS).commit("blue")


# --- what is kept ---


def test_a_cell_that_runs_again_keeps_its_answer_another_cell_question_or_choice_is_asked_anew(own_notebook):
    own_notebook("cell1", 1)
    gv.predict("Colour?", **COLOURS).commit("red")
    own_notebook("cell1", 2)
    again = gv.predict("Colour?", **COLOURS)
    assert (again.answer, again.grade.right) == ("red", False)
    assert repr(gv.score()) == "0 of 1 prediction right."
    own_notebook("cell2", 3)
    assert gv.predict("Colour?", **COLOURS).answer is None
    own_notebook("cell1", 4)
    assert gv.predict("Which colour?", **COLOURS).answer is None
    assert gv.predict("Colour?", choices=["blue", "green"], answer="blue").answer is None
    own_notebook("cell3", 5, deleted=["cell1", "cell2"])
    gv.predict("How many?", number=3).commit(4)
    assert repr(gv.score()) == "0 of 1 prediction right.", "a deleted cell no longer counts"


def test_a_shown_score_follows_each_answer():
    one = gv.predict("Colour?", **COLOURS)
    two = gv.predict("How many?", number=3)
    line = gv.score()
    saved = [line.display.widget.saved["words"]]
    for shown, answer in ((one, "green"), (two, 4)):
        shown.commit(answer)
        saved.append(line.display.widget.saved["words"])
    assert saved == [
        "No predictions yet: 2 to answer.", "1 of 1 prediction right; 1 not answered yet.", "1 of 2 predictions right.",
    ]  # fmt: skip


# --- where nobody answers ---


@pytest.mark.usefixtures("headless")
def test_headless_the_question_is_outside_and_the_answer_folded_inside(monkeypatch):
    figure = gv.draw_machine(gv.regex("ab"))
    bundle = gv.predict("Colour of `x<y`?", **COLOURS, reveal=["because of `leaves`", figure])._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    outside, inside = bundle["text/html"].split("<details>")
    for part in ("Colour of <code>x&lt;y</code>?", "<li>green</li>", "Run this cell"):
        assert part in outside
    for part in ("<strong>green</strong>", "because of <code>leaves</code>", "<img alt="):
        assert part in inside
    assert "leaves" not in outside + bundle["text/plain"]
    assert "<img src=x" not in bundle["text/html"]
    number = gv.predict("How many?", number=lambda: 3, within=2)._repr_mimebundle_()["text/html"]
    outside, inside = number.split("<details>")
    assert "Up to 2 away counts as right." in outside
    assert "<strong>3</strong>" in inside
    monkeypatch.setenv("GUIDEDVIZ_SITE", "1")
    assert "Run this cell" not in gv.predict("How often?", number=3)._repr_mimebundle_()["text/html"]


# --- wrong arguments ---


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "gv.predict: saw neither, expected choices or a number"),
        ({"number": 3, **COLOURS}, "gv.predict: saw both"),
        ({"choices": ["a"], "answer": "a"}, "gv.predict, choices"),
        ({"choices": ["a", "a"], "answer": "a"}, "gv.predict, choices"),
        ({"choices": ["a", "b"], "answer": "c"}, r"gv.predict, answer: saw 'c', expected one of \['b', 'a'\]"),
        ({"number": float("nan")}, "gv.predict, number"),
        ({"number": 3, "within": -1}, "gv.predict, within"),
        ({"number": 3, "reveal": ["text", 7]}, "gv.predict, reveal: saw 7"),
        ({"question": None, "number": 3}, r"^gv\.predict, question"),
    ],
)
def test_a_wrong_argument_is_refused(wrong, said):
    with pytest.raises(SettingError, match=said):
        gv.predict(**{"question": "What?", **wrong})
