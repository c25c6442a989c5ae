"""A wrong structural tag is an error that names the place, what was seen, what was expected, and the nearest name."""

import pytest

import guidedviz as gv
from tests.common import read_cases


@pytest.mark.parametrize("case", read_cases(__file__, "wrong_specs.json"), ids=str)
def test_an_error_names_the_place_and_what_was_seen_and_expected(case):
    with pytest.raises(gv.PatternError) as caught:
        gv.structural_tag(case["spec"])
    assert caught.value.where.startswith(f"structural_tag, {case['place']}")
    assert caught.value.seen
    assert caught.value.expected
    assert case["said"] in str(caught.value)


def test_an_error_inside_a_schema_that_stands_at_two_places_names_the_first():
    wrong = {"type": "json_schema", "json_schema": {"minimum": "a"}}
    with pytest.raises(gv.PatternError, match=r"\$\.elements\[0\], schema, #/minimum"):
        gv.structural_tag({"type": "or", "elements": [wrong, wrong]})
