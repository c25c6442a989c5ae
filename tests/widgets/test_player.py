"""A player is a value: forward, back and branch give new players, the old ones stay."""

from __future__ import annotations

import pytest

import guidedviz as gv
from guidedviz.widgets.player import LiveWalk, Player, ReplayWalk


@pytest.fixture
def player(toy):
    model = toy.toy_model()
    return Player(LiveWalk(model, "say ", toy.WordsGuide(model.vocabulary)), gv.Settings(seed=3))


def forward(player, count=1):
    for _ in range(count):
        player = player.forward()
    return player


def tokens(player):
    return [step.token for step in player.steps]


def test_it_walks_to_the_end_and_no_further(player):
    end = forward(player, 60)
    assert end.at_end
    assert end.current.end == "eos"
    assert end.forward() is end


def test_the_same_steps_come_as_in_a_decode(player, toy):
    model = toy.toy_model()
    steps = gv.decode(model, "say ", toy.WordsGuide(model.vocabulary), seed=3)
    assert tokens(forward(player, 60)) == [step.token for step in steps]


def test_back_forgets_nothing_and_forward_takes_nothing_anew(player):
    five = forward(player, 5)
    back = five.go(2)
    assert (back.cursor, len(back.taken)) == (2, 5)
    assert back.known
    assert forward(back, 3).taken is five.taken


def test_the_cursor_stays_among_the_steps(player):
    three = forward(player, 3)
    assert three.go(-4).cursor == 0
    assert three.go(99).cursor == 3
    assert player.go(5).current is None


def test_a_choice_replaces_the_current_token_and_cuts_the_rest(player, toy):
    five = forward(player, 5).go(1)
    other = next(c.token for c in five.current.candidates if c.legal and c.token != five.current.token)
    branch = five.choose(other)
    assert tokens(branch) == [other]
    assert branch.current.how == "inserted"
    assert len(five.taken) == 5, "the old player is still what it was"
    assert b"".join(s.piece for s in forward(branch, 60).steps[:-1]) in toy.WORDS


def test_choosing_the_token_that_is_there_changes_nothing(player):
    two = forward(player, 2)
    assert two.choose(two.current.token) is two


def test_an_illegal_choice_is_an_error(player):
    one = player.forward()
    forbidden = next(c.token for c in one.current.candidates if not c.legal)
    with pytest.raises(gv.IllegalToken):
        one.choose(forbidden)


def test_nothing_can_be_chosen_before_the_first_step(player):
    with pytest.raises(gv.SettingError, match="no step yet"):
        player.choose(1)


def test_new_settings_hold_from_the_cursor_on(player):
    back = forward(player, 6).go(3)
    changed = back.change(seed=11)
    assert changed.stale
    assert not changed.known
    assert changed.steps == back.steps, "nothing is lost until the next step"
    on = changed.forward()
    assert len(on.taken) == 4
    assert tokens(on)[:3] == tokens(back)[:3]
    assert not changed.change(seed=3).stale, "back to the old settings, the old steps hold again"


def test_a_setting_out_of_range_is_an_error(player):
    with pytest.raises(gv.SettingError):
        player.change(temperature=-1)


def test_a_dead_end_is_the_last_step(toy):
    model = toy.toy_model()
    end = forward(Player(LiveWalk(model, "say ", toy.WordsGuide(model.vocabulary, [b"{z"])), gv.Settings()), 5)
    assert [s.end for s in end.steps] == ["", "dead_end"]
    assert end.at_end


def test_a_limit_is_the_last_step(toy):
    end = forward(Player(LiveWalk(toy.toy_model(end=False), "say ", None), gv.Settings(max_tokens=4)), 9)
    assert len(end.steps) == 4
    assert end.current.end == "max_tokens"


def test_a_replay_has_one_way_only(toy):
    trace = gv.record(toy.toy_model(), "say ", None, max_tokens=5)
    player = forward(Player(ReplayWalk(trace), gv.Settings()), 9)
    assert player.steps == trace.steps
    assert player.at_end
    with pytest.raises(gv.SettingError, match="recorded"):
        player.choose(next(c.token for c in player.current.candidates if c.token != player.current.token))


def test_a_closed_player_keeps_its_steps_but_no_model(player):
    closed = forward(player, 3).close()
    assert len(closed.steps) == 3
    assert all(taken.after is None for taken in closed.taken)
    with pytest.raises(gv.ModelError, match="run again"):
        closed.forward()
