"""The palette: every text of a diagram can be read on what lies behind it."""

import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.samplers import Task
from guidedviz.views.theme import DARK, FORCED_COLOURS, LIGHT, theme_css
from tests.common import regex_guide


def linear(colour):
    """Red, green and blue as light."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def light(colour):
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


TEXTS = ("ink", "soft", "blue", "orange", "magenta", "green")
GROUNDS = ("page", "card")
PAIRS = [(text, ground, 4.5) for text in TEXTS for ground in GROUNDS]
# lit states, open calls, and the map
PAIRS += [("on", "orange", 4.5), ("on", "blue", 4.5), ("foam", "sea", 4.5), ("ink", "land", 4.5), ("sea", "land", 3)]
PAIRS += [("gold", ground, 3) for ground in GROUNDS]  # shapes are told from their ground


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("part", "ground", "least"), PAIRS)
def test_texts_and_shapes_have_contrast(theme, part, ground, least):
    assert contrast(theme[part], theme[ground]) >= least


FORBIDDEN = re.compile(r"died|dying|struck|refused|illegal|reject|removed|cross|wrong|gv-bin|gv-no\b|how-none")
SHEETS = [*(Path(gv.__file__).parent / "widgets/page/styles").rglob("*.css")]
SHEETS.append(Path(gv.__file__).parent / "views/machine/machine.css")


def test_no_sheet_paints_what_is_forbidden_as_here_and_now():
    rules = [rule for sheet in SHEETS for rule in re.findall(r"([^{};]+){([^{}]*)}", sheet.read_text(encoding="utf-8"))]
    forbidden = [rule for rule in rules if FORBIDDEN.search(rule[0])]
    looks = {name.strip(): look for name, look in forbidden}
    for name, look in looks.items():
        assert not re.search(r"--gv-orange|--lit", look), name
    assert sum("--gv-magenta" in look for look in looks.values()) > 12


TOY = gv.ToyModel([b"a", b"b"], lambda tokens: [2, 0] if tokens[-1] == 0 else [0, 0])
DIGITS = gv.Vocabulary([b"x", b"xy", b"</s>"], eos={2})
LISTS = gv.grammar('root ::= "<" item ">" | "[" item "]"\nitem ::= "*" [a-z]* "*"')


def test_no_still_paints_what_is_forbidden_as_here_and_now():
    date = gv.regex("[0-9]+")
    drawn = {
        "a refused text": gv.views.draw_verdicts(date, ["12x"]),
        "where a text dies": gv.draw_machine(date, [0, 1], died="x"),
        "a refused node": gv.views.draw_flat_trie(date, [b"1", b"x", b"xy"]),
        "a cut subtree": gv.draw_machine(gv.views.trie_frames(date, DIGITS)[1]),
        "a cut token": gv.views.draw_cut(LISTS, ["<*a", "[*a"], "b*]"),
        "an illegal text": gv.text_tree(Task(TOY, "b", regex_guide(TOY, "ab|b[ab]"))).figure,
    }
    for name, figure in drawn.items():
        shapes = re.sub("(?s)<style>.*?</style>", "", figure.svg)
        assert "var(--gv-magenta)" in shapes, name
        assert "var(--gv-orange)" not in shapes, name


SEEN = {  # what is left of red, green and blue: Machado, Oliveira and Fernandes, 2009
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "no blue": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
WHITE = ((0.4124, 0.3576, 0.1805, 0.9505), (0.2126, 0.7152, 0.0722, 1.0), (0.0193, 0.1192, 0.9505, 1.089))


def lab(colour, seen):
    """A colour as somebody sees it, in CIELAB."""
    left = [min(1, max(0, float(np.dot(row, linear(colour))))) for row in seen]
    x, y, z = (float(np.dot(row[:3], left)) / row[3] for row in WHITE)
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    lightness = 116 * y - 16
    green_to_red = 500 * (x - y)
    blue_to_yellow = 200 * (y - z)
    return lightness, green_to_red, blue_to_yellow


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
def test_legal_forbidden_and_here_are_told_apart_by_the_colour_blind(theme, seen):
    for one, other in combinations(("blue", "magenta", "orange"), 2):
        one_seen = lab(theme[one], seen)
        other_seen = lab(theme[other], seen)
        distance = math.dist(one_seen, other_seen)
        assert distance >= 18, (one, other)


def test_forced_colours_replace_every_colour_of_a_diagram():
    assert set(FORCED_COLOURS) == set(LIGHT) - {"sea", "land", "foam"}  # the map keeps its colours
    assert "forced-colors: active" in theme_css()
    assert f".gv-map-all {{ --gv-page: {LIGHT['page']}; " in theme_css()


def test_the_class_page_has_the_colours_of_the_figures():
    sheet = (Path(gv.__file__).parent / "widgets/page/class/class.css").read_text(encoding="utf-8")
    rules = re.findall(r":root {(.*?)}", sheet)
    found = [dict(re.findall(r"--gv-(\w+): (#\w+);", rule)) for rule in rules]
    names = ("page", "line", "ink", "blue")
    light = {name: LIGHT[name] for name in names}
    dark = {name: DARK[name] for name in names}
    assert found == [light, dark]
