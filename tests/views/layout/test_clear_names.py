"""No name in a drawing covers another name or a state, and no arrow of a call passes through one."""

import random
import sys
from itertools import combinations
from math import hypot

import pytest

import guidedviz as gv
from guidedviz.views.layout import placing
from guidedviz.views.layout.curves import along
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.room import label_box
from guidedviz.views.layout.sketch import Arrow, Sketch, sketch_of
from tests.views.layout.drawn import collisions, names, parts, struck
from tests.views.layout.lab_machines import lab_calls, lab_machine


@pytest.mark.parametrize("name", lab_calls())
@pytest.mark.quick(every=8)
def test_every_name_is_inside_the_drawing_and_covers_no_other_no_state_and_no_arrow_of_a_call(name):
    drawn = gv.draw_machine(lab_machine(name)).svg
    assert collisions(drawn) == []
    assert struck(drawn) == []
    boxes = [box for _, box in names(drawn)]
    corners = [min(box[:2]) for box in boxes]
    assert min(corners, default=0) >= -1


@pytest.mark.parametrize("name", lab_calls())
@pytest.mark.quick(every=16)
def test_names_stay_clear_without_graphviz(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    placing.place.cache_clear()
    drawn = gv.draw_machine(lab_machine(name), compact=True, folded=True).svg
    placing.place.cache_clear()
    assert collisions(drawn) == []
    assert struck(drawn) == []


def test_a_long_name_on_a_short_arrow_begins_or_ends_at_the_middle_of_the_arrow():
    # so large that Graphviz leaves no room for names
    diagram = lay_out(sketch_of(gv.regex('[A-Za-z0-9 ]{1,20}"[0-9]*')))
    gaps = []
    for label in diagram.labels:
        if "A-Z" in label.words:
            curve = diagram.curves[label.arrows[0]]
            [(x, y)] = along(curve, [0.5])
            place = label.x, label.y
            left, top, right, bottom = label_box(label.words, place)
            gaps.append(hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom)))
    assert len(gaps) == 20
    assert sum(gap < 10 for gap in gaps) >= 15


def test_the_count_of_a_loop_stands_apart_from_its_label():
    drawn = gv.draw_machine(gv.regex(r"\d+(\.\d+)?"), at=[0, 1, 1, 1, 2, 3, 3]).svg
    numbers = [e.text for e in parts(drawn, "gv-nth")]
    assert sorted(numbers) == ["1", "2 3", "4", "5", "6"]
    assert collisions(drawn) == []


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.quick(every=10)
def test_two_opposite_arrows_keep_their_labels_apart(seed):
    draw = random.Random(seed)
    count = draw.randint(2, 4)
    pairs = [(a, b) for a, b in combinations(range(count), 2) if b == a + 1 or draw.random() < 0.4]
    sets = [((97, 97),), ((48, 57),), ((0, 33), (35, 91), (93, 127)), ((48, 57), (65, 70), (97, 102))]
    arrows = [Arrow(*way, draw.choice(sets)) for a, b in pairs for way in ((a, b), (b, a))]
    sketch = Sketch(tuple(f"q{state}" for state in range(count)), tuple(arrows), 0, frozenset({count - 1}))
    svg = gv.draw_machine(sketch).svg
    assert len(parts(svg, "gv-label")) == len(arrows)
    assert collisions(svg) == []
