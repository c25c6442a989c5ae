"""Sliders: a constant added to a logit, nothing else."""

import re

import pytest

import guidedviz as gv


def test_a_bias_multiplies_the_odds(toy):
    import numpy as np

    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada", "Bob"])
    assert np.array_equal(sliders.before, sliders.after)
    ada = toy.PIECES.index(b"Ada")
    sliders.set(ada, 3)
    after, before = (p / (1 - p) for p in (sliders.after, sliders.before))
    odds = after[ada] / before[ada]
    assert odds == pytest.approx(np.exp(3))
    others = np.arange(len(toy.PIECES)) != ada
    ratios = sliders.after[others] / sliders.before[others]
    same = np.full(len(ratios), ratios[0])
    assert ratios == pytest.approx(same), "all others keep their ratios"
    assert np.array_equal(sliders.reset().after, sliders.before)


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
    for amount in (-3.0, 0.5, 2.0, 4.0, 5.0, 5.5, 6.0, 8.0):
        sliders.set(6, amount)
        rival = max(p for token, p in enumerate(sliders.before) if token != 6)
        wins = sliders.before[6] > rival / 2.718281828**amount
        assert wins == (sliders.after.argmax() == 6)
        dots = re.findall(r'<circle[^>]*fill="var\(--gv-(\w+)\)"', sliders.figure.svg)
        assert ("green" in dots) == wins
        assert sliders.figure.svg.count(">bias 0: 0 above<") == (amount <= 0)


def test_what_does_not_follow_the_slider_stands_still(toy):
    sliders = gv.bias_sliders(toy.toy_model(), "say ", ["Ada", "Bob"])
    amounts = (0.0, 3.0, 8.0, -8.0)
    drawn = [sliders.set(6, amount).figure.svg for amount in amounts]
    still = [re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(Ada|Bob|all others|Sure)<', svg) for svg in drawn]
    assert still[0]
    assert all(one == still[0] for one in still)
    curves = [re.findall(r'<path d="(M[^"]*)"[^>]*stroke-width="2.2"', svg) for svg in drawn]
    assert len(curves[0]) == 1
    assert all(one == curves[0] for one in curves)


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
