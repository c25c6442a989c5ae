"""Each refusal says what was expected: no error of a room below the widgets is raised without it."""

import ast
from inspect import getmembers, isclass

import pytest

import guidedviz as gv
from guidedviz import errors
from guidedviz.files import PACKAGE

SENTENCES = {"IllegalToken"}  # says why a token cannot come in one sentence, with what is expected in it
KINDS = {name for name, kind in getmembers(errors, isclass) if issubclass(kind, errors.GuidedVizError)}
BY_PLACE = {"grammar_error": 3, "refusal": 2, "schema_error": 2, "NoValue": 2}  # where these take what is expected
ROOMS = [PACKAGE / "machines", PACKAGE / "tokens"]
FILES = sorted(file for room in ROOMS for file in room.rglob("*.py"))


def expected_of(call, place):
    """What a call says was expected; None if it does not say."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "expected"]
    if any(isinstance(one, ast.Starred) for one in call.args):
        return "passed on"
    given = named or call.args[place : place + 1]
    return ast.unparse(given[0]) if given else None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_error_is_made_without_what_is_expected(file):
    for call in ast.walk(ast.parse(file.read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            name = call.func.id
            by_place = name in BY_PLACE and "engines" not in file.name
            if by_place or name in KINDS - SENTENCES:
                expected = expected_of(call, BY_PLACE.get(name, 99))
                assert expected not in (None, "''"), f"line {call.lineno}: {name}"


HOSTILE = {
    "regex": ["(", "[", "a{2,1}", r"(a)\1", "(?>a)", "(?(1)a)", "a++", "(?<n", "\\", "a" * 200_000, "(" * 3_000,
              "(?u)é", ".*a.{20}", "(?L)a", r"(?:\B){3000}"],
    "grammar": ["", "root", "root ::= a", 'root ::= "a', "root ::= [a", "root ::= (", "root ::= )", "root ::= {",
                "root ::= {}", "root = a", "root ::= 'a'", "root ::= <a", "root ::= !", "root ::= é", "a ::= root",
                'root ::= "\\q"', "root ::= []", "root ::= [z-a]", 'root ::= "a"{3,1}', 'root ::= "a"{9999999}',
                'root ::= "a"\nroot ::= "b"', "root ::= " + "(" * 200, "root ::= *", "a ::= b ::= c", "|", "\ud800",
                "::=", "root ::= root"],
    "schema": ["", "[", "3", '{"type": 3}', '{"type": "x"}', '{"$ref": "#/x"}', '{"$ref": 3}', '{"enum": []}',
               '{"minLength": -1}', '{"pattern": "("}', '{"pattern": "(a)\\\\1"}', '{"uniqueItems": true}',
               '{"anyOf": []}', '{"properties": []}', '{"minimum": "a"}', '{"multipleOf": 0}', '{"required": "a"}',
               '{"format": 3}', '{"$ref": "#"}', '{"not": {}}', '{"type": "string", "minLength": 3, "maxLength": 2}',
               "{" * 5_000],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in HOSTILE.items() for text in texts])
@pytest.mark.quick(every=5)
def test_a_refusal_has_its_parts(kind, text):
    build = {"regex": gv.regex, "grammar": gv.grammar, "schema": gv.json_schema}[kind]
    with pytest.raises(gv.PatternError) as caught:
        build(text)
    error = caught.value
    assert error.where
    assert error.seen
    assert error.expected
