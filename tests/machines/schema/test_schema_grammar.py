"""A schema that nests: its grammar reads as if a person had written it, and its machine reads the right texts."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from tests.common import assert_reads

S = {"type": "string"}
INT = {"type": "integer"}
N = {"type": "null"}
NODE = {"$ref": "#/$defs/node"}


def entity(properties, **more):
    return {"type": "object", "properties": properties, "required": list(properties), **more}


def named(root="#/$defs/node", **defs):
    return {"$defs": defs, "$ref": root}


def array(items):
    return {"type": "array", "items": items}


def gbnf(schema, **settings):
    return gv.machines.to_gbnf(gv.json_schema(schema, **settings))


TREE = named(node=entity({"name": S, "children": array(NODE)}))
FILE = entity({"title": S, "inside": {"anyOf": [N, NODE]}})
MUTUAL = named(node=array({"$ref": "#/$defs/file"}), file=FILE)
AGE = {**INT, "minimum": 0, "maximum": 120}
DAY = {**S, "format": "date"}
FIELDS = entity({"name": S, "age": AGE, "day": DAY, "on": {"type": "boolean"}})
MIXED = entity({"id": INT, "in": S}, additionalProperties=array(INT))
LOOKS = {"properties": {"id": INT}, "patternProperties": {"^x-": S, "^n_": INT}, "type": "object"}
SAMPLES = {  # a schema, texts of it, texts not of it; "space" is how they are written
    "tree": (TREE, ['{"name": "a", "children": [{"name":"b", "children": []}, {"name": "c", "children": []}]}'],
             ['{"name": "a"}', '{"children": [], "name": "a"}', '{"name": "a", "children": [{"name": "b"}]}']),
    "mutual": (MUTUAL, ["[]", '[{"title": "a", "inside": [{"title": "b", "inside": null}]}]'],
               ['[{"title": "a", "inside": {}}]', "[[]]"]),
    "fields": (FIELDS, ['{"name": "a", "age": 120, "day": "2024-02-29", "on": true}'],
               ['{"name": "a", "age": 121, "day": "2024-02-29", "on": true}']),
    "any": (entity({"data": {}}), ['{"data": [1.5e3, {"a": ""}]}', '{"data": "\\u00e9"}'],
            ['{"data": [}', '{"data": }', '{"data": 01}']),
    "mixed": (MIXED, ['{"id": 1, "in": "", "i": [2], "ids": [], "x\\n": []}',
                      '{"id": 1, "in": "", "": [], "é": []}'],
              ['{"id": 1, "in": "", "x": 1}', '{"id": 1, "in": "", "id": [2]}', '{"id": 1, "in": "", "\\u0069d": [2]}',
               '{"x": [], "id": 1, "in": ""}']),
    "looks": (LOOKS, ["{}", '{"id": 1, "n_": 2, "x-": "", "n_n": 3}', '{"x-é": "a"}'],
              ['{"x": "a"}', '{"n_a": "1"}', '{"x-a": 1}', '{"n_a": 1, "id": 2}']),
}  # fmt: skip


WRITE = {
    "space": lambda text: text,
    "one": lambda text: re.sub(r"([,:]) ?(?=\S)", r"\1 ", text),
    "compact": lambda text: text.replace(": ", ":").replace(", ", ","),
    "any": lambda text: " " + text.replace(" ", "\n\t ").replace("}", " }"),
}


@pytest.mark.parametrize("blanks", WRITE)
@pytest.mark.parametrize(("schema", "good", "bad"), SAMPLES.values(), ids=SAMPLES)
def test_the_machine_and_its_grammar_as_text_read_what_the_schema_says(schema, good, bad, blanks):
    write = WRITE[blanks]
    made = gv.json_schema(schema, blanks)
    for machine in (made, gv.grammar(gv.machines.to_gbnf(made))):
        assert_reads(machine, map(write, good), map(write, bad))


# --- what it looks like ---------------------------------------------------------------------------------------------


def test_a_tree_is_one_rule_that_calls_itself():
    items = r'''"[" (node ("," " "? node)*)? "]"'''
    string = r"""([^\u0000-\u001F"\\] | "\\" (["/\\bfnrt] | "u" [0-9A-Fa-f]{4}))*"""
    node = (
        r"""node ::= "{" "\"name\":" " "? "\"" """ + string + r""" "\"," " "? "\"children\":" " "? """ + items + ' "}"'
    )
    assert gbnf(TREE).splitlines() == ["root ::= node", node]


def test_a_definition_may_have_the_name_of_any_rule():
    names = ["root", "value", "string-2", "3d", "-", "a\nb"]
    for name in names:
        part = f"#/$defs/{name}"
        record = entity({"s": S, "v": {}, "more": array({"$ref": part})})
        schema = {"$defs": {name: record}, "$ref": part}
        text = b'{"s": "a", "v": [{}], "more": [{"s": "", "v": 1, "more": []}]}'
        assert gv.grammar(gbnf(schema, whitespace="any")).accepts(text)


# --- keys -----------------------------------------------------------------------------------------------------------

keys = st.text(st.sampled_from('ab"\\é🙂\n/~'), max_size=4)
named_keys = st.lists(keys, min_size=1, max_size=4, unique=True)


def escape(char):
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else char


@given(named_keys, st.lists(keys, max_size=6))
def test_another_key_is_none_of_the_named_ones_however_it_is_written(names, tried):
    properties = dict.fromkeys(names, INT)
    machine = gv.json_schema({"type": "object", "properties": properties, "additionalProperties": N})
    for key in (*names, *tried):
        plain = json.dumps(key, ensure_ascii=False)
        assert machine.accepts(f"{{{plain}: null}}".encode()) == (key not in names)
        assert machine.accepts(f"{{{plain}: 1}}".encode()) == (key in names)
    for name in names:
        escaped = '"' + "".join(map(escape, name)) + '"'
        assert_reads(machine, [], [f"{{{escaped}: null}}", f"{{{json.dumps(name)}: null}}"])


@pytest.mark.parametrize(
    ("more", "good", "bad"),
    [
        ({"required": ["b", "a"]}, ['{"b": 1, "a": 2}', '{"b": [], "a": 2, "c": 3}'], ['{"a": 1, "b": 2}', '{"b": 1}']),
        ({"propertyNames": {"pattern": "^[a-z]$"}, "additionalProperties": INT}, ["{}", '{"a": 1, "b": 2}'],
         ['{"A": 1}', '{"ab": 1}']),
        ({"minProperties": 2, "required": ["a"]}, ['{"a": 1, "b": 2}'], ['{"a": 1}', "{}", '{"b": 1, "c": 1}']),
        ({"patternProperties": {"^a": INT, "z$": True}, "additionalProperties": S},
         ['{"ab": 1, "bz": [], "c": "", "abz": 3}'], ['{"ab": ""}', '{"c": 1}', '{"abz": ""}']),
    ],
)  # fmt: skip
def test_keys_are_as_the_keywords_say(more, good, bad):
    machine = gv.json_schema({"type": "object", **more})
    assert_reads(machine, good, bad)


# --- branches -------------------------------------------------------------------------------------------------------

ONE = entity({"a": INT, "b": INT})
OTHER = entity({"b": INT, "a": INT})
KIND_1 = entity({"a": INT, "kind": {"const": 1}})
KIND_2 = entity({"kind": {"const": 2}, "a": INT})
TOLD = [KIND_1, KIND_2, {"const": {"b": 1, "a": 2}}]


@pytest.mark.parametrize(
    ("branches", "texts"),
    [
        ([OTHER, {"const": {"a": 1, "b": 2}}], ('{"b": 1, "a": 1}', '{"b": 2, "a": 1}', '{"a": 1, "b": 2}')),
        (TOLD, ('{"kind": 2, "a": 1}', '{"a": 1, "kind": 2}')),
        (TOLD, ('{"b": 1, "a": 2}',)),
    ],
)
def test_branches_of_one_of_share_no_value_in_whatever_order_they_name_its_keys(branches, texts):
    """The first text is one of the machine; the others are none."""
    machine = gv.json_schema({"oneOf": branches})
    first, *others = texts
    assert_reads(machine, [first], others)


def test_branches_that_share_every_value_leave_none():
    with pytest.raises(gv.PatternError, match="no value satisfies together"):
        gv.json_schema({"oneOf": [ONE, OTHER]})
