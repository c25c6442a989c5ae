"""Sliders: a constant added to a logit, nothing else."""

from __future__ import annotations

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


def test_a_slider_on_the_page_moves_the_bars_and_code_moves_the_slider(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada", "Bob"])
    ada, *_, bars = sliders.widget.children
    ada.value = 12.5
    assert sliders.bias[6] == 12.5
    assert "Ada +12.5 before 1 in 330 after >0.99" in str(bars.saved)
    sliders.set(6, -100)
    assert ada.value == -100
    sliders.reset()
    assert (ada.value, "Ada +" in str(bars.saved)) == (0, False)


@pytest.mark.usefixtures("headless")
def test_headless_it_is_a_picture(toy):
    bundle = gv.bias_sliders(toy.toy_model(), "say ", ["Ada"], bias={"Bob": 5})._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert "Bob +5: " in bundle["text/plain"]


def test_a_slider_wants_one_token_and_a_refused_bias_changes_nothing(toy):
    with pytest.raises(gv.SettingError, match=r"3 tokens: Ada \| name \| Bob"):
        gv.bias_sliders(toy.toy_model(), "say ", ["AdanameBob"])
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada"])
    with pytest.raises(gv.SettingError, match="-100 to 100"):
        sliders.set(6, 200)
    assert sliders.bias == {6: 0.0}
