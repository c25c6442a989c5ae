"""The bars of a text say what each of its walks did, on small vocabularies and on large ones."""

from guidedviz.machines.pushdown.pda import json
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens.lazy import lazy_walks
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.vocabulary.walks import MOST_WALK_ROWS, draw_walks

DATE = regex("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def test_the_bars_say_what_each_walk_asked():
    v = Vocabulary.llama3()
    walks = lazy_walks(json(), v, '{"a": "xyz"}')
    figure = draw_walks(walks, lazy_walks(json(), v, '{"a": "xyz"}', slices=False))
    numbers = [line.split(": ", 1)[1].split()[0] for line in figure.text.splitlines()[1:]]
    asked = [int(number.replace(",", "")) for number in numbers]
    assert asked[1] == walks[1].asked
    assert ">without slices<" in figure.svg
    for walk in walks:
        assert f">{walk.asked:,}<" in figure.svg


def test_a_long_text_is_folded():
    walks = lazy_walks(regex("a*"), Vocabulary([b"a"]), "a" * 200)
    figure = draw_walks(walks)
    assert figure.text.count("before") == MOST_WALK_ROWS
    assert "and 160 more" in figure.svg
