"""A machine that somebody wrote is drawn as far as its bytes lead, the nearest states first."""

import pytest

import guidedviz as gv
from guidedviz.views.layout.own_sketch import OF_ENDLESS, sketch_given
from guidedviz.views.layout.sketch import sketch_of


class Copy:
    """The steps of another machine."""

    def __init__(self, machine):
        self.initial = machine.initial
        self.step = machine.step
        self.is_accepting = machine.is_accepting


@pytest.mark.parametrize("text", ["a", "ab|cd", "[0-9]+(x|y)?", "é*"])
def test_the_same_machine_has_the_same_drawing(text):
    machine = gv.regex(text)
    own = sketch_given(Copy(machine))
    ours = sketch_of(machine)
    assert len(own.names) == len(ours.names)
    sizes = [sorted(len(arrow.ranges) for arrow in one.arrows) for one in (own, ours)]
    assert sizes[0] == sizes[1]
    assert len(own.accepting) == len(ours.accepting)


class Counts:
    """Its states are without number, and a tuple is a stack."""

    initial = ()

    def step(self, state, byte):
        return (*state, len(state)) if byte == 97 else None

    def is_accepting(self, state):
        return False


def test_of_states_without_number_the_nearest_are_drawn_and_the_last_is_marked():
    sketch = sketch_given(Counts())
    assert len(sketch.names) == OF_ENDLESS
    assert sketch.groups == (("…", frozenset({OF_ENDLESS - 1})),)
    assert sketch.names[:3] == ("empty", "0", "0 1")
    assert sketch.names[-1].endswith(f" {OF_ENDLESS - 2}")


def test_a_name_is_shown_as_text():
    class Hostile(Counts):
        initial = "<script>alert(1)</script>\n"

        def step(self, state, byte):
            return None

    assert "<script" not in gv.draw_machine(Hostile()).svg
