"""The film of Earley's algorithm adds the items of the machine, and says yes where the machine does."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.views.stack.earley_chart import draw_frame
from guidedviz.views.stack.earley_film import earley_frames
from tests.strategies import show_rules

SUMS = {"sum": [("sum", "+", "item"), ("item",)], "item": [("number",), ("(", "sum", ")")]}
NUMBER = {"number": "[0-9]+"}
GRAMMARS = [
    {"root": [("root", "+", "root"), ("1",)]},
    {"root": [("root", "1"), ("1",), ()]},
    {"root": [("blank", "blank", "1")], "blank": [(), ("+", "blank")]},
    {"root": [("more", "1"), ()], "more": [("root", "+"), ("more",), ()]},
]


@given(rules=st.sampled_from(GRAMMARS), text=st.text("1+", max_size=5))
def test_the_film_accepts_what_the_machine_accepts_and_no_column_has_an_item_twice(rules, text):
    machine = gv.earley(show_rules(rules))
    last = earley_frames(rules, text)[-1]
    assert last.words.endswith("the text is complete.") == machine.accepts(text.encode())
    if machine.accepts_prefix(text.encode()):
        assert len(last.columns) == len(text) + 1
    for column in last.columns:
        items = [str(item) for _, item in column]
        assert len(set(items)) == len(items)


def test_a_frame_adds_at_most_one_item_and_the_lexer_takes_the_longest_lexeme():
    frames = earley_frames(SUMS, "(12)+3", NUMBER)
    sizes = [sum(map(len, frame.columns)) for frame in frames]
    grown = [after - before for before, after in pairwise(sizes)]
    assert set(grown) <= {0, 1}
    assert all(frame.lit[1] == len(frame.columns[frame.lit[0]]) - 1 for frame in frames[:-1] if frame.lit)
    assert [(one.name, one.start, one.end) for one in frames[-1].lexemes] == [
        ("", 0, 1), ("number", 1, 3), ("", 3, 4), ("", 4, 5), ("number", 5, 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("12)", "begins with ). The text is refused."),
        ("1++", "begins with +. The text is refused."),
        ("", "the text is not complete yet."),
        ("12+", "the text is not complete yet."),
    ],
)
def test_a_text_that_does_not_fit_ends_the_film(text, words):
    assert earley_frames(SUMS, text, NUMBER)[-1].words.endswith(words)


def test_a_still_frame_marks_the_new_item_and_its_causes_and_names_the_lexemes():
    frames = earley_frames(SUMS, "(12)", NUMBER)
    frame = next(frame for frame in frames if frame.words.startswith("complete: sum"))
    elements = ET.fromstring(draw_frame(frame).svg).iter()
    classes = [node.get("class", "") for node in elements]
    lit = sum("gv-lit" in each for each in classes)
    causes = sum("gv-on" in each for each in classes)
    assert (lit, causes) == (1, 2)
    figure = draw_frame(frames[-1])
    assert figure.text.startswith("the text (12), 3 lexemes; chart: 4 columns")
    assert "2, after number 12" in figure.text
