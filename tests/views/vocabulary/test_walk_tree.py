"""The tree of a walk and the bars of a text say what the walk did, on small vocabularies and on large ones."""

from xml.etree import ElementTree

import pytest

from guidedviz.machines.pushdown.pda import json
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.lazy import lazy_walk, lazy_walks
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.vocabulary.trie import MOST_ROWS, draw_walk, draw_walks

DATE = regex("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def rows(figure):
    """The lines of the tree, without the head."""
    lines = figure.text.splitlines()
    return lines[1 + next(number for number, line in enumerate(lines) if line.endswith("tokens")) :]


def test_a_date_is_three_digits_deep_and_all_else_is_one_cut():
    lines = [line.split() for line in rows(draw_walk(lazy_walk(DATE, Vocabulary.llama3())))]
    assert lines == [
        ["root", "1,110", "273,410", "1,110"],
        ["0-9", "1,110", "1,110"],
        ["0-9", "1,100", "1,100"],
        ["0-9", "1,000", "1,000"],
        ["cut:", "246", "bytes,", "as", "in", "␣", "273,410", "−126,890"],
    ]


@pytest.mark.parametrize("slices", [True, False])
@pytest.mark.parametrize("text", ["", '{"a": "x', '{"a": 1', '["\\', "[-", '["x", '])
def test_the_tree_of_json_fits_a_page(text, slices):
    figure = draw_walk(lazy_walk(json(), Vocabulary.llama3(), text, slices), title=text)
    assert len(rows(figure)) <= 30
    ElementTree.fromstring(figure.svg)
    assert ("text in quotes" in figure.svg) == (slices and text.endswith("x"))


def test_the_bars_say_what_each_walk_asked():
    v = Vocabulary.llama3()
    walks = lazy_walks(json(), v, '{"a": "xyz"}')
    figure = draw_walks(walks, lazy_walks(json(), v, '{"a": "xyz"}', slices=False))
    asked = [int(line.split(": ", 1)[1].split()[0].replace(",", "")) for line in figure.text.splitlines()[1:]]
    assert asked[1] == walks[1].asked
    assert ">without slices<" in figure.svg
    for walk in walks:
        assert f">{walk.asked:,}<" in figure.svg


def test_a_long_text_is_folded():
    figure = draw_walks(lazy_walks(regex("a*"), Vocabulary([b"a"]), "a" * 200))
    assert figure.text.count("before") == MOST_ROWS
    assert "and 160 more" in figure.svg
