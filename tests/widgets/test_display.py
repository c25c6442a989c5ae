"""Where the packages of widgets are not installed, a notebook shows the still picture and says what to install."""

import sys

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.extras import how_to_install


def guide_of(toy):
    return toy.WordsGuide(toy.toy_model().vocabulary)


SHOWN = {
    "stage": lambda toy: gv.stage(toy.toy_model(), "say ", guide_of(toy)),
    "bias_sliders": lambda toy: gv.bias_sliders(toy.toy_model(), "say ", ["Ada"]),
    "fraction_slider": lambda toy: gv.fraction_slider(toy.toy_model()),
    "film": lambda toy: gv.film(gv.views.dfa_frames("a|b")),
    "folded": lambda toy: gv.folded(gv.regex("abc[0-9]")),
}


@pytest.fixture
def bare(monkeypatch):
    for package in ("anywidget", "ipywidgets", "traitlets", "IPython"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "guidedviz.widgets.wire", raising=False)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("name", SHOWN)
def test_without_widgets_it_is_a_picture_that_says_what_to_install(name, toy):
    shown = SHOWN[name](toy)
    bundle = shown._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert bundle["text/html"].startswith("<img ")
    last = bundle["text/plain"].splitlines()[-1]
    assert last == f"This is a still picture. The live one needs the package anywidget: {how_to_install('lab')}"
    with pytest.raises(SettingError, match=r"pip install .*\[lab\]"):
        _ = shown.widget if name == "bias_sliders" else shown.display.widget
