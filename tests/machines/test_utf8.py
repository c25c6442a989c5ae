"""Characters as rows of byte ranges: exactly the characters asked for, no surrogate, no overlong form."""

from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.ranges import LAST, merge_ranges, other_ranges, utf8_rows

EDGES = [0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF]
points = st.integers(0, LAST) | st.sampled_from(EDGES)
bounds = st.integers(0, 40)
small_ranges = st.tuples(bounds, bounds).map(sorted).map(tuple)


def fits(rows, data):
    """How many of the rows a character fits."""
    of_length = [row for row in rows if len(row) == len(data)]
    return sum(all(low <= byte <= high for (low, high), byte in zip(row, data, strict=True)) for row in of_length)


def codes_of(ranges):
    return {code for low, high in ranges for code in range(low, high + 1)}


@given(points, points, points)
def test_a_character_fits_exactly_one_row_when_it_is_in_the_range_and_none_otherwise(a, b, character):
    low, high = sorted((a, b))
    rows = list(utf8_rows(low, high))
    before = max(0, low - 1)
    after = min(LAST, high + 1)
    for code in {character, low, high, before, after}:
        if not 0xD800 <= code <= 0xDFFF:
            assert fits(rows, chr(code).encode()) == (low <= code <= high)


def test_all_characters_are_all_valid_utf8_and_nothing_else():
    rows = list(utf8_rows(0, LAST))
    assert {row[0] for row in rows} == {
        (0x00, 0x7F), (0xC2, 0xDF), (0xE0, 0xE0), (0xE1, 0xEC), (0xED, 0xED), (0xEE, 0xEF),
        (0xF0, 0xF0), (0xF1, 0xF3), (0xF4, 0xF4),
    }  # fmt: skip
    assert list(utf8_rows(0xD800, 0xDFFF)) == []


@given(st.lists(small_ranges))
def test_ranges_and_the_other_ranges_share_out_all_characters(ranges):
    inside = codes_of(ranges)
    others = other_ranges(ranges)
    assert codes_of(merge_ranges(ranges)) == inside
    for code in range(50):
        in_others = any(low <= code <= high for low, high in others)
        assert in_others != (code in inside)
