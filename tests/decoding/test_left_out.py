"""What a token depends on: each token before it is left out."""

from unittest.mock import Mock

import pytest

import guidedviz as gv
from guidedviz.decoding import left_out
from guidedviz.errors import SettingError


def year_of(model):
    """A date, and the last digit of its year, which the model copies."""
    before = [*model.encode("March 3rd 2024 is "), *model.encode("202")]
    return before, model.encode("4")[0]


def test_a_copied_digit_depends_on_what_it_copies_and_not_on_the_day(clerk):
    found = gv.decoding.leave_out(clerk, *year_of(clerk))
    pieces = [part.pieces[0] for part in found.parts]
    assert b"".join(pieces) == b"March 3rd 2024 is 202"
    lost = [found.lost(part) for part in found.parts]
    assert lost[pieces.index(b"4")] > 0.99
    assert lost[pieces.index(b"3")] < 0.01


def test_the_numbers_are_those_of_the_shorter_texts_and_the_model_keeps_its_caches(clerk):
    before, digit = year_of(clerk)
    kept = list(clerk._texts)
    found = gv.decoding.leave_out(clerk, before, digit)
    assert clerk._texts == kept
    for place, part in enumerate(found.parts):
        shorter = before[:place] + before[place + 1 :]
        chances = gv.sampling.softmax(clerk.logits(shorter))
        assert part.probability == pytest.approx(chances[digit], rel=1e-3)


def test_of_a_long_text_neighbours_are_left_out_together(monkeypatch):
    rule = Mock(return_value=[0, 0])
    toy = gv.ToyModel([b"a", b"b"], rule)
    monkeypatch.setattr(left_out, "MOST_PASSES", 10)
    found = gv.decoding.leave_out(toy, [0] * 25, 1)
    assert [len(part.pieces) for part in found.parts] == [3] * 8 + [1]
    assert rule.call_count == 10


def test_a_probability_that_rises_loses_nothing():
    toy = gv.ToyModel([b"a", b"b"], lambda tokens: [0, -9 * tokens.count(0)])
    found = gv.decoding.leave_out(toy, [0, 1], token=1)
    assert [found.lost(part) for part in found.parts] == [0.0, 0.0]


def test_one_token_alone_cannot_be_left_out(clerk):
    with pytest.raises(SettingError, match="leave_out, tokens: saw one token, expected two or more"):
        gv.decoding.leave_out(clerk, [5], 5)
