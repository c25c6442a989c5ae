"""The path of the value that a text of JSON has reached."""

from guidedviz.machines.json_path import json_path


def test_a_value_that_is_complete_belongs_to_the_object_around_it():
    for text in (b'{"a": "x"', b'{"a": {}', b'{"a": 1, ', b'{"a'):
        assert json_path(text) == "$"
    for text in (b'{"a": "x', b'{"a": 1', b'{"a": '):
        assert json_path(text) == "$.a"
    assert json_path(b'{"a": "x\\"') == "$.a", "the quote is escaped"
    assert json_path('{"a": [1, {"b c": [[], 22]}], "é": {"x": nu'.encode()) == "$.é.x"
    assert json_path(b'{"a": [1, {"b c": [[], 22') == '$.a[1]["b c"][1]'


def test_no_json_and_broken_json_give_a_path_as_well():
    assert json_path(b"") == json_path(b"12") == json_path(b'"a') == ""
    assert json_path(b"{}]}") == json_path(b'{"a": 1}}') == json_path(b"  {") == "$"
    assert json_path(b"[,,\xff") == "$[2]"


def test_a_hostile_key_is_shown_in_visible_characters():
    assert json_path('{"\x1b[31m\u202e": 1'.encode()) == '$["<0x1B>[31m<U+202E>"]'
    text = b'{"' + b"k" * 10**4 + b'": 1'
    assert len(json_path(text)) < 50
