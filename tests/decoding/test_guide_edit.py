"""A new guide during a decode: what it changes, weighed by the model, without any widget."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.player import LiveWalk, Player, ReplayWalk, try_guide
from guidedviz.decoding.settings import Settings
from guidedviz.tokens.budget import keep_budget

MODEL = gv.ToyModel([b"a", b"b", b"c", b"</s>"], lambda tokens: [3, 2, 1, 0], eos={3})


def guide(text):
    return gv.guide(gv.regex(text), MODEL.vocabulary)


def test_an_edit_names_the_rejected_token_and_the_likeliest_changes():
    old, new = guide("a*"), guide("a(b|c)*")
    player = Player(LiveWalk(MODEL, "a", old), Settings(temperature=0))
    for _ in range(3):
        player = player.forward()
    edit = try_guide(player, old, new)
    assert edit.difference.position == 1
    assert edit.difference.rejected.piece == b"a"
    assert [token for token, _ in edit.likeliest(edit.difference.became_legal, 5)] == [1, 2]
    assert edit.likeliest((2, 1, 0), 1) == [(0, edit.odds[0])]
    assert np.array_equal(np.flatnonzero(edit.masks[0] ^ edit.masks[1]), [0, 1, 2])


def test_a_recording_takes_no_new_guide():
    trace = gv.record(MODEL, "a", guide("aa"))
    with pytest.raises(gv.SettingError, match="saw a recording"):
        try_guide(Player(ReplayWalk(trace), Settings()), None, guide("a"))


def test_a_new_guide_keeps_the_budget_of_the_old_one():
    assert keep_budget(gv.within(guide("a*"), 7), guide("b*")).initial.left == 7
    assert keep_budget(guide("a*"), new := guide("b*")) is new
