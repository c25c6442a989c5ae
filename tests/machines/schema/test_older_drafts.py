"""Keywords of older drafts, and references by path, by anchor and by URI in one document."""

import pytest
from jsonschema import validators

import guidedviz as gv
from tests.common import read_cases
from tests.machines.schema.deciding import assert_decided

S = {"type": "string"}


@pytest.mark.parametrize("case", read_cases(__file__, "older_drafts.json"), ids=str)
def test_an_older_schema_is_read_by_its_draft(case):
    schema = case["schema"]
    assert_decided(validator=validators.validator_for(schema)(schema), **case)


@pytest.mark.parametrize(
    ("ref", "said"),
    [("other.json", "a path into this schema"), ("#nope", "an .anchor that exists"), 
     ("#wrod", 'try: "word"'), ("#/$defs/a/0x", "has no '0x'")],
)  # fmt: skip
def test_a_reference_to_nothing_is_an_error(ref, said):
    with pytest.raises(gv.PatternError, match=said):
        gv.json_schema({"$ref": ref, "$defs": {"a": [S], "w": {"$anchor": "word"}}})
