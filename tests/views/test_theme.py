"""The palette: every text of a diagram can be read on what lies behind it."""

import re
from pathlib import Path

import pytest

import guidedviz as gv
from guidedviz.views.theme import DARK, FORCED_COLOURS, LIGHT, theme_css


def light(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


PAIRS = [(text, ground) for text in ("ink", "soft", "blue", "orange", "green") for ground in ("page", "card")]
PAIRS += [("on", "orange"), ("on", "blue"), ("foam", "sea"), ("ink", "land")]  # lit states, open calls, and the map


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_texts_have_contrast(theme, text, ground):
    assert contrast(theme[text], theme[ground]) >= 4.5


def test_forced_colours_replace_every_colour_of_a_diagram():
    assert set(FORCED_COLOURS) == set(LIGHT) - {"sea", "land", "foam"}  # the map keeps its colours
    assert "forced-colors: active" in theme_css()


def test_a_map_in_forced_colours_has_the_light_palette():
    assert f".gv-map-all {{ --gv-page: {LIGHT['page']}; " in theme_css()


def test_the_class_page_has_the_colours_of_the_figures():
    sheet = (Path(gv.__file__).parent / "widgets/page/class/class.css").read_text(encoding="utf-8")
    rules = re.findall(r":root {(.*?)}", sheet)
    found = [dict(re.findall(r"--gv-(\w+): (#\w+);", rule)) for rule in rules]
    assert found == [{name: theme[name] for name in ("page", "line", "ink", "blue")} for theme in (LIGHT, DARK)]
