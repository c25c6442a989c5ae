"""The regexes of JavaScript in `pattern`: classes of Unicode, code points, named groups."""

from __future__ import annotations

import re
import unicodedata

import pytest

import guidedviz as gv
from guidedviz.machines.schema.patterns import to_python

SAMPLE = [chr(point) for point in [*range(0x250), 0x661, 0x2028, 0x20AC, 0x4E2D, 0x1F600, 0x10FFFF]]


@pytest.mark.parametrize("name", ["Lu", "Letter", "Decimal_Number", "Zs"])
@pytest.mark.parametrize("sign", ["p", "P"])
def test_a_category_has_the_characters_that_unicode_gives_it(name, sign):
    short = {"Letter": "L", "Decimal_Number": "Nd"}.get(name, name)
    alone, inside = (re.compile(to_python(text)) for text in (rf"^\{sign}{{{name}}}$", rf"^[\{sign}{{{name}}}]$"))
    for char in SAMPLE:
        expected = unicodedata.category(char).startswith(short) == (sign == "p")
        assert bool(alone.search(char)) == bool(inside.search(char)) == expected


def test_a_pattern_with_categories_is_a_machine_of_utf8():
    machine = gv.json_schema({"type": "string", "pattern": r"^\p{Lu}[\p{Ll}\d]*$"})
    assert all(machine.accepts(f'"{text}"'.encode()) for text in ("Ärger", "Z", "Ωmega3", "Д"))
    assert not any(machine.accepts(f'"{text}"'.encode()) for text in ("ärger", "A-b", "", "AB", "中"))


@pytest.mark.parametrize(("pattern", "good", "bad"), [
    (r"^\u{1F600}$", "\U0001f600", "u"),
    (r"^\uD83D\uDE00$", "\U0001f600", "x"),
    (r"^(?<year>\d{4})$", "2026", "26"),
    (r"^a[^]b$", "a%b", "ab"),
    (r"^a{,2}$", "a{,2}", "a"),
    (r"^[[\]]$", "[", "x"),
    (r"^\/\w+$", "/a", "a"),
])  # fmt: skip
def test_what_javascript_writes_differently(pattern, good, bad):
    machine = gv.json_schema({"type": "string", "pattern": pattern})
    assert machine.accepts(f'"{good}"'.encode())
    assert not machine.accepts(f'"{bad}"'.encode())


def test_the_empty_class_and_unknown_properties_are_refused_with_their_place():
    with pytest.raises(gv.PatternError, match=r"#/pattern.*position 1.*Script=Greek.*general category"):
        gv.json_schema({"type": "string", "pattern": r"^\p{Script=Greek}$"})
    assert re.search(to_python("[]"), "abc") is None
