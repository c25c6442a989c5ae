"""A text that a person inserts is cut into tokens, and refused as a whole where the mask refuses one of them."""

import pytest

import guidedviz as gv
from guidedviz.decoding.inserted import cut_inserted
from guidedviz.decoding.player import LiveWalk, Player, ReplayWalk
from guidedviz.errors import IllegalToken
from tests.common import bytes_of, constant_model, regex_guide

DATE = "2024-0[1-9]-03"
PROMPT = "March 3rd 2024 is "


def player_of(model, pattern=""):
    guide = regex_guide(model, pattern) if pattern else None
    return Player(LiveWalk(model, PROMPT, guide), gv.decoding.Settings(temperature=0))


def test_a_legal_text_is_taken_token_by_token_and_the_run_that_was_left_is_kept(clerk):
    player = player_of(clerk, DATE)
    for _ in range(7):
        player = player.forward()
    left = player.taken
    player = player.go(4)
    after = player.choose(*cut_inserted(player, "-09"))
    steps = after.steps[4:]
    assert b"".join(step.piece for step in steps) == b"-09"
    assert steps[0] is left[4].step, "what was there already stays"
    assert steps[-1].how == "inserted"
    assert after.branches == (left,), "the first digit of the month was another one"


def test_a_refused_text_says_which_token_and_why(clerk):
    with pytest.raises(IllegalToken, match=r"the inserted text, token 5 of \d+: saw .*expected a token that") as raised:
        cut_inserted(player_of(clerk, DATE), "2024x\x1b[31m")
    assert "x cannot come: expected -" in raised.value.expected
    assert "\x1b" not in str(raised.value)


def test_without_a_guide_any_text_may_come(clerk):
    tokens = cut_inserted(player_of(clerk), "no date")
    assert bytes_of(clerk.vocabulary, tokens) == b"no date"


TOY = constant_model([b"a"], [0])
WALK = LiveWalk(TOY, "a", None)
NEW = gv.decoding.Settings()


@pytest.mark.parametrize(
    ("player", "text", "said"),
    [
        (Player(WALK, NEW), "", "saw no text"),
        (Player(WALK, NEW), "b", "a byte that some token has"),
        (Player(ReplayWalk(gv.record(TOY, "a", max_tokens=2)), NEW), "a", "saw a recording"),
        (Player(WALK, gv.decoding.Settings(max_tokens=1)).forward(), "a", "saw a run that has ended"),
    ],
)
def test_what_cannot_be_inserted(player, text, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        cut_inserted(player, text)
