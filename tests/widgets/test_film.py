"""Films and folded machines without a page."""

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.views.layout.sketch import Arrow, Sketch
from guidedviz.views.machine.film import build_film
from guidedviz.views.machine.frame import MachineFrame
from tests.widgets.toy import told

FIRST = Sketch(("a", "b", "c"), (Arrow(0, 1, ((97, 97),)),), 0, frozenset({2}))
SECOND = Sketch(("a", "b", "c"), (Arrow(0, 1, ((97, 98),)), Arrow(1, 2, ())), 0, frozenset({2}))
FRAMES = [MachineFrame(FIRST, "one", frozenset({0})), MachineFrame(SECOND, "two")]
SUMS = {"sum": [("sum", "+", "item"), ("item",)], "item": [("number",), ("(", "sum", ")")]}
FILMS = {
    "reading": gv.views.nfa_reading_frames("[ab]+c?", "ab"),
    "machine": gv.views.reading_frames(gv.regex("[ab]+c?"), "ab"),
    "subsets": gv.views.dfa_frames("ab|cb"),
    "blocks": gv.views.minimal_frames("ab|cb"),
    "trie": gv.views.trie_frames(gv.regex("3+"), gv.Vocabulary([b"3", b"33", b".", b".5"])),
    "stack": gv.views.stack_frames(gv.grammar('root ::= "(" item ")"\nitem ::= "x" | root'), "((x))"),
    "chart": gv.views.earley_frames(SUMS, "(12)", {"number": "[0-9]+"}),
}


def test_frames_with_the_same_states_share_one_drawing():
    drawings, packed = build_film(FRAMES)
    assert len(drawings) == 1
    states = [frame["states"] for frame in packed]
    assert states == [[0, 1], [0, 1, 2]]
    arrows = [frame["arrows"] for frame in packed]
    assert arrows == [["0-1"], ["0-1", "1~2"]]
    assert packed[0]["lit"] == [0]


def attributes(shapes, key):
    """All values of an attribute in a drawing."""
    _, own, *inside = shapes
    below = [attributes(part, key) for part in inside if not isinstance(part, str)]
    return set().union({str(own[key])} if key in own else set(), *below)


@pytest.mark.parametrize("frames", FILMS)
def test_everything_a_frame_names_is_on_its_drawing(frames):
    saved = gv.film(FILMS[frames]).display.saved()
    for frame in saved["frames"]:
        drawn = saved["drawings"][frame["drawing"]]
        states = {str(state) for state in [*frame["states"], *frame["lit"]]}
        assert states <= attributes(drawn, "data-state")
        arrows = {*frame["arrows"], *frame["on"]}
        assert arrows <= attributes(drawn, "data-arrow")


def test_a_film_is_sent_once_and_keeps_a_picture_of_its_last_frame():
    film = gv.film(FRAMES, title="two frames")
    data, *_ = film._repr_mimebundle_()
    assert data["text/plain"] == "Film: 2 frames; the last: two"
    assert data["text/html"].startswith('<img alt="machine: 3 states')
    saved = film.display.widget.saved
    assert (saved["title"], saved["show"]) == ("two frames", 0)
    assert len(saved["frames"]) == 2
    assert len(saved["drawings"]) == 1
    assert gv.film(FRAMES, show=1).display.saved()["show"] == 1
    film.display.close()
    with pytest.raises(SettingError, match="no frames"):
        gv.film([])


# --- a machine whose chains can be folded ---

MACHINE = gv.regex("[0-9]kg(red|green)x")


def test_the_page_finds_every_chain_on_the_drawing_and_it_keeps_its_key_when_it_unfolds():
    shown = gv.folded(MACHINE)
    chains = told(shown)["chains"]
    names = [(chain["name"], chain["arrows"][0]) for chain in chains]
    for name, key in names:
        news = told(shown.turn(name))
        drawn = str(news["drawing"])
        keys = [key for chain in news["chains"] for key in chain["arrows"]]
        assert all(f"'data-arrow': '{key}'" in drawn for key in keys)
        states = [state for chain in news["chains"] for state in chain["states"]]
        assert all(f"'data-state': {state}}}" in drawn for state in states)
        first = [chain["arrows"][0] for chain in news["chains"]]
        assert key in first, "so that the keyboard keeps its place"
    assert told(gv.folded(gv.regex("[ab]+")))["legend"].startswith("Nothing to fold")


def test_a_chain_unfolds_and_folds_by_any_state_inside():
    shown = gv.folded(gv.regex("abcd"))
    for state, unfolded, words in ((2, {1}, "5 states"), (3, set(), "5 states, 3 of them folded"), (0, set(), "")):
        assert shown.turn(state).unfolded == unfolded, "no chain goes through the start"
        assert words in told(shown)["words"]


def test_all_at_once():
    shown = gv.folded(MACHINE)
    for first in (True, False):
        shown.display.hear({"do": "all", "unfold": first})
        (chain, *_) = told(shown)["chains"]
        shown.display.hear({"do": "turn", "chain": chain["name"]})
        shown.display.hear({"do": "all", "unfold": True})
        assert told(shown)["words"] == f"{len(MACHINE)} states"
        shown.display.hear({"do": "all", "unfold": False})
        assert shown.unfolded == frozenset()
    with pytest.raises(SettingError, match=r"^gv.folded: saw str, expected a machine; try: gv.regex"):
        gv.folded("abc")
