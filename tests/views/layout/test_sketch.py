"""What is drawn of a machine wired by hand."""

from guidedviz.tokens.by_hand import GuidedFSM
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.layout.sketch import sketch_dfa, sketch_fsm


def test_a_sketch_keeps_the_names_and_the_detours_of_whoever_wired_it():
    fsm = GuidedFSM(Vocabulary([b"a", b"b", b":"]), start="here", accepting="there")
    for ways in [("here", {0, 1}, 7), (7, {0, 1}, 7), (7, {2}, "there"), ("there", {0}, "nowhere")]:
        fsm.add_transition(*ways)
    sketch = sketch_fsm(fsm)
    assert sketch.names == ("here", "7", "there", "nowhere")
    assert {(a.source, a.target): a.ranges for a in sketch.arrows} == {
        (0, 1): ((97, 98),), (1, 1): ((97, 98),), (1, 2): ((58, 58),), (2, 3): ((97, 97),),
    }  # fmt: skip
    assert (sketch.initial, sketch.accepting) == (0, {2})


def test_a_sketch_of_tokens_with_several_bytes_is_the_smallest_machine():
    fsm = GuidedFSM(Vocabulary(["é".encode(), b"ab"]))
    fsm.add_transition(0, {0, 1}, 1)
    assert sketch_fsm(fsm) == sketch_dfa(fsm.machine())
