"""A rule that is wider than its panel is wrapped: nothing is lost, nothing is covered, and each line fits."""

import random
from math import dist

import pytest

import guidedviz as gv
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.views.layout import lay_out
from guidedviz.views.layout.placing import Extent, Link, place
from guidedviz.views.layout.sketch import sketch_of
from guidedviz.views.layout.wrap import place_wrapped
from guidedviz.views.machine.film import rule_drawing
from tests.views.layout.drawn import collisions, struck
from tests.views.layout.lab_machines import lab_calls, lab_machine

DISC = Extent(16, 16)
ROW = tuple(Link(n, n + 1, 30) for n in range(11))


def wrapped(links, limit=300.0, count=12):
    return place_wrapped((DISC,) * count, tuple(links), 0, 30, limit)


def test_what_fits_is_not_wrapped():
    one_row = place((DISC,) * 12, ROW, 0, 30)
    assert wrapped(ROW, 5000) == one_row


def test_a_long_row_becomes_lines_that_fit_each_in_order():
    found = wrapped(ROW)
    assert found.width <= 300 + 2 * 9
    lines: dict[float, list[float]] = {}
    for x, y in found.centres:
        lines.setdefault(round(y), []).append(x)
    lengths = [len(line) for line in lines.values()]
    assert lengths == [3, 3, 3, 3]
    assert list(lines) == sorted(lines), "the lines are below each other"
    assert all(line == sorted(line) for line in lines.values())


@pytest.mark.parametrize("seed", range(6))
def test_every_link_leads_from_its_source_to_its_target(seed):
    draw = random.Random(seed)
    long = [Link(draw.randrange(12), draw.randrange(12), 20) for _ in range(5)]
    links = [*ROW, *long]
    found = wrapped(links)
    for link, curve in zip(links, found.curves, strict=True):
        assert dist(curve[0], found.centres[link.source]) < 26
        assert dist(curve[-1], found.centres[link.target]) < 26
    right = max(x for x, _ in found.centres)
    assert right + 16 <= found.width


def test_it_is_cut_where_the_fewest_links_cross():
    long = [Link(4, 6), Link(4, 6), Link(5, 7), Link(3, 6)]
    found = wrapped([*ROW, *long], 440)
    middle = found.centres[4:7]
    lines = {round(y) for _, y in middle}
    first = found.centres[3][1]
    second = found.centres[8][1]
    assert first < second
    assert max(lines) - min(lines) < 60, "what belongs together stays together"


@pytest.mark.parametrize("name", lab_calls())
@pytest.mark.quick(every=12)
def test_in_a_rule_no_name_covers_another_name_or_a_state(name):
    machine = lab_machine(name)
    if not isinstance(machine, PDA):
        return
    sketch = sketch_of(machine)
    for rule in sketch.rules:
        diagram = lay_out.lay_out_rule(sketch, rule, rule[1][0])
        drawn = str(rule_drawing(diagram))
        assert collisions(drawn) == [], rule[0]
        assert struck(drawn) == [], rule[0]


def test_the_rules_of_json_fit_the_panel_beside_the_file_browser():
    sketch = sketch_of(gv.json())
    for rule in sketch.rules:
        plan = lay_out.lay_out_rule(sketch, rule, rule[1][0])
        assert plan.width <= lay_out.WIDEST_RULE, rule
