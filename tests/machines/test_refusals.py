"""Each refusal says where it is, what was seen and what was expected."""

import pytest

import guidedviz as gv

HOSTILE = {
    "regex": [r"(a)\1", "a++", "a" * 200_000, "(" * 3_000, r"(?:\B){3000}", "(?u)é"],
    "grammar": ["", "root ::= {}", 'root ::= "a"{9999999}', "root ::= " + "(" * 200, "root ::= root"],
    "schema": ["", "3", '{"$ref": "#/x"}', '{"pattern": "("}', '{"uniqueItems": true}', '{"not": {}}', "{" * 5_000],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in HOSTILE.items() for text in texts])
@pytest.mark.quick(every=5)
def test_a_refusal_has_its_parts(kind, text):
    build = {"regex": gv.regex, "grammar": gv.grammar, "schema": gv.json_schema}[kind]
    with pytest.raises(gv.PatternError) as caught:
        build(text)
    assert all([caught.value.where, caught.value.seen, caught.value.expected])
