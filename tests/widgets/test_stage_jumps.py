"""Claims about the stage where runs are forced: they say so, the machine follows, and one can go back into them."""

import pytest

import guidedviz as gv
from guidedviz.widgets.runner import step_on
from tests.common import constant_model, regex_guide

PIECES = [b"n", b"a", b"name", b"x", b"me", b"!", b"?"]


@pytest.fixture
def stage(monkeypatch):
    """A model that likes single letters, and a tokenizer that takes the longest piece: `n` is taken back for `name`."""
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    model = constant_model(PIECES, [5.0, 4, 0, 3, 0, 1, 0])
    guide = regex_guide(model, "x?name[!?]")
    return gv.stage(model, "x", guide, temperature=0, jump_forward=True)


def test_the_machine_reads_a_run_from_where_it_began(stage):
    machine = stage.guide.machine
    ways = [step["path"] for step in stage.display.saved()["add"]]
    assert [way[0] for way in ways[:2]] == [0, 0]
    assert len(ways[1]) == 5
    assert ways[2][-1] in machine.accepting


def test_one_step_on_takes_all_of_a_forced_text_and_asks_the_model_only_for_what_comes_next():
    asked = []
    model = gv.ToyModel([b"a", b"b", b"c", b"x"], lambda tokens: asked.append(len(tokens)) or [1.0, 0, 0, 0])
    guide = regex_guide(model, "abcb(a|x)")
    player = gv.stage(model, "x", guide, temperature=0, jump_forward=True).player.go(0)
    found = []
    while not player.at_end:
        player = step_on(player)
        found.append(player.cursor)
    ways = [step.how for step in player.steps]
    assert ways == ["forced"] * 4 + ["sampled"]
    assert found == [4, 5]
    assert len(asked) == 1


def test_a_model_that_fails_after_a_forced_text_does_not_take_it_back():
    def fail(tokens):
        raise RuntimeError("no model")

    model = gv.ToyModel([b"a", b"b", b"c"], fail)
    guide = regex_guide(model, "ab(a|c)")
    player = gv.stage(model, "c", guide, temperature=0, jump_forward=True, steps=0).player
    assert step_on(player).cursor == 2
