"""The palette: every text of a diagram can be read on what lies behind it."""

import re
from pathlib import Path

import pytest

import guidedviz as gv
from guidedviz.views.theme import DARK, FORCED, LIGHT, theme_css

TEXT = ("ink", "soft", "blue", "orange", "green")


def light(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "card"])
@pytest.mark.parametrize("text", TEXT)
def test_texts_of_a_diagram_have_contrast(theme, ground, text):
    assert contrast(theme[text], theme[ground]) >= 4.5
    assert contrast(theme["gold"], theme[ground]) >= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("filled", ["orange", "blue"])
def test_the_names_of_lit_states_and_open_calls_have_contrast(theme, filled):
    assert contrast(theme["on"], theme[filled]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_labels_of_a_map_have_contrast(theme):
    assert contrast(theme["foam"], theme["sea"]) >= 4.5
    assert contrast(theme["ink"], theme["land"]) >= 4.5


def test_forced_colours_replace_every_colour_of_a_diagram():
    assert set(FORCED) == set(LIGHT) - {"sea", "land", "foam"}  # the map keeps its colours
    assert "forced-colors: active" in theme_css()


def test_a_map_in_forced_colours_has_the_light_palette():
    assert f".gv-map-all {{ --gv-page: {LIGHT['page']}; " in theme_css()


def test_the_class_page_has_the_colours_of_the_figures():
    sheet = (Path(gv.__file__).parent / "widgets/page/class/class.css").read_text(encoding="utf-8")
    rules = re.findall(r":root {(.*?)}", sheet)
    found = [dict(re.findall(r"--gv-(\w+): (#\w+);", rule)) for rule in rules]
    assert found == [{name: theme[name] for name in ("page", "line", "ink", "blue")} for theme in (LIGHT, DARK)]
