"""A schema that is asked for again has the guide that it had, and only that schema."""

import pytest

import guidedviz as gv
from guidedviz.tokens import schema_guides
from guidedviz.tokens.schema_guides import MOST_SCHEMA_GUIDES, kept_guides, schema_guide

VOCABULARY = gv.Vocabulary([b"{", b"}", b'"a"', b'"b"', b":", b",", b"1", b"."])
TEXT = '{"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 1}}}'


@pytest.fixture(autouse=True)
def empty():
    schema_guides._keep.cache_clear()


def test_a_schema_that_is_read_anew_has_the_guide_that_it_had():
    first = schema_guide(TEXT, VOCABULARY)
    assert schema_guide(TEXT.replace(" ", "  "), VOCABULARY) is first
    assert (kept_guides().hits, kept_guides().misses) == (1, 1)


@pytest.mark.parametrize(
    ("other", "settings"),
    [
        ('{"type": "object", "properties": {"b": {"const": 1}, "a": {"const": 1}}}', {}),  # another order of keys
        (TEXT.replace("1", "true"), {}),
        (TEXT.replace("1", "1.00000000000000000001"), {}),
        (TEXT, {"extra_keys": "open"}),
    ],
)
def test_another_schema_or_setting_has_a_guide_of_its_own(other, settings):
    first = schema_guide(TEXT, VOCABULARY)
    second = schema_guide(other, VOCABULARY, **settings)
    assert second is not first
    assert second.machine.accepts(b'{"a":1,"b":1}') == bool(settings)
    assert first.machine.accepts(b'{"a":1,"b":1}')


def test_another_vocabulary_has_a_guide_of_its_own():
    other = gv.Vocabulary([b"1"])
    assert schema_guide(TEXT, other).vocabulary is other is not schema_guide(TEXT, VOCABULARY).vocabulary


def test_the_number_of_guides_is_bounded_and_an_error_is_not_kept():
    for number in range(MOST_SCHEMA_GUIDES + 2):
        schema_guide({"const": number}, VOCABULARY)
    assert kept_guides().currsize == MOST_SCHEMA_GUIDES
    endless = {}
    for wrong in ({"type": "strin"}, endless):
        for _ in range(2):
            with pytest.raises(gv.GuidedVizError):
                schema_guide(wrong, VOCABULARY)
        endless["allOf"] = [endless]
    assert kept_guides().hits == 0
