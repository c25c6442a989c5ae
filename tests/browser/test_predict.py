"""A prediction on a bare page; `test_jupyterlab.py` shows that its answer stays in a notebook."""

import pytest

import guidedviz as gv
from guidedviz.views.figure import figure_of, write
from guidedviz.widgets.predict import ASKED

pytestmark = pytest.mark.browser

TALK = ["A finite machine has no counter: `{` twenty times needs twenty states.", lambda: print("depth 1\ndepth 2")]


@pytest.fixture(autouse=True)
def no_other_predictions():
    ASKED.clear()
    yield
    ASKED.clear()


def ask_choice(reveal=TALK):
    choices = ["a DFA", "a stack, which remembers which brackets are still open", "neither"]
    return gv.predict("What does a mask need for `{{}}`?", choices=choices, answer=choices[1], reveal=reveal)


def ask_number():
    return gv.predict("How many of ten outputs does `json.loads` read?", number=lambda: 2, within=1)


def show(bare, shown):
    root = bare.show(shown)
    bare.wait(lambda: shown.display.widget._answered)
    return root


def until(bare, root, state):
    check = "([root, state]) => root.dataset.state === state"
    bare.page.wait_for_function(check, arg=[root.element_handle(), state])


def test_a_choice_is_made_with_keys_and_locked_and_then_the_truth_unfolds(bare):
    machine = gv.draw_machine(gv.grammar('root ::= "{" root? "}"'))
    root = show(bare, ask_choice([*TALK, machine]))
    assert "needs twenty" not in root.inner_text()
    for key in ("Tab", "ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        bare.page.keyboard.press(key)
    until(bare, root, "told")
    assert root.locator("[role=status]").inner_text().startswith("✗ Your answer: a DFA.")
    assert bare.page.evaluate("document.activeElement.getAttribute('role')") == "status", "the focus stays"
    assert root.locator(".gv-true").inner_text().endswith("true")
    assert root.locator("input, button").count() == 0
    assert root.locator(".gv-drawn svg").is_visible()


def test_a_drawing_keeps_its_columns_and_marks_are_shown(bare):
    """Two blanks in a drawn text are as wide as two letters."""
    texts = [write(0, 20 * row, words, mono=True) for row, words in enumerate(("a b", "a          b"), 1)]
    columns = figure_of(200, 60, "two lines", *texts)
    question = "Is the **tenth** state of 2<sup>10</sup> *not* there?"
    root = show(bare, gv.predict(question, choices=["yes", "no"], answer="no", reveal=columns))
    found = {name: root.locator(f"legend {name}").inner_text() for name in ("strong", "sup", "em")}
    assert found == {"strong": "tenth", "sup": "10", "em": "not"}
    root.get_by_text("no", exact=True).click()
    root.get_by_role("button", name="Commit").click()
    until(bare, root, "told")
    short, long = root.locator(".gv-drawn text").evaluate_all("all => all.map((one) => one.getComputedTextLength())")
    assert long > 3 * short


def test_a_page_without_the_code_of_a_widget_asks_the_kernel_for_it_or_says_what_to_do(bare):
    """As in a notebook that is opened again while its kernel lives on."""
    root = bare.show(ask_number(), lost=True)
    until(bare, root, "open")
    lost = bare.reopen(ask_choice(), lost=True)
    assert "Run this cell again" in lost.inner_text()
