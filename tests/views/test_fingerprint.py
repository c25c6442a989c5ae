"""The hash of a drawing that tests of notebooks compare."""

from dataclasses import replace

import pytest

from guidedviz.machines.pushdown.pda import grammar
from guidedviz.machines.regular.regex import regex
from guidedviz.markup import node
from guidedviz.views.figure import Figure, fingerprint, picture
from guidedviz.views.layout import placing
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.sketch import sketch_dfa
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.stack.cards import draw_shared_stacks

SKETCH = sketch_dfa(regex("[0-9]+(kg|g)?"))
ONE_LESS = replace(SKETCH, arrows=SKETCH.arrows[:-1])
OTHER_LABEL = replace(SKETCH, arrows=(replace(SKETCH.arrows[0], ranges=((48, 56),)), *SKETCH.arrows[1:]))
OTHER_NAME = replace(SKETCH, names=("start", *SKETCH.names[1:]))


@pytest.mark.parametrize(("sketch", "path"), [(ONE_LESS, [0, 1]), (OTHER_LABEL, [0, 1]), (OTHER_NAME, [0, 1]),
                                              (SKETCH, [0]), (SKETCH, [0, 1, 1])])  # fmt: skip
def test_a_lost_arrow_another_label_another_name_and_another_highlight_change_it(sketch, path):
    plain = draw_machine(SKETCH, [0, 1]).drawing
    assert fingerprint(draw_machine(sketch, path).drawing) != fingerprint(plain)


@pytest.fixture
def _another_layout(monkeypatch):
    """A Graphviz that places everything otherwise: here the layout that needs none."""
    monkeypatch.setattr(placing, "MOST_FOR_GRAPHVIZ", -1)
    for cached in (placing.place, lay_out):
        cached.cache_clear()
    yield
    for cached in (placing.place, lay_out):
        cached.cache_clear()


BOTH = grammar('root ::= "<" (a | b) ">"\na ::= "(" x ")"\nb ::= "(" x "]"\nx ::= "1"+ "."')
DRAWINGS = [
    lambda: draw_machine(SKETCH, [0, 1, 1]),
    lambda: draw_machine(BOTH, "<(1"),
    lambda: draw_machine(regex("(abc|[^x]){3,9}")),
    lambda: draw_shared_stacks(BOTH, "<(1"),
]


@pytest.fixture
def drawn():
    """The drawings in the layout of Graphviz."""
    return [draw() for draw in DRAWINGS]


@pytest.mark.usefixtures("drawn", "_another_layout")  # in this order
@pytest.mark.slow
def test_another_layout_changes_the_drawing_but_not_its_hash(drawn):
    for draw, before in zip(DRAWINGS, drawn, strict=True):
        after = draw()
        assert after.svg != before.svg
        assert fingerprint(after.drawing) == fingerprint(before.drawing)


def test_dates_devices_and_times_are_left_out():
    one = "RECORDED cpu · 2025-01-31 · 3.1 ms"
    other = "RECORDED cuda:0 · 2026-12-01 · 12 µs"
    assert fingerprint(node("text", one)) == fingerprint(node("text", other))


def test_a_kept_picture_carries_it():
    figure = Figure(node("text", "a"), "a", "a")
    mark = fingerprint(figure.drawing)
    assert f'data-drawing="{mark}"' in str(picture(figure))
