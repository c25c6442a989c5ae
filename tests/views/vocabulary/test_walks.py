"""The levels of a walk and the bars of a text say what the walk did, on small vocabularies and on large ones."""

from xml.etree import ElementTree

import pytest

from guidedviz.machines.pushdown.pda import json
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.lazy import lazy_walk, lazy_walks
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.vocabulary.walks import MOST_WALK_ROWS, draw_flat_trie, draw_walk, draw_walks, walk_levels_of

DATE = regex("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def test_a_date_is_three_digits_deep_and_all_else_is_left_out_at_once():
    _, first, second, third = draw_walk(lazy_walk(DATE, Vocabulary.llama3())).text.splitlines()
    assert first == "byte 1: 0-9; go on 10, refused 246, left out 273,164, tokens 10"
    assert second == "byte 2: 0-9; go on 100, refused 0, left out 0, tokens 100"
    assert third == "byte 3: 0-9; go on 1,000, refused 0, left out 0, tokens 1,000"


@pytest.mark.parametrize("slices", [True, False])
@pytest.mark.parametrize("text", ["", '{"a": "x', '{"a": 1', '["\\', '["x", '])
@pytest.mark.quick(every=3)
def test_the_levels_add_up_to_the_walk(text, slices):
    walk = lazy_walk(json(), Vocabulary.llama3(), text, slices)
    levels = walk_levels_of(walk)
    assert sum(level.live for level in levels) == len(walk.live) - 1
    assert sum(level.refused for level in levels) == len(walk.cut)
    assert sum(level.dropped for level in levels) == walk.dropped
    taken = len(walk.part) if walk.part else 0
    assert sum(level.tokens for level in levels) + taken == sum(walk.mask[token] for token in walk.vocabulary.text_ids)
    figure = draw_walk(walk)
    ElementTree.fromstring(figure.svg)
    assert ("text in quotes" in figure.svg) == (slices and text.endswith("x"))


def test_a_walk_level_by_level_has_the_words_and_looks_of_the_flat_list():
    machine, pieces = regex("[0-9]{2}"), [b"2", b"20", b"a", b"ab"]
    levels = draw_walk(lazy_walk(machine, Vocabulary(pieces)))
    flat = draw_flat_trie(machine, pieces)
    for look in ("asked: the machine goes on", "asked: refused", "left out", 'stroke-dasharray="4 3"'):
        assert look in levels.svg
        assert look in flat.svg
    assert "live" not in levels.text


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
    assert figure.text.count("before") == MOST_WALK_ROWS
    assert "and 160 more" in figure.svg
