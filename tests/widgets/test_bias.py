"""Sliders: a constant added to a logit, nothing else."""

from __future__ import annotations

import json

import pytest

import guidedviz as gv


def test_a_bias_multiplies_the_odds(toy):
    import numpy as np

    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada", "Bob"])
    assert np.array_equal(sliders.before, sliders.after)
    ada = toy.PIECES.index(b"Ada")
    sliders.set(ada, 3)
    odds = (sliders.after / (1 - sliders.after))[ada] / (sliders.before / (1 - sliders.before))[ada]
    assert odds == pytest.approx(np.exp(3))
    others = np.arange(len(toy.PIECES)) != ada
    ratios = sliders.after[others] / sliders.before[others]
    assert ratios == pytest.approx(np.full(len(ratios), ratios[0])), "all others keep their ratios"
    assert np.array_equal(sliders.reset().after, sliders.before)


def test_a_slider_wants_one_token(toy):
    with pytest.raises(gv.SettingError, match=r"3 tokens: Ada \| name \| Bob"):
        gv.bias_sliders(toy.toy_model(), "say ", ["AdanameBob"])


def test_too_much_is_told_and_changes_nothing(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada"])
    sliders._hear({"do": "bias", "token": 6, "value": 200})
    assert "-100 to 100" in sliders.note
    assert "Ada: " in repr(sliders)


def test_every_token_with_a_slider_has_a_row(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", range(14))
    news = json.loads(json.dumps(sliders._news(True)))
    assert {token for token, _, _ in news["sliders"]} <= {row[0] for row in news["rows"]}


@pytest.mark.usefixtures("headless")
def test_headless_it_is_a_picture(toy):
    bundle = gv.bias_sliders(toy.toy_model(), "say ", ["Ada"], bias={"Bob": 5})._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert "Bob +5: " in bundle["text/plain"]
