"""Bytes as people read them: nothing is hidden, nothing raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.ranges import byte_ranges
from guidedviz.machines.visible import visible, visible_bytes


@given(st.binary())
def test_anything_can_be_shown_and_every_character_prints(data):
    shown = visible(data)
    assert shown.isprintable()
    assert bool(shown) == bool(data)


@pytest.mark.parametrize(
    ("data", "shown"),
    [(b" a\tb\r\n", "␣a⇥b<0x0D>↵"), (b"\x00\x1b\x7f", "<0x00><0x1B><0x7F>"),
     (b"\xe2\x82", "<0xE2><0x82>"), ("é🙂".encode(), "é🙂"),
     (b"a\xffb", "a<0xFF>b"), ("\u200b\u202e".encode(), "<U+200B><U+202E>"), ("\u0301".encode(), "◌\u0301"),
     (b"\xed\xa0\x80", "<0xED><0xA0><0x80>"), ("\xa0".encode(), "<U+00A0>")],
)  # fmt: skip
def test_blanks_controls_and_broken_characters_get_a_sign(data, shown):
    assert visible(data) == shown


@given(st.frozensets(st.integers(0, 255)))
def test_ranges_hold_exactly_their_bytes(values):
    found = set()
    for low, high in byte_ranges(values):
        found |= set(range(low, high + 1))
    assert found == values


def test_long_sets_are_cut_with_a_count():
    assert visible_bytes(b"acegikmoqs", limit=3) == "a c e and 7 more"
