"""A machine that accepts no complete text says so when it is built, and names the part that is the reason."""

import re
import warnings

import pytest

import guidedviz as gv
from guidedviz.errors import NoTextWarning, PatternError
from guidedviz.machines.pushdown.large_regex import find_dead_part

REGEXES = {
    "(?=a)b": "position 5: no text matches 'b' there",
    "x(?!a|b)a+": "position 8: no text matches 'a+' there",
    "a^b": "position 1: no text matches '^'",
    "(?i)(?=a)B|(?!c)C": "position 9: no text matches 'B' there",
    r"[a-z]+[^\s\S]{2,3}": "position 6: no text matches",
    "[\ud800]x": r"position 0: no text matches '[\ud800]'",
    "(?x)(?=a) # (?=b)\n b": "regex: no text matches it",
    "(?=a)" + "b" * 500: "regex: no text matches it",
}


@pytest.mark.parametrize(("text", "said"), REGEXES.items())
def test_a_regex_names_the_part_that_nothing_matches(text, said):
    with pytest.warns(NoTextWarning, match=re.escape(said)) as found:
        machine = gv.regex(text)
    assert found[0].filename == __file__
    assert not machine.accepts_prefix(b"")
    if "position" in said:
        place = int(re.search(r"position (\d+)", said)[1])
        _, line, caret = str(found[0].message).split("\n")
        assert line[caret.index("^")] in (text[place], "["), "the caret is below the part"


def test_other_machines_name_theirs():
    with pytest.warns(NoTextWarning, match=r"schema, #: no value satisfies false"):
        gv.json_schema(False)
    with pytest.warns(NoTextWarning, match="pattern, part 1: no text in UTF-8"):
        gv.pattern([("a", "1"), ("\ud800", "+")])
    with pytest.warns(NoTextWarning, match="^regex"):
        nothing = gv.regex("(?=a)b")
    with pytest.warns(NoTextWarning, match="tagged: no tag has a content .*'<a>' and '<b>'"):
        gv.tagged([("<a>", nothing, "."), ("<b>", nothing, ".")], at_least_one=True)


SCHEMAS = {
    "#": {"allOf": [{"type": "string"}, {"type": "number"}]},
    "#/properties/a": {"properties": {"a": {"type": "string", "pattern": "(?=a)b"}}, "required": ["a"]}
    | {"type": "object"},
    "#/prefixItems/0": {"type": "array", "minItems": 1, "prefixItems": [{"type": "string", "pattern": "(?!)"}]},
    "#/$defs/x": {"$ref": "#/$defs/x", "$defs": {"x": {"type": "string", "format": "date", "maxLength": 3}}},
}


@pytest.mark.parametrize(("path", "schema"), SCHEMAS.items())
def test_a_schema_without_a_value_stays_an_error_at_its_place(path, schema):
    with pytest.raises(PatternError) as found:
        gv.json_schema(schema)
    assert found.value.where == f"schema, {path}"


GRAMMARS = [
    ('root ::= "a" root', 1, "root"),
    ('root ::= b a\na ::= "x" a\nb ::= a "y"', 2, "a"),
    ('root ::= "a" b\nb ::= [\\uD800]', 2, "b"),
]


@pytest.mark.parametrize(("text", "line", "rule"), GRAMMARS)
def test_a_grammar_without_a_text_stays_an_error_that_names_the_rule(text, line, rule):
    with pytest.raises(gv.GrammarError, match=f"the rule '{rule}' can never finish") as found:
        gv.grammar(text)
    assert found.value.where == f"GBNF line {line}, column 1"


@pytest.mark.parametrize("text", ["", "(?=a)b|c", r"[^\s\S]{0,3}", "$", "[a-z]{0,5000}"])
def test_a_machine_with_a_text_says_nothing(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gv.regex(text)


@pytest.mark.parametrize("part", ["(a|b){2,}", "[]x]", "[)]{0,2}?a"])
def test_a_part_is_never_cut_inside_a_group_or_before_a_quantifier(part):
    place = len(part)
    assert find_dead_part(part + "(?!)") == range(place, place + 4)
    assert find_dead_part("a(?=b)b") is None
