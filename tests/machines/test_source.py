"""A constraint as a text: its language is guessed, its machine built, and an error points at the place."""

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from guidedviz.errors import PatternError
from guidedviz.machines.source import compile_text, find_in_json, guess_kind, say_error

GRAMMAR = 'root ::= pair\npair ::= string ":" vlaue\nstring ::= "a"\nvalue ::= "b"'


def skip_without(kind: str) -> None:
    """Grammars in Lark's notation are read by the package of this name."""
    if kind == "lark":
        pytest.importorskip("lark")


def error_of(kind: str, text: str) -> str:
    skip_without(kind)
    with pytest.raises(PatternError) as raised:
        compile_text(kind, text)
    return say_error(kind, text, raised.value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("(a|b)*", "regex"), (r'\{"a": 1\}', "regex"), ("{}", "schema"), 
     (' {\n "type": "object"}', "schema"), ("# numbers\nroot ::= [0-9]+", "grammar"), 
     ('# a sum\nstart: NUMBER\n%import common.NUMBER', "lark"), ("start::= x", "grammar"),
     ("starts: a", "regex")],
)  # fmt: skip
def test_the_language_is_guessed_where_it_is_obvious(text, kind):
    assert guess_kind(text) == kind


@pytest.mark.parametrize(
    ("kind", "text"),
    [("regex", "[0-9]"), ("schema", '{"enum": [7]}'), ("grammar", "root ::= [0-9]"), ("lark", "start: /[0-9]/")],
)
def test_each_language_gives_a_machine(kind, text):
    skip_without(kind)
    machine = compile_text(kind, text)
    assert machine.accepts(b"7")
    assert not machine.accepts(b"x")


def test_another_language_is_refused():
    with pytest.raises(PatternError, match="expected regex, schema, grammar, lark"):
        compile_text("perl", "a")


@pytest.mark.parametrize(
    ("kind", "text", "head", "under"),
    [
        ("regex", "a(?>b)", "regex line 1, column 2: ", "("),
        ("schema", '{"a": {"type": 1},\n "type": "strang"}', "schema line 2, column 10, #/type: ", '"'),
        ("grammar", GRAMMAR, "GBNF line 2, column 21: ", "v"),
        ("lark", 'start: "a" vlaue\nvalue: "b"', "Lark line 1, column 12: ", "v"),
    ],
)
def test_an_error_has_line_column_and_a_caret_under_the_place(kind, text, head, under):
    first, line, caret, *_ = error_of(kind, text).split("\n")
    assert first.startswith(head)
    assert line[caret.index("^")] == under


def test_hostile_text_is_shown_and_not_played():
    said = error_of("regex", "(\u202e<script>")
    assert "\u202e" not in said
    assert "<U+202E><script>" in said


NAMES = st.text("ab/~.# é", max_size=3)
PLAIN = st.none() | st.booleans() | st.integers() | NAMES


def grow(inner):
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)


JSONS = st.recursive(PLAIN, grow, max_leaves=8)


def paths(value, path=()):
    yield path, value
    inside = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, part in inside:
        pointer = str(key).replace("~", "~0").replace("/", "~1")
        yield from paths(part, (*path, pointer.replace(" ", "␣")))


@given(JSONS, st.sampled_from([None, 1]))
def test_every_part_of_a_json_text_is_found_where_it_begins(value, indent):
    text = json.dumps(value, indent=indent)
    for path, part in paths(value):
        place = find_in_json(text, path)
        assert json.JSONDecoder().raw_decode(text, place)[0] == part
        assert find_in_json(text, (*path, "no such key")) is None
