"""A counted repeat is drawn as a loop with its counter."""

import guidedviz as gv
from guidedviz.machines.machine import read
from guidedviz.views.machine.picture import draw_machine
from guidedviz.widgets.panels import pack_state

STRING = gv.regex('"[a-z]{0,4096}"')


def test_a_picture_shows_the_loop_and_its_counter():
    figure = draw_machine(STRING, b'"' + b"a" * 17)
    assert "root{0,4096}, 0…4096, now 17" in figure.text
    assert "◎ n5  0…4096 times → n4" in figure.text
    assert ">0…4096, now 17</text>" in figure.svg
    assert ">0…4096</text>" in draw_machine(STRING).svg, "without a text there is no count"


def test_the_stage_is_told_the_counter():
    packed = pack_state(STRING, read(STRING, b'"' + b"a" * 4096))
    assert packed["counts"] == ()
    packed = pack_state(STRING, read(STRING, b'"' + b"a" * 4095))
    assert packed["counts"] == (("root{0,4096}", "0…4096, now 4095"),)
    assert packed["frames"][0][1:] == ["root{0,4096}", "a-z or its end (0…4096, now 4095)"]


def test_an_open_call_keeps_its_number_while_it_counts():
    numbers = {pack_state(STRING, read(STRING, b'"' + b"a" * size))["frames"][0][0] for size in range(1, 9)}
    assert len(numbers) == 1


def test_an_explanation_says_how_many_parts_were_read():
    vocabulary = gv.Vocabulary([b'"', b"a", b"1"])
    guide = gv.guide(gv.regex('"[a-z]{5000}"'), vocabulary)
    state = guide.advance(guide.advance(guide.initial, 0), 1)
    said = "1 cannot come: the innermost open rule is root{5000}, which waits for a-z (5000, now 1)"
    assert guide.explain(state, 2).reason == said
