"""Sliders: a constant added to a logit, nothing else."""

import re

import numpy as np
import pytest

import guidedviz as gv


def test_a_bias_multiplies_the_odds(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada", "Bob"])
    ada = toy.PIECES.index(b"Ada")
    before = sliders.before
    assert np.array_equal(sliders.after, before)
    after = sliders.set(ada, 3).after
    odds = [p[ada] / (1 - p[ada]) for p in (after, before)]
    assert odds[0] == pytest.approx(odds[1] * np.exp(3))
    ratios = np.delete(after / before, ada)
    assert ratios == pytest.approx(ratios[0]), "all others keep their ratios"
    assert np.array_equal(sliders.reset().after, before)


def test_a_slider_on_the_page_moves_the_bars_and_code_moves_the_slider(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada", "Bob"])
    ada, *_, bars = sliders.widget.children
    ada.value = 5.5
    assert sliders.bias[6] == 5.5
    assert "Ada +5.5 before 1 in 330 after 0.43" in str(bars.saved)
    assert (ada.min, ada.max) == (-8, 8)
    sliders.set(6, -100)
    assert (ada.value, ada.min) == (-100, -100), "a larger bias widens its slider"
    sliders.reset()
    assert (ada.value, "Ada +" in str(bars.saved)) == (0, False)


def test_a_token_gets_ahead_exactly_if_it_is_above_the_line_of_its_bias(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada", "Bob"])
    rival = max(np.delete(sliders.before, 6))
    for amount in (-3.0, 0.5, 5.0, 5.5, 8.0):
        sliders.set(6, amount)
        wins = sliders.before[6] > rival / np.exp(amount)
        assert wins == (sliders.after.argmax() == 6)
        assert wins == bool(re.search(r'<circle[^>]*fill="var\(--gv-green\)"', sliders.figure.svg))
        assert ("above<" in sliders.figure.svg) == (amount > 0), "only a bias above 0 has a line"


def test_what_does_not_follow_the_slider_stands_still(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada", "Bob"])
    still = r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(Ada|Bob|all others|Sure)<|<path d="(M[^"]*)"[^>]*stroke-width="2.2"'
    first, *others = (re.findall(still, sliders.set(6, amount).figure.svg) for amount in (0.0, 3.0, 8.0, -8.0))
    assert len(first) > 1
    assert others == [first] * 3


def test_reset_shows_the_picture_that_the_text_describes(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada"], bias={"Bob": 5})
    drawn = sliders.figure.svg
    assert sliders.set(6, -8).figure.svg != drawn
    assert sliders.reset().figure.svg == drawn


@pytest.mark.usefixtures("headless")
def test_headless_it_is_a_picture(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada"], bias={"Bob": 5})
    bundle = sliders._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert "Bob +5 before " in bundle["text/plain"]


def test_a_slider_wants_one_token_and_a_refused_bias_changes_nothing(toy):
    with pytest.raises(gv.SettingError, match=r"3 tokens: Ada \| name \| Bob"):
        gv.bias_sliders(toy.toy_model(), "say ", ["AdanameBob"])
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada"])
    with pytest.raises(gv.SettingError, match="-100 to 100"):
        sliders.set(6, 200)
    assert sliders.bias == {6: 0.0}
