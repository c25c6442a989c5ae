"""A wrong structural tag is an error that names the place, what was seen, what was expected, and the nearest name."""

import pytest

import guidedviz as gv

TEXT = {"type": "any_text"}
TAG = {"type": "tag", "begin": "<a", "content": TEXT, "end": ">"}
TOKEN = {"type": "token", "token": "A"}
TRIGGERED = {"type": "triggered_tags", "triggers": ["<"], "tags": [TAG]}
BY_TOKEN = {"type": "token_triggered_tags", "trigger_tokens": ["A"], "tags": [{**TAG, "begin": TOKEN}]}


def in_third(part):
    return {"type": "structural_tag", "format": {"type": "sequence", "elements": [TEXT, TEXT, part]}}


WRONG = [  # a spec, where the error is, what it says
    (in_third({"type": "tag", "begin": "<", "contnt": TEXT, "end": ">"}), "$.format.elements[2].contnt", '"content"'),
    (in_third({"type": "any_txt"}), "$.format.elements[2].type", '"any_text"'),
    (in_third({"value": "a"}), "$.format.elements[2].type", "saw nothing, expected a text"),
    (in_third(5), "$.format.elements[2]", "saw 5, expected a format"),
    (in_third({"type": "regex", "pattern": "(a"}), "$.format.elements[2], regex, position 0", "unterminated"),
    (in_third({"type": "grammar", "grammar": 'root ::= "a" b'}), "$.format.elements[2], GBNF line 1", "unknown rule"),
    ({"type": "structural_tag"}, "$.format", "saw nothing, expected a format"),
    ({"type": "structural_tags", "format": TEXT}, "$.type", "expected structural_tag"),
    ({"type": "structural_tag", "format": TEXT, "triggers": []}, "$.triggers", "expected type, format"),
    ({"structures": [], "triggers": ["<"]}, "$.structures", "an empty list"),
    ({"structures": [{"begin": "<", "shema": {}, "end": ">"}], "triggers": ["<"]}, "$.structures[0].shema", '"schema"'),
    ({"type": "const_string", "value": 5}, "$.value", "saw 5, expected a text"),
    ({"type": "const_string", "value": None}, "$.value", "saw null, expected a text"),
    ({"type": "const_string", "value": "\ud800"}, "$.value", "without lone surrogates"),
    ({"type": "regex", "pattern": ""}, "$.pattern", "an empty text"),
    ({"type": "any_text", "excludes": "ab"}, "$.excludes", "a list of texts"),
    ({"type": "any_text", "excludes": ["a", ""]}, "$.excludes[1]", "an empty text"),
    ({"type": "any_text", "max_chars": -1}, "$.max_chars", "a whole number from 0"),
    ({"type": "any_text", "max_chars": True}, "$.max_chars", "a whole number"),
    ({"type": "any_tokens", "max_tokens": 1.5}, "$.max_tokens", "a whole number"),
    ({"type": "sequence", "elements": []}, "$.elements", "an empty list"),
    ({"type": "repeat", "min": 3, "max": 2, "content": TEXT}, "$.max", "at least min, which is 3"),
    ({"type": "repeat", "min": -1, "max": 2, "content": TEXT}, "$.min", "from 0"),
    ({**TAG, "begin": None}, "$.begin", "saw null"),
    ({**TAG, "begin": TEXT}, "$.begin.type", "token here"),
    ({**TAG, "end": []}, "$.end", "an empty list"),
    ({**TAG, "end": [">", TOKEN]}, "$.end[1]", "a text"),
    ({**TAG, "end": ""}, "$.end", "the content may be any text"),
    ({**TRIGGERED, "at_least_one": "yes"}, "$.at_least_one", "true or false"),
    ({**TRIGGERED, "triggers": ["<", "<a"]}, "$.tags[0].begin", "2 triggers fit"),
    ({**TRIGGERED, "triggers": ["<b"]}, "$.tags[0].begin", "no triggers fit"),
    ({**TRIGGERED, "tags": [TEXT]}, "$.tags[0].type", "tag here"),
    ({**TRIGGERED, "tags": [{**TAG, "begin": TOKEN}]}, "$.tags[0].begin", "no triggers fit"),
    ({**BY_TOKEN, "trigger_tokens": ["B"]}, "$.tags[0].begin", "one of the trigger tokens"),
    ({"type": "dispatch", "rules": [["a"]]}, "$.rules[0]", "a pair"),
    ({"type": "dispatch", "rules": [["", TEXT]]}, "$.rules[0][0]", "an empty text"),
    ({"type": "dispatch", "rules": [["a", {"type": "or"}]]}, "$.rules[0][1].elements", "saw nothing"),
    ({"type": "token", "token": 7}, "$.token, ids", "no vocabulary"),
    ({"type": "token", "token": True}, "$.token", "the text or the id"),
    ({"type": "any_tokens", "exclude_tokens": [""]}, "$.exclude_tokens[0]", "an empty text"),
    ({"type": "json_schema", "json_schema": []}, "$.json_schema", "a schema"),
    ({"type": "json_schema", "json_schema": {}, "style": "qwen"}, "$.style", '"qwen_xml"'),
    ({"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": 0}, "$.max_whitespace_cnt", "from 1"),
    ({"type": "json_schema", "json_schema": {"type": "strin"}}, "$, schema, #/type", "saw 'strin'"),
    ({"type": "json_schema", "json_schema": {"type": "null"}, "style": "glm_xml"}, "$, schema, #", "arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "place", "said"), WRONG)
def test_an_error_names_the_place_and_what_was_seen_and_expected(spec, place, said):
    with pytest.raises(gv.PatternError) as caught:
        gv.structural_tag(spec)
    assert caught.value.where.startswith(f"structural_tag, {place}")
    assert caught.value.seen
    assert caught.value.expected
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "said"), [(5, "a dict, JSON text"), ("{", "expected JSON"), ([], "a dict"), (str, "a dict")]
)
def test_what_is_no_spec_is_refused(spec, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        gv.structural_tag(spec)


def test_an_error_inside_a_schema_that_stands_at_two_places_names_the_first():
    wrong = {"type": "json_schema", "json_schema": {"minimum": "a"}}
    with pytest.raises(gv.PatternError, match=r"\$\.elements\[0\], schema, #/minimum"):
        gv.structural_tag({"type": "or", "elements": [wrong, wrong]})
