"""A player is a value: forward, back and branch give new players, the old ones stay."""

import pytest

import guidedviz as gv
from guidedviz.decoding.player import LiveWalk, Player, ReplayWalk


@pytest.fixture
def player(toy):
    model = toy.toy_model()
    walk = LiveWalk(model, "say ", toy.WordsGuide(model.vocabulary))
    return Player(walk, gv.decoding.Settings(seed=3))


def forward(player, count=1):
    for _ in range(count):
        player = player.forward()
    return player


def tokens(player):
    return [step.token for step in player.steps]


def test_it_takes_the_steps_of_a_decode_and_no_more(player, toy):
    model = toy.toy_model()
    end = forward(player, 60)
    steps = gv.decode(model, "say ", toy.WordsGuide(model.vocabulary), seed=3)
    assert tokens(end) == [step.token for step in steps]
    assert end.at_end
    assert end.forward() is end.look() is end


def test_back_forgets_nothing_and_forward_takes_nothing_anew(player):
    five = forward(player, 5)
    back = five.go(2)
    assert back.cursor == 2
    assert back.known
    assert back.taken == five.taken
    assert forward(back, 3).taken is five.taken
    assert five.go(-4).cursor == 0
    assert five.go(99).cursor == 5
    assert player.go(5).current is None
    assert back.choose(five.taken[2].step.token).taken is five.taken, "choosing the token that is there goes on"


def other_than_first(player):
    """Another legal token than that of the first step."""
    step = player.taken[0].step
    return next(c.token for c in step.candidates if c.legal and c.token != step.token)


def test_a_choice_is_the_next_token_and_the_steps_after_it_become_a_branch(player):
    five = forward(player, 5).go(0)
    other = other_than_first(five)
    branch = five.choose(other)
    assert (tokens(branch), branch.current.how) == ([other], "inserted")
    assert branch.branches == (five.taken,)
    assert len(five.taken) == 5, "the old player is still what it was"
    back = branch.turn(0)
    assert back.taken == five.taken
    assert back.cursor == 0
    assert back.branches == (branch.taken,)
    assert forward(back, 5).taken is five.taken


def test_old_branches_are_forgotten(player):
    branched = forward(player, 3)
    first = branched.taken[0].step.token
    other = other_than_first(branched)
    for turn in range(9):
        branched = branched.go(0).choose(first if turn % 2 else other)
    assert len(branched.branches) == 6


def test_a_look_computes_the_next_step_and_takes_nothing(player):
    looked = forward(player, 2).look()
    assert (looked.cursor, len(looked.taken)) == (2, 2)
    assert looked.look() is looked
    assert looked.forward().taken[2] is looked.peek
    assert looked.go(1).ahead is looked.taken[1], "a step that is known needs no look"
    assert looked.change(temperature=0.5).ahead is None, "other settings, another step"


def test_new_settings_hold_from_the_cursor_on(player):
    back = forward(player, 6).go(3)
    changed = back.change(seed=11)
    assert (changed.known, changed.steps) == (False, back.steps), "nothing is lost until the next step"
    on = changed.forward()
    assert len(on.taken) == 4
    assert tokens(on)[:3] == tokens(back)[:3]
    assert changed.change(seed=3).known, "back to the old settings, the old steps hold again"


def test_a_replay_has_one_way_only(toy):
    trace = gv.record(toy.toy_model(), "say ", None, max_tokens=5)
    player = forward(Player(ReplayWalk(trace), gv.decoding.Settings()), 9)
    assert (player.steps, player.at_end) == (trace.steps, True)
    with pytest.raises(gv.SettingError, match="recorded"):
        player.go(0).choose(other_than_first(player))


def test_a_closed_player_keeps_its_steps_but_no_model(player):
    closed = forward(player, 3).close()
    assert len(closed.steps) == 3
    assert all(taken.after is None for taken in closed.taken)
    with pytest.raises(gv.ModelError, match="run again"):
        closed.forward()
